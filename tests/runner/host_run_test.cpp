// The walk finds what a host program may run, obey or write through, if it is new, and nothing else.
#include "sandbox/host_run.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using lines = std::vector<std::string>;

namespace {

class checkout {
 public:
  checkout() : directory_{::open(at.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)} {}

  void put(const std::string& name, std::string_view bytes = "x") const {
    const std::filesystem::path file{at.path + "/" + name};
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << bytes;
  }
  void link(const std::string& name, const std::string& target) const {
    const std::filesystem::path file{at.path + "/" + name};
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  void begin() {
    // File times come in ticks of a few milliseconds; what was there before must be older.
    std::this_thread::sleep_for(std::chrono::milliseconds{30});
    search = begin_host_run_search(at.path, directory_.get());
    list_ahead();
  }
  void list_ahead() {
    search.ahead.clear();
    pinfold::list_ahead(search, directory_.get());
  }
  void watch(std::vector<std::string> paths) {
    search.obeyed = watched(std::move(paths), directory_.get());
  }
  /// As in a run whose system calls are filtered.
  void begin_filtered() {
    begin();
    search.set_id = set_id_files::barred;
  }
  [[nodiscard]] host_run_report report() const {
    return look_for_host_run(search, directory_.get());
  }
  /// "kind path" or "kind path: detail" for each find.
  [[nodiscard]] lines found() const {
    lines all;
    for (const auto& one : report().found) {
      auto line = std::string{name_of(one.kind)} + " " + one.path;
      if (!one.detail.empty()) line += ": " + one.detail;
      all.push_back(std::move(line));
    }
    std::ranges::sort(all);
    return all;
  }

  pinfold_test::folder at;
  host_run_search search;

 private:
  descriptor directory_;
};

}  // namespace

TEST_CASE("what_was_there_before_and_ordinary_files_are_no_news") {
  checkout it;
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
  checkout it;
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
  checkout it;
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
  checkout it;
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
  checkout it;
  it.put(".gitignore", "node_modules\n");
  it.begin_filtered();
  it.search.hooks_paths = {"node_modules/hooks", "tools/hooks"};
  it.list_ahead();
  it.put("node_modules/hooks/pre-commit");
  it.link("tools", "elsewhere");
  CHECK(it.found() == lines{"git_hook node_modules/hooks/pre-commit", "git_hook tools: elsewhere"});
}

TEST_CASE("what_a_rebase_goes_on_with_is_one_find") {
  checkout it;
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
  checkout it;
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
  checkout it;
  it.put(".gitignore", "build\n");
  it.put(".git/index", "none");
  it.begin_filtered();
  CHECK(it.report().ended == walk_end_reason::unreadable);
  it.search.ignored.clear();
  CHECK(it.report().ended == walk_end_reason::seen_all);
}

TEST_CASE("where_a_tool_keeps_what_it_built_only_programs_count") {
  checkout it;
  it.begin_filtered();
  it.put(".direnv/python/bin/ls");
  it.put(".direnv/python/lib/site/x.py");
  it.put(".cargo/config.toml");
  it.put(".cargo/registry/index/x");
  it.put(".yarn/releases/yarn.cjs");
  it.put(".yarn/cache/x.zip");
  CHECK(it.found() == lines{"environment .direnv/python/bin/ls", "tool .cargo/config.toml",
                            "tool .yarn/releases/yarn.cjs"});
}

TEST_CASE("what_was_listed_ahead_hides_nothing_that_came_later") {
  checkout it;
  it.put("same/.envrc");
  it.put("same/deep/CLAUDE.md");
  it.put("grown/a.c");
  it.put("bare/HEAD");
  it.put("bare/objects/x");
  it.put("bare/refs/x");
  it.put("moved/from/.mcp.json");
  it.begin_filtered();
  CHECK(it.search.ahead.contains("same/deep"));
  CHECK(it.found().empty());
  it.put("same/.envrc", "changed in place");
  it.put("same/deep/CLAUDE.md", "changed in place");
  it.put("bare/HEAD", "changed in place");
  it.put("grown/.envrc");
  it.put("grown/new/deeper/.vscode/tasks.json");
  it.link("grown/out", "/etc");
  std::filesystem::rename(it.at.path + "/moved/from", it.at.path + "/moved/to");
  it.put("moved/to/.mcp.json", "changed");
  CHECK(it.found() ==
        lines{"agent moved/to/.mcp.json", "agent same/deep/CLAUDE.md",
              "editor grown/new/deeper/.vscode/tasks.json", "environment grown/.envrc",
              "environment same/.envrc", "git_repository bare", "link_out grown/out: /etc"});
}

TEST_CASE("a_directory_that_takes_the_place_of_another_is_looked_at_anew") {
  checkout it;
  it.put("p/x/file");
  it.put("q/x/.envrc", "use nix");
  it.begin_filtered();
  REQUIRE(::renameat2(AT_FDCWD, (it.at.path + "/p").c_str(), AT_FDCWD, (it.at.path + "/q").c_str(),
                      RENAME_EXCHANGE) == 0);
  CHECK(it.found() == lines{"environment p/x/.envrc"});
}

TEST_CASE("what_a_directory_brings_along_is_new_where_it_arrives") {
  checkout it;
  it.put("a/tasks.json");
  it.put("nest/g/config", "[core]\nfsmonitor=evil\n");
  it.put("nest/g/hooks/post-checkout");
  it.put("nest/g/HEAD");
  it.put("bin/deep/ls");
  it.put("still/.envrc");
  it.begin_filtered();
  const auto move = [&](const std::string& from, const std::string& to) {
    std::filesystem::rename(it.at.path + "/" + from, it.at.path + "/" + to);
  };
  move("a", ".vscode");
  move("nest/g", "nest/.git");
  std::filesystem::create_directories(it.at.path + "/.local");
  move("bin", ".local/bin");
  it.put("still/other");
  CHECK(it.found() == lines{"editor .vscode/tasks.json",
                            "git_config nest/.git/config: core.fsmonitor",
                            "git_hook nest/.git/hooks/post-checkout", "program .local/bin/deep/ls"});
}

TEST_CASE("a_link_with_a_name_that_counts_and_a_repository_in_two_parts_are_found") {
  checkout it;
  it.begin_filtered();
  it.put("x/HEAD", "ref: refs/heads/main\n");
  it.put("x/commondir", "../y\n");
  it.put("y/config", "[core]\nfsmonitor=evil\n");
  it.link("s/.git", "../x");
  it.link(".vscode", "elsewhere");
  it.link(".envrc", "elsewhere");
  it.link("sub/.local", "elsewhere");
  it.put(".git/modules/libs/logstash/commondir", "../../../../x\n");
  CHECK(it.found() == lines{"editor .vscode: elsewhere", "environment .envrc: elsewhere",
                            "git_config .git/modules/libs/logstash/commondir",
                            "git_config x/commondir", "git_file s/.git: ../x", "git_repository x",
                            "program sub/.local: elsewhere"});
}

TEST_CASE("carve_outs_in_place_are_passed_over") {
  checkout it;
  it.put(".git/config");
  it.begin();
  it.search.carved = {".git/config", ".git/commondir", ".git/hooks", ".efferent"};
  it.put(".git/commondir");
  it.put(".git/hooks/x");
  it.put(".efferent/.envrc");
  CHECK(it.found().empty());
}

TEST_CASE("a_directory_that_git_ignores_is_passed_over_as_the_rule_was_at_the_start") {
  checkout it;
  it.put(".gitignore", "# a comment\nnode_modules/\n/build\n*.o\nsrc/gen\n.vscode\n.git\n");
  it.begin();
  CHECK(it.search.ignored == lines{"build", "node_modules"});
  it.put(".gitignore", "hidden/\n");
  for (const auto* where : {"node_modules/a/.envrc", "build/.envrc", "hidden/.envrc",
                            ".vscode/tasks.json"}) {
    it.put(where);
  }
  CHECK(it.found() == lines{"editor .vscode/tasks.json", "environment hidden/.envrc"});
  CHECK(ignored_directories("build/\n!build/keep\n").empty());
}

TEST_CASE("a_spent_budget_and_what_cannot_be_read_are_said") {
  checkout it;
  it.begin();
  for (int i = 0; i < 20; ++i) it.put("f" + std::to_string(i));
  it.search.budget = 19;
  CHECK(it.report().ended == walk_end_reason::budget);
  it.search.budget = 20;
  CHECK(it.report().ended == walk_end_reason::seen_all);
  CHECK(it.report().entries == 20);
}

TEST_CASE("a_long_list_is_cut_and_counted") {
  checkout it;
  it.begin();
  for (int i = 0; i < 230; ++i) it.put("d" + std::to_string(i) + "/.envrc");
  const auto report = it.report();
  CHECK(report.found.size() == host_run_report::most_found);
  CHECK(report.more == 30);
}

TEST_CASE("a_tree_too_deep_for_a_path_is_said_to_be_unread") {
  checkout it;
  it.begin();
  const std::string name(200, 'd');
  std::string path;
  descriptor at{::open(it.at.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  for (int depth = 0; depth < 30; ++depth) {
    REQUIRE(::mkdirat(at.get(), name.c_str(), 0755) == 0);
    at = descriptor{::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  }
  CHECK(it.report().ended == walk_end_reason::unreadable);
}
