// Attempts on the file tools by a path: ways out, harness state, what the host runs, other modes. Each
// ends in a refusal.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "mcp/tools/attempts.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

TEST_CASE("no_tool_gets_out_by_dots_an_absolute_path_or_a_link") {
  const folder at;
  at.put("ws/own", "own");
  at.make_directory("ws/a");
  at.link("ws/out", "../outside");
  at.link("ws/file", "../outside/canary");
  at.link("ws/a/up", "../..");
  tools_at tools{at};
  for (const std::string path :
       {"../outside/canary", "a/../../outside/canary", "out/canary", "a/up/outside/canary",
        "out/../outside/canary", "..", "../outside/absent"}) {
    CHECK("" == not_refused(tools, path, {"OutsideWorkspace"}));
  }
  CHECK("" == not_refused(tools, at.path("outside/canary"), {"OutsideWorkspace"}));
  CHECK("" == not_refused(tools, "/etc/passwd", {"OutsideWorkspace"}));
  CHECK(at.get("outside/canary") == canary);
  CHECK(names_in(at.open(), ".") == words{"a", "file", "out", "own"});
  // A link itself may be moved and removed.
  CHECK(tools.said("move", {{"from", "file"}, {"to", "link"}}) == "ok");
  CHECK(tools.said("remove", {{"path", "link"}}) == "ok");
  CHECK(at.get("outside/canary") == canary);
}

TEST_CASE("harness_state_is_closed_to_every_tool") {
  const folder at;
  at.put("ws/own", "own");
  at.put("ws/.efferent/state", "secret");
  at.link("ws/in", ".efferent");
  at.link("ws/a/deep", "../.efferent/state");
  tools_at tools{at};
  for (const std::string path : {".efferent/state", "./.efferent//state", "a/../.efferent/state",
                                 "in/state", ".efferent/new", ".foundry/new"}) {
    CHECK("" == not_refused(tools, path, {"HarnessState"}));
  }
  CHECK("" == not_refused(tools, ".efferent", {"HarnessState"}));
  CHECK(tools.said("read_file", {{"path", "a/deep"}}) == "HarnessState");
  CHECK(at.get("ws/.efferent/state") == "secret");
  CHECK_FALSE(at.has("ws/.efferent/new"));
  // A walk passes it over, and says so.
  const auto found = tools("find_files", {{"pattern", "*"}});
  CHECK(each(found["matches"], "path") == words{"a", "a/deep", "in", "own"});
  CHECK(found["skipped"]["closed"] == 1);
  CHECK(tools("search_text", {{"pattern", "secret"}})["matches"].empty());
  // A tree that holds it stays whole.
  CHECK(tools.said("remove", {{"path", "."}, {"recursive", true}}) != "ok");
  CHECK(at.has("ws/own"));
}

TEST_CASE("what_the_host_runs_is_read_and_never_changed") {
  const folder at;
  at.put("ws/own", "own");
  at.put("ws/.git/hooks/pre-commit", "hook");
  at.put("ws/.git/config", "[core]\n");
  tools_at tools{at};
  CHECK(tools("read_file", {{"path", ".git/hooks/pre-commit"}})["content"] == "hook");
  CHECK(tools("search_text", {{"pattern", "hook"}, {"path", ".git/hooks"}})["matches"].size() == 1);
  for (const std::string path : {".git/hooks/pre-commit", ".git/hooks/new", ".git/config"}) {
    for (const auto& [name, arguments] : attempts_on(path)) {
      const bool has_nothing_to_remove = name == "remove" && path == ".git/hooks/new";
      if (tools.named(name).hints.read_only || has_nothing_to_remove) continue;
      INFO(name << ' ' << arguments.dump());
      CHECK(tools.said(name, arguments) == "HostRunFile");
    }
  }
  CHECK(tools.said("remove", {{"path", ".git"}, {"recursive", true}}) == "HostRunFile");
  CHECK(tools.said("move", {{"from", ".git"}, {"to", "g"}}) == "HostRunFile");
  CHECK(at.get("ws/.git/hooks/pre-commit") == "hook");
}

TEST_CASE("magic_links_lead_nowhere") {
  const folder at;
  at.put("ws/own", "own");
  at.link("ws/m", "/proc/self/root/etc");
  at.link("ws/n", "/proc/self/cwd");
  tools_at tools{at};
  CHECK("" == not_refused(tools, "m/passwd", {"MagicLink"}));
  CHECK("" == not_refused(tools, "n/x", {"MagicLink"}));
}

TEST_CASE("in_mode_plan_nothing_is_written") {
  const folder at;
  at.put("ws/own", "own");
  at.put("ws/d/f", "c");
  tools_at tools{at, mode::plan};
  for (const auto& [name, arguments] : attempts_on("d/f")) {
    const bool is_read = tools.named(name).hints.read_only;
    const auto said = tools.said(name, arguments);
    INFO(name << ' ' << arguments.dump());
    if (is_read) CHECK((said == "ok" || said == "NotADirectory"));
    if (!is_read) CHECK(said == "ModeForbidsWriting");
  }
  CHECK(tools.said("write_file", {{"path", "x/y"}, {"content", ""}, {"make_directories", true}}) ==
        "ModeForbidsWriting");
  CHECK(names_in(at.open(), ".") == words{"d", "own"});
  CHECK(at.get("ws/d/f") == "c");
}

TEST_CASE("outside_a_person_is_asked_and_without_a_yes_nothing_is_told") {
  const folder at;
  at.put("ws/own", "own");
  at.put("outside/new/f", "c");
  tools_at tools{at, mode::ask};
  const auto there = tools.result("read_file", {{"path", "../outside/canary"}});
  const auto absent = tools.result("read_file", {{"path", "../outside/absent"}});
  REQUIRE(there.refused);
  REQUIRE(absent.refused);
  CHECK(there.refused->error == code::needs_approval);
  CHECK(there.refused->resolved == absent.refused->resolved);
  CHECK(there.refused->detail == absent.refused->detail);
  CHECK_THAT(there.refused->message(), Catch::Contains("nobody answered"));
  CHECK(tools.asked.questions.size() == 2);
  // A walk is more than one place.
  CHECK(tools.said("find_files", {{"path", "../outside"}, {"pattern", "*"}}) == "OutsideWorkspace");
  CHECK(tools.said("search_text", {{"path", "../outside"}, {"pattern", "c"}}) ==
        "OutsideWorkspace");
  CHECK(tools.asked.questions.size() == 2);
  tools.asked.says_yes = true;
  const auto read = tools.result("read_file", {{"path", "../outside/canary"}});
  REQUIRE(read.structured);
  CHECK((*read.structured)["content"] == canary);
  REQUIRE(read.effects.size() == 1);
  CHECK(read.effects[0].says == verdict::ask);
  CHECK(tools.now().labels().includes(taint::private_data));
  CHECK(tools.said("read_file", {{"path", "../outside/absent"}}) == "NotFound");
  CHECK(tools.said("write_file", {{"path", "../outside/made"}, {"content", "yes"}}) == "ok");
  CHECK(at.get("outside/made") == "yes");
  CHECK(tools("list_directory", {{"path", "../outside/new"}})["total"] == 1);
  CHECK(tools.said("edit_file",
                   {{"path", "../outside/new/f"}, {"old_text", "c"}, {"new_text", "d"}}) == "ok");
  CHECK(tools.said("move", {{"from", "../outside/new/f"}, {"to", "f"}}) == "ok");
  CHECK(at.get("ws/f") == "d");
  CHECK(tools.said("remove", {{"path", "../outside/new"}}) == "ok");
  CHECK_FALSE(at.has("outside/new"));
  // Nobody can approve these.
  CHECK(tools.said("read_file", {{"path", ".efferent/x"}}) == "HarnessState");
  tools.asked.says_yes = false;
  CHECK(tools.said("move", {{"from", "own"}, {"to", "../outside/own"}}) == "NeedsApproval");
  CHECK(tools.said("remove", {{"path", "../outside/canary"}}) == "NeedsApproval");
  CHECK(at.get("outside/canary") == canary);
}

TEST_CASE("a_person_is_told_both_ends_of_a_move_and_what_goes_with_it") {
  const folder at;
  at.put("ws/own", "own");
  at.put("outside/victim", "v");
  at.put("outside/tree/f", "f");
  tools_at tools{at, mode::ask};
  const auto question = [&](const char* name, const json& arguments) {
    tools.asked.questions.clear();
    static_cast<void>(tools.said(name, arguments));
    REQUIRE(tools.asked.questions.size() == 1);
    return tools.asked.questions[0];
  };
  const auto ends = [&](const std::string& from, const std::string& to) {
    return '"' + at.path(from) + "\" to \"" + at.path(to) + '"';
  };
  auto asked = question("move", {{"from", "own"}, {"to", "../outside/victim"}, {"overwrite", true}});
  CHECK(asked.contains(ends("ws/own", "outside/victim") + ", replacing what is there"));
  asked = question("move", {{"from", "../outside/victim"}, {"to", "../outside/new"}});
  CHECK(asked.contains(ends("outside/victim", "outside/new")));
  CHECK_FALSE(asked.contains("replacing"));
  asked = question("remove", {{"path", "../outside/tree"}, {"recursive", true}});
  CHECK(asked.contains('"' + at.path("outside/tree") + "\" with all that is below it"));
  CHECK_FALSE(question("remove", {{"path", "../outside/tree"}}).contains("below"));
}

TEST_CASE("the_audit_log_and_what_lies_above_it_is_changed_by_no_tool_whoever_says_yes") {
  const folder at;
  at.put("ws/own", "own");
  at.put("outside/state/logs/log", "line\n");
  tools_at tools{at, mode::ask};
  tools.asked.says_yes = true;
  auto kept = mcp::kept_file::at(at.path("outside/state/logs/log"));
  REQUIRE(kept);
  tools.now().keep(std::move(*kept));
  const std::string log = "../outside/state/logs/log";
  for (const auto& [name, arguments] : std::vector<std::pair<std::string, json>>{
           {"write_file", {{"path", log}, {"content", ""}}},
           {"edit_file", {{"path", log}, {"old_text", "line"}, {"new_text", "x"}}},
           {"remove", {{"path", log}}},
           {"remove", {{"path", "../outside/state/logs"}, {"recursive", true}}},
           {"remove", {{"path", "../outside/state"}, {"recursive", true}}},
           {"move", {{"from", "own"}, {"to", log}, {"overwrite", true}}},
           {"move", {{"from", log}, {"to", "log"}}},
           {"move", {{"from", "../outside/state"}, {"to", "state"}}}}) {
    INFO(name << ' ' << arguments.dump());
    CHECK(tools.said(name, arguments) == "HarnessState");
  }
  CHECK(tools.asked.questions.empty());
  // The same file and directory under other names.
  REQUIRE(::link(at.path("outside/state/logs/log").c_str(), at.path("outside/second").c_str()) == 0);
  CHECK(tools.said("write_file", {{"path", "../outside/second"}, {"content", ""}}) == "HarnessState");
  REQUIRE(::rename(at.path("outside/state").c_str(), at.path("outside/moved").c_str()) == 0);
  CHECK(tools.said("remove", {{"path", "../outside/moved"}, {"recursive", true}}) == "HarnessState");
  CHECK(at.get("outside/moved/logs/log") == "line\n");
  CHECK(at.get("ws/own") == "own");
  // It may be read, and what lies beside it may be changed.
  CHECK(tools.said("read_file", {{"path", "../outside/moved/logs/log"}}) == "ok");
  CHECK(tools.said("write_file", {{"path", "../outside/moved/logs/other"}, {"content", ""}}) == "ok");
}

TEST_CASE("a_credential_that_gets_another_name_is_taken_in_as_if_it_was_read") {
  const folder at;
  at.put("ws/a", "");
  at.put("ws/.env", "KEY");
  tools_at tools{at};
  REQUIRE(tools.said("move", {{"from", "a"}, {"to", "b"}}) == "ok");
  CHECK_FALSE(tools.now().labels().includes(taint::private_data));
  REQUIRE(tools.said("move", {{"from", ".env"}, {"to", "b"}}) == "AlreadyExists");
  CHECK_FALSE(tools.now().labels().includes(taint::private_data));
  REQUIRE(tools.said("move", {{"from", ".env"}, {"to", "e.txt"}}) == "ok");
  CHECK(tools.now().labels().includes(taint::private_data));
}

TEST_CASE("a_list_of_names_outside_is_taken_in_as_a_file_there_is") {
  const folder at;
  at.put("ws/d/f", "");
  at.put("outside/d/f", "");
  tools_at tools{at, mode::ask};
  tools.asked.says_yes = true;
  REQUIRE(tools.said("list_directory", {{"path", "d"}}) == "ok");
  CHECK_FALSE(tools.now().labels().includes(taint::private_data));
  REQUIRE(tools.said("list_directory", {{"path", "../outside/d"}}) == "ok");
  CHECK(tools.now().labels().includes(taint::private_data));
}

TEST_CASE("a_hard_link_to_a_file_outside_is_never_written_through") {
  const folder at;
  REQUIRE(::link(at.path("outside/canary").c_str(), at.path("ws/f").c_str()) == 0);
  REQUIRE(::link(at.path("outside/canary").c_str(), at.path("ws/g").c_str()) == 0);
  tools_at tools{at};
  CHECK(tools.said("write_file", {{"path", "f"}, {"content", "changed"}}) == "ok");
  CHECK(tools.said("edit_file", {{"path", "g"}, {"old_text", "canary"}, {"new_text", "x"}}) ==
        "ok");
  CHECK(at.get("ws/f") == "changed");
  CHECK(at.get("outside/canary") == canary);
}

TEST_CASE("a_file_is_not_replaced_when_it_is_no_longer_what_was_read") {
  const folder at;
  at.put("ws/f", "old");
  const auto ws = at.open();
  struct stat as_read{};
  REQUIRE(::stat(at.path("ws/f").c_str(), &as_read) == 0);
  const resolved place{at.path("ws/f"), region::workspace};
  at.put("ws/f", "somebody else's");
  const auto late = beneath::replace_at(ws.root().held(), place, "new", &as_read);
  REQUIRE_FALSE(late);
  CHECK(late.error() == code::symlink_loop);  // so that it is read and edited again
  ::unlink(at.path("ws/f").c_str());
  CHECK_FALSE(beneath::replace_at(ws.root().held(), place, "new", &as_read));
  CHECK(names_in(ws, ".").empty());
}
