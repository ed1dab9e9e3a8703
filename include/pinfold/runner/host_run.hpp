// What a command left behind that a program on the host may run, obey or write through later. Plain
// data in the run record; it reports and forbids nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

enum class host_run_kind : std::uint8_t {
  git_hook,        ///< a hook of a nested repository, or below core.hooksPath
  git_sequence,    ///< a rebase, a cherry-pick or a revert left in progress: git goes on with it
  git_config,      ///< a configuration, or a file that names where one lies
  git_repository,  ///< a new bare repository: git obeys its configuration when started in it
  git_file,        ///< a file ".git": git takes the repository that it names
  git_link,        ///< a link below ".git": git on the host writes through it
  git_attributes,  ///< names a filter, a diff driver or a merge driver
  program,         ///< in ".local/bin", which comes first in PATH, or named by git's configuration
  environment,     ///< what a shell takes up in the folder: direnv, mise, asdf
  editor,          ///< tasks and settings of an editor
  agent,           ///< configuration or instructions of another agent
  hook_runner,     ///< ".husky", lefthook, pre-commit
  tool,            ///< settings of a tool that name what it starts or loads: ".npmrc", ".cargo"
  link_out,        ///< a link that leads out of the workspace
  set_id,          ///< a file that runs as its owner or group
  socket,
  fifo,
  device,
};

[[nodiscard]] constexpr std::string_view name_of(host_run_kind value) noexcept {
  switch (value) {
    case host_run_kind::git_hook:
      return "git_hook";
    case host_run_kind::git_sequence:
      return "git_sequence";
    case host_run_kind::git_config:
      return "git_config";
    case host_run_kind::git_repository:
      return "git_repository";
    case host_run_kind::git_file:
      return "git_file";
    case host_run_kind::git_link:
      return "git_link";
    case host_run_kind::git_attributes:
      return "git_attributes";
    case host_run_kind::program:
      return "program";
    case host_run_kind::environment:
      return "environment";
    case host_run_kind::editor:
      return "editor";
    case host_run_kind::agent:
      return "agent";
    case host_run_kind::hook_runner:
      return "hook_runner";
    case host_run_kind::tool:
      return "tool";
    case host_run_kind::link_out:
      return "link_out";
    case host_run_kind::set_id:
      return "set_id";
    case host_run_kind::socket:
      return "socket";
    case host_run_kind::fifo:
      return "fifo";
    case host_run_kind::device:
      return "device";
  }
  return "device";
}

/// One file. `path` is relative to the workspace, in the bytes that the file system has; `detail`
/// says more where there is more: the settings that count, where a link leads.
struct host_run_file_found {
  std::string path;
  host_run_kind kind;
  std::string detail;

  friend bool operator==(const host_run_file_found&, const host_run_file_found&) = default;
};

/// Why a walk did not see everything.
enum class walk_end_reason : std::uint8_t {
  seen_all,
  budget,      ///< more entries than the budget
  unreadable,  ///< a directory, or git's index, could not be opened or read
};

[[nodiscard]] constexpr std::string_view name_of(walk_end_reason value) noexcept {
  switch (value) {
    case walk_end_reason::seen_all:
      return "seen_all";
    case walk_end_reason::budget:
      return "budget";
    case walk_end_reason::unreadable:
      return "unreadable";
  }
  return "unreadable";
}

/// What one walk after the end found, by change time (st_ctime at or after the start: nothing inside
/// can set it back). Directories that the workspace's .gitignore named plainly when the run started
/// are left out, but for repositories in them that git's index has, and so is harness state.
struct host_run_report {
  std::vector<host_run_file_found> found;
  std::size_t more{0};  ///< found and not listed: the list is cut at `most_found`
  std::size_t entries{0};
  walk_end_reason ended{walk_end_reason::seen_all};

  static constexpr std::size_t most_found = 200;
};

}  // namespace pinfold
