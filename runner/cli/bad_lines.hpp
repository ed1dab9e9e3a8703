// What the summaries of JSON lines share: rows of a table, where a line stands, and the lines that are
// not what the file should hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace pinfold {

/// Where a line stands. Lines are counted from 1.
struct record_place {
  std::string_view file;
  std::uint64_t line{0};
};

/// "FILE:LINE", safe for a terminal.
[[nodiscard]] std::string place_text(std::string_view file, std::uint64_t line);

/// A row of a summary, with its newline. Both are taken as they are.
[[nodiscard]] std::string summary_row(std::string_view title, std::string_view value);

/// Lines that could not be taken: the first few are named, all are counted.
class bad_lines {
 public:
  void add(record_place where, std::string why);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Rows for a person, below `title`; foreign bytes are shown as text. Empty where there are none.
  [[nodiscard]] std::string table(std::string_view title) const;
  /// `count` and `lines` with `file`, `line`, `why`.
  [[nodiscard]] json object() const;

  static constexpr std::size_t most_named = 20;

 private:
  struct named {
    std::string file;
    std::uint64_t line;
    std::string why;
  };
  std::uint64_t count_{0};
  std::vector<named> named_;
};

}  // namespace pinfold
