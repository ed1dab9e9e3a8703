// The promises of what reads bytes from inside, each checked against a naive reader.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/bytes.hpp"

namespace pinfold_fuzz {

/// Where the bytes are cut: how much has come after each piece, at most 256 bytes each.
class cuts {
 public:
  explicit cuts(bytes& input) : sizes_{input.text()} {}

  /// Rising, the last one `size`.
  [[nodiscard]] std::vector<std::size_t> of(std::size_t size) const;

 private:
  std::string_view sizes_;
};

/// All that is left of the input; 0xfe N C stands for N times 257 bytes C: limits are long, inputs are
/// short.
std::string read_run(bytes& input);

/// The first byte, and who of the readers takes what follows it.
void check_opening(std::string_view text);
/// A head, and the body behind it.
void check_request(const std::string& text, const cuts& pieces);
/// A greeting, and the request behind it.
void check_socks(const std::string& text, const cuts& pieces);
void check_hello(const std::string& text, const cuts& pieces);
/// A hello that is made by the rules, but for one in some: it is read as it was meant.
void check_made_hello(bytes& input, const cuts& pieces);

/// A host and port as somebody asked for them: what is decided on is canonical, and nothing else.
void check_asked(const std::string& host, std::uint32_t port);

}  // namespace pinfold_fuzz
