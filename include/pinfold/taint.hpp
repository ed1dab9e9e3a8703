// What a session has taken in: labels that are only ever added. There is no way to take one away
// but to start a new session.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pinfold {

/// A set of labels, with union as join: `|` never loses a label, and of two sets the larger one is
/// the greater. No operation removes a label from a set.
class taint {
 public:
  /// No label.
  constexpr taint() noexcept = default;

  static const taint untrusted_content;  ///< text that somebody else wrote: it may hold orders
  static const taint private_data;       ///< what must not leave the machine
  static const taint both;

  /// Join: every label of either.
  [[nodiscard]] friend constexpr taint operator|(taint a, taint b) noexcept {
    return taint{static_cast<std::uint8_t>(a.bits_ | b.bits_)};
  }
  constexpr taint& operator|=(taint more) noexcept {
    bits_ = static_cast<std::uint8_t>(bits_ | more.bits_);
    return *this;
  }

  /// True when every label of `other` is in this set.
  [[nodiscard]] constexpr bool includes(taint other) const noexcept {
    return (bits_ & other.bits_) == other.bits_;
  }
  [[nodiscard]] constexpr bool is_clean() const noexcept { return bits_ == 0; }

  friend constexpr bool operator==(taint, taint) noexcept = default;
  /// By inclusion: two sets of which neither holds the other are unordered.
  [[nodiscard]] friend constexpr std::partial_ordering operator<=>(taint a, taint b) noexcept {
    if (a == b) return std::partial_ordering::equivalent;
    if (b.includes(a)) return std::partial_ordering::less;
    if (a.includes(b)) return std::partial_ordering::greater;
    return std::partial_ordering::unordered;
  }

  /// How many sets there are, and the place of this one among them: the empty set first, `both`
  /// last. For tables.
  static constexpr std::size_t count = 4;
  [[nodiscard]] constexpr std::size_t index() const noexcept { return bits_; }

 private:
  constexpr explicit taint(std::uint8_t bits) noexcept : bits_{bits} {}
  std::uint8_t bits_{0};
};

inline constexpr taint taint::untrusted_content{std::uint8_t{1}};
inline constexpr taint taint::private_data{std::uint8_t{2}};
inline constexpr taint taint::both{std::uint8_t{3}};

/// A label and its name on the wire.
struct named_label {
  std::string_view name;
  taint label;
};

inline constexpr std::array<named_label, 2> taint_labels{
    {{"untrusted_content", taint::untrusted_content}, {"private_data", taint::private_data}}};

/// The label of that name, or nothing.
[[nodiscard]] constexpr std::optional<taint> parse_label(std::string_view name) noexcept {
  for (const auto& one : taint_labels) {
    if (one.name == name) return one.label;
  }
  return std::nullopt;
}

/// The labels of one session. They only grow: it cannot be assigned to, and a copy starts with what
/// the original has. A session without labels is a new object.
class session_taint {
 public:
  constexpr session_taint() noexcept = default;
  /// A session that starts with labels, as a subagent's does with its parent's.
  constexpr explicit session_taint(taint labels) noexcept : labels_{labels} {}
  constexpr session_taint(const session_taint&) noexcept = default;
  session_taint& operator=(const session_taint&) = delete;
  constexpr ~session_taint() = default;

  /// What one call took in.
  constexpr void after_call(taint taken_in) noexcept { labels_ |= taken_in; }
  constexpr session_taint& operator|=(taint taken_in) noexcept {
    after_call(taken_in);
    return *this;
  }

  [[nodiscard]] constexpr taint labels() const noexcept { return labels_; }
  constexpr operator taint() const noexcept { return labels_; }  // NOLINT: a session's taint is one

 private:
  taint labels_;
};

}  // namespace pinfold
