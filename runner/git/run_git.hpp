// git, started by the one launcher: bounded, with an environment of its own, and so that nothing which
// a repository says can make it start another program. It is never found in $PATH, and never started
// when somebody but root could have put it there.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/record.hpp>

namespace pinfold {

/// Where git is looked for, in this order; the first that is there is judged.
inline constexpr std::array<std::string_view, 3> git_places{"/usr/bin/git", "/usr/local/bin/git",
                                                            "/bin/git"};

/// The canonical path of a git that may be started: it and every directory above it are root's alone.
/// Error: `git_failed`.
[[nodiscard]] std::expected<std::string, refusal> usable_git(
    std::span<const std::string_view> places = git_places);

/// Whether git may write where it need not: `git status` refreshes the index.
enum class git_access : bool { reads, writes };

/// One start of git. With a `git_dir` git looks for no repository by itself; where that is not a view
/// (view.hpp), git reads the configuration that it finds there, and what can be known of it beforehand
/// is overridden: hooks, monitors, pagers, editors, ssh, helpers, every protocol. Filters, drivers and
/// aliases have names that anybody can choose, so they can not: a git that looks at files of a work
/// tree is given a view.
struct git_call {
  std::string git_dir;                   ///< absolute; empty: none is named
  std::string work_tree;                 ///< absolute; empty: none is named
  std::vector<std::string> words;        ///< the subcommand and its own
  std::vector<std::string> environment;  ///< NAME=VALUE, over what is always set
  std::string directory{"/"};            ///< where git starts
  git_access access{git_access::reads};
  /// Borrowed; when one becomes readable git is ended like a run that is cancelled. Negative: none.
  std::array<int, 2> cancelled{-1, -1};
  int input{-1};  ///< borrowed; what is read from it is git's standard input. Negative: it is empty
  std::function<void(std::string_view)> on_output;  ///< gets all of stdout, piece by piece
  std::chrono::milliseconds time{std::chrono::minutes{10}};
  std::size_t output{std::size_t{64} << 10};  ///< kept of stdout and stderr, in bytes
};

/// How it ended by itself.
struct git_answer {
  int exit_code{0};
  captured_output out;
  std::string err;

  [[nodiscard]] bool has_succeeded() const noexcept { return exit_code == 0; }
  /// Stdout without the newlines at its end.
  [[nodiscard]] std::string_view line() const noexcept;
};

/// Runs it to its end. Blocks. Error `git_failed` when it did not start, was ended at its time, or by a
/// signal; an exit code of its own is an answer.
[[nodiscard]] std::expected<git_answer, refusal> run_git(const std::string& program,
                                                         const git_call& call);

/// The same for what changes a branch and takes no time: it goes on when the runner is killed or cancelled, since a git
/// that is killed leaves the lock of a file behind, and nobody else would get at that any more. `held` is
/// borrowed, a lock that then lasts as long as git does. The call has neither input nor sink.
[[nodiscard]] std::expected<git_answer, refusal> run_git_to_its_end(const std::string& program,
                                                                    const git_call& call, int held);

/// A refusal about `place`, in the words of a git that did not succeed. `wanted` says what it was
/// started for.
[[nodiscard]] refusal git_refusal(std::string place, std::string_view wanted,
                                  const git_answer& answer);

/// The same run, where anything but success is an error.
[[nodiscard]] std::expected<git_answer, refusal> run_git_or_refuse(const std::string& program,
                                                                   const git_call& call,
                                                                   std::string place,
                                                                   std::string_view wanted);

}  // namespace pinfold
