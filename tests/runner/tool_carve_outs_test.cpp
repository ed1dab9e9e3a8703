// Tools are kept from what a sandbox is kept from: one look at the repository, two uses.
#include "sandbox/tool_carve_outs.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <pinfold/pinfold.hpp>
#include <pinfold/runner/runner.hpp>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
namespace fs = std::filesystem;

namespace {

void put(const std::string& path, std::string_view text = "x") {
  fs::create_directories(fs::path{path}.parent_path());
  std::ofstream{path} << text;
}

code error_of_writing(const workspace& in, const std::string& path) {
  const auto opened = in.open_write(path);
  return opened ? code::invalid_argument : opened.error().error;
}

}  // namespace

TEST_CASE("a_workspace_opened_with_what_was_found_refuses_what_a_mount_refuses") {
  const pinfold_test::folder at;
  put(at.path + "/store/config",
      "[include]\npath = ../team.inc\n[core]\nhooksPath = tools/hooks\n");
  put(at.path + "/.git", "gitdir: store\n");
  put(at.path + "/store/hooks/pre-commit");
  put(at.path + "/team.inc");
  put(at.path + "/ordinary");
  auto found = carve_outs_for_tools(at.path, {});
  REQUIRE(found);
  const auto moved = std::move(*found);  // the texts stay where the list says
  auto in = workspace::open(at.path, moved.list());
  REQUIRE(in);
  for (const auto* name : {"store/hooks/pre-commit", "store/config", "store/commondir",
                           "store/config.worktree", "team.inc", "tools/hooks/x", ".git"}) {
    INFO(name);
    CHECK(error_of_writing(*in, name) == code::host_run_file);
  }
  CHECK(error_of_writing(*in, "ordinary") == code::invalid_argument);
  CHECK(in->open_read("team.inc"));
  CHECK(in->rename_within("store", "other").error().error == code::host_run_file);
  CHECK(in->resolve_write(".efferent/x").error().error == code::harness_state);
  // What the engine knows alone, to show that it is this list that holds.
  CHECK(error_of_writing(*workspace::open(at.path), "team.inc") == code::invalid_argument);
}

TEST_CASE("the_runner_gives_the_list_and_refuses_what_it_would_refuse_to_run_in") {
  const pinfold_test::folder at;
  const auto commands = runner::for_caller({"HOME=" + at.path + "/home"});
  REQUIRE(commands);
  put(at.path + "/home/.gitconfig", "[include]\npath = ../w/mine.inc\n");
  put(at.path + "/w/mine.inc");
  fs::create_directories(at.path + "/w/.git");
  const auto again = runner::for_caller({"HOME=" + at.path + "/home"});
  const auto found = again->carve_outs(at.path + "/w");
  REQUIRE(found);
  CHECK(std::ranges::find(found->list(), "mine.inc", &carve_out::path) != found->list().end());
  CHECK(std::ranges::count(found->list(), ".git/hooks", &carve_out::path) == 1);
  fs::remove(at.path + "/w/mine.inc");
  CHECK(again->carve_outs(at.path + "/w").error().error == code::carve_out_unusable);
  CHECK_FALSE(again->carve_outs(at.path + "/nowhere"));
}
