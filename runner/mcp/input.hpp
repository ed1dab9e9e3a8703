// Lines from the client, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace pinfold::mcp {

/// Lines of a descriptor. One that is longer than a message may be is read over and never kept.
class line_source {
 public:
  enum class got : std::uint8_t { line, too_long, end };

  /// Both are borrowed. When `ending` becomes readable, that is the end; negative: there is none.
  /// `before_waiting` is called whenever there is no whole line yet.
  line_source(int descriptor, int ending, std::function<void()> before_waiting);

  /// The next line that is not blank, without its newline; the view lasts until the next call. What
  /// stands behind the last newline is no line.
  [[nodiscard]] got next(std::string_view& line);

 private:
  [[nodiscard]] bool fill();
  void make_room();

  static constexpr std::size_t usual = std::size_t{64} << 10;

  int descriptor_;
  int ending_;
  std::function<void()> before_waiting_;
  std::unique_ptr<char[]> bytes_;
  std::size_t size_{usual};
  std::size_t begin_{0};    ///< of the line that is being read
  std::size_t scanned_{0};  ///< no newline lies before it
  std::size_t end_{0};
  bool is_skipping_{false};
};

}  // namespace pinfold::mcp
