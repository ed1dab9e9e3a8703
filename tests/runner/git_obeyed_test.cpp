// What a configuration names in the workspace becomes a carve-out, is reported later, or stops the
// run.
#include "sandbox/git_obeyed.hpp"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

struct repository {
  repository() {
    std::filesystem::create_directories(at.path + "/.git");
    for (const auto* door : {"hooks", "info", "worktrees"}) {
      std::filesystem::create_directories(at.path + "/.git/" + door);
    }
  }
  void put(const std::string& name, std::string_view text = "x") const {
    const std::filesystem::path file{at.path + "/" + name};
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << text;
  }
  /// What is carved out beside git's own doors, or the refusal.
  [[nodiscard]] std::vector<std::string> carved(std::string_view text,
                                                std::string_view global_hooks = {},
                                                const git_limits& most = {}) {
    put(".git/config", text);
    git_sources global{.files = {}, .home = at.path + "/home"};
    if (!global_hooks.empty()) {
      global.files.push_back(
          {"/nowhere/gitconfig", "[core]\nhooksPath=" + std::string{global_hooks} + "\n"});
    }
    const descriptor directory{::open(at.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    auto found = look_at_git(at.path, directory.get(), git_files::look_only, global, most);
    if (!found) {
      return {std::string{name_of(found.error().error)} + ": " + found.error().detail};
    }
    state = std::move(*found);
    std::vector<std::string> paths;
    for (const auto& carve : state.carve_outs) {
      CHECK(carve.kind == carve_kind::host_run);
      auto tail = carve.path.substr(at.path.size() + 1);
      if (!tail.starts_with(".git/")) paths.push_back(std::move(tail));
    }
    std::erase(state.pinned, at.path + "/.git");
    return paths;
  }

  pinfold_test::folder at;
  git_state state;
};

using paths = std::vector<std::string>;

}  // namespace

TEST_CASE("a_hooks_directory_in_the_workspace_is_carved_out_and_what_is_above_it_pinned") {
  repository it;
  it.put("tools/git/hooks/pre-commit");
  CHECK(it.carved("[core]\nhooksPath = tools/git/hooks\n") == paths{"tools/git/hooks"});
  CHECK(it.state.pinned == paths{it.at.path + "/tools", it.at.path + "/tools/git"});
  CHECK(it.state.hooks_paths == paths{"tools/git/hooks"});
  CHECK(it.carved("[core]\nhooksPath = " + it.at.path + "/tools/git/hooks\n") ==
        paths{"tools/git/hooks"});
  CHECK(it.carved("", "tools/git/hooks") == paths{"tools/git/hooks"});
  // Also where another setting counts now: a later one may be taken away.
  CHECK(it.carved("[core]\nhooksPath = /etc\n", "tools/git/hooks") == paths{"tools/git/hooks"});
  CHECK(it.carved("[core]\nhooksPath = one\nhooksPath = tools/git/hooks\n") ==
        paths{"tools/git/hooks"});
}

TEST_CASE("a_hooks_directory_that_is_not_there_yet_is_looked_at_after_the_run") {
  repository it;
  CHECK(it.carved("[core]\nhooksPath = .githooks\n").empty());
  CHECK(it.state.hooks_paths == paths{".githooks"});
}

TEST_CASE("an_included_file_is_carved_out_and_has_to_be_there") {
  repository it;
  it.put("shared.gitconfig");
  CHECK(it.carved("[include]\npath = ../shared.gitconfig\n") == paths{"shared.gitconfig"});
  CHECK(it.carved("[includeIf \"gitdir:x\"]\npath = ../shared.gitconfig\n") ==
        paths{"shared.gitconfig"});
  CHECK(it.carved("[include]\npath = ../absent\n") ==
        paths{"CarveOutUnusable: git's configuration includes it and it is not there"});
  CHECK(it.carved("[include]\npath = ~me/.gitconfig\n[include]\npath = /etc/gitconfig\n").empty());
}

TEST_CASE("a_link_on_the_way_is_refused_since_it_can_be_replaced") {
  repository it;
  it.put("real/pre-commit");
  it.put("file");
  std::filesystem::create_symlink("real", it.at.path + "/hooks");
  std::filesystem::create_symlink("file", it.at.path + "/conf");
  const paths refused{"CarveOutUnusable: git's configuration names it through a link"};
  CHECK(it.carved("[core]\nhooksPath = hooks\n") == refused);
  CHECK(it.carved("[include]\npath = ../conf\n") == refused);
}

TEST_CASE("a_way_that_turns_back_is_refused_since_what_it_passes_can_be_replaced") {
  repository it;
  it.put("hooks/pre-commit");
  it.put("conf");
  it.put("sub/file");
  const paths refused{
      "CarveOutUnusable: git's configuration names it with \"..\" after a directory; "
      "name it plainly"};
  CHECK(it.carved("[core]\nhooksPath = sub/../hooks\n") == refused);
  CHECK(it.carved("[core]\nhooksPath = gone/../hooks\n") == refused);
  CHECK(it.carved("[include]\npath = " + it.at.path + "/sub/../conf\n") == refused);
  CHECK(it.carved("[include]\npath = ../conf\n") == paths{"conf"});
}

TEST_CASE("programs_that_git_runs_unasked_are_carved_out_and_others_noted") {
  repository it;
  for (const auto* name : {"tools/watch", "clean.py", "bin/release", "real"}) it.put(name);
  std::filesystem::create_symlink("real", it.at.path + "/linked");
  CHECK(it.carved(
            "[core]\nfsmonitor = ./tools/watch --fast\n[filter \"x\"]\nclean = python clean.py\n"
            "smudge = sed s/a/b/\n[alias]\nrelease = !bin/release\nst = status clean.py\n"
            "[core]\neditor = vi\n[diff \"y\"]\ntextconv = ./linked\ncommand = tools/later\n") ==
        paths{"tools/watch", "clean.py"});
  CHECK(it.state.obeyed == paths{"bin/release", "linked", "real", "s/a/b", "tools/later"});
}

TEST_CASE("words_of_a_command_line_are_found_however_a_shell_sets_them_apart") {
  repository it;
  it.put("t/x");
  for (const auto* line : {"cd t && t/x", "sh -c 'exec t/x'", "A=t/x true", "a|t/x", "true;t/x",
                           "$(t/x)", "true --with=t/x"}) {
    INFO(line);
    CHECK(it.carved("[diff]\nexternal = \"" + std::string{line} + "\"\n") == paths{"t/x"});
  }
}

TEST_CASE("includes_are_followed_and_so_is_what_they_name") {
  repository it;
  it.put("a.inc", "[include]\npath = d/b.inc\n");
  it.put("d/b.inc", "[core]\nhooksPath = hooks\n[include]\npath = c.inc\n");
  it.put("d/c.inc", "[include]\npath = ../a.inc\n");
  it.put("home/x.inc", "");
  it.put("hooks/pre-commit");
  CHECK(it.carved("[include]\npath = ../a.inc\n") == paths{"a.inc", "d/b.inc", "d/c.inc", "hooks"});
  CHECK(it.carved("[include]\npath = ~/x.inc\n") == paths{"home/x.inc"});
  CHECK(it.carved("[includeIf \"onbranch:never\"]\npath = ../a.inc\n").size() == 4);
}

TEST_CASE("an_include_deeper_than_git_goes_stops_the_run") {
  repository it;
  for (int i = 0; i < 12; ++i) {
    it.put("i" + std::to_string(i), "[include]\npath = i" + std::to_string(i + 1) + "\n");
  }
  it.put("i9", "");
  CHECK(it.carved("[include]\npath = ../i0\n").size() == 10);
  it.put("i9", "[include]\npath = i10\n");
  CHECK(it.carved("[include]\npath = ../i0\n") ==
        paths{"CarveOutUnusable: git's configuration includes it too deep"});
}

TEST_CASE("what_leads_out_of_the_workspace_is_nobodys_business_here") {
  repository it;
  CHECK(it.carved("[core]\nhooksPath = ../elsewhere\n[include]\npath = ../../x\n").empty());
  CHECK(it.state.hooks_paths.empty());
  CHECK(it.carved("[core]\nhooksPath = .git/hooks\n").empty());
  CHECK(
      it.carved("[core]\nhooksPath = .\n") ==
      paths{
          "CarveOutUnusable: git takes hooks from the top of the workspace, which is written to"});
}

TEST_CASE("a_reading_beyond_its_budget_is_refused_and_never_cut_short") {
  repository it;
  it.put("a", "[core]\n");
  it.put("b", "");
  const std::string text = "[include]\npath = ../a\n[include]\npath = ../b\n";
  CHECK(it.carved(text) == paths{"a", "b"});
  const auto is_refused = [&](const git_limits& most, std::string_view why) {
    const auto answer = it.carved(text, {}, most);
    return answer.size() == 1 && answer.front().starts_with("NotEnforceable: ") &&
           answer.front().contains(why);
  };
  CHECK(is_refused({.entries = 3}, "more looks"));
  CHECK(is_refused({.bytes = 50}, "bytes of configuration"));
  CHECK(is_refused({.carve_outs = 6}, "more mounts"));
  std::string many = text;
  for (int i = 0; i < 100; ++i) many += "[include]\npath = /nowhere/" + std::to_string(i) + "\n";
  CHECK(it.carved(many, {}, {.time = std::chrono::milliseconds{-1}}).front().contains("more time"));
  CHECK(it.carved(text, {}, {.file_bytes = 10}) ==
        paths{"CarveOutUnusable: it is larger than a mebibyte"});
}
