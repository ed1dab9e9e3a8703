// An approved `ask` opens one place outside, once, and nothing else.
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <pinfold/disk/open.hpp>
#include <pinfold/guard.hpp>

#include "disk/folder.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

/// As a harness in mode `ask` does it: the guard asks about the call, a person says yes.
one_call_grant approve(const workspace& ws, const call& asked) {
  const guard asking{ws.grant(), mode::ask, gate::off, taint{}, enforcement::unconfined};
  auto made = approver::in_the_harness().approve(asking.check(asked));
  REQUIRE(made);
  return std::move(*made);
}

struct one_operation {
  std::string_view name;
  call (*asked)(std::string_view);
  std::function<std::string(const workspace&, std::string_view, one_call_grant&&)> run;
};

const std::vector<one_operation> every_operation{
    {"open_read", call::read,
     [](auto& ws, auto path, auto&& yes) { return said(ws.open_read(path, std::move(yes))); }},
    {"stat_of", call::read,
     [](auto& ws, auto path, auto&& yes) { return said(ws.stat_of(path, std::move(yes))); }},
    {"open_write", call::write,
     [](auto& ws, auto path, auto&& yes) { return said(ws.open_write(path, {}, std::move(yes))); }},
    {"replace_file", call::write, [](auto& ws, auto path, auto&& yes) {
       return said(ws.replace_file(path, "new", std::move(yes)));
     }},
    {"make_directories", call::make_directory, [](auto& ws, auto path, auto&& yes) {
       return said(ws.make_directories(path, std::move(yes)));
     }},
    {"list_directory", call::list,
     [](auto& ws, auto path, auto&& yes) { return said(ws.list_directory(path, std::move(yes))); }},
    {"remove", call::remove,
     [](auto& ws, auto path, auto&& yes) { return said(ws.remove(path, std::move(yes))); }},
};

}  // namespace

TEST_CASE("an_approved_call_reaches_the_place_outside_and_the_next_one_does_not") {
  for (auto names : both_lookups) {
    const folder at;
    const auto ws = at.open(names);
    at.put("outside/f", "text");
    const auto file = at.path("outside/f");

    auto read = ws.open_read("../outside/f", approve(ws, call::read(file)));
    REQUIRE(read);
    CHECK(all_of(*read) == "text");
    CHECK(said(ws.open_read("../outside/f")) == "OutsideWorkspace");

    CHECK(said(ws.replace_file(file, "new", approve(ws, call::write(file)))) == "ok");
    CHECK(at.get("outside/f") == "new");
    const auto fresh = at.path("outside/fresh");
    CHECK(said(ws.open_write(fresh, {}, approve(ws, call::write(fresh)))) == "ok");
    CHECK(at.has("outside/fresh"));
    CHECK(said(ws.remove(fresh, approve(ws, call::remove(fresh)))) == "ok");
    CHECK_FALSE(at.has("outside/fresh"));
    const auto made = at.path("outside/made");
    CHECK(said(ws.make_directories(made, approve(ws, call::make_directory(made)))) == "ok");
    CHECK(at.has("outside/made"));
    const auto list = ws.list_directory("../outside", approve(ws, call::list(at.path("outside"))));
    REQUIRE(list);
    CHECK(list->size() == 3);
    const auto facts = ws.stat_of(file, approve(ws, call::read(file)));
    REQUIRE(facts);
    CHECK(facts->size == 3);

    const auto inside = at.path("ws/moved");
    CHECK(said(ws.rename_within(file, "moved", overwrite::allowed,
                                approve(ws, call::rename(file, inside)))) == "ok");
    CHECK(at.get("ws/moved") == "new");
    CHECK(at.get("outside/canary") == canary);
  }
}

TEST_CASE("an_approval_opens_no_other_place_and_serves_no_other_operation") {
  for (auto names : both_lookups) {
    const folder at;
    const auto ws = at.open(names);
    at.put("outside/f", "text");
    const auto file = at.path("outside/f");
    const auto other = at.path("outside/canary2");
    const auto above = at.path("outside");
    const std::vector<std::pair<std::string_view, call>> wrong{
        {"another place, read", call::read(other)},
        {"another place, written", call::write(other)},
        {"the directory above", call::list(above)},
        {"a rename", call::rename(file, other)},
        {"a command", call::execute("cat f")}};
    for (const auto& [why, asked] : wrong) {
      for (const auto& op : every_operation) {
        INFO(op.name << ": " << why);
        CHECK(op.run(ws, file, approve(ws, asked)) == "NeedsApproval");
      }
    }
    CHECK(at.get("outside/f") == "text");
    CHECK(at.get("outside/canary") == canary);
  }
}

TEST_CASE("an_approval_is_used_up_by_an_attempt_that_fails") {
  const folder at;
  const auto ws = at.open();
  const auto file = at.path("outside/absent");
  auto yes = approve(ws, call::read(file));
  CHECK(said(ws.open_read(file, std::move(yes))) == "NotFound");
  at.put("outside/absent", "text");
  CHECK(yes.is_spent());
  CHECK(said(ws.open_read(file, std::move(yes))) == "NeedsApproval");
}

TEST_CASE("a_link_put_in_the_place_that_was_approved_leads_nowhere") {
  for (auto names : both_lookups) {
    for (const auto& op : every_operation) {
      if (op.name == "remove") continue;  // acts on the link itself
      INFO(op.name);
      const folder at;
      const auto ws = at.open(names);
      at.make_directory("outside/secret");
      at.put("outside/secret/canary", canary);
      const auto file = at.path("outside/f");
      auto yes = approve(ws, op.asked(file));
      at.link("outside/f", op.name == "list_directory" ? "secret" : "secret/canary");
      CHECK(op.run(ws, file, std::move(yes)) == "NeedsApproval");
      CHECK(at.get("outside/secret/canary") == canary);
    }
  }
}

TEST_CASE("a_directory_on_the_way_to_the_approved_place_that_became_a_link_is_refused") {
  for (auto names : both_lookups) {
    for (const auto& op : every_operation) {
      INFO(op.name);
      const folder at;
      const auto ws = at.open(names);
      at.make_directory("outside/secret");
      at.put("outside/secret/canary", canary);
      const auto file = at.path("outside/d/canary");
      auto yes = approve(ws, op.asked(file));
      at.link("outside/d", "secret");
      CHECK(op.run(ws, file, std::move(yes)) == "NeedsApproval");
      CHECK(at.get("outside/secret/canary") == canary);
    }
  }
}

TEST_CASE("harness_state_and_host_run_files_have_no_place_for_approval") {
  const folder at;
  at.put("ws/.efferent/state", "x");
  at.put("ws/.git/config", "x");
  at.link("outside/in", "../ws/.efferent");
  const auto ws = at.open();
  CHECK(said(ws.place_for_approval(operation::read, ".efferent/state")) == "HarnessState");
  CHECK(said(ws.place_for_approval(operation::read, "../outside/in/state")) == "HarnessState");
  CHECK(said(ws.place_for_approval(operation::write, "../ws/.git/config")) == "HostRunFile");
  CHECK(said(ws.place_for_approval(operation::read, "/proc/self/root/etc/passwd")) == "MagicLink");
}

TEST_CASE("an_approval_for_a_place_outside_gives_nothing_inside_the_carve_outs") {
  const folder at;
  at.put("ws/.efferent/state", "x");
  const auto ws = at.open();
  const auto file = at.path("outside/f");
  for (const auto& op : every_operation) {
    INFO(op.name);
    auto yes = approve(ws, op.asked(file));
    CHECK(op.run(ws, ".efferent/state", std::move(yes)) == "HarnessState");
  }
}

TEST_CASE("what_holds_the_workspace_cannot_be_removed_with_an_approval_either") {
  const folder at;
  const auto ws = at.open();
  const guard asking{ws.grant(), mode::ask, gate::off, taint{}};
  const auto above = at.path("");
  CHECK_FALSE(approver::in_the_harness().approve(
      asking.check(call::remove(above.substr(0, above.size() - 1)))));
}

TEST_CASE("a_workspace_that_was_replaced_serves_no_approval") {
  const folder at;
  const auto ws = at.open();
  at.put("outside/f", "text");
  const auto file = at.path("outside/f");
  std::filesystem::rename(at.path("ws"), at.path("gone"));
  at.make_directory("ws");
  CHECK(said(ws.open_read(file, approve(ws, call::read(file)))) == "WorkspaceGone");
}
