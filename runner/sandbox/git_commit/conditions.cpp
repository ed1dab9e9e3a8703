// The repository is the caller's and no command has written to it: what it says counts.
#include "sandbox/git_commit/conditions.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "sandbox/git_config.hpp"
#include "sandbox/git_state/ground.hpp"

namespace pinfold {
namespace {

using check = std::expected<void, refusal>;

std::unexpected<refusal> refused(code error, std::string path, std::string why) {
  return std::unexpected{refusal{.error = error,
                                 .op = operation::execute,
                                 .path = std::move(path),
                                 .resolved = {},
                                 .boundary = "--git-commit",
                                 .detail = std::move(why)}};
}

bool is_there(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}

bool is_true(std::string_view value) {
  return value.empty() || value == "true" || value == "yes" || value == "on" || value == "1";
}

/// What git leaves in a worktree's directory while something is under way.
constexpr std::array<const char*, 7> under_way{"MERGE_HEAD",   "CHERRY_PICK_HEAD", "REVERT_HEAD",
                                               "rebase-merge", "rebase-apply",     "sequencer",
                                               "BISECT_LOG"};

class conditions {
 public:
  conditions(const git_ground& ground, const linked_worktree& worktree)
      : ground_{ground}, found_{worktree, {}, {}, {}, "sha1"} {}

  std::expected<commit_ground, refusal> run() {
    for (const auto next : {&conditions::check_kind, &conditions::check_owner,
                            &conditions::check_settings, &conditions::check_parts,
                            &conditions::find_branch, &conditions::check_rest,
                            &conditions::find_tip, &conditions::find_base}) {
      if (auto done = (this->*next)(); !done) return std::unexpected{std::move(done.error())};
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const std::string& common() const { return found_.worktree.common; }
  [[nodiscard]] const std::string& gitdir() const { return found_.worktree.gitdir; }

  std::expected<std::string, refusal> text(const std::string& path) const {
    auto read = text_of(ground_, path);
    if (!read) return std::unexpected{std::move(read.error())};
    return read->value_or("");
  }

  check check_kind() {
    if (found_.worktree.is_worktree) return {};
    return refused(code::invalid_argument, ground_.workspace,
                   "commits are made in a linked worktree (git worktree add), and this is a "
                   "submodule's checkout");
  }

  check check_owner() {
    for (const auto& path : {common(), gitdir(), common() + "/objects", common() + "/refs"}) {
      struct stat about {};
      if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
        return refused(code::not_enforceable, path, "it is a link or no directory");
      }
      if (about.st_uid != ::geteuid()) {
        return refused(code::permission_denied, path,
                       "another user owns the repository: commits would leave files in it that "
                       "are not that user's");
      }
    }
    return {};
  }

  check check_settings() {
    for (const auto& path : {common() + "/config", gitdir() + "/config.worktree"}) {
      auto read = text(path);
      if (!read) return std::unexpected{std::move(read.error())};
      for (const auto& setting : parse_git_config(*read)) {
        if (auto done = check_setting(setting, path); !done) return done;
      }
    }
    return {};
  }

  check check_setting(const git_setting& setting, const std::string& path) {
    if (setting.section == "core" && setting.key == "sparsecheckout" && is_true(setting.value)) {
      return refused(code::not_enforceable, path,
                     "a sparse checkout: its index could not be brought up to date for sure");
    }
    if (setting.section != "extensions") return {};
    if (setting.key == "objectformat" && (setting.value == "sha1" || setting.value == "sha256")) {
      found_.format = setting.value;
      return {};
    }
    const bool is_files = setting.key == "refstorage" && setting.value == "files";
    if (is_files || setting.key == "worktreeconfig" || setting.key == "noop") return {};
    return refused(code::not_enforceable, path,
                   "extensions." + setting.key + ": commits are not imported into such a repository");
  }

  check check_parts() {
    if (is_there(common() + "/objects/info/alternates")) {
      return refused(code::not_enforceable, common() + "/objects/info/alternates",
                     "the repository borrows objects from another one");
    }
    if (is_there(gitdir() + "/modules")) {
      return refused(code::not_enforceable, gitdir() + "/modules",
                     "submodules are checked out in it: their commits would be lost");
    }
    if (is_there(common() + "/lfs/objects")) {
      return refused(code::not_enforceable, common() + "/lfs/objects",
                     "it has files in LFS: a commit inside would hold them whole");
    }
    if (common().contains('\n')) {
      return refused(code::not_enforceable, common(), "a newline in its path");
    }
    return {};
  }

  check find_branch() {
    auto head = text(gitdir() + "/HEAD");
    if (!head) return std::unexpected{std::move(head.error())};
    constexpr std::string_view before = "ref: refs/heads/pinfold/";
    constexpr std::string_view after = "/work";
    std::string_view named = path_in(*head);
    const bool is_one = named.starts_with(before) && named.ends_with(after) &&
                        named.size() > before.size() + after.size();
    const auto name = is_one ? named.substr(before.size(), named.size() - before.size() - after.size())
                             : std::string_view{};
    if (name.empty() || name.starts_with('.') || name.find_first_of("/\n\t\0") != name.npos) {
      return refused(code::invalid_argument, gitdir() + "/HEAD",
                     "the worktree is on no branch pinfold/NAME/work, the only kind that a command "
                     "may move (git worktree add -b pinfold/NAME/work)");
    }
    found_.branch = named.substr(std::string_view{"ref: "}.size());
    return {};
  }

  check check_rest() {
    for (const auto* name : under_way) {
      if (!is_there(gitdir() + "/" + name)) continue;
      return refused(code::not_enforceable, gitdir() + "/" + name,
                     "something is under way in the worktree (a merge, a rebase): finish or abort "
                     "it first");
    }
    return {};
  }

  check find_tip() {
    auto loose = text(common() + "/" + found_.branch);
    if (!loose) return std::unexpected{std::move(loose.error())};
    found_.tip = path_in(*loose);
    if (loose->empty()) {
      auto packed = text(common() + "/packed-refs");
      if (!packed) return std::unexpected{std::move(packed.error())};
      const auto at = packed->find(" " + found_.branch + "\n");
      const auto line = at == std::string::npos ? 0 : packed->rfind('\n', at) + 1;
      if (at != std::string::npos) found_.tip = packed->substr(line, at - line);
    }
    if (is_object_name(found_.tip, found_.format)) return {};
    return refused(code::not_enforceable, common() + "/" + found_.branch,
                   "the branch names no commit");
  }

  /// OLD NEW WHO\tWHAT: what the first line made of it (gitrepository-layout(5), logs).
  check find_base() {
    auto log = text(common() + "/logs/" + found_.branch);
    if (!log) return std::unexpected{std::move(log.error())};
    const std::string_view line = std::string_view{*log}.substr(0, log->find('\n'));
    const auto space = line.find(' ');
    const auto made = space == line.npos ? std::string_view{} : line.substr(space + 1);
    const auto first = made.substr(0, made.find(' '));
    const bool was_made = line.find_first_not_of('0') == space;
    found_.base = was_made && is_object_name(first, found_.format) ? std::string{first} : found_.tip;
    return {};
  }

  const git_ground& ground_;
  commit_ground found_;
};

}  // namespace

bool is_object_name(std::string_view text, std::string_view format) {
  const std::size_t length = format == "sha256" ? 64 : 40;
  return text.size() == length &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::expected<commit_ground, refusal> commit_ground_of(const std::string& workspace, int directory,
                                                       const linked_worktree& worktree) {
  constexpr std::size_t most = std::size_t{64} << 20;  // packed-refs and logs grow
  git_budget budget{{.bytes = 4 * most, .file_bytes = most}};
  const git_ground ground{workspace, directory, budget};
  return conditions{ground, worktree}.run();
}

}  // namespace pinfold
