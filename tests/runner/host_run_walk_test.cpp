// How the walk goes: what it passes over, what it looks at anew, and where its budget ends it.
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

TEST_CASE("where_a_tool_keeps_what_it_built_only_programs_count") {
  left_checkout it;
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
  left_checkout it;
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
  left_checkout it;
  it.put("p/x/file");
  it.put("q/x/.envrc", "use nix");
  it.begin_filtered();
  REQUIRE(::renameat2(AT_FDCWD, (it.at.path + "/p").c_str(), AT_FDCWD, (it.at.path + "/q").c_str(),
                      RENAME_EXCHANGE) == 0);
  CHECK(it.found() == lines{"environment p/x/.envrc"});
}

TEST_CASE("what_a_directory_brings_along_is_new_where_it_arrives") {
  left_checkout it;
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
  left_checkout it;
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
  left_checkout it;
  it.put(".git/config");
  it.begin();
  it.search.carved = {".git/config", ".git/commondir", ".git/hooks", ".efferent"};
  it.put(".git/commondir");
  it.put(".git/hooks/x");
  it.put(".efferent/.envrc");
  CHECK(it.found().empty());
}

TEST_CASE("a_directory_that_git_ignores_is_passed_over_as_the_rule_was_at_the_start") {
  left_checkout it;
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
  left_checkout it;
  it.begin();
  for (int i = 0; i < 20; ++i) it.put("f" + std::to_string(i));
  it.search.budget = 19;
  CHECK(it.report().ended == walk_end_reason::budget);
  it.search.budget = 20;
  CHECK(it.report().ended == walk_end_reason::seen_all);
  CHECK(it.report().entries == 20);
}

TEST_CASE("a_long_list_is_cut_and_counted") {
  left_checkout it;
  it.begin();
  for (int i = 0; i < 230; ++i) it.put("d" + std::to_string(i) + "/.envrc");
  const auto report = it.report();
  CHECK(report.found.size() == host_run_report::most_found);
  CHECK(report.more == 30);
}

TEST_CASE("a_tree_too_deep_for_a_path_is_said_to_be_unread") {
  left_checkout it;
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
