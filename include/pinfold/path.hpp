// Paths as text: their components, their lexical normal form, containment by component.
// Nothing here asks the disk, so nothing here may decide about a path that is not canonical yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include <range/v3/view/interface.hpp>

#include <pinfold/error.hpp>

namespace pinfold {

/// NAME_MAX and PATH_MAX of Linux (limits.h); PATH_MAX counts the terminating NUL, so a path has at
/// most 4095 bytes. Every file system that Linux offers uses 255 bytes or fewer for a name.
inline constexpr std::size_t name_max = 255;
inline constexpr std::size_t path_max = 4096;

/// The components of a path, in order, as views into the caller's text. Separators and empty
/// components ("a//b", a trailing '/') yield nothing; "." and ".." are yielded as they stand.
/// The text must outlive the view. A forward range; never allocates.
class components : public ranges::view_interface<components> {
 public:
  /// Walks the text once more; it holds what is left of it.
  class iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using reference = std::string_view;
    using pointer = void;

    constexpr iterator() = default;
    constexpr explicit iterator(std::string_view rest) noexcept : rest_{rest} { settle(); }

    constexpr std::string_view operator*() const noexcept { return rest_.substr(0, length_); }
    constexpr iterator& operator++() noexcept {
      rest_.remove_prefix(length_);
      settle();
      return *this;
    }
    constexpr iterator operator++(int) noexcept {
      auto before = *this;
      ++*this;
      return before;
    }
    /// What is left of the text, from the current component on, separators included.
    [[nodiscard]] constexpr std::string_view rest() const noexcept { return rest_; }

    friend constexpr bool operator==(const iterator& a, const iterator& b) noexcept {
      return a.rest_.size() == b.rest_.size();
    }
    friend constexpr bool operator==(const iterator& a, std::default_sentinel_t) noexcept {
      return a.rest_.empty();
    }

   private:
    constexpr void settle() noexcept {
      const auto start = rest_.find_first_not_of('/');
      rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
      length_ = std::min(rest_.find('/'), rest_.size());
    }
    std::string_view rest_{};
    std::size_t length_{0};
  };

  constexpr components() = default;
  constexpr explicit components(std::string_view path) noexcept : path_{path} {}
  [[nodiscard]] constexpr iterator begin() const noexcept { return iterator{path_}; }
  [[nodiscard]] constexpr iterator end() const noexcept {
    return iterator{path_.substr(path_.size())};
  }

 private:
  std::string_view path_{};
};

[[nodiscard]] constexpr bool is_absolute(std::string_view path) noexcept {
  return path.starts_with('/');
}

/// What is wrong with the spelling of a path, if anything: empty or with a NUL byte
/// (`invalid_path`), over PATH_MAX or with a name over NAME_MAX (`name_too_long`). Every other byte
/// is lawful: paths are bytes, not text.
[[nodiscard]] constexpr std::optional<code> misspelling_of(std::string_view path) noexcept {
  if (path.empty() || path.contains('\0')) return code::invalid_path;
  if (path.size() >= path_max) return code::name_too_long;
  for (auto name : components{path}) {
    if (name.size() > name_max) return code::name_too_long;
  }
  return std::nullopt;
}

namespace detail {

/// A bit at the top of each byte of `word` that is zero; above such a byte perhaps of one that is
/// not. (Bit Twiddling Hacks, "Determine if a word has a zero byte".)
[[nodiscard]] constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return (word - 0x0101'0101'0101'0101) & ~word & 0x8080'8080'8080'8080;
}

/// True only where none of the eight bytes is NUL and none is a '/' whose next byte is '/' or '.'.
/// `word` holds the bytes, `next` the same shifted by one.
[[nodiscard]] constexpr bool are_plain(std::uint64_t word, std::uint64_t next) noexcept {
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  const auto slashes = zero_bytes(word ^ ('/' * ones));
  const auto marks = zero_bytes((next | ones) ^ ('/' * ones));  // '.' is '/' less its lowest bit
  return (zero_bytes(word) | (slashes & marks)) == 0;
}

/// A quick look at a relative path, eight bytes at a time: true only where it is in normal form.
/// False tells nothing.
[[nodiscard]] inline bool is_surely_normal(std::string_view path) noexcept {
  const auto size = path.size();
  if (size <= sizeof(std::uint64_t) || size > name_max) return false;
  if ((path.front() | 1) == '/' || path.back() == '/' || path.back() == '\0') return false;
  const auto word_at = [&](std::size_t i) {
    std::uint64_t word = 0;
    std::memcpy(&word, path.data() + i, sizeof word);
    return word;
  };
  const auto last = size - sizeof(std::uint64_t) - 1;
  for (std::size_t i = 0; i < last; i += sizeof(std::uint64_t)) {
    if (!are_plain(word_at(i), word_at(i + 1))) return false;
  }
  return are_plain(word_at(last), word_at(last + 1));
}

}  // namespace detail

/// True for names with one '/' between them and nothing else: no empty name, no ".", no "..", none
/// over NAME_MAX, no NUL byte. By hand and in one pass: it stands before every decision.
[[nodiscard]] constexpr bool is_normal_tail(std::string_view path) noexcept {
  if !consteval {
    if (detail::is_surely_normal(path)) return true;
  }
  if (path.size() >= path_max) return false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size() && path[i] != '/') {
      if (path[i] == '\0') return false;
      continue;
    }
    const auto length = i - start;
    if (length == 0 || length > name_max) return false;
    const bool has_dot = path[start] == '.';
    if (has_dot && (length == 1 || (length == 2 && path[start + 1] == '.'))) return false;
    start = i + 1;
  }
  return true;
}

/// True for an absolute path in normal form: no ".", no "..", no empty component, no trailing slash
/// (but for "/" itself), lawfully spelled. Says nothing about links: only a resolver makes a path
/// canonical, this is what the result looks like.
[[nodiscard]] constexpr bool is_canonical_form(std::string_view path) noexcept {
  if (!is_absolute(path) || path.size() >= path_max) return false;
  return path.size() == 1 || is_normal_tail(path.substr(1));
}

/// The part of `path` below `root` without a leading slash ("" when they are the same place), or
/// nothing when `path` is not at or below `root`. Both must be in canonical form. By component:
/// "/work/app-old" is not below "/work/app".
[[nodiscard]] constexpr std::optional<std::string_view> tail_below(std::string_view root,
                                                                   std::string_view path) noexcept {
  if (root.empty() || !path.starts_with(root)) return std::nullopt;
  if (root.size() == 1) return path.substr(1);  // "/" holds everything
  path.remove_prefix(root.size());
  if (path.empty()) return path;
  if (path.front() != '/') return std::nullopt;
  return path.substr(1);
}

/// True when `path` is `root` or lies below it. Both must be in canonical form.
[[nodiscard]] constexpr bool contains(std::string_view root, std::string_view path) noexcept {
  return tail_below(root, path).has_value();
}

/// The directory that holds `path` (canonical form); "/" for "/".
[[nodiscard]] constexpr std::string_view parent_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? path.substr(0, 1) : path.substr(0, slash);
}

/// The lexical normal form of an absolute path, written into `buffer` and returned as a view of it:
/// "." and empty components dropped, ".." taking the name before it away, ".." at the root staying
/// there. For display and for configuration only: where links are, it names another place than the
/// kernel does, so it must never be the basis of a decision. Errors: `invalid_path` for a relative
/// or misspelled path, `name_too_long` for one too long or a buffer too small.
[[nodiscard]] constexpr std::expected<std::string_view, code> lexically_normal(
    std::string_view path, std::span<char> buffer) noexcept {
  if (auto wrong = misspelling_of(path)) return std::unexpected{*wrong};
  if (!is_absolute(path)) return std::unexpected{code::invalid_path};
  std::size_t size = 0;
  for (auto name : components{path}) {
    if (name == ".") continue;
    if (name == "..") {
      while (size > 0 && buffer[--size] != '/') {
      }
      continue;
    }
    if (size + 1 + name.size() > buffer.size()) return std::unexpected{code::name_too_long};
    buffer[size++] = '/';
    for (char c : name) buffer[size++] = c;
  }
  if (size == 0) {
    if (buffer.empty()) return std::unexpected{code::name_too_long};
    buffer[size++] = '/';
  }
  return std::string_view{buffer.data(), size};
}

}  // namespace pinfold
