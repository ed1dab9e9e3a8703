// Takes a fuzzer's bytes apart: small numbers, choices, texts. Past the end everything is zero or
// empty, so every input means something and no input is read beyond its end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pinfold_fuzz {

class bytes {
 public:
  explicit bytes(std::span<const std::uint8_t> all) noexcept : rest_{all} {}

  [[nodiscard]] bool is_empty() const noexcept { return rest_.empty(); }

  std::uint8_t byte() noexcept {
    if (rest_.empty()) return 0;
    const auto first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }

  /// A number from 0 to `count` - 1; `count` is at most 256 and not 0.
  std::size_t below(std::size_t count) noexcept { return byte() % count; }

  bool coin() noexcept { return (byte() & 1) != 0; }

  template <typename List>
  const auto& one_of(const List& list) noexcept {
    return list[below(std::size(list))];
  }

  /// A text with its length in front, at most 255 bytes. Views the input.
  std::string_view text() noexcept { return take(byte()); }

  /// What is left, up to a byte 0xff, which never stands in a path that means anything. Views the
  /// input.
  std::string_view field() noexcept {
    const auto end = std::ranges::find(rest_, std::uint8_t{0xff});
    const auto whole = take(static_cast<std::size_t>(end - rest_.begin()));
    byte();
    return whole;
  }

 private:
  std::string_view take(std::size_t size) noexcept {
    const auto first = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(first.size());
    return {reinterpret_cast<const char*>(first.data()), first.size()};
  }

  std::span<const std::uint8_t> rest_;
};

}  // namespace pinfold_fuzz
