// Worktrees as functions of the library: the guard moves to one by one assignment; git is started so
// that nothing which a repository says counts.
#include <pinfold/runner/worktree.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <pinfold/disk/open.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/guard.hpp>

#include "git/run_git.hpp"
#include "git/view.hpp"
#include "launch/run.hpp"
#include "runner/ground.hpp"
#include "support/catch.hpp"
#include "worktree/place.hpp"
#include "worktree/record.hpp"
#include "worktree/summary.hpp"
#include "worktree/tree.hpp"
#include "worktree/unseen.hpp"

using namespace pinfold;
using pinfold_test::folder;

namespace {

void write(const std::string& path, std::string_view text) {
  std::ofstream{path} << text;
}

std::string text_in(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// A repository with one commit and worktrees of it in a place of their own.
struct repository {
  repository() {
    const auto done = run(
        pinfold_test::shell("set -e; export HOME=/dev/null; mkdir " + top() + "; cd " + top() +
                            "; git init -q -b main; echo one >one; git add .; git -c user.name=a "
                            "-c user.email=a@b commit -qm first"),
        {.time = std::chrono::seconds{60}});
    REQUIRE(done.exit_code == 0);
  }
  [[nodiscard]] std::string top() const { return at.path + "/project"; }
  [[nodiscard]] worktrees trees() const {
    auto made = worktrees::for_caller({"XDG_STATE_HOME=" + at.path + "/state"});
    REQUIRE(made);
    return std::move(*made);
  }
  folder at;
};

}  // namespace

TEST_CASE("the_guard_moves_to_a_worktree_by_one_assignment_and_the_parents_files_are_outside") {
  const repository parent;
  const auto made = parent.trees().create({.repository = parent.top(), .name = "fix"});
  REQUIRE(made);
  std::string root = parent.top();
  CHECK(grant{root}.region_of(parent.top() + "/one") == region::workspace);

  root = made->path;  // the one assignment

  const grant policy{root};
  CHECK(policy.region_of(made->path + "/one") == region::workspace);
  CHECK(policy.region_of(parent.top() + "/one") == region::outside);
  CHECK(policy.region_of(parent.top() + "/.git/config") == region::outside);
  CHECK(policy.region_of(made->path + "/../.pinfold/record") != region::workspace);
  const guard now{policy, mode::autonomous, gate::off, taint{}};
  const auto parents = parent.top() + "/one";
  CHECK(now.check(call::write(parents)) == verdict::refuse);
  const auto ws = workspace::open(root);
  REQUIRE(ws);
  CHECK(ws->open_read("one").has_value());
  CHECK(ws->open_read(parents).error().error == code::outside_workspace);
}

TEST_CASE("what_becomes_of_a_worktree_is_a_value_with_one_text_in_it") {
  const repository parent;
  const auto trees = parent.trees();
  const auto made = trees.create({.repository = parent.top(), .name = "fix"});
  REQUIRE(made);
  CHECK(trees.create({.repository = parent.top(), .name = "fix"}).error().error ==
        code::already_exists);
  write(made->path + "/new", "x");
  const auto kept = trees.finish(made->path);
  REQUIRE(kept);
  CHECK(kept->end == worktree_end::kept);
  CHECK(kept->reasons == std::vector<std::string>{"?? new"});
  for (const auto& part : {made->path, made->branch, kept->deletes}) {
    INFO(part);
    CHECK(kept->summary.find(part) != std::string::npos);
  }
  const auto listed = trees.list();
  REQUIRE(listed);
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().about == *made);
  CHECK(listed->front().state == worktree_state::dirty);
  std::filesystem::remove(made->path + "/new");
  CHECK(trees.finish_or_keep(*made).end == worktree_end::removed);
  CHECK(trees.finish(made->path).error().error == code::not_found);
  const auto again = trees.finish_or_keep(*made);
  CHECK(again.end == worktree_end::kept);
  CHECK(again.summary.find("it could not be finished") != std::string::npos);
}

TEST_CASE("a_worktree_that_somebody_looks_at_is_finished_when_they_are_done") {
  const repository parent;
  const auto trees = parent.trees();
  const auto made = trees.create({.repository = parent.top(), .name = "fix"});
  REQUIRE(made);
  auto held = lock_directory(made->path.substr(0, made->path.rfind('/')));
  REQUIRE(held);
  CHECK(trees.finish(made->path).error().error == code::try_again);
  CHECK(trees.list()->front().state == worktree_state::in_use);
  std::jthread later{[&held] {
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    held->reset();
  }};
  CHECK(trees.finish_or_keep(*made).end == worktree_end::removed);
}

TEST_CASE("threads_of_one_program_make_and_finish_worktrees_at_once") {
  const repository parent;
  const auto trees = parent.trees();
  std::array<bool, 8> is_gone{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto made = trees.create({.repository = parent.top(), .name = "t" + std::to_string(i)});
        if (made) is_gone[i] = trees.finish_or_keep(*made).end == worktree_end::removed;
      });
    }
  }
  CHECK(is_gone == std::array{true, true, true, true, true, true, true, true});
}

TEST_CASE("a_git_that_others_could_have_written_is_not_started") {
  const folder at;
  const auto path = at.path + "/git";
  write(path, "#!/bin/sh\ntouch " + at.path + "/started\n");
  ::chmod(path.c_str(), 0755);
  const std::array<std::string_view, 2> places{"/nowhere/git", path};
  const auto git = usable_git(places);
  REQUIRE_FALSE(git);
  CHECK(git.error().error == code::git_failed);
  CHECK(git.error().detail.find("root's alone") != std::string::npos);
  CHECK_FALSE(usable_git(std::array<std::string_view, 1>{"/nowhere/git"}));
  CHECK(usable_git());
}

TEST_CASE("git_is_bounded_in_time_and_its_refusal_is_a_value") {
  const auto git = usable_git();
  REQUIRE(git);
  git_call call;
  call.words = {"rev-parse", "--show-toplevel"};
  const auto answer = run_git(*git, call);
  REQUIRE(answer);
  CHECK_FALSE(answer->has_succeeded());
  CHECK(git_refusal("/", "asking", *answer).detail.starts_with("asking: "));
  call.words = {"hash-object", "--stdin"};
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  call.input = ends[0];  // an input without an end
  call.time = std::chrono::milliseconds{300};
  const auto late = run_git(*git, call);
  ::close(ends[0]);
  ::close(ends[1]);
  REQUIRE_FALSE(late);
  CHECK(late.error().error == code::git_failed);
}

TEST_CASE("a_view_shows_branches_and_objects_and_no_configuration") {
  const repository parent;
  const auto git = usable_git();
  REQUIRE(git);
  const auto found = discover_repository(*git, parent.top());
  REQUIRE(found);
  CHECK(found->common_dir == parent.top() + "/.git");
  CHECK(branch_in_head(found->head) == "refs/heads/main");
  const auto view = parent.at.path + "/view";
  REQUIRE(make_git_view(view, found->common_dir, found->format, found->head));
  write(parent.top() + "/.git/config", "[alias]\n\tx = !touch " + parent.at.path +
                                           "/started\n[core]\n\tbare = nonsense\n");
  git_call call;
  call.git_dir = view;
  call.words = {"log", "--format=%s", "main"};
  const auto log = run_git(*git, call);
  REQUIRE(log);
  CHECK(log->line() == "first");
  call.words = {"config", "--list", "--local"};
  CHECK(run_git(*git, call)->out.text.find("alias") == std::string::npos);
  call.access = git_access::writes;
  call.words = {"update-ref", "refs/heads/new", "refs/heads/main", ""};
  const auto held = lock_directory(parent.at.path);
  REQUIRE(held);
  CHECK(run_git_to_its_end(*git, call, held->get())->has_succeeded());
  CHECK(std::filesystem::exists(parent.top() + "/.git/refs/heads/new"));
  CHECK_FALSE(run_git_to_its_end(*git, call, -1)->has_succeeded());
}

TEST_CASE("a_record_is_read_back_as_it_was_written_and_a_damaged_one_is_none") {
  worktree_record record;
  record.about = {"n", "/p/with space", "pinfold/n/work", "abc", "/parent", ""};
  record.common_dir = "/parent/.git";
  const auto text = text_of(record);
  const auto back = parse_worktree_record(text);
  REQUIRE(back);
  CHECK(back->about == record.about);
  CHECK(back->common_dir == record.common_dir);
  for (std::size_t cut = 0; cut < text.find("common-dir") + 10; ++cut) {
    INFO(cut);
    CHECK_FALSE(parse_worktree_record(std::string_view{text}.substr(0, cut)));
  }
  CHECK(quoted_for_a_shell("/a b'c") == "'/a b'\\''c'");
  CHECK(quoted_for_a_shell("/plain") == "/plain");
}

TEST_CASE("the_line_that_deletes_quotes_whatever_a_path_holds") {
  worktree_record record;
  record.about = {"n", "/s/$(x)/n/p", "pinfold/n/work", "abc", "/pa rent", "refs/heads/main"};
  record.common_dir = "/pa rent/.git";
  CHECK(deleting_line({"/s/$(x)/n"}, record) ==
        "rm -rf '/s/$(x)/n' '/pa rent/.git/worktrees/pinfold-n'; git -C '/pa rent' branch -D "
        "pinfold/n/work");
}

TEST_CASE("two_repositories_of_one_name_have_folders_of_their_own") {
  CHECK(repository_folder_of("/a/app/.git") != repository_folder_of("/b/app/.git"));
  CHECK(repository_folder_of("/a/app/.git").starts_with("app-"));
  CHECK(repository_folder_of("/a/b c/.git").starts_with("b_c-"));
  CHECK(tree_name_of("/a/app") == "app");
  CHECK(tree_name_of("/a/.pinfold") == "tree");
  CHECK(tree_name_of("/") == "tree");
}

TEST_CASE("a_file_changed_after_the_moment_is_found_and_one_changed_before_is_not") {
  const folder at;
  std::filesystem::create_directories(at.path + "/tree/a/b");
  std::filesystem::create_directory(at.path + "/own");
  write(at.path + "/tree/a/before", "x");
  const descriptor own{::open((at.path + "/own").c_str(), O_RDONLY | O_DIRECTORY)};
  const descriptor tree{::open((at.path + "/tree").c_str(), O_RDONLY | O_DIRECTORY)};
  const auto moment = moment_of(own.get());
  REQUIRE(moment);
  CHECK(first_change(tree.get(), *moment).empty());
  write(at.path + "/tree/a/b/after", "x");
  CHECK(first_change(tree.get(), *moment) == "a/b/after");
  CHECK(remove_tree(at.path + "/tree", *moment).error() == ENOTEMPTY);
  CHECK(text_in(at.path + "/tree/a/b/after") == "x");
}

TEST_CASE("what_git_never_shows_is_found_through_no_link_and_within_bounds") {
  const folder at;
  for (const char* directory : {"/tree/a/.git", "/tree/b/.GIT", "/tree/c/d", "/outside/.git"}) {
    std::filesystem::create_directories(at.path + directory);
  }
  for (const char* file : {"/tree/.git", "/tree/c/d/.git", "/tree/c/.gitignore"}) {
    write(at.path + file, "x");
  }
  std::filesystem::create_directory_symlink(at.path + "/outside", at.path + "/tree/link");
  const descriptor top{::open((at.path + "/tree").c_str(), O_RDONLY | O_DIRECTORY)};
  auto found = find_unseen(top.get());
  std::ranges::sort(found.repositories);
  CHECK(found.repositories == std::vector<std::string>{"a/.git", "b/.GIT", "c/d/.git"});
  CHECK(found.ignore_files == std::vector<std::string>{"c/.gitignore"});
  CHECK(found.not_seen.empty());
  CHECK_FALSE(find_unseen(top.get(), {.names = 9}).not_seen.empty());
  CHECK(find_unseen(top.get(), {.names = 10}).not_seen.empty());
  CHECK_FALSE(find_unseen(top.get(), {.repositories = 2}).not_seen.empty());
  CHECK_FALSE(find_unseen(top.get(), {.ignore_bytes = 3}).not_seen.empty());
  CHECK_FALSE(find_unseen(-1).not_seen.empty());
}

TEST_CASE("a_tree_is_removed_whatever_its_modes_and_no_link_is_followed") {
  const folder at;
  std::filesystem::create_directories(at.path + "/tree/a/shut/deep");
  write(at.path + "/tree/a/shut/file", "x");
  write(at.path + "/kept", "x");
  std::filesystem::create_symlink(at.path, at.path + "/tree/a/out");
  ::chmod((at.path + "/tree/a/shut").c_str(), 0);
  ::chmod((at.path + "/tree/a").c_str(), 0500);
  CHECK(remove_tree(at.path + "/tree"));
  CHECK_FALSE(std::filesystem::exists(at.path + "/tree"));
  CHECK(text_in(at.path + "/kept") == "x");
  CHECK(remove_tree(at.path + "/tree"));  // what is not there is no error
}
