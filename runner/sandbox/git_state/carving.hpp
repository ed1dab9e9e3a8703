// The carve-outs as they are gathered: each once, none within another, everything above pinned.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "sandbox/git_state.hpp"
#include "sandbox/git_state/ground.hpp"

namespace pinfold {

/// A name in a repository's directory that git obeys.
struct git_door {
  const char* name;
  file_kind type;
  std::string_view content;  ///< of a file that has to be made: what its absence means to git
};

class git_carving {
 public:
  git_carving(const git_ground& ground, git_state& state) : ground_{ground}, state_{state} {}

  /// Takes what lies at `tail` out; nothing when that was done, or something above it is out. Error:
  /// the budget's.
  [[nodiscard]] git_step carve(const std::string& tail, file_kind type);

  /// The directory `tail` and those above it, as mount points: none of them can be renamed away.
  void pin(std::string_view tail);

  /// The door `wanted` of the repository directory `tail`, which is open as `directory`: made when
  /// it is missing and `mode` says so. Error `carve_out_unusable` for one that is a link or of the
  /// wrong kind, or cannot be made.
  [[nodiscard]] git_step carve_door(int directory, std::string_view tail, const git_door& wanted,
                                    git_files mode);

  /// True for what is out already, by this list or by the engine's (harness state).
  [[nodiscard]] bool covers(std::string_view tail) const;

 private:
  const git_ground& ground_;
  git_state& state_;
  std::unordered_set<std::string> carved_;
  std::unordered_set<std::string> pinned_;
};

}  // namespace pinfold
