// The walk finds what a host program may run, obey or write through, if it is new, and nothing else.
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runner/host_run_ground.hpp"

using namespace pinfold_test;

TEST_CASE("what_was_there_before_and_ordinary_files_are_no_news") {
  left_checkout it;
  it.put(".envrc");
  it.put(".vscode/tasks.json");
  it.link("out", "/etc");
  it.begin();
  CHECK(it.found().empty());
  it.put("src/main.c");
  it.put("Makefile");
  it.link("src/in", "../Makefile");
  CHECK(it.found().empty());
  CHECK(it.report().ended == walk_end_reason::seen_all);
}

TEST_CASE("each_kind_is_found_when_it_is_new") {
  left_checkout it;
  it.put("vendor/x/.git/HEAD");
  it.put(".git/objects/info/keep");
  it.begin_filtered();
  it.search.set_id = set_id_files::possible;
  it.put(".envrc");
  it.put("sub/.envrc");
  it.put(".vscode/tasks.json");
  it.put(".idea/deep/er/x.xml");
  it.put(".mcp.json");
  it.put(".claude/settings.json");
  it.put("AGENTS.md");
  it.put(".husky/pre-commit");
  it.put(".local/bin/ls");
  it.put("vendor/x/.git/hooks/pre-commit");
  it.put("vendor/x/.git/hooks/pre-push.sample");
  it.put("vendor/x/.git/config", "[core]\nfsmonitor=evil\nbare=false\n[filter \"a\"]\nclean=x\n");
  it.put("vendor/x/.git/refs/heads/config");
  it.put("vendor/x/.git/refs/heads/hooks/x");
  it.put("linked/.git", "gitdir: ../elsewhere\n");
  it.put(".gitattributes", "* filter=a\n");
  it.put("plain/.gitattributes", "*.txt text\n");
  it.link(".git/COMMIT_EDITMSG", "/home/u/.bashrc");
  it.put(".git/objects/info/alternates");
  it.put("bare/HEAD");
  it.put("bare/config");
  it.put("bare/objects/x");
  it.put("bare/refs/x");
  it.link("out", "../../etc");
  it.link("abs", "/etc/passwd");
  it.link("src/up", "../../x");
  REQUIRE(::mkfifo((it.at.path + "/fifo").c_str(), 0600) == 0);
  it.put("setid");
  REQUIRE(::chmod((it.at.path + "/setid").c_str(), 04755) == 0);
  const descriptor bound{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  (it.at.path + "/socket").copy(name.sun_path, sizeof name.sun_path - 1);
  REQUIRE(::bind(bound.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  lines all{"agent .claude/settings.json", "agent .mcp.json", "agent AGENTS.md",
            "editor .idea/deep/er/x.xml", "editor .vscode/tasks.json", "environment .envrc",
            "environment sub/.envrc", "fifo fifo", "git_attributes .gitattributes",
            "git_config .git/objects/info/alternates",
            "git_config vendor/x/.git/config: core.fsmonitor, filter.a.clean",
            "git_file linked/.git", "git_hook vendor/x/.git/hooks/pre-commit",
            "git_link .git/COMMIT_EDITMSG: /home/u/.bashrc", "git_repository bare",
            "hook_runner .husky/pre-commit", "link_out abs: /etc/passwd",
            "link_out out: ../../etc", "link_out src/up: ../../x", "program .local/bin/ls",
            "set_id setid", "socket socket"};
  CHECK(it.found() == all);
  // Where nothing could get such a bit, files are chosen by name, and all the rest is found as well.
  it.search.set_id = set_id_files::barred;
  std::erase(all, "set_id setid");
  CHECK(it.found() == all);
}

TEST_CASE("hooks_that_came_later_and_programs_that_git_names_are_found") {
  left_checkout it;
  it.put("tools/watch");
  it.begin();
  it.search.hooks_paths = {".githooks"};
  it.watch({"tools/watch"});
  it.list_ahead();
  it.put(".githooks/pre-commit");
  it.put("tools/watch", "other");
  for (const auto how : {set_id_files::possible, set_id_files::barred}) {
    it.search.set_id = how;
    CHECK(it.found() == lines{"git_hook .githooks/pre-commit",
                              "program tools/watch: git's configuration names it"});
  }
}

TEST_CASE("a_program_that_git_names_is_found_by_whatever_way_it_was_replaced") {
  left_checkout it;
  it.put(".gitignore", "build\n");
  for (const auto* name : {"build/one", "t/two", "u/three", "v/four", "same/five"}) it.put(name);
  it.put("old/three", "x");
  it.put("old/one", "x");
  it.begin_filtered();
  it.watch({"build/later", "build/one", "same/five", "t/two", "u/three", "v/four"});
  const auto rename = [&](const std::string& from, const std::string& to) {
    std::filesystem::rename(it.at.path + "/" + from, it.at.path + "/" + to);
  };
  CHECK(it.found().empty());
  rename("u", "away");
  rename("old", "u");  // what was there before, under a name that counts
  rename("v", "w");
  it.link("v", "w");  // the same file, by way of a link
  std::filesystem::remove(it.at.path + "/t/two");
  it.link("t/two", "/bin/sh");
  it.put("build/later");
  CHECK(it.found() == lines{"program build/later: git's configuration names it",
                            "program t/two: git's configuration names it; it leads to /bin/sh",
                            "program u/three: git's configuration names it",
                            "program v: git's configuration names it; it leads to w"});
}

TEST_CASE("hooks_below_an_ignored_directory_or_a_link_are_found") {
  left_checkout it;
  it.put(".gitignore", "node_modules\n");
  it.begin_filtered();
  it.search.hooks_paths = {"node_modules/hooks", "tools/hooks"};
  it.list_ahead();
  it.put("node_modules/hooks/pre-commit");
  it.link("tools", "elsewhere");
  CHECK(it.found() == lines{"git_hook node_modules/hooks/pre-commit", "git_hook tools: elsewhere"});
}

TEST_CASE("what_a_rebase_goes_on_with_is_one_find") {
  left_checkout it;
  it.put(".git/HEAD");
  it.begin_filtered();
  it.put(".git/rebase-merge/git-rebase-todo", "pick 1\n  exec evil\n");
  it.put(".git/rebase-merge/done");
  it.put(".git/sequencer/todo", "pick 1\n");
  it.put(".git/refs/heads/rebase-apply/x");
  CHECK(it.found() == lines{"git_sequence .git/rebase-merge: going on with it starts a program",
                            "git_sequence .git/sequencer"});
}

TEST_CASE("a_branch_may_have_any_name_and_a_submodule_too") {
  left_checkout it;
  it.put(".git/HEAD");
  it.begin_filtered();
  for (const auto* at : {".git/refs/heads/config", ".git/refs/heads/hooks/x", ".git/logs/refs/heads/config",
                         ".git/refs/remotes/origin/HEAD", ".git/refs/remotes/origin/config"}) {
    it.put(at);
  }
  CHECK(it.found().empty());
  for (const auto* name : {"HEAD", "objects/x", "refs/x", "config", "hooks/pre-commit",
                           "info/attributes", "branches/b"}) {
    it.put(std::string{".git/modules/logs/x/"} + name);
  }
  CHECK(it.found() == lines{"git_config .git/modules/logs/x/branches/b",
                            "git_config .git/modules/logs/x/config",
                            "git_config .git/modules/logs/x/info/attributes",
                            "git_hook .git/modules/logs/x/hooks/pre-commit"});
}

TEST_CASE("an_index_that_cannot_be_read_is_said") {
  left_checkout it;
  it.put(".gitignore", "build\n");
  it.put(".git/index", "none");
  it.begin_filtered();
  CHECK(it.report().ended == walk_end_reason::unreadable);
  it.search.ignored.clear();
  CHECK(it.report().ended == walk_end_reason::seen_all);
}
