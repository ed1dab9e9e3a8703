// Run records read back from files of JSON lines that anybody may have written: bounded in memory
// whatever the file holds, and a line is a record only when all that is counted is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/error.hpp>
#include <pinfold/runner/record.hpp>

namespace pinfold {

/// Lines of a descriptor, each with its long strings emptied: the output that a record keeps may be
/// a gibibyte, and nothing here asks for it.
class line_reader {
 public:
  /// A string of more bytes than this, as it is written, is read as "".
  static constexpr std::size_t longest_string = 64 * 1024;
  /// A line that is longer even so is no record.
  static constexpr std::size_t longest_line = 8 * 1024 * 1024;

  enum class got : std::uint8_t { line, too_long, end, error };

  /// `descriptor` is borrowed.
  explicit line_reader(int descriptor);

  /// The next line, without its newline, in `line`. After `too_long` the one behind it follows;
  /// `error` leaves errno.
  [[nodiscard]] got next(std::string& line);

 private:
  static constexpr std::size_t block_size = 64 * 1024;

  [[nodiscard]] bool fill();
  void take(char byte, std::string& line);

  int descriptor_;
  std::unique_ptr<char[]> block_;
  std::size_t at_{0};
  std::size_t end_{0};
  bool has_failed_{false};
  // of the line that is being read
  std::size_t string_start_{0};
  bool is_in_string_{false};
  bool is_escaped_{false};
  bool is_string_cut_{false};
  bool is_too_long_{false};
};

/// What is counted of one record.
struct record_facts {
  ending ended{ending::failed};
  std::optional<int> exit_code;
  std::optional<run_limit> limit;
  std::optional<code> refused;
  std::uint64_t duration_ms{0};
  std::uint64_t output_bytes{0};  ///< of both streams, all that was written
  std::string workspace;          ///< in the bytes that stand in the record
};

/// The facts of a line. The error is a clause without foreign bytes: why it is no record.
[[nodiscard]] std::expected<record_facts, std::string> read_record(std::string_view line);

/// a + b, or the most that fits.
[[nodiscard]] constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace pinfold
