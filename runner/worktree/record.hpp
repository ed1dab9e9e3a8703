// The runner's own record of a worktree, and the names of all files that belong to one. It lies beside
// the working tree, where no command that runs in it can write.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pinfold/runner/worktree.hpp>

namespace pinfold {

struct worktree_record {
  worktree about;
  std::string common_dir;  ///< of the parent's repository

  /// What git keeps of a linked worktree (gitrepository-layout(5), "worktrees/<id>").
  [[nodiscard]] std::string admin_dir() const {
    return common_dir + "/worktrees/pinfold-" + about.name;
  }
  [[nodiscard]] std::string branch_ref() const { return "refs/heads/" + about.branch; }
  /// All of the file `.git` in the working tree.
  [[nodiscard]] std::string git_file() const { return "gitdir: " + admin_dir(); }
};

/// One "key value" a line. No value holds a newline: `create` refuses such paths.
[[nodiscard]] std::string text_of(const worktree_record& record);

/// Nothing for a text that lacks a key.
[[nodiscard]] std::optional<worktree_record> parse_worktree_record(std::string_view text);

/// The files of one worktree: `folder` holds the working tree and, in `.pinfold`, everything else.
struct worktree_files {
  std::string folder;

  [[nodiscard]] std::string own() const { return folder + "/.pinfold"; }
  [[nodiscard]] std::string record() const { return own() + "/record"; }
  /// The record of a create that is under way, or was killed.
  [[nodiscard]] std::string draft() const { return own() + "/draft"; }
  [[nodiscard]] std::string view() const { return own() + "/view"; }
  /// A working tree that is not complete yet; nobody was told of it.
  [[nodiscard]] std::string making() const { return own() + "/making"; }
  /// One that was found clean and is looked through for later changes; it is complete.
  [[nodiscard]] std::string checking() const { return own() + "/checking"; }
  /// One that nothing is lost with; parts of it may be gone.
  [[nodiscard]] std::string removing() const { return own() + "/removing"; }
};

struct known_worktree {
  worktree_record record;
  bool is_complete{false};  ///< its create came to its end
};

/// The record, or else the draft. Nothing where neither is there, one is damaged, or it says what does
/// not follow from where it lies: its name is that of the folder, its branch and its tree are named
/// after that, its repository is the one that the folder above is named after.
[[nodiscard]] std::optional<known_worktree> read_worktree_record(const worktree_files& files);

/// A path for a shell: in single quotes where it needs them.
[[nodiscard]] std::string quoted_for_a_shell(std::string_view word);

}  // namespace pinfold
