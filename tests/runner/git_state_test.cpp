// Repositories wherever they lie in a workspace: which of their names become carve-outs.
#include "sandbox/git_state.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
namespace fs = std::filesystem;
using paths = std::vector<std::string>;

namespace {

struct ground {
  void put(const std::string& name, std::string_view text = "") const {
    const fs::path file{at.path + "/" + name};
    fs::create_directories(file.parent_path());
    std::ofstream{file} << text;
  }
  /// What makes git take a directory for a repository.
  void repository(const std::string& name) const {
    fs::create_directories(at.path + "/" + name + "/objects");
    fs::create_directories(at.path + "/" + name + "/refs");
    put(name + "/HEAD", "ref: refs/heads/main\n");
    put(name + "/config", "[core]\n");
  }
  [[nodiscard]] paths carved(git_files mode = git_files::complete) {
    const descriptor directory{::open(at.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    auto found = look_at_git(at.path, directory.get(), mode);
    if (!found) return {found.error().detail + ": " + tail(found.error().path)};
    state = std::move(*found);
    paths all;
    for (const auto& carve : state.carve_outs) all.push_back(tail(carve.path));
    std::ranges::sort(all);
    return all;
  }
  [[nodiscard]] paths pinned() const {
    paths all;
    for (const auto& path : state.pinned) all.push_back(tail(path));
    return all;
  }
  [[nodiscard]] std::string tail(const std::string& path) const {
    return path.size() > at.path.size() ? path.substr(at.path.size() + 1) : path;
  }
  /// The five doors of a repository that stands for itself.
  [[nodiscard]] static paths doors(const std::string& of, paths more = {}) {
    for (const auto* name : {"commondir", "config", "hooks", "info", "worktrees"}) {
      more.push_back(of.empty() ? name : of + "/" + name);
    }
    std::ranges::sort(more);
    return more;
  }

  pinfold_test::folder at;
  git_state state;
};

}  // namespace

TEST_CASE("no repository has no doors") {
  ground it;
  CHECK(it.carved().empty());
  it.put("HEAD");
  CHECK(it.carved().empty());
  CHECK_FALSE(fs::exists(it.at.path + "/hooks"));
}

TEST_CASE("a directory, what a file leads to, and a bare one have the same doors") {
  ground it;
  it.repository(".git");
  CHECK(it.carved() == ground::doors(".git"));
  CHECK(it.pinned() == paths{".git"});
  CHECK(it.state.unmade == paths{".git/config.worktree"});
  fs::create_directories(it.at.path + "/a");
  fs::rename(it.at.path + "/.git", it.at.path + "/a/store");
  for (const auto& named : paths{"a/store", "./a//store\n", it.at.path + "/a/store\r\n"}) {
    it.put(".git", "gitdir: " + named);
    CHECK(it.carved() == ground::doors("a/store", {".git"}));
    CHECK(it.pinned() == paths{"a", "a/store"});
  }
  ground bare;
  bare.repository(".");
  CHECK(bare.carved() == ground::doors(""));
  CHECK(bare.pinned().empty());
  it.put(".git", "no repository");
  CHECK(it.carved() == paths{".git"});
}

TEST_CASE("a link, a way that turns back and what is not there are refused") {
  ground it;
  it.repository("a/store");
  fs::create_directory_symlink("a", it.at.path + "/b");
  it.put(".git", "gitdir: b/store\n");
  CHECK(it.carved() == paths{"a repository is reached through this link: b"});
  it.put(".git", "gitdir: a/../a/store\n");
  CHECK(it.carved().front().starts_with("a repository is named with \"..\""));
  it.put(".git", "gitdir: gone\n");
  CHECK(it.carved() == paths{"a file leads to a repository that is not there: gone"});
  CHECK(it.carved(git_files::as_found) == paths{".git"});
  it.put(".git", "gitdir: /nowhere/at/all\n");
  CHECK(it.carved() == paths{".git"});
}

TEST_CASE("what a commondir leads to is one as well") {
  ground it;
  it.repository(".git");
  it.repository("x/shared");
  it.put(".git/commondir", "../x/shared\n");
  CHECK(it.carved() == ground::doors("x/shared", {".git/commondir", ".git/config"}));
  CHECK(it.pinned() == paths{".git", "x", "x/shared"});
  it.put("x/shared/commondir", "../../.git\n");  // round and round
  CHECK(it.carved().size() >= 6);
}

TEST_CASE("a worktree's configuration is carved out where git reads it or it is there") {
  ground it;
  it.repository(".git");
  it.put(".git/config.worktree");
  CHECK(it.carved() == ground::doors(".git", {".git/config.worktree"}));
  fs::remove(it.at.path + "/.git/config.worktree");
  CHECK(it.carved() == ground::doors(".git"));
  it.put(".git/config", "[extensions]\nworktreeConfig = true\n");
  CHECK(it.carved() == ground::doors(".git", {".git/config.worktree"}));
  CHECK(fs::exists(it.at.path + "/.git/config.worktree"));
}

TEST_CASE("worktrees in the workspace are held one by one, so that a commit in them works") {
  ground it;
  it.repository(".bare");
  it.put(".git", "gitdir: .bare\n");
  for (const auto* name : {"in", "out"}) {
    const auto at = std::string{".bare/worktrees/"} + name;
    it.put(at + "/commondir", "../..\n");
    it.put(at + "/HEAD");
  }
  it.put(".bare/worktrees/none/HEAD");
  it.put(".bare/worktrees/in/gitdir", it.at.path + "/in/.git\n");
  it.put(".bare/worktrees/out/gitdir", "/nowhere/out/.git\n");
  CHECK(it.carved() == paths{".bare/commondir", ".bare/config", ".bare/hooks", ".bare/info",
                             ".bare/worktrees/in/commondir", ".bare/worktrees/in/gitdir",
                             ".bare/worktrees/none", ".bare/worktrees/out/commondir",
                             ".bare/worktrees/out/gitdir", ".git"});
  CHECK(it.pinned() ==
        paths{".bare", ".bare/worktrees", ".bare/worktrees/in", ".bare/worktrees/out"});
  // A repository with a work tree of its own keeps all of it shut.
  fs::remove(it.at.path + "/.git");
  fs::rename(it.at.path + "/.bare", it.at.path + "/.git");
  CHECK(it.carved() == ground::doors(".git"));
}

TEST_CASE("submodules are found by name and by what lies there, whatever is beside them") {
  ground it;
  it.repository(".git");
  it.repository(".git/modules/libs/one");
  it.repository(".git/modules/libs/refs/two");
  it.repository(".git/modules/libs/one/modules/inner");
  const auto has = [&](const std::string& name) {
    const auto all = it.carved();
    return std::ranges::all_of(paths{"commondir", "config", "hooks"}, [&](const auto& door) {
      return std::ranges::find(all, ".git/modules/" + name + "/" + door) != all.end();
    });
  };
  CHECK(has("libs/one"));
  CHECK(has("libs/refs/two"));
  CHECK(has("libs/one/modules/inner"));
  it.put(".git/modules/libs/HEAD");
  CHECK(has("libs/one"));
  CHECK(has("libs/refs/two"));
  CHECK_FALSE(
      fs::exists(it.at.path + "/.git/modules/libs/commondir"));  // no part of one is added to
  it.repository(".git/modules/libs");  // now it looks whole, and "refs" its own
  CHECK(has("libs/one"));
  CHECK_FALSE(has("libs/refs/two"));
  it.put(".git/config", "[submodule \"libs/refs/two\"]\nactive = true\n");
  CHECK(has("libs/refs/two"));
}

TEST_CASE("many submodules are one carve-out, and what they name is found all the same") {
  ground it;
  it.repository(".git");
  for (std::size_t i = 0; i <= most_submodules; ++i) {
    it.repository(".git/modules/m" + std::to_string(i));
  }
  it.put("team.inc");
  it.put(".git/modules/m3/config", "[include]\npath = ../../../team.inc\n");
  CHECK(it.carved() == ground::doors(".git", {".git/modules", "team.inc"}));
  CHECK(it.pinned() == paths{".git"});
}

TEST_CASE("modules beyond the budget are refused") {
  ground it;
  it.repository(".git");
  for (int i = 0; i < 50; ++i)
    fs::create_directories(it.at.path + "/.git/modules/" + std::to_string(i));
  const descriptor directory{::open(it.at.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const auto found =
      look_at_git(it.at.path, directory.get(), git_files::complete, {}, {.entries = 49});
  REQUIRE_FALSE(found);
  CHECK(found.error().error == code::not_enforceable);
  CHECK(found.error().path == it.at.path + "/.git/modules");
}
