// The text of a path that a walk has not taken yet, with the targets of links put in front.
// Pure text: it knows nothing of what the names lead to.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pinfold::disk {

/// The names of a path that are still to be walked, front first; a link's target is put before them.
class unwalked {
 public:
  explicit unwalked(std::string_view text) : text_{text} {}

  /// The next name, or "" at the end. Empty components yield nothing.
  [[nodiscard]] std::string take() {
    const auto start = text_.find_first_not_of('/', at_);
    if (start == std::string::npos) return {};
    const auto end = std::min(text_.find('/', start), text_.size());
    auto name = text_.substr(start, end - start);
    at_ = end;
    is_last_ = text_.find_first_not_of('/', at_) == std::string::npos;
    is_dots_ = name == "." || name == "..";
    ends_as_directory_ = at_ < text_.size() || is_dots_;
    return name;
  }

  /// The name taken last is a link: its target comes first, then what is left.
  void put_before(std::string_view target) {
    text_.replace(0, at_, target);
    at_ = 0;
  }

  /// What has not been taken yet.
  [[nodiscard]] std::string_view rest() const noexcept {
    return std::string_view{text_}.substr(at_);
  }

  /// About the name taken last: nothing but slashes follows it.
  [[nodiscard]] bool is_last() const noexcept { return is_last_; }
  /// About the name taken last: it is spelled as only a directory can be ("a/", "a/.", "..").
  [[nodiscard]] bool ends_as_directory() const noexcept { return ends_as_directory_; }
  /// About the name taken last: it is "." or "..", so it names no entry of its own.
  [[nodiscard]] bool is_dots() const noexcept { return is_dots_; }

 private:
  std::string text_;
  std::size_t at_{0};
  bool is_last_{false};
  bool ends_as_directory_{false};
  bool is_dots_{false};
};

}  // namespace pinfold::disk
