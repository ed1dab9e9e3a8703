// Commits that a command left: what is taken of them, how much, and what of a repository has to hold
// before. git itself is the host's.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "git/run_git.hpp"
#include "sandbox/git_commit/files.hpp"
#include "sandbox/git_commit/import.hpp"
#include "sandbox/git_commit/sizes.hpp"
#include "sandbox/git_commit/taken.hpp"
#include "sandbox/temporary_directory.hpp"
#include "support/catch.hpp"

using namespace pinfold;
namespace fs = std::filesystem;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void put(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path{path}.parent_path());
  std::ofstream{path, std::ios::binary} << text;
}

std::string repeated(char c, std::size_t count) {
  return std::string(count, c);
}

/// A directory of objects as a command may leave it, and an empty one.
struct objects {
  temporary_directory at{*temporary_directory::make("objects")};
  std::string from{at.path() + "/from"};
  std::string to{at.path() + "/to"};

  objects() {
    ::mkdir(from.c_str(), 0700);
    ::mkdir(to.c_str(), 0700);
  }
  [[nodiscard]] std::expected<std::vector<std::string>, not_taken> take(
      const taken_bounds& most = {}) const {
    const descriptor source{::open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const descriptor target{::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return take_objects(source.get(), target.get(), "sha1", most);
  }
};

/// A repository with a worktree on pinfold/n/work, and a commit in private copies of it.
struct committed {
  temporary_directory at{*temporary_directory::make("commits")};
  std::string common{at.path() + "/repository/.git"};
  std::string tree{at.path() + "/tree"};
  std::optional<commit_ground> ground;
  std::optional<commit_copies> copies;

  explicit committed(const std::string& make_file = "echo x > new") {
    shell("git init -q -b main repository && cd repository && git commit -q --allow-empty -m one && "
          "git worktree add -q -b pinfold/n/work ../tree");
    look();
    auto made = commit_copies::make(*ground, at.path() + "/kept", missing_part::made);
    REQUIRE(made.has_value());
    copies.emplace(std::move(*made));
    commit(make_file);
  }

  void look() {
    const descriptor directory{::open(tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const auto found = find_linked_worktree(tree, directory.get());
    REQUIRE(found.value().has_value());
    auto conditions = commit_ground_of(tree, directory.get(), **found);
    REQUIRE(conditions.has_value());
    ground.emplace(std::move(*conditions));
  }

  /// As inside, where `parent` shows the repository's objects.
  void commit(const std::string& make_file) {
    const auto own = copies->path() + "/private";
    ::rmdir((copies->path() + "/parent").c_str());
    fs::create_symlink(common + "/objects", copies->path() + "/parent");
    shell("export GIT_OBJECT_DIRECTORY=" + own + "/objects GIT_INDEX_FILE=" + own + "/gitdir/index; cd tree && " + make_file +
          " && git add . && git commit -q -m new && cp " + common + "/refs/heads/pinfold/n/work " + own +
          "/refs/work && echo " + ground->tip + " > " + common + "/refs/heads/pinfold/n/work");
  }

  void shell(const std::string& script) const {
    const auto whole = "cd " + at.path() +
                       " && export HOME=$PWD GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e@x "
                       "GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e@x && " + script;
    REQUIRE(std::system(whole.c_str()) == 0);  // NOLINT: a test's own script
  }
  [[nodiscard]] std::string tip() const { return text_of(common + "/refs/heads/pinfold/n/work"); }
};

std::string weighed(std::string_view text, object_scale::bounds most = {100, 200, 1000}) {
  object_scale scale{most};
  for (const char& one : text) scale.take({&one, 1});
  return scale.complaint();
}

}  // namespace

TEST_CASE("only_what_has_the_name_of_an_object_is_taken") {
  objects it;
  const auto name = repeated('a', 38);
  const auto pack = "pack-" + repeated('b', 40);
  put(it.from + "/cd/" + name, "loose");
  put(it.from + "/cd/tmp_obj_x", "no");
  put(it.from + "/pack/" + pack + ".pack", "pack");
  for (const char* end : {".idx", ".keep", ".rev", ".bitmap", ".promisor"}) {
    put(it.from + "/pack/" + pack + end, "no");
  }
  put(it.from + "/pack/multi-pack-index", "no");
  put(it.from + "/info/alternates", "/elsewhere");
  put(it.from + "/info/commit-graph", "no");
  const auto packs = it.take();
  REQUIRE(packs.has_value());
  CHECK(*packs == std::vector{pack + ".pack"});
  std::size_t files = 0;
  for (const auto& one : fs::recursive_directory_iterator{it.to}) {
    files += fs::is_regular_file(one) ? 1U : 0U;
  }
  CHECK(files == 2);
  CHECK(text_of(it.to + "/cd/" + name) == "loose");
  CHECK(text_of(it.to + "/pack/" + pack + ".pack") == "pack");
}

TEST_CASE("what_is_more_than_the_bounds_is_not_taken") {
  const auto loose = [](const objects& it, char fan, std::size_t size) {
    put(it.from + "/" + repeated(fan, 2) + "/" + repeated('1', 38), repeated('x', size));
  };
  objects it;
  loose(it, 'a', 60);
  loose(it, 'b', 60);
  CHECK(it.take({.bytes = 119}).error().why.find("more than is taken in") != std::string::npos);
  objects names;
  loose(names, 'a', 1);
  loose(names, 'b', 1);
  CHECK(names.take({.names = 3}).error().why.find("too many files") != std::string::npos);
  objects packs;
  for (const char end : {'1', '2', '3'}) {
    put(packs.from + "/pack/pack-" + repeated(end, 40) + ".pack", "x");
  }
  CHECK(packs.take({.packs = 2}).error().why.find("too many packs") != std::string::npos);
  objects fits;
  loose(fits, 'a', 60);
  loose(fits, 'b', 60);
  CHECK(fits.take({.names = 4, .packs = 0, .bytes = 120}).has_value());
}

TEST_CASE("objects_are_weighed_by_what_they_unpack_to") {
  CHECK(weighed("blob 200\ntree 100\ncommit 100\ntag 100\n").empty());
  CHECK(weighed("blob 201\n").find("too large: a blob of 201") != std::string::npos);
  CHECK(weighed("tree 101\n").find("too large: a tree of 101") != std::string::npos);
  CHECK(weighed("commit 101\n").find("too large") != std::string::npos);
  CHECK_FALSE(weighed("blob 200\nblob 200\nblob 200\nblob 200\nblob 200\nblob 1\n").empty());
  for (const char* odd : {"0123 missing\n", "blob\n", "blob x\n", "blob -1\n", "evil 1\n", "\n",
                          "blob 1x\n", "blob 99999999999999999999999\n", "blob 1"}) {
    INFO(odd);
    CHECK_FALSE(weighed(odd).empty());
  }
  CHECK(weighed(repeated('x', 5000)).find("too much") != std::string::npos);
}

TEST_CASE("a_commit_is_imported_and_one_that_is_too_large_is_not") {
  committed fits;
  const auto came = import_commits(*fits.ground, *fits.copies);
  INFO(came.reason);
  CHECK(came.ended == commits_end::imported);
  CHECK(fits.tip() == came.after);

  committed large{"head -c 3000000 /dev/zero > new"};
  import_bounds most;
  most.file = 2'999'999;
  const auto refused = import_commits(*large.ground, *large.copies, most);
  CHECK(refused.ended == commits_end::refused);
  CHECK(refused.reason.find("too large: a blob of 3000000") != std::string::npos);
  CHECK(large.tip() == large.ground->tip);
  CHECK(refused.kept == large.copies->path());

  most = {};
  most.time = std::chrono::milliseconds{0};
  const auto late = import_commits(*large.ground, *large.copies, most);
  CHECK(late.ended == commits_end::failed);
  CHECK(late.reason == "it takes too long");
}

TEST_CASE("a_tree_that_unpacks_to_more_files_than_allowed_is_not_imported") {
  // Ten levels, each with ten times the one below: ten thousand million files.
  committed it{"t=$(printf '100644 blob %s\\ta\\n' $(echo x | git hash-object -w --stdin) | git mktree) && "
               "for level in 1 2 3 4 5 6 7 8 9 10; do t=$(for n in 1 2 3 4 5 6 7 8 9 0; do "
               "printf '040000 tree %s\\t%s\\n' $t $n; done | git mktree); done && "
               "git update-ref HEAD $(git commit-tree -p HEAD -m bomb $t) && echo x > new"};
  // The commit that `committed` puts on top has the files of the tree alone, so the bomb is put back.
  it.shell("cp repository/.git/refs/heads/pinfold/n/work kept-tip && cd tree && "
           "GIT_OBJECT_DIRECTORY=" + it.copies->path() + "/private/objects git rev-parse " +
           text_of(it.copies->path() + "/private/refs/work") + "^ > " + it.copies->path() +
           "/private/refs/work");
  const auto came = import_commits(*it.ground, *it.copies);
  CHECK(came.ended == commits_end::refused);
  CHECK(came.reason.find("unpacks to more than 2000000 files") != std::string::npos);
  CHECK(it.tip() == it.ground->tip);
}

TEST_CASE("a_repository_that_changed_its_branch_or_index_meanwhile_keeps_them") {
  committed it;
  it.shell("cd tree && git update-index --add --cacheinfo 100644,$(git hash-object -w --stdin < .git),staged");
  const auto came = import_commits(*it.ground, *it.copies);
  CHECK(came.ended == commits_end::imported);
  CHECK(came.reason.find("index was changed") != std::string::npos);
  CHECK(came.kept.empty());
  it.shell("cd tree && git ls-files | grep -q staged");
}

TEST_CASE("an_object_that_is_empty_ends_the_taking") {
  objects it;
  put(it.from + "/ab/" + repeated('1', 38), "");
  const auto taken = it.take();
  REQUIRE_FALSE(taken);
  CHECK(taken.error().why == "the object " + repeated('1', 38) + " is empty");
  CHECK(taken.error().whose == not_taken::fault::of_the_command);
}

TEST_CASE("an_import_that_is_cancelled_keeps_what_was_committed") {
  committed it;
  const descriptor raised{::eventfd(1, EFD_CLOEXEC)};
  for (const auto place : {0U, 1U}) {
    import_bounds most;
    most.cancelled[place] = raised.get();
    const auto came = import_commits(*it.ground, *it.copies, most);
    CHECK(came.ended == commits_end::failed);
    CHECK(came.reason == "the run was cancelled");
    CHECK(came.kept == it.copies->path());
    CHECK(it.tip() == it.ground->tip);
  }
  CHECK(import_commits(*it.ground, *it.copies).ended == commits_end::imported);
}

TEST_CASE("the_taking_of_objects_is_asked_to_stop_at_each_name") {
  objects it;
  put(it.from + "/ab/" + repeated('1', 38), "x");
  int asked = 0;
  const descriptor source{::open(it.from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const descriptor target{::open(it.to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const auto taken = take_objects(source.get(), target.get(), "sha1", {}, [&asked] {
    return ++asked == 2 ? std::string{"enough"} : std::string{};
  });
  REQUIRE_FALSE(taken);
  CHECK(taken.error().why == "enough");
  CHECK(taken.error().whose == not_taken::fault::of_the_disk);
}

TEST_CASE("a_git_that_is_cancelled_is_ended") {
  const auto git = usable_git();
  REQUIRE(git);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const descriptor kept{ends[1]};
  const descriptor input{ends[0]};  // one without an end
  const descriptor raised{::eventfd(1, EFD_CLOEXEC)};
  for (const auto place : {0U, 1U}) {
    git_call call;
    call.words = {"hash-object", "--stdin"};
    call.input = input.get();
    call.time = std::chrono::seconds{20};
    call.cancelled[place] = raised.get();
    const auto begun = std::chrono::steady_clock::now();
    CHECK_FALSE(run_git(*git, call));
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{10});
  }
}

TEST_CASE("copies_as_deep_as_a_command_can_make_them_are_removed") {
  committed it;
  const auto path = it.copies->path();
  const auto root = path.substr(0, path.rfind('/'));
  descriptor at{::open((path + "/private/gitdir").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  for (int i = 0; i < 1500; ++i) {
    REQUIRE(::mkdirat(at.get(), "d", 0700) == 0);
    at.reset(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(at);
  }
  at.reset();
  it.copies.reset();
  CHECK(fs::is_empty(root));
}

TEST_CASE("copies_are_removed_whatever_lies_in_them_and_no_link_is_followed") {
  committed it;
  const auto path = it.copies->path();
  put(it.at.path() + "/outside/file", "stays");
  it.shell("cd " + path + "/private && ln -s ../../../outside gitdir/out && mkdir -p objects/a/b/c && "
           "touch objects/a/b/c/d && mkfifo objects/f && chmod 000 objects/a/b objects/a");
  it.copies.reset();
  CHECK_FALSE(fs::exists(path));
  CHECK(text_of(it.at.path() + "/outside/file") == "stays");
}

TEST_CASE("the_beginning_of_a_branch_is_what_its_log_says_first") {
  committed it;
  const auto made = it.ground->tip;
  it.shell("cd tree && git commit -q --allow-empty -m two");
  it.look();
  CHECK(it.ground->tip != made);
  CHECK(it.ground->base == made);
  const auto log = it.common + "/logs/refs/heads/pinfold/n/work";
  it.shell("sed -i 1d " + log);  // as when old entries expire
  it.look();
  CHECK(it.ground->base == it.ground->tip);
  ::unlink(log.c_str());
  it.look();
  CHECK(it.ground->base == it.ground->tip);
}
