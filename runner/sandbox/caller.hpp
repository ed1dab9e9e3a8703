// Who asks for a run: the caller's environment, homes and git identity. Read once, passed on as
// data, so that nothing below reads a global.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>

#include "sandbox/git_sources.hpp"

namespace pinfold {

/// The caller's environment as NAME=VALUE entries.
class caller_environment {
 public:
  explicit caller_environment(std::vector<std::string> entries) : entries_{std::move(entries)} {}
  /// The value of a variable; nothing when it is not set.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& entries() const noexcept { return entries_; }

 private:
  std::vector<std::string> entries_;
};

struct git_identity {
  std::string name;
  std::string email;
};

struct caller {
  caller_environment environment;
  std::string home;                ///< $HOME, canonical; empty when there is none
  std::vector<std::string> homes;  ///< every home that has to be hidden: canonical, there, distinct
  git_identity git;                ///< from the caller's own git configuration; may be empty
  git_sources git_settings{};      ///< that configuration, and the machine's
};

/// Looks at the caller: $HOME, the password database's home of the real user, /root and /home.
/// Error `sandbox_unavailable` when a home is part of the system tree, so that it cannot be hidden.
[[nodiscard]] std::expected<caller, refusal> look_at_caller(caller_environment environment);

/// What git's configuration says for this caller, whatever the repository: the machine's, the
/// caller's, and those that the environment puts in their place. Nothing is included yet.
[[nodiscard]] git_sources git_settings_of(const caller_environment& environment);

/// user.name and user.email from a git configuration's text. Sections and keys fold case; includes
/// are not followed. Quotes, escapes and comments as in git-config(1), "Syntax".
[[nodiscard]] git_identity parse_git_identity(std::string_view text);

/// A git configuration that holds this identity and trusts this workspace, and nothing else.
[[nodiscard]] std::string git_configuration_for(const git_identity& who,
                                                std::string_view workspace);

}  // namespace pinfold
