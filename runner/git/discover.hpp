// Which repository a folder belongs to, in git's own words, and how that repository stores things. No
// object is read and no work tree looked at, so nothing that a configuration names can be started.
#pragma once

#include <expected>
#include <string>

#include <pinfold/refusal.hpp>

namespace pinfold {

/// What of a configuration says how bytes are stored; the only part of one that is ever taken over.
struct git_format {
  std::string object_format{"sha1"};
  bool has_modes{true};     ///< core.filemode
  bool has_links{true};     ///< core.symlinks
  bool ignores_case{false};  ///< core.ignorecase
};

/// A repository with a work tree, as it is found from a folder of that. All paths are absolute and as
/// git gives them: without a link.
struct discovered_repository {
  std::string top;         ///< the work tree's top
  std::string git_dir;     ///< of this work tree: of a linked one that below `worktrees`
  std::string common_dir;  ///< what all its work trees share: objects, branches, configuration
  std::string head;        ///< the text of HEAD: "ref: refs/heads/x" or a commit
  git_format format;
};

/// Asks git. Errors: `no_repository` for a folder of none, for a bare one, for `.git` itself, and for
/// one whose owner is somebody else (git's own rule, "safe.directory", which nothing lifts here);
/// `not_enforceable` for a repository whose branches are stored in another way than as files
/// (reftable); `git_failed`.
[[nodiscard]] std::expected<discovered_repository, refusal> discover_repository(
    const std::string& git, const std::string& folder);

/// The branch that a text of HEAD names, "refs/heads/x", or empty where it names a commit.
[[nodiscard]] std::string branch_in_head(std::string_view head);

/// A small file, without the newlines at its end; empty when it is not there, is no regular file, or
/// holds more than a page. No link is followed.
[[nodiscard]] std::string line_of_file(const std::string& path);

}  // namespace pinfold
