// Reading the arguments of a call, which a model wrote: each is checked, and one that a tool does not
// know is refused instead of ignored.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>

#include "json/json.hpp"

namespace pinfold::mcp {

/// The arguments of one call, read one after the other; the first thing wrong is kept, and what is
/// read after it is empty. `op` is what the refusal names. `from` must outlive it.
class argument_reader {
 public:
  argument_reader(const json& from, operation op) noexcept : from_{from}, op_{op} {}

  /// Required. A string is UTF-8 and may hold anything else, NUL among it.
  [[nodiscard]] std::string_view text(std::string_view name);
  [[nodiscard]] std::optional<std::string_view> text_if_given(std::string_view name);
  /// A whole number from `least` to `most` (5.0 is one), or `unsaid`.
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t least, std::uint64_t most,
                                     std::uint64_t unsaid);
  [[nodiscard]] std::optional<bool> flag_if_given(std::string_view name);
  [[nodiscard]] bool flag(std::string_view name, bool unsaid);

  /// To be asked last: the first thing wrong, or an argument whose name was never read.
  [[nodiscard]] std::optional<refusal> wrong();

 private:
  [[nodiscard]] const json* find(std::string_view name);
  void refuse(std::string_view name, std::string why);

  const json& from_;
  operation op_;
  std::vector<std::string_view> known_{};  ///< the names that were read
  std::optional<refusal> first_{};
};

}  // namespace pinfold::mcp
