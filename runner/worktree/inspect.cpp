#include "worktree/inspect.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/disk/kernel.hpp>

#include "git/discover.hpp"
#include "git/git_index.hpp"
#include "git/run_git.hpp"
#include "git/view.hpp"
#include "worktree/remove.hpp"
#include "worktree/tree.hpp"
#include "worktree/unseen.hpp"

namespace pinfold {
namespace {

bool is_there(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}

/// What git leaves in its own directory of a worktree while a person has to go on.
struct half_done {
  const char* name;
  std::string_view what;
};
constexpr std::array under_way{
    half_done{"MERGE_HEAD", "a merge"},           half_done{"CHERRY_PICK_HEAD", "a cherry-pick"},
    half_done{"REVERT_HEAD", "a revert"},         half_done{"rebase-merge", "a rebase"},
    half_done{"rebase-apply", "a rebase"},        half_done{"sequencer", "a sequence of commits"},
    half_done{"BISECT_LOG", "a bisection"},
};

class inspector {
 public:
  inspector(const std::string& git, const worktree_files& files, const worktree_record& record)
      : git_{git}, files_{files}, record_{record} {}

  inspection run(inspected_part part) {
    ::unlink((files_.view() + "/index.lock").c_str());  // of a git that was killed; nobody else is here
    found_.tip = record_.about.base;
    found_.has_repository =
        is_there(record_.common_dir + "/objects") && is_there(files_.view() + "/HEAD");
    if (found_.has_repository) {
      if (auto why = why_view_distrusted(files_.view(), record_.common_dir); !why.empty()) {
        found_.has_repository = false;  // no git is started in it
        add("git is not asked: " + std::move(why));
        return std::move(found_);
      }
      if (!may_remove_admin(record_)) add(record_.admin_dir() + " is not of this worktree");
    }
    if (part == inspected_part::branch) {
      if (found_.has_repository) (void)find_tip();
      return std::move(found_);
    }
    if (!found_.has_repository) {
      add("its repository is gone: " + record_.common_dir);
      return std::move(found_);
    }
    look_at_git_file();
    look_at_admin();
    if (find_tip() && take_tip()) {
      look_at_status();
      look_at_the_unseen();
      look_at_submodules();
      look_at_stage();
    }
    return std::move(found_);
  }

 private:
  void add(std::string reason) {
    if (found_.reasons.size() < finished_worktree::most_reasons) {
      found_.reasons.push_back(std::move(reason));
    } else {
      ++found_.more;
    }
  }

  void look_at_git_file() {
    if (line_of_file(record_.about.path + "/.git") == record_.git_file()) return;
    add("its file .git is not what was made");
  }

  void look_at_admin() {
    const auto admin = record_.admin_dir();
    if (!is_there(admin)) return;
    for (const auto& one : under_way) {
      if (is_there(admin + "/" + one.name)) add(std::string{one.what} + " is under way in it");
    }
    const auto head = line_of_file(admin + "/HEAD");
    if (head != "ref: " + record_.branch_ref()) {
      add("its HEAD is not on its branch but on " + (head.empty() ? "nothing" : head));
    }
    const auto lock = admin + "/locked";
    if (is_there(lock) && line_of_file(lock) + "\n" != own_lock_text) {
      add("a person locked it (git worktree lock)");
    }
  }

  git_call call(std::vector<std::string> words, git_access access = git_access::reads) const {
    git_call one;
    one.git_dir = files_.view();
    one.work_tree = record_.about.path;
    one.words = std::move(words);
    one.access = access;
    return one;
  }

  /// Where git cannot say, what it was asked for is taken to be there.
  std::expected<git_answer, refusal> ask(const git_call& one, std::string_view wanted) {
    auto answer = run_git(git_, one);
    if (!answer) add(answer.error().message());
    if (!answer || answer->has_succeeded()) return answer;
    auto why = git_refusal(record_.about.path, wanted, *answer);
    add("git could not say: " + why.detail);
    return std::unexpected{std::move(why)};
  }

  bool find_tip() {
    auto one = call({"rev-parse", "--quiet", "--verify", record_.branch_ref() + "^{commit}"});
    one.work_tree.clear();
    const auto answer = run_git(git_, one);
    if (answer && answer->has_succeeded()) found_.tip = answer->line();
    if (!answer) add(answer.error().message());
    return answer.has_value();
  }

  /// The index is taken from the base to the branch's tip; what stays the same need not be read again.
  bool take_tip() {
    if (found_.tip == line_of_file(files_.view() + "/HEAD")) return true;
    const auto moved = ask(call({"read-tree", "-m", "-i", found_.tip}, git_access::writes),
                           "reading what its branch holds");
    if (!moved) return false;
    if (auto set = set_view_head(files_.view(), found_.tip); !set) {
      add(set.error().message());
      return false;
    }
    return true;
  }

  void look_at_status() {
    const auto answer =
        ask(call({"status", "--porcelain", "--ignored=no", "--untracked-files=normal",
                  "--ignore-submodules=all", "--no-renames"}),
            "asking for its status");
    if (!answer) return;
    std::string_view text = answer->line();
    while (!text.empty()) {
      const auto end = text.find('\n');
      add(std::string{text.substr(0, end)});
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    if (answer->out.clipped()) add("and more that git shows");
  }

  void look_at_the_unseen() {
    auto reasons = unseen_by_git(git_, files_, record_);
    if (!reasons) return add("git could not say: " + reasons.error().detail);
    for (auto& one : *reasons) add(std::move(one));
  }

  /// No git is started in one: what lies there has a configuration of its own.
  void look_at_submodules() {
    const descriptor index{::open((files_.view() + "/index").c_str(), O_RDONLY | O_CLOEXEC)};
    const auto links = index ? gitlinks_of(index.get()) : std::unexpected{index_error::unreadable};
    if (!links) return add("its submodules could not be listed");
    if (links->empty()) return;
    const descriptor top{
        ::open(record_.about.path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    for (const auto& path : *links) {
      const int opened = beneath::open_below(beneath::lookup::openat2, top.get(), path.c_str(),
                                             {.flags = O_RDONLY | O_DIRECTORY});
      if (opened == -ENOENT) continue;
      const descriptor directory{opened < 0 ? -1 : opened};
      if (!directory || !names_in(directory.get()).empty()) {
        add("the submodule " + path + " holds something");
      }
    }
  }

  /// By the index that commands and people use, which may hold what no file holds any more. One that
  /// is still that of the base, while commits came to the branch in another way, holds nothing.
  void look_at_stage() {
    const auto index = record_.admin_dir() + "/index";
    if (!is_there(index) || has_same_bytes(index, files_.view() + "/index")) return;
    if (is_staged_beyond(index, found_.tip) && is_staged_beyond(index, record_.about.base)) {
      add("something is staged that its branch does not have");
    }
  }

  bool is_staged_beyond(const std::string& index, const std::string& commit) {
    auto one = call({"diff-index", "--cached", "--quiet", "--no-ext-diff", "--no-textconv",
                     "--ignore-submodules=none", commit, "--"});
    one.environment = {"GIT_INDEX_FILE=" + index};
    const auto answer = run_git(git_, one);
    return !answer || !answer->has_succeeded();
  }

  static bool has_same_bytes(const std::string& one, const std::string& other) {
    const descriptor a{::open(one.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    const descriptor b{::open(other.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!a || !b) return false;
    std::array<char, std::size_t{64} << 10> left{};
    std::array<char, std::size_t{64} << 10> right{};
    for (;;) {
      const auto got = ::read(a.get(), left.data(), left.size());
      if (got < 0 || got != ::read(b.get(), right.data(), right.size())) return false;
      if (got == 0) return true;
      const auto size = static_cast<std::size_t>(got);
      if (std::string_view{left.data(), size} != std::string_view{right.data(), size}) return false;
    }
  }

  const std::string& git_;
  const worktree_files& files_;
  const worktree_record& record_;
  inspection found_;
};

}  // namespace

inspection inspect_worktree(const std::string& git, const worktree_files& files,
                            const worktree_record& record, inspected_part part) {
  return inspector{git, files, record}.run(part);
}

std::expected<std::uint64_t, refusal> commits_beyond_parent(const std::string& git,
                                                            const worktree_files& files,
                                                            const worktree_record& record,
                                                            const std::string& tip) {
  git_call call;
  call.git_dir = files.view();
  auto known = record.about.base;
  if (!record.about.parent_branch.empty()) {
    call.words = {"rev-parse", "--quiet", "--verify", record.about.parent_branch + "^{commit}"};
    const auto answer = run_git(git, call);
    if (!answer) return std::unexpected{answer.error()};
    if (answer->has_succeeded()) known = answer->line();
  }
  call.words = {"rev-list", "--count", tip, "--not", known};
  const auto answer =
      run_git_or_refuse(git, call, record.about.parent, "counting the commits of its branch");
  if (!answer) return std::unexpected{answer.error()};
  std::uint64_t count = 0;
  const auto text = answer->line();
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return count;
  return std::unexpected{git_refusal(record.about.parent, "counting the commits", *answer)};
}

}  // namespace pinfold
