// A view of a repository: a git directory of the runner's own making, with the objects and branches of
// the repository and nothing of its configuration, attributes, hooks or index. Whatever an agent wrote
// there, or what the user set there, git reads none of it: a filter that a `.gitattributes` names is not
// defined, and does nothing.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>

#include "git/discover.hpp"

namespace pinfold {

/// Makes the view at `path`, where nothing is yet: `config` (of the format alone), `HEAD` (which names
/// `commit`), `info/exclude` (a copy of the repository's, where that is a regular file of at most
/// 1 MiB), and links named `objects`, `refs`, `packed-refs`, `shallow` and, where the repository has
/// them, `logs`, that lead to `common_dir`. A branch that is made or removed in it is one of the
/// repository. `commit` may be a text of HEAD as well. Error: `git_failed`, with what was made left
/// there; also for a repository in which one of these is something else than git makes, such as a pipe.
[[nodiscard]] std::expected<void, refusal> make_git_view(const std::string& path,
                                                         const std::string& common_dir,
                                                         const git_format& format,
                                                         std::string_view commit);

/// Why git must not be started in a view that was made earlier, a sentence; empty when it may. Asked:
/// its configuration is, byte for byte, one that `make_git_view` writes, nothing in it names another,
/// each of its links leads to that part of `common_dir`, and that part is a directory or a regular file
/// as git makes it, or is lacking where git may lack it.
[[nodiscard]] std::string why_view_distrusted(const std::string& path,
                                              const std::string& common_dir);

/// Puts another commit in its HEAD. Error: `git_failed`.
[[nodiscard]] std::expected<void, refusal> set_view_head(const std::string& path,
                                                         std::string_view commit);

/// Writes a file as a whole or not at all: a temporary one is renamed over it. Error: an errno.
[[nodiscard]] std::expected<void, int> replace_file(const std::string& path, std::string_view text);

/// Refuses (`no_repository`) a repository in which one of the places that the runner writes to is a
/// link: an agent whose workspace it was could have made one, and git writes through it.
/// `branch` is what is made: "refs/heads/x/y".
[[nodiscard]] std::expected<void, refusal> check_no_links(const std::string& common_dir,
                                                          std::string_view branch);

}  // namespace pinfold
