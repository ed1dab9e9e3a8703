// What becomes of an `ask` that a person approved: a grant for that one call, used up by it.
// Only the harness can make one, and only out of a verdict that asked.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/call.hpp>
#include <pinfold/error.hpp>
#include <pinfold/verdict.hpp>

namespace pinfold {

/// One operation on one canonical path (one command, one host and port). Owns its texts: a person
/// takes longer than a call's texts live. It moves, and what was moved from is used up.
class one_call_grant {
 public:
  one_call_grant(const one_call_grant&) = delete;
  one_call_grant& operator=(const one_call_grant&) = delete;
  constexpr one_call_grant(one_call_grant&& other) noexcept
      : op_{other.op_},
        port_{other.port_},
        subject_{std::move(other.subject_)},
        place_{std::move(other.place_)},
        is_spent_{std::exchange(other.is_spent_, true)} {}
  one_call_grant& operator=(one_call_grant&&) = delete;
  constexpr ~one_call_grant() = default;

  /// True once, for exactly the call that was approved. Any attempt uses the grant up, also one for
  /// another call: a call that turns out to be another than the approved one is asked about anew.
  [[nodiscard]] constexpr bool spend(const call& made) noexcept {
    const bool was_spent = std::exchange(is_spent_, true);
    return !was_spent && made.op() == op_ && made.port() == port_ &&
           made.subject().as_the_call_says() == subject_ &&
           made.place().as_the_call_says() == place_;
  }
  [[nodiscard]] constexpr bool is_spent() const noexcept { return is_spent_; }
  [[nodiscard]] constexpr operation op() const noexcept { return op_; }

 private:
  friend class approver;
  constexpr explicit one_call_grant(const call& approved)
      : op_{approved.op()},
        port_{approved.port()},
        subject_{approved.subject().as_the_call_says()},
        place_{approved.place().as_the_call_says()} {}

  operation op_;
  std::uint32_t port_;
  std::string subject_;
  std::string place_;
  bool is_spent_{false};
};

/// The right to say yes for a person. It carries nothing: whoever makes one has written
/// `approver::in_the_harness()` into the source, where a reader finds it.
class approver {
 public:
  [[nodiscard]] static constexpr approver in_the_harness() noexcept { return approver{}; }

  /// The grant for the call that the verdict asked about. Error: the verdict's reason when it
  /// refused, which nobody can approve; `invalid_argument` when it allowed, which needs nobody.
  [[nodiscard]] constexpr std::expected<one_call_grant, code> approve(const verdict& asked) const {
    if (asked == verdict::allow) return std::unexpected{code::invalid_argument};
    if (asked != verdict::ask) return std::unexpected{asked.reason()};
    return one_call_grant{asked.about()};
  }

 private:
  explicit constexpr approver() noexcept = default;
};

}  // namespace pinfold
