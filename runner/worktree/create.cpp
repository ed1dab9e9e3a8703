// Making a worktree. What takes time happens in the runner's own place; what is seen in the parent's
// repository is made last, and each thing so that a kill behind it leaves what git takes for whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>
#include <pinfold/runner/worktree.hpp>

#include "git/discover.hpp"
#include "git/run_git.hpp"
#include "git/view.hpp"
#include "launch/random_digits.hpp"
#include "worktree/inspect.hpp"
#include "worktree/place.hpp"
#include "worktree/record.hpp"
#include "worktree/remove.hpp"
#include "worktree/tree.hpp"

namespace pinfold {
namespace {

using step = std::expected<void, refusal>;

std::unexpected<refusal> refused(code error, std::string path, std::string why) {
  return std::unexpected{
      worktree_refusal(error, operation::make_directory, std::move(path), std::move(why))};
}

step make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return {};
  return refused(errno == EEXIST ? code::already_exists : code::permission_denied, path,
                 std::strerror(errno));
}

step write_file(const std::string& path, std::string_view text) {
  auto put = replace_file(path, text);
  if (put) return {};
  return refused(code::permission_denied, path, std::strerror(put.error()));
}

/// One create under way. Unless it came to its end, all that it made is taken back.
class new_worktree {
 public:
  new_worktree(const std::string& git, worktree_record record, discovered_repository parent,
           std::string folder)
      : git_{git},
        record_{std::move(record)},
        parent_{std::move(parent)},
        repository_folder_{std::move(folder)},
        files_{repository_folder_ + "/" + record_.about.name} {}
  new_worktree(const new_worktree&) = delete;
  new_worktree& operator=(const new_worktree&) = delete;
  ~new_worktree() {
    if (!is_complete_) take_back();
  }

  std::expected<worktree, refusal> run() {
    for (const auto next : {&new_worktree::claim_name, &new_worktree::open_view, &new_worktree::make_branch,
                            &new_worktree::check_out, &new_worktree::show_tree, &new_worktree::tell_git,
                            &new_worktree::complete}) {
      if (auto done = (this->*next)(); !done) return std::unexpected{std::move(done.error())};
    }
    return record_.about;
  }

 private:
  /// The folder appears under its name with a record in it and locked, in one step as others see it.
  step claim_name() {
    const worktree_files fresh{repository_folder_ + "/" + std::string{new_prefix} +
                               record_.about.name + "-" + random_digits()};
    if (auto made = make_directory(fresh.folder, S_IRWXU); !made) return made;
    auto lock = lock_directory(fresh.folder);
    if (lock) lock_ = std::move(*lock);
    auto filled = make_directory(fresh.own(), S_IRWXU);
    if (filled) filled = write_file(fresh.draft(), text_of(record_));
    const bool is_ours = lock && filled &&
                         ::renameat2(AT_FDCWD, fresh.folder.c_str(), AT_FDCWD,
                                     files_.folder.c_str(), RENAME_NOREPLACE) == 0;
    if (is_ours) {
      has_folder_ = true;
      return {};
    }
    const int error = errno;
    (void)remove_tree(fresh.folder);
    if (!filled) return filled;
    return refused(lock && error == EEXIST ? code::already_exists : code::permission_denied,
                   files_.folder,
                   error == EEXIST ? "there is a worktree of this name; finish it, or take another"
                                   : std::strerror(lock ? error : lock.error()));
  }

  step open_view() {
    auto made = make_git_view(files_.view(), parent_.common_dir, parent_.format, parent_.head);
    if (!made) return made;
    const auto head = run_git(git_, view_call({"rev-parse", "--quiet", "--verify", "HEAD^{commit}"}));
    if (!head) return std::unexpected{head.error()};
    if (!head->has_succeeded()) {
      return refused(code::no_repository, parent_.top, "its HEAD is no commit; make a first one");
    }
    record_.about.base = head->line();
    if (auto written = write_file(files_.draft(), text_of(record_)); !written) return written;
    return set_view_head(files_.view(), record_.about.base);
  }

  /// git makes it only where there is none, whoever else tries to at the same time.
  step make_branch() {
    auto call = view_call({"update-ref", "-m", "pinfold: a worktree from " + record_.about.base,
                           record_.branch_ref(), record_.about.base, ""});
    call.access = git_access::writes;
    const auto made = run_git_to_its_end(git_, call, lock_.get());
    if (!made) return std::unexpected{made.error()};
    has_branch_ = made->has_succeeded();
    if (has_branch_) return {};
    auto why = git_refusal(record_.about.branch, "making the branch", *made);
    why.op = operation::make_directory;
    const bool exists = why.detail.find("exists") != std::string::npos;
    if (exists) why.error = code::already_exists;
    return std::unexpected{std::move(why)};
  }

  step check_out() {
    if (auto made = make_directory(files_.making(), 0777); !made) return made;
    auto call = view_call({"read-tree", "-m", "-u", record_.about.base});
    call.work_tree = files_.making();
    call.access = git_access::writes;
    const auto done = run_git_or_refuse(git_, call, parent_.top, "writing the files of its commit");
    if (!done) return std::unexpected{done.error()};
    return write_file(files_.making() + "/.git", record_.git_file() + "\n");
  }

  step show_tree() {
    if (::renameat2(AT_FDCWD, files_.making().c_str(), AT_FDCWD, record_.about.path.c_str(),
                    RENAME_NOREPLACE) == 0) {
      return {};
    }
    return refused(code::input_output_error, record_.about.path, std::strerror(errno));
  }

  /// Locked from its first moment, so that nobody's `git worktree prune` takes it half made; `gitdir`
  /// comes last, since without that git takes it for none.
  step tell_git() {
    const auto admin = record_.admin_dir();
    ::mkdir((parent_.common_dir + "/worktrees").c_str(), 0777);
    if (auto made = make_directory(admin, 0777); !made) return made;
    has_admin_ = true;
    for (const auto& [name, text] : {std::pair<const char*, std::string>{"/locked", own_lock_text},
                                     {"/HEAD", "ref: " + record_.branch_ref() + "\n"},
                                     {"/commondir", "../..\n"}}) {
      if (auto put = write_file(admin + name, text); !put) return put;
    }
    if (auto put = copy_index(admin + "/index"); !put) return put;
    if (auto put = write_file(admin + "/gitdir", record_.about.path + "/.git\n"); !put) return put;
    mark_admin(record_, own_mark::absent);
    return {};
  }

  /// As a whole or not at all: a part of an index would be taken for something that was staged.
  step copy_index(const std::string& target) {
    std::ifstream index{files_.view() + "/index", std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{index}, {}};
    if (!index || bytes.empty()) {
      return refused(code::input_output_error, target, "it could not be copied");
    }
    return write_file(target, bytes);
  }

  step complete() {
    if (::rename(files_.draft().c_str(), files_.record().c_str()) != 0) {
      return refused(code::input_output_error, files_.record(), std::strerror(errno));
    }
    is_complete_ = true;
    return {};
  }

  git_call view_call(std::vector<std::string> words) const {
    git_call call;
    call.git_dir = files_.view();
    call.words = std::move(words);
    return call;
  }

  /// Nobody was told of any of it. What cannot be taken back stays with its draft, and is listed.
  void take_back() {
    if (!has_folder_) return;
    if (has_admin_ && !remove_admin(record_)) return;
    if (has_branch_ && !remove_branch(git_, files_, record_, record_.about.base, lock_.get())) return;
    (void)remove_folder(files_);
  }

  const std::string& git_;
  worktree_record record_;
  discovered_repository parent_;
  std::string repository_folder_;
  worktree_files files_;
  descriptor lock_;
  bool has_folder_{false};
  bool has_branch_{false};
  bool has_admin_{false};
  bool is_complete_{false};
};

std::expected<std::string, refusal> name_for(const worktree_request& request) {
  auto name = request.name.empty() ? "wt-" + random_digits() : request.name;
  if (is_worktree_name(name)) return name;
  return refused(code::invalid_argument, std::move(name),
                 "a worktree's name has letters, digits, '.', '_' and '-', 64 at most, begins with a "
                 "letter or a digit, and does not end in '.' or \".lock\"");
}

}  // namespace

std::expected<worktree, refusal> worktrees::create(const worktree_request& request) const {
  auto name = name_for(request);
  if (!name) return std::unexpected{std::move(name.error())};
  auto parent = discover_repository(git_, request.repository);
  if (!parent) return std::unexpected{std::move(parent.error())};
  for (const auto& of_parent : {parent->top, parent->common_dir, parent->git_dir}) {
    if (!contains(of_parent, place_)) continue;
    return refused(code::invalid_argument, place_,
                   "it lies in the parent's own working tree or repository, " + of_parent +
                       "; set XDG_STATE_HOME to a place outside");
  }
  const auto folder = place_ + "/" + repository_folder_of(parent->common_dir);
  worktree_record record;
  record.about.name = *name;
  record.about.path = folder + "/" + *name + "/" + tree_name_of(parent->top);
  record.about.branch = "pinfold/" + *name + "/work";
  record.about.parent = parent->top;
  record.about.parent_branch = branch_in_head(parent->head);
  record.common_dir = parent->common_dir;
  if (auto plain = check_no_links(record.common_dir, record.branch_ref()); !plain) {
    return std::unexpected{std::move(plain.error())};
  }
  if (auto made = make_worktree_place(place_, folder); !made) {
    return std::unexpected{std::move(made.error())};
  }
  sweep_repository_folder(folder);
  return new_worktree{git_, std::move(record), std::move(*parent), folder}.run();
}

}  // namespace pinfold
