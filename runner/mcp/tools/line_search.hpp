// The lines of an open file that match a regular expression, in bounded parts and linear time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <pinfold/error.hpp>

namespace re2 {
class RE2;
}

namespace pinfold::mcp {

/// A line that matches. The text is gone with the next one.
struct matched_line {
  std::uint64_t number{0};  ///< from 1
  std::uint64_t offset{0};  ///< of its first byte in the file
  std::string_view text;    ///< without its newline; part of a line that is too long
  std::size_t match{0};     ///< where in `text` the first match begins
};

/// How one file went.
struct searched_file {
  bool is_binary{false};  ///< a NUL byte was met: what was told before it stands
  bool is_ended{true};    ///< false: the caller wanted no more
};

class line_search {
 public:
  enum class letters : std::uint8_t { as_they_are, either_case };

  /// `pattern` is in RE2's syntax; `^` and `$` are those of lines, and nothing matches a newline. The
  /// error is a sentence. A line of more than `longest_line` bytes is searched in parts.
  [[nodiscard]] static std::expected<line_search, std::string> parse(std::string_view pattern,
                                                                     letters how,
                                                                     std::size_t longest_line);

  /// Tells of each line that matches until `tell` answers false; asks `may_go_on` before each part.
  [[nodiscard]] std::expected<searched_file, code> run(
      int file, const std::function<bool()>& may_go_on,
      const std::function<bool(const matched_line&)>& tell);

  line_search(line_search&&) noexcept;
  line_search& operator=(line_search&&) noexcept;
  ~line_search();

 private:
  struct progress {
    std::uint64_t line{1};
    std::uint64_t offset{0};
  };
  line_search(std::unique_ptr<re2::RE2> expression, std::size_t room);
  [[nodiscard]] bool tell_lines(std::string_view part, progress& at,
                                const std::function<bool(const matched_line&)>& tell) const;

  std::unique_ptr<re2::RE2> expression_;
  std::string buffer_;
};

}  // namespace pinfold::mcp
