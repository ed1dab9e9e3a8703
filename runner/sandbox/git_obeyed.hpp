// What a repository's configuration names in the workspace: files that git includes, directories
// that it takes hooks from, programs that it runs.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <pinfold/refusal.hpp>

#include "sandbox/git_config.hpp"
#include "sandbox/git_state.hpp"
#include "sandbox/git_state/carving.hpp"

namespace pinfold {

/// One file's settings, and where it lies.
struct git_settings {
  std::string path;
  std::vector<git_setting> all;
};

/// What counts in one repository, and the directories that git may start programs in: its work
/// trees. Canonical; one that lies outside may lead back into the workspace.
struct git_naming {
  std::vector<git_settings> files;
  std::vector<std::string> bases;
};

/// Adds what configurations name below the workspace, and the files that they include, whatever
/// condition an include has:
///  - an included file: a carve-out; in it the same again, ten deep as git itself goes;
///  - `core.hooksPath`, each one: a carve-out when the directory is there, else `hooks_paths` alone;
///  - `core.attributesFile`, and each word of what git runs unasked (a filter, a monitor, a pager)
///    that names a file which is there: a carve-out;
///  - such a word that names nothing yet, or a file by way of a link, and the words of an alias that
///    starts a program: `obeyed`, for the report, with the link and what it leads to.
/// Not known: what such a program starts in its turn, and a name put together by a shell.
/// Error `carve_out_unusable`: an included file that is not there; one of the first two reached
/// through a link of the workspace or by way of "..", since whoever replaces what is passed on the
/// way replaces what git obeys; hooks taken from the workspace's own top. `not_enforceable`: the
/// budget's.
class git_obeyed {
 public:
  /// All of them have to outlive it.
  git_obeyed(const git_ground& ground, git_carving& carving, git_state& state,
             const git_sources& global, git_files mode)
      : ground_{ground}, carving_{carving}, state_{state}, global_{global}, mode_{mode} {}

  /// One repository's, and the caller's own with it.
  [[nodiscard]] git_step add(const git_naming& repository);

 private:
  using settings = std::vector<git_setting>;
  enum class held : bool { no, yes };

  [[nodiscard]] git_step follow_global();
  [[nodiscard]] git_step follow(const git_settings& file, int depth, settings& into);
  [[nodiscard]] std::expected<std::optional<git_settings>, refusal> include(
      std::string_view named, const std::string& directory);
  [[nodiscard]] std::expected<git_way, refusal> way_to(std::string_view named,
                                                       const std::string& start) const;
  [[nodiscard]] git_step check_way(const git_way& way) const;
  [[nodiscard]] git_step add_all(const settings& all, const std::vector<std::string>& bases);
  [[nodiscard]] git_step add_one(const git_setting& setting, const std::string& base);
  [[nodiscard]] git_step add_hooks(std::string_view named, const std::string& base);
  [[nodiscard]] git_step add_words(std::string_view value, const std::string& base, held how);
  [[nodiscard]] git_step add_word(std::string_view word, const std::string& base, held how);

  const git_ground& ground_;
  git_carving& carving_;
  git_state& state_;
  const git_sources& global_;
  git_files mode_;
  std::optional<settings> of_the_caller_;  ///< followed once, for the first repository
  std::unordered_set<std::string> followed_;
  std::unordered_set<std::string> looked_at_;
};

}  // namespace pinfold
