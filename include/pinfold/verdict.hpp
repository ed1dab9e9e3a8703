// What the guard answers for one call: allow, ask or refuse, and the reason. Only a guard makes
// one, so an answer that asks for approval cannot be forged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pinfold/call.hpp>
#include <pinfold/error.hpp>
#include <pinfold/refusal.hpp>

namespace pinfold {

class guard;

/// Holds views into the call and the grant; neither may be gone before it. Allocates nothing until
/// `to_refusal` is called.
class verdict {
 public:
  /// In the order of what they let through.
  enum answer : std::uint8_t { refuse, ask, allow };

  [[nodiscard]] constexpr answer says() const noexcept { return says_; }
  /// Why it is no plain allow: for `ask` the reason for which it is refused when nobody is there.
  /// Means nothing for `allow`.
  [[nodiscard]] constexpr code reason() const noexcept { return reason_; }
  /// What would help, as a field that a program can act on.
  [[nodiscard]] constexpr remedy help() const noexcept {
    return says_ == ask ? remedy::ask_a_person : remedy_for(reason_);
  }
  [[nodiscard]] constexpr const call& about() const noexcept { return about_; }
  /// The text of the call that was looked at: its path, target, directory, command or host.
  [[nodiscard]] constexpr std::string_view at() const noexcept { return at_; }
  /// What stands there: the workspace, the carve-out (relative to it), the read-only root; empty
  /// when there is nothing to name.
  [[nodiscard]] constexpr std::string_view boundary() const noexcept { return boundary_; }

  /// The refusal with its sentence. `as_asked` is the path as the model spelled it, where that is
  /// known. An `ask` becomes `needs_approval`, with the reason as its detail. Allocates.
  [[nodiscard]] constexpr refusal to_refusal(std::string_view as_asked = {}) const {
    refusal made;
    made.error = says_ == ask ? code::needs_approval : reason_;
    made.op = about_.op();
    made.path = as_asked.empty() ? at_ : as_asked;
    if (!as_asked.empty()) made.resolved = at_;
    if (!boundary_.empty() && !boundary_.starts_with('/')) {
      made.boundary = workspace_;
      if (!made.boundary.ends_with('/')) made.boundary += '/';
    }
    made.boundary += boundary_;
    if (says_ == ask) made.detail = sentence_for(reason_);
    return made;
  }

  friend constexpr bool operator==(const verdict& v, answer says) noexcept {
    return v.says_ == says;
  }

 private:
  friend class guard;
  constexpr verdict(answer says, code reason, const call& about, std::string_view at,
                    std::string_view boundary, std::string_view workspace) noexcept
      : says_{says},
        reason_{reason},
        about_{about},
        at_{at},
        boundary_{boundary},
        workspace_{workspace} {}

  answer says_;
  code reason_;
  call about_;
  std::string_view at_;
  std::string_view boundary_;
  std::string_view workspace_;
};

}  // namespace pinfold
