// What a configuration names in the workspace becomes a carve-out, is reported later, or stops the
// run.
#include "sandbox/git_obeyed.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

struct repository {
  repository() { std::filesystem::create_directories(at.path + "/.git"); }
  void put(const std::string& name) const {
    const std::filesystem::path file{at.path + "/" + name};
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << "x";
  }
  [[nodiscard]] std::vector<std::string> carved(std::string_view text,
                                                std::string_view global = {}) {
    state = {};
    const auto done = add_what_is_obeyed(state, at.path, text, global);
    if (!done) return {std::string{name_of(done.error().error)} + ": " + done.error().detail};
    std::vector<std::string> paths;
    for (const auto& carve : state.carve_outs) {
      CHECK(carve.kind == carve_kind::host_run);
      paths.push_back(carve.path.substr(at.path.size() + 1));
    }
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
  CHECK(it.state.hooks_path == "tools/git/hooks");
  CHECK(it.carved("[core]\nhooksPath = " + it.at.path + "/tools/git/hooks\n") ==
        paths{"tools/git/hooks"});
  CHECK(it.carved("", "tools/git/hooks") == paths{"tools/git/hooks"});
  CHECK(it.carved("[core]\nhooksPath = /etc\n", "tools/git/hooks") == paths{});
  CHECK(it.carved("[core]\nhooksPath = one\nhooksPath = tools/git/hooks\n") ==
        paths{"tools/git/hooks"});
}

TEST_CASE("a_hooks_directory_that_is_not_there_yet_is_looked_at_after_the_run") {
  repository it;
  CHECK(it.carved("[core]\nhooksPath = .githooks\n").empty());
  CHECK(it.state.hooks_path == ".githooks");
}

TEST_CASE("an_included_file_is_carved_out_and_has_to_be_there") {
  repository it;
  it.put("shared.gitconfig");
  CHECK(it.carved("[include]\npath = ../shared.gitconfig\n") == paths{"shared.gitconfig"});
  CHECK(it.carved("[includeIf \"gitdir:x\"]\npath = ../shared.gitconfig\n") ==
        paths{"shared.gitconfig"});
  CHECK(it.carved("[include]\npath = ../absent\n") ==
        paths{"CarveOutUnusable: git's configuration includes it and it is not there"});
  CHECK(it.carved("[include]\npath = ~/.gitconfig-work\n[include]\npath = /etc/gitconfig\n").empty());
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

TEST_CASE("other_programs_that_git_runs_are_noted_for_the_report") {
  repository it;
  CHECK(it.carved("[core]\nfsmonitor = ./tools/watch --fast\n[filter \"x\"]\nclean = sed s/a/b/\n"
                  "[alias]\nrelease = !bin/release\n[core]\neditor = vi\n")
            .empty());
  CHECK(it.state.obeyed == paths{"tools/watch", "bin/release"});
}

TEST_CASE("what_leads_out_of_the_workspace_is_nobodys_business_here") {
  repository it;
  CHECK(it.carved("[core]\nhooksPath = ../elsewhere\n[include]\npath = ../../x\n").empty());
  CHECK(it.state.hooks_path.empty());
  CHECK(it.carved("[core]\nhooksPath = .\n").empty());
  CHECK(it.carved("[core]\nhooksPath = .git/hooks\n").empty());
}
