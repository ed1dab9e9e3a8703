#include "sandbox/git_commit/importing.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "launch/memory_file.hpp"
#include "sandbox/git_commit/files.hpp"
#include "sandbox/git_commit/own_repository.hpp"
#include "sandbox/git_commit/sizes.hpp"

namespace pinfold {

git_commit_report import_commits(const commit_ground& ground, commit_copies& copies,
                                 const import_bounds& most) {
  return importing{ground, copies, most}.run();
}

importing::importing(const commit_ground& ground, commit_copies& copies, const import_bounds& most)
    : ground_{ground}, copies_{copies}, most_{most}, until_{clock::now() + most.time} {
  report_.branch = ground.branch.substr(std::string_view{"refs/heads/"}.size());
  report_.before = ground.tip;
}

git_commit_report importing::run() {
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

importing::step importing::look() {
  auto open = open_directory(copies_.directory(), "private", absent_directory::is_an_error);
  if (!open) return fail("the private copies: " + words_of(open.error()));
  own_ = std::move(*open);
  if (auto done = look_at_branch(); !done) return done;
  return look_at_head();
}

importing::step importing::look_at_branch() {
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

importing::step importing::look_at_head() {
  const auto gitdir = open_directory(own_.get(), "gitdir", absent_directory::is_an_error);
  if (!gitdir) return refuse("the copy of the worktree: " + words_of(gitdir.error()));
  constexpr std::size_t most = 4096;
  const auto head = read_small_file(gitdir->get(), "HEAD", most);
  if (!head) return refuse("its HEAD: " + words_of(head.error()));
  if (*head == "ref: " + ground_.branch + "\n") return {};
  return refuse("HEAD is not the branch any more (another checkout, or a rebase under way)");
}

importing::step importing::import_all() {
  for (const auto next :
       {&importing::make_places, &importing::take, &importing::weigh, &importing::pack,
        &importing::check, &importing::check_base, &importing::count_files, &importing::write,
        &importing::move_branch, &importing::move_index}) {
    if (auto done = (this->*next)(); !done) return done;
  }
  return {};
}

importing::step importing::make_places() {
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

importing::step importing::take() {
  const auto from = open_directory(own_.get(), "objects", absent_directory::is_an_error);
  if (!from) return refuse("its objects: " + words_of(from.error()));
  const auto path = place("seen") + "/objects";
  const descriptor to{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!to) return fail(path + ": " + words_of(errno));
  auto packs = take_objects(from->get(), to.get(), ground_.format, most_.taken,
                            [this] { return stopped(); });
  if (!packs) {
    auto& [why, whose] = packs.error();
    if (whose == not_taken::fault::of_the_disk) return fail(std::move(why));
    return refuse(std::move(why));
  }
  for (const auto& name : *packs) {
    auto made = git("seen", {"index-pack", path + "/pack/" + name});
    if (!made) return std::unexpected{std::move(made.error())};
    if (!made->has_succeeded()) return refuse(said("a pack of its objects", *made));
  }
  return {};
}

/// Before anything unpacks one.
importing::step importing::weigh() {
  object_scale scale{{most_.structure, most_.file, most_.all}};
  git_call call = call_in("seen", {"cat-file", "--batch-all-objects", "--unordered",
                                   "--batch-check=%(objecttype) %(objectsize)"});
  struct too_much {};
  call.on_output = [&scale](std::string_view text) {
    scale.take(text);
    if (scale.has_stopped()) throw too_much{};  // git would look for each of the others for long
  };
  try {
    auto answer = started(call);
    if (!answer) return std::unexpected{std::move(answer.error())};
    if (!answer->has_succeeded()) return refuse(said("its objects", *answer));
  } catch (const too_much&) {
  }
  if (auto why = scale.complaint(); !why.empty()) return refuse(std::move(why));
  const int wrong = borrow_objects(place("seen"), ground_);
  return wrong == 0 ? step{} : fail("a place to import from: " + words_of(wrong));
}

importing::step importing::pack() {
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

std::string importing::stopped() const {
  for (const int one : most_.cancelled) {
    pollfd raised{one, POLLIN, 0};  // a negative one is passed over (poll(2))
    if (::poll(&raised, 1, 0) > 0) return "the run was cancelled";
  }
  return until_ - clock::now() < std::chrono::milliseconds{1} ? "it takes too long" : "";
}

std::string importing::place(std::string_view name) const {
  return copies_.path() + "/import/" + std::string{name};
}

git_call importing::call_in(std::string_view repository, std::vector<std::string> words) const {
  git_call call;
  call.git_dir = place(repository);
  call.words = std::move(words);
  call.cancelled = most_.cancelled;
  call.environment = {"GIT_ALLOC_LIMIT=" + std::to_string(most_.memory)};  // git's wrapper.c
  return call;
}

std::expected<git_answer, importing::stop> importing::started(git_call call) {
  if (auto why = stopped(); !why.empty()) return fail(std::move(why));
  call.time = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - clock::now());
  auto answer = run_git(program_, call);
  if (!answer) return fail(answer.error().detail);
  return std::move(*answer);
}

std::expected<git_answer, importing::stop> importing::git(std::string_view repository,
                                                          std::vector<std::string> words) {
  return started(call_in(repository, std::move(words)));
}

std::unexpected<importing::stop> importing::refuse(std::string why) {
  return std::unexpected{stop{commits_end::refused, std::move(why)}};
}

std::unexpected<importing::stop> importing::fail(std::string why) {
  return std::unexpected{stop{commits_end::failed, std::move(why)}};
}

std::string importing::words_of(int error) {
  return std::strerror(error);
}

std::string importing::said(std::string_view wanted, const git_answer& answer) {
  return git_refusal({}, wanted, answer).detail;
}

}  // namespace pinfold
