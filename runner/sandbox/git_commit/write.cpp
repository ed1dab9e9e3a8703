// The repository is written to through a view of it, so that nothing of its configuration counts.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "git/view.hpp"
#include "sandbox/git_commit/importing.hpp"

namespace pinfold {

importing::step importing::write() {
  git_format format;
  format.object_format = ground_.format;
  auto made = make_git_view(place("view"), ground_.worktree.common, format, ground_.tip);
  if (made) made = check_no_links(ground_.worktree.common, ground_.branch);
  if (!made) return fail(made.error().message());
  if (pack_.empty()) return {};
  const descriptor file{::open((pack_ + ".pack").c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return fail(words_of(errno));
  auto call = call_in("view", {"index-pack", "--stdin", "--keep=pinfold"});
  call.input = file.get();
  call.access = git_access::writes;
  auto answer = started(call);
  if (!answer) return std::unexpected{std::move(answer.error())};
  if (!answer->has_succeeded()) return fail(said("writing the objects", *answer));
  const auto line = answer->line();  // "keep", a tab, the pack's name
  constexpr std::string_view kept = "keep\t";
  if (line.starts_with(kept) && is_object_name(line.substr(kept.size()), ground_.format)) {
    keep_file_ = ground_.worktree.common + "/objects/pack/pack-" +
                 std::string{line.substr(kept.size())} + ".keep";
  }
  return {};
}

importing::step importing::move_branch() {
  auto call = call_in("view", {"update-ref", "--no-deref", "-m", "pinfold: commits of a command",
                               ground_.branch, report_.after, ground_.tip});
  call.access = git_access::writes;
  call.cancelled = {-1, -1};  // a lock of a git that was ended would stay; it takes no time
  auto answer = started(call);
  if (!keep_file_.empty()) ::unlink(keep_file_.c_str());
  if (!answer) return std::unexpected{std::move(answer.error())};
  return answer->has_succeeded() ? step{} : fail(said("moving the branch", *answer));
}

/// No reason to keep the copies: the commits are in.
importing::step importing::move_index() {
  const auto index = ground_.worktree.gitdir + "/index";
  if (!copies_.has_same_index(ground_)) {
    report_.reason = "the worktree's index was changed meanwhile and is left as it is";
    return {};
  }
  auto call = call_in("view", {"read-tree", "--reset", "-i", report_.after});
  call.access = git_access::writes;
  call.environment.push_back("GIT_INDEX_FILE=" + index);
  call.cancelled = {-1, -1};
  const auto answer = started(call);
  if (!answer || !answer->has_succeeded()) {
    report_.reason = answer ? said("the worktree's index is not up to date (git reset)", *answer)
                            : answer.error().reason;
  }
  return {};
}

}  // namespace pinfold
