// Name patterns as people write them, matched in linear time: a pattern becomes a regular expression
// for RE2, which never goes back.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace pinfold::mcp {

/// `*` any characters but '/', `**` those too, `?` one character, `[a-z]` and `[!a-z]` one of some,
/// `{a,b}` one of two, a backslash before what is meant as it stands. Without a '/' the pattern is for
/// the last name, with one for the whole path below the start.
class glob {
 public:
  static constexpr std::size_t longest = 1024;

  /// The error is a sentence.
  [[nodiscard]] static std::expected<glob, std::string> parse(std::string_view pattern);

  /// Bytes that are not UTF-8 are matched as replacement characters.
  [[nodiscard]] bool matches(std::string_view below, std::string_view name) const;

  glob(glob&&) noexcept;
  glob& operator=(glob&&) noexcept;
  ~glob();

 private:
  glob(std::unique_ptr<re2::RE2> expression, bool is_for_paths);
  std::unique_ptr<re2::RE2> expression_;
  bool is_for_paths_;
};

}  // namespace pinfold::mcp
