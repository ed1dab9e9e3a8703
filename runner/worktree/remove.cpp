#include "worktree/remove.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

#include "git/discover.hpp"
#include "git/run_git.hpp"
#include "git/view.hpp"
#include "launch/random_digits.hpp"
#include "worktree/inspect.hpp"
#include "worktree/place.hpp"
#include "worktree/tree.hpp"

namespace pinfold {
namespace {

std::unexpected<refusal> failed(const std::string& path, int error) {
  return std::unexpected{worktree_refusal(code::input_output_error, operation::remove, path,
                                          std::strerror(error))};
}

bool is_there(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}

int move(const std::string& from, const std::string& to) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0
                                                                                          : errno;
}

}  // namespace

void mark_admin(const worktree_record& record, own_mark wanted) {
  const auto lock = record.admin_dir() + "/locked";
  const bool is_ours = line_of_file(lock) + "\n" == own_lock_text;
  if (wanted == own_mark::absent && is_ours) ::unlink(lock.c_str());
  if (wanted == own_mark::present && is_there(record.admin_dir()) && !is_there(lock)) {
    (void)replace_file(lock, own_lock_text);
  }
}

std::expected<void, refusal> put_back(const worktree_files& files, const worktree_record& record) {
  if (!is_there(files.checking())) return {};
  if (const int wrong = move(files.checking(), record.about.path)) {
    return failed(record.about.path, wrong);
  }
  return {};
}

std::expected<std::optional<std::string>, refusal> remove_working_tree(
    const worktree_files& files, const worktree_record& record, timespec moment) {
  if (auto done = remove_tree(files.removing()); !done) return failed(files.removing(), done.error());
  if (auto done = remove_tree(files.making()); !done) return failed(files.making(), done.error());
  if (!is_there(record.about.path)) return std::nullopt;
  mark_admin(record, own_mark::present);
  if (const int wrong = move(record.about.path, files.checking())) {
    return failed(record.about.path, wrong);
  }
  const descriptor tree{
      ::open(files.checking().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  auto change = tree ? first_change(tree.get(), moment) : std::string{"."};
  if (!change.empty()) {
    if (auto back = put_back(files, record); !back) return std::unexpected{std::move(back.error())};
    mark_admin(record, own_mark::absent);
    return change;
  }
  if (const int wrong = move(files.checking(), files.removing())) {
    return failed(files.checking(), wrong);
  }
  const auto done = remove_tree(files.removing(), moment);
  if (done) return std::nullopt;
  // Somebody wrote into it even now. What is there is more than what git has, so it is shown again.
  if (const int wrong = move(files.removing(), record.about.path)) {
    return failed(files.removing(), wrong);
  }
  mark_admin(record, own_mark::absent);
  return "something in it, after other files were removed (" + std::string{std::strerror(done.error())} +
         "; git checkout . brings those back)";
}

bool may_remove_admin(const worktree_record& record) {
  const auto admin = record.admin_dir();
  if (!is_there(admin)) return true;
  const descriptor held{::open(admin.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!held) return false;
  if (is_there(admin + "/gitdir")) {
    return line_of_file(admin + "/gitdir") == record.about.path + "/.git";
  }
  return line_of_file(admin + "/locked") + "\n" == own_lock_text || names_in(held.get()).empty();
}

/// The runner's own lock is there until nothing else is: it says whose the rest is.
std::expected<void, refusal> remove_admin(const worktree_record& record) {
  const auto admin = record.admin_dir();
  if (!is_there(admin)) return {};
  if (!may_remove_admin(record)) {
    return std::unexpected{worktree_refusal(code::permission_denied, operation::remove, admin,
                                            "it is not of this worktree")};
  }
  const descriptor held{::open(admin.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!held) return failed(admin, errno);
  if (auto put = replace_file(admin + "/locked", own_lock_text); !put) {
    return failed(admin + "/locked", put.error());
  }
  // Without it git takes the rest for no worktree at all, so that goes first.
  ::unlinkat(held.get(), "gitdir", 0);
  for (const auto& name : names_in(held.get())) {
    if (name == "locked") continue;
    if (auto done = remove_tree(held.get(), name); !done) return failed(admin, done.error());
  }
  if (auto done = remove_tree(admin); !done) return failed(admin, done.error());
  return {};
}

std::expected<void, refusal> remove_branch(const std::string& git, const worktree_files& files,
                                           const worktree_record& record, const std::string& tip,
                                           int held) {
  git_call call;
  call.git_dir = files.view();
  call.access = git_access::writes;
  call.words = {"rev-parse", "--quiet", "--verify", record.branch_ref()};
  const auto there = run_git(git, call);
  if (!there) return std::unexpected{there.error()};
  if (!there->has_succeeded()) return {};
  call.words = {"update-ref", "-d", record.branch_ref(), tip};
  const auto done = run_git_to_its_end(git, call, held);
  if (!done) return std::unexpected{done.error()};
  if (done->has_succeeded()) return {};
  return std::unexpected{git_refusal(record.about.branch, "removing the branch", *done)};
}

std::expected<void, refusal> remove_folder(const worktree_files& files) {
  const auto gone = std::string{parent_of(files.folder)} + "/" + std::string{gone_prefix} +
                    files.folder.substr(files.folder.rfind('/') + 1) + "-" + random_digits();
  if (const int wrong = move(files.folder, gone)) return failed(files.folder, wrong);
  if (auto done = remove_tree(gone); !done) return failed(gone, done.error());
  return {};
}

}  // namespace pinfold
