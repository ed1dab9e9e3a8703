// A path below the workspace as the kernel gets it. Pure text: nothing here knows what the names
// lead to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <pinfold/path.hpp>

namespace pinfold::beneath {

/// An asked path below the workspace, ended by NUL, with the workspace's own path in front of it.
/// Empty when the path does not begin there, cannot be a path, or is longer than a canonical one.
class tail_text {
 public:
  /// `root` is the workspace's canonical path, `start` the canonical directory in which a relative
  /// `input` begins.
  tail_text(std::string_view root, std::string_view start, std::string_view input) noexcept {
    if (input.size() >= path_max) return;  // as it was spelled, not as what is left of it
    std::string_view before;
    if (is_absolute(input)) {
      const auto tail = tail_below(root, input);
      if (!tail) return;
      input = tail->substr(std::min(tail->find_first_not_of('/'), tail->size()));
      if (input.empty()) input = ".";
    } else if (start != root) {
      const auto tail = tail_below(root, start);
      if (!tail) return;
      before = *tail;
    }
    if (input.empty() || root.empty()) return;
    if (root.size() + 1 + before.size() + 1 + input.size() >= sizeof bytes_) return;
    if (std::memchr(input.data(), 0, input.size()) != nullptr) return;
    begin_ = put(0, root == "/" ? std::string_view{} : root);
    bytes_[begin_++] = '/';
    auto end = begin_;
    if (!before.empty()) {
      end = put(end, before);
      bytes_[end++] = '/';
    }
    end_at(put(end, input));
  }

  [[nodiscard]] std::string_view text() const noexcept { return {bytes_ + begin_, size_}; }
  [[nodiscard]] char* bytes() noexcept { return bytes_ + begin_; }
  /// The whole path; canonical in form when the text is in normal form.
  [[nodiscard]] std::string_view whole() const noexcept { return {bytes_, begin_ + size_}; }

  /// The name that ends at `end` of the text is a link: what it leads to comes in its place, an
  /// absolute target behind as many ".." as lead back to the workspace, so that the way to the link
  /// stays in the text. False when the target lies elsewhere by its spelling, when the way is not in
  /// normal form, or when the outcome is too long; the text is then of no more use.
  [[nodiscard]] bool follow(std::size_t end, std::string_view target) noexcept {
    const auto slash = name_before(end);
    const auto way = text().substr(0, slash);
    std::size_t up = 0;
    if (is_absolute(target)) {
      const auto tail = tail_below({bytes_, std::max<std::size_t>(begin_ - 1, 1)}, target);
      if (!tail || (!way.empty() && !is_normal_tail(way))) return false;
      target = tail->empty() ? std::string_view{"."} : *tail;
      if (!way.empty()) up = 1 + static_cast<std::size_t>(std::ranges::count(way, '/'));
    }
    const auto rest = text().substr(end);
    const auto start = begin_ + slash + (slash == 0 ? 0 : 1);
    const auto size = up * 3 + target.size() + rest.size();
    if (start + size >= sizeof bytes_) return false;
    std::memmove(bytes_ + start + up * 3 + target.size(), rest.data(), rest.size());
    auto at = start;
    while (up-- > 0) at = put(at, "../");
    put(at, target);
    end_at(start + size);
    return true;
  }

  /// What `act` says of the text's first `size` bytes, ended by NUL meanwhile.
  template <typename Act>
  [[nodiscard]] auto with_beginning(std::size_t size, Act&& act) {
    const char kept = std::exchange(bytes()[size], '\0');
    const auto answer = act(static_cast<const char*>(bytes()));
    bytes()[size] = kept;
    return answer;
  }

  [[nodiscard]] bool ends_a_name(std::size_t end) const noexcept {
    return end != 0 && (end == size_ || (end < size_ && text()[end] == '/'));
  }
  /// Where the name before the one that ends at `end` ends; 0 when there is none.
  [[nodiscard]] std::size_t name_before(std::size_t end) const noexcept {
    const auto slash = text().substr(0, end).rfind('/');
    return slash == std::string_view::npos ? 0 : slash;
  }

 private:
  std::size_t put(std::size_t at, std::string_view part) noexcept {
    return at + part.copy(bytes_ + at, part.size());
  }
  void end_at(std::size_t end) noexcept {
    bytes_[end] = '\0';
    size_ = end - begin_;
  }

  char bytes_[path_max];  // not cleared: 4 KiB of zeros for each call would cost more than the call
  std::size_t begin_{0};
  std::size_t size_{0};
};

/// The lexical normal form of a tail, as a view of `buffer`; nothing when it cannot be had. Only for
/// a tail that crosses no link: its lexical form is then what the kernel walked. Kept out of the
/// callers' frames, as all that only some paths need: after a system call each page touched costs.
[[nodiscard, gnu::noinline]] inline std::optional<std::string_view> normal_tail(
    std::string_view tail, std::span<char> buffer) noexcept {
  char text[path_max];
  if (tail.size() + 1 >= sizeof text) return std::nullopt;
  text[0] = '/';
  tail.copy(text + 1, tail.size());
  const auto form = lexically_normal({text, tail.size() + 1}, buffer);
  if (!form) return std::nullopt;
  return form->substr(1);
}

}  // namespace pinfold::beneath
