// Three git directories of the runner's own: `seen` has the command's objects before the repository's,
// and is believed in nothing; `checked` has the new pack beside the repository's; `view` is the
// repository without its configuration (git/view.hpp).
#include "sandbox/git_commit/import.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "git/run_git.hpp"
#include "git/view.hpp"
#include "launch/memory_file.hpp"
#include "sandbox/git_commit/files.hpp"
#include "sandbox/git_commit/own_repository.hpp"
#include "sandbox/git_commit/sizes.hpp"

namespace pinfold {
namespace {

using clock = std::chrono::steady_clock;

/// Why it goes no further.
struct stop {
  commits_end ended;
  std::string reason;
};

using step = std::expected<void, stop>;

std::unexpected<stop> refuse(std::string why) {
  return std::unexpected{stop{commits_end::refused, std::move(why)}};
}

std::unexpected<stop> fail(std::string why) {
  return std::unexpected{stop{commits_end::failed, std::move(why)}};
}

std::string words_of(int error) {
  return std::strerror(error);
}

class importing {
 public:
  importing(const commit_ground& ground, commit_copies& copies, const import_bounds& most)
      : ground_{ground}, copies_{copies}, most_{most}, until_{clock::now() + most.time} {
    report_.branch = ground.branch.substr(std::string_view{"refs/heads/"}.size());
    report_.before = ground.tip;
  }

  git_commit_report run() {
    auto done = look();
    if (done && report_.after != ground_.tip) done = import_all();
    (void)remove_whole(copies_.directory(), "import");
    if (done) {
      report_.ended = report_.after == ground_.tip ? commits_end::nothing_new : commits_end::imported;
    } else {
      report_.ended = done.error().ended;
      report_.reason = std::move(done.error().reason);
      report_.kept = copies_.path();
      copies_.keep();
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::string place(std::string_view name) const {
    return copies_.path() + "/import/" + std::string{name};
  }

  // What the command left.

  step look() {
    auto open = open_directory(copies_.directory(), "private", absent_directory::is_an_error);
    if (!open) return fail("the private copies: " + words_of(open.error()));
    own_ = std::move(*open);
    if (auto done = look_at_branch(); !done) return done;
    return look_at_head();
  }

  step look_at_branch() {
    const auto refs = open_directory(own_.get(), "refs", absent_directory::is_an_error);
    if (!refs) return refuse("the directory of its refs: " + words_of(refs.error()));
    constexpr std::size_t most = 256;
    const auto text = read_small_file(refs->get(), "work", most);
    if (!text && text.error() == ENOENT) return refuse("the branch was removed");
    if (!text) return refuse("the branch is no plain file of a ref: " + words_of(text.error()));
    const auto name = std::string_view{*text}.substr(0, text->find_last_not_of('\n') + 1);
    if (!is_object_name(name, ground_.format)) return refuse("the branch names no object");
    report_.after = name;
    std::string other;
    const int wrong = for_each_name(refs->get(), [&other](const std::string& one) {
      if (one == "work" || one.ends_with(".lock")) return 0;
      other = one;
      return ECANCELED;
    });
    if (!other.empty()) return refuse("it made other refs beside the branch: " + other);
    return wrong == 0 ? step{} : refuse("the directory of its refs: " + words_of(wrong));
  }

  step look_at_head() {
    const auto gitdir = open_directory(own_.get(), "gitdir", absent_directory::is_an_error);
    if (!gitdir) return refuse("the copy of the worktree: " + words_of(gitdir.error()));
    constexpr std::size_t most = 4096;
    const auto head = read_small_file(gitdir->get(), "HEAD", most);
    if (!head) return refuse("its HEAD: " + words_of(head.error()));
    if (*head == "ref: " + ground_.branch + "\n") return {};
    return refuse("HEAD is not the branch any more (another checkout, or a rebase under way)");
  }

  // From there to the repository.

  step import_all() {
    for (const auto next : {&importing::make_places, &importing::take, &importing::weigh,
                            &importing::pack, &importing::check, &importing::check_base,
                            &importing::write, &importing::move_branch, &importing::move_index}) {
      if (auto done = (this->*next)(); !done) return done;
    }
    return {};
  }

  step make_places() {
    auto git = usable_git();
    if (!git) return fail(git.error().message());
    program_ = std::move(*git);
    if (::mkdirat(copies_.directory(), "import", S_IRWXU) != 0) {
      return fail("a place to import from: " + words_of(errno));
    }
    for (const char* name : {"seen", "checked"}) {
      if (const int wrong = make_own_repository(place(name), ground_); wrong != 0) {
        return fail("a place to import from: " + words_of(wrong));
      }
    }
    const int wrong = borrow_objects(place("checked"), ground_);
    return wrong == 0 ? step{} : fail("a place to import from: " + words_of(wrong));
  }

  step take() {
    const auto from = open_directory(own_.get(), "objects", absent_directory::is_an_error);
    if (!from) return refuse("its objects: " + words_of(from.error()));
    const auto path = place("seen") + "/objects";
    const descriptor to{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!to) return fail(path + ": " + words_of(errno));
    auto packs = take_objects(from->get(), to.get(), ground_.format, most_.taken);
    if (!packs) return refuse(std::move(packs.error()));
    for (const auto& name : *packs) {
      auto made = git("seen", {"index-pack", path + "/pack/" + name});
      if (!made) return std::unexpected{std::move(made.error())};
      if (!made->has_succeeded()) return refuse(said("a pack of its objects", *made));
    }
    return {};
  }

  /// Before anything unpacks one.
  step weigh() {
    object_scale scale{{most_.structure, most_.file, most_.all}};
    git_call call = call_in("seen", {"cat-file", "--batch-all-objects", "--unordered",
                                     "--batch-check=%(objecttype) %(objectsize)"});
    call.on_output = [&scale](std::string_view text) { scale.take(text); };
    auto answer = started(call);
    if (!answer) return std::unexpected{std::move(answer.error())};
    if (!answer->has_succeeded()) return refuse(said("its objects", *answer));
    if (auto why = scale.complaint(); !why.empty()) return refuse(std::move(why));
    const int wrong = borrow_objects(place("seen"), ground_);
    return wrong == 0 ? step{} : fail("a place to import from: " + words_of(wrong));
  }

  step pack() {
    const auto wanted = make_memory_file("pinfold-revisions", report_.after + "\n^" + ground_.tip + "\n",
                                         memory_file_use::data);
    if (!wanted) return fail(words_of(wanted.error()));
    auto call = call_in("seen", {"pack-objects", "--revs", "--local", "--non-empty", "--quiet",
                                 place("checked") + "/objects/pack/pack"});
    call.input = wanted->get();
    auto made = started(call);
    if (!made) return std::unexpected{std::move(made.error())};
    if (!made->has_succeeded()) return refuse(said("packing what is new", *made));
    if (made->line().empty()) return {};  // the repository has all of it
    if (!is_object_name(made->line(), ground_.format)) return fail("git names no pack");
    pack_ = place("checked") + "/objects/pack/pack-" + std::string{made->line()};
    for (const char* end : {".idx", ".rev"}) ::unlink((pack_ + end).c_str());
    return {};
  }

  step check() {
    if (!pack_.empty()) {
      auto strict = git("checked", {"index-pack", "--strict", pack_ + ".pack"});
      if (!strict) return std::unexpected{std::move(strict.error())};
      if (!strict->has_succeeded()) return refuse(said("checking what is new", *strict));
    }
    auto type = git("checked", {"cat-file", "-t", report_.after});
    if (!type) return std::unexpected{std::move(type.error())};
    if (type->line() != "commit") return refuse("the branch names no commit that is there");
    auto whole = git("checked", {"rev-list", "--objects", "--quiet", report_.after, "^" + ground_.tip});
    if (!whole) return std::unexpected{std::move(whole.error())};
    if (!whole->has_succeeded()) return refuse(said("what the branch names is not complete", *whole));
    return {};
  }

  /// Where the branch was set back since it was made, what it was then is no measure.
  step check_base() {
    const auto base_holds = contains_commit(ground_.tip, ground_.base);
    if (!base_holds) return std::unexpected{base_holds.error()};
    const auto& base = *base_holds ? ground_.base : ground_.tip;
    const auto descends = contains_commit(report_.after, base);
    if (!descends) return std::unexpected{descends.error()};
    if (!*descends) {
      return refuse("it does not contain " + base + ", the commit that the branch begins at");
    }
    const auto goes_on = contains_commit(report_.after, ground_.tip);
    if (!goes_on) return std::unexpected{goes_on.error()};
    report_.is_rewritten = !*goes_on;
    auto count = git("checked", {"rev-list", "--count", report_.after, "^" + ground_.tip});
    if (!count) return std::unexpected{std::move(count.error())};
    report_.commits = std::strtoull(std::string{count->line()}.c_str(), nullptr, 10);
    return {};
  }

  step write() {
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

  step move_branch() {
    auto call = call_in("view", {"update-ref", "--no-deref", "-m", "pinfold: commits of a command",
                                 ground_.branch, report_.after, ground_.tip});
    call.access = git_access::writes;
    auto answer = started(call);
    if (!keep_file_.empty()) ::unlink(keep_file_.c_str());
    if (!answer) return std::unexpected{std::move(answer.error())};
    return answer->has_succeeded() ? step{} : fail(said("moving the branch", *answer));
  }

  /// No reason to keep the copies: the commits are in.
  step move_index() {
    const auto index = ground_.worktree.gitdir + "/index";
    if (!copies_.has_same_index(ground_)) {
      report_.reason = "the worktree's index was changed meanwhile and is left as it is";
      return {};
    }
    auto call = call_in("view", {"read-tree", "--reset", "-i", report_.after});
    call.access = git_access::writes;
    call.environment = {"GIT_INDEX_FILE=" + index};
    const auto answer = started(call);
    if (!answer || !answer->has_succeeded()) {
      report_.reason = answer ? said("the worktree's index is not up to date (git reset)", *answer)
                              : answer.error().reason;
    }
    return {};
  }

  /// Exit code 1 is git's no.
  std::expected<bool, stop> contains_commit(const std::string& whole, const std::string& part) {
    auto answer = git("checked", {"merge-base", "--is-ancestor", part, whole});
    if (!answer) return std::unexpected{std::move(answer.error())};
    if (answer->exit_code == 0 || answer->exit_code == 1) return answer->exit_code == 0;
    return refuse(said("looking for its beginning", *answer));
  }

  [[nodiscard]] git_call call_in(std::string_view repository, std::vector<std::string> words) const {
    git_call call;
    call.git_dir = place(repository);
    call.words = std::move(words);
    return call;
  }

  std::expected<git_answer, stop> started(git_call call) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - clock::now());
    if (left <= std::chrono::milliseconds{0}) return fail("it takes too long");
    call.time = left;
    auto answer = run_git(program_, call);
    if (!answer) return fail(answer.error().detail);
    return std::move(*answer);
  }

  std::expected<git_answer, stop> git(std::string_view repository, std::vector<std::string> words) {
    return started(call_in(repository, std::move(words)));
  }

  static std::string said(std::string_view wanted, const git_answer& answer) {
    return git_refusal({}, wanted, answer).detail;
  }

  const commit_ground& ground_;
  commit_copies& copies_;
  const import_bounds& most_;
  clock::time_point until_;
  git_commit_report report_;
  descriptor own_;
  std::string program_;
  std::string pack_;       ///< without its ending; empty where nothing is new
  std::string keep_file_;  ///< in the repository
};

}  // namespace

git_commit_report import_commits(const commit_ground& ground, commit_copies& copies,
                                 const import_bounds& most) {
  return importing{ground, copies, most}.run();
}

}  // namespace pinfold
