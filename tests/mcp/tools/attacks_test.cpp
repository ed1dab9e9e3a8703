// Attempts on the file tools: ways out, harness state, what must not be waited for, and sizes that must
// not be kept in memory. Each ends in a refusal or a bounded answer.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "mcp/tools/ground.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

struct attempt {
  std::string tool;
  json arguments;
};

/// Every tool with a path, on that one.
std::vector<attempt> attempts_on(const std::string& path) {
  return {
      {"read_file", {{"path", path}}},
      {"read_file", {{"path", path}, {"base64", true}}},
      {"write_file", {{"path", path}, {"content", "changed"}}},
      {"write_file", {{"path", path}, {"content", "changed"}, {"make_directories", true}}},
      {"edit_file", {{"path", path}, {"old_text", "c"}, {"new_text", "changed"}}},
      {"list_directory", {{"path", path}}},
      {"find_files", {{"path", path}, {"pattern", "*"}}},
      {"search_text", {{"path", path}, {"pattern", "."}}},
      {"move", {{"from", path}, {"to", "stolen"}}},
      {"move", {{"from", "own"}, {"to", path}, {"overwrite", true}}},
      {"remove", {{"path", path}}},
      {"remove", {{"path", path}, {"recursive", true}}},
  };
}

/// The lines of attempts that were not answered with one of these codes.
std::string not_refused(tools_at& tools, const std::string& path, const words& codes) {
  std::string wrong;
  for (const auto& [name, arguments] : attempts_on(path)) {
    const auto came = tools.result(name, arguments);
    const auto said = came.refused ? std::string{name_of(came.refused->error)} : "ok";
    const bool is_refused = std::ranges::find(codes, said) != codes.end();
    if (!is_refused) wrong += name + ' ' + arguments.dump() + ": " + said + "\n";
    const bool is_told = came.effects.size() == 1 && came.effects[0].says == verdict::refuse;
    if (!is_told) wrong += name + ": not told of\n";
  }
  return wrong;
}

/// The most that this process held at one time, in KiB.
long most_resident() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

/// Memory that a call may take beyond what there is already, in KiB; the sanitizers need room.
constexpr long room = 24 * 1024;

void make_sparse(const std::string& path, off_t size) {
  const descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
  if (::ftruncate(file.get(), size) != 0) throw std::runtime_error{"no room for " + path};
}

}  // namespace

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

TEST_CASE("nothing_waits_for_a_fifo_a_socket_or_a_device") {
  const auto answer = isolated(
      [] {
        const folder at;
        at.put("ws/own", "own");
        REQUIRE(::mkfifo(at.path("ws/p").c_str(), 0600) == 0);
        at.link("ws/l", "p");
        if (::geteuid() == 0) ::mknod(at.path("ws/tty").c_str(), S_IFCHR | 0600, 0x0500);
        tools_at tools{at};
        std::string wrong;
        for (const std::string path : {"p", "l", "tty"}) {
          if (!at.has("ws/" + path)) continue;
          for (const std::string name : {"read_file", "write_file", "edit_file", "search_text"}) {
            for (const auto& [tool, arguments] : attempts_on(path)) {
              if (tool != name) continue;
              const auto said = tools.said(tool, arguments);
              if (said != "SpecialFile") wrong += tool + ' ' + path + ' ' + said + "\n";
            }
          }
        }
        if (tools("search_text", {{"pattern", "own"}})["matches"].size() != 1) wrong += "walk\n";
        return wrong;
      },
      20);
  CHECK(answer.empty());
}

TEST_CASE("a_walk_follows_no_link_and_ends_in_a_circle_of_them") {
  const folder at;
  at.put("ws/d/f", "canary");
  at.link("ws/d/up", "..");
  at.link("ws/out", "../outside");
  at.link("ws/flink", "../outside/canary");
  tools_at tools{at};
  CHECK(each(tools("find_files", {{"pattern", "*"}})["matches"], "path") ==
        words{"d", "d/f", "d/up", "flink", "out"});
  CHECK(each(tools("search_text", {{"pattern", "canary"}})["matches"], "path") == words{"d/f"});
}

TEST_CASE("a_tree_is_removed_without_what_its_links_lead_to") {
  const folder at;
  at.put("ws/own", "own");
  at.link("ws/d/out", "../../outside");
  at.link("ws/d/e/own", "../../own");
  at.put("ws/d/e/f", "");
  tools_at tools{at};
  CHECK(tools("remove", {{"path", "d"}, {"recursive", true}})["removed"] == 5);
  CHECK(at.get("outside/canary") == canary);
  CHECK(at.get("ws/own") == "own");
}

TEST_CASE("a_tree_with_a_mount_in_it_is_not_removed_at_all") {
  const auto answer = isolated([] {
    const folder at;
    for (char c = 'a'; c <= 'z'; ++c) at.put(std::string{"ws/d/f"} + c, "");
    at.make_directory("ws/d/m");
    enter_private_mounts();
    bind_mount(at.path("outside"), at.path("ws/d/m"));
    tools_at tools{at};
    std::string wrong;
    const auto why = tools.why("remove", {{"path", "d"}, {"recursive", true}});
    if (!why.contains("something is mounted in it")) wrong += why;
    if (at.get("outside/canary") != canary) wrong += "canary\n";
    if (names_in(at.open(), "d").size() != 27) wrong += "half removed\n";
    ::umount2(at.path("ws/d/m").c_str(), MNT_DETACH);
    return wrong;
  });
  CHECK(answer.empty());
}

TEST_CASE("harness_state_shown_elsewhere_by_a_mount_is_closed_there_too") {
  const auto answer = isolated([] {
    const folder at;
    at.put("ws/own", "own");
    at.put("ws/.efferent/state", "secret");
    at.make_directory("ws/d/m");
    enter_private_mounts();
    bind_mount(at.path("ws/.efferent"), at.path("ws/d/m"));
    tools_at tools{at};
    auto wrong = not_refused(tools, "d/m/state", {"HarnessState"});
    if (!tools("search_text", {{"pattern", "secret"}})["matches"].empty()) wrong += "searched\n";
    const auto found = tools("find_files", {{"pattern", "state"}});
    if (!found["matches"].empty()) wrong += "found\n";
    if (found["skipped"]["closed"] != 2) wrong += found.dump();
    ::umount2(at.path("ws/d/m").c_str(), MNT_DETACH);
    return wrong;
  });
  CHECK(answer.empty());
}

TEST_CASE("while_links_are_swapped_nothing_outside_is_read_or_changed") {
  const folder at;
  at.put("ws/real/canary", "inside");
  at.put("ws/own", "own");
  at.link("ws/lure", "../outside");
  std::atomic<bool> is_over{false};
  std::thread swapping{[&] {
    const auto place = at.path("ws/dir");
    while (!is_over) {
      static_cast<void>(::rename(at.path("ws/real").c_str(), place.c_str()));
      static_cast<void>(::rename(place.c_str(), at.path("ws/real").c_str()));
      static_cast<void>(::rename(at.path("ws/lure").c_str(), place.c_str()));
      static_cast<void>(::rename(place.c_str(), at.path("ws/lure").c_str()));
    }
  }};
  tools_at tools{at};
  std::string wrong;
  std::size_t done = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{1500};
  while (std::chrono::steady_clock::now() < end) {
    for (const auto& [name, arguments] : attempts_on("dir/canary")) {
      if (arguments.contains("make_directories")) continue;  // it would end the swapping
      const auto came = tools.result(name, arguments);
      if (came.refused) continue;
      ++done;
      if (came.structured->dump().contains("never read")) wrong += name + "\n";
    }
    for (const std::string name : {"find_files", "search_text"}) {
      const auto came = tools.result(name, {{"path", "."}, {"pattern", "never"}});
      if (came.structured && !(*came.structured)["matches"].empty()) wrong += name + "\n";
    }
    const auto listed = tools.result("list_directory", {{"path", "dir"}});
    if (listed.structured && (*listed.structured)["path"] != "dir") wrong += "listed outside\n";
    static_cast<void>(tools.result("move", {{"from", "stolen"}, {"to", "dir/canary"}}));
    at.put("ws/own", "own");
    if (!at.has("ws/stolen")) continue;
    ::unlink(at.path("ws/stolen").c_str());
  }
  is_over = true;
  swapping.join();
  CHECK(wrong.empty());
  CHECK(at.get("outside/canary") == canary);
  CHECK(names_in(at.open(), ".").size() >= 2);
  std::size_t outside = 0;
  for (const auto& entry : std::filesystem::directory_iterator{at.path("outside")}) {
    static_cast<void>(entry);
    ++outside;
  }
  CHECK(outside == 1);
}

TEST_CASE("names_that_could_deceive_are_escaped_and_what_is_no_text_is_marked") {
  const folder at;
  const std::string rtl =
      "a\xe2\x80\xae"
      "b";
  at.put("ws/line\n.efferent/", "");
  at.put("ws/d/new\nline", "needle");
  at.put("ws/d/" + rtl, "needle");
  at.put("ws/d/caf\xe9", "needle");
  at.put("ws/d/esc\x1b[2J", "needle \xff");
  tools_at tools{at};
  const auto listed = tools.result("list_directory", {{"path", "d"}});
  CHECK(std::ranges::count(listed.text, '\n') == 4);
  CHECK_FALSE(listed.text.contains('\x1b'));
  CHECK_FALSE(listed.text.contains("\xe2\x80\xae"));
  for (const auto& one : (*listed.structured)["entries"]) {
    const bool is_bytes = one.contains("name_base64");
    CHECK(is_bytes == (one.value("addressable", true) == false));
    if (is_bytes) CHECK(one["name_base64"] == "Y2Fm6Q==");
    if (!is_bytes) {
      const auto path = "d/" + one["name"].get<std::string>();
      CHECK(tools.said("read_file", {{"path", path}}) == "ok");
    }
  }
  for (const std::string name : {"find_files", "search_text"}) {
    const auto came =
        tools.result(name, {{"path", "d"}, {"pattern", name == "find_files" ? "*" : "needle"}});
    REQUIRE((*came.structured)["matches"].size() == 4);
    CHECK_FALSE(came.text.contains('\x1b'));
    CHECK_NOTHROW(came.structured->dump());
  }
}

TEST_CASE("files_named_like_credentials_are_searched_only_by_name") {
  const folder at;
  at.put("ws/.env", "KEY=needle\n");
  at.put("ws/id_rsa", "needle\n");
  at.put("ws/f", "needle\n");
  tools_at tools{at};
  const auto all = tools("search_text", {{"pattern", "needle"}});
  CHECK(each(all["matches"], "path") == words{"f"});
  CHECK(all["skipped"]["credentials"] == 2);
  CHECK(tools.now().labels().is_clean());
  CHECK(tools("search_text", {{"pattern", "needle"}, {"path", ".env"}})["matches"].size() == 1);
  CHECK(tools.now().labels().includes(taint::private_data));
}

TEST_CASE("a_failed_edit_of_a_credential_counts_as_reading_it") {
  const folder at;
  at.put("ws/.env", "KEY=needle\n");
  tools_at tools{at};
  CHECK(tools.said("edit_file", {{"path", ".env"}, {"old_text", "KEY=a"}, {"new_text", "x"}}) ==
        "InvalidArgument");
  CHECK(tools.now().labels().includes(taint::private_data));
}

TEST_CASE("a_file_of_a_gibibyte_is_answered_in_bounded_memory") {
  const folder at;
  make_sparse(at.path("ws/zeros"), off_t{1} << 30);
  // Text all along: lines of holes would be none.
  {
    const std::string block(std::size_t{1} << 16, 'x');
    std::ofstream file{at.path("ws/line"), std::ios::binary};
    for (int i = 0; i < 512; ++i) file << block;  // 32 MiB without a newline
    file << "\nneedle\n";
  }
  {
    std::ofstream file{at.path("ws/text"), std::ios::binary};
    file << std::string(std::size_t{300} << 10, 'a') << '\n';
  }
  REQUIRE(::truncate(at.path("ws/text").c_str(), off_t{1} << 30) == 0);
  tools_at tools{at, mode::autonomous, {.line_scan = std::uint64_t{1} << 20}};
  const auto before = most_resident();
  const auto text = tools("read_file", {{"path", "text"}});
  CHECK(text["bytes"] == 256 << 10);
  CHECK(text["left"] == (1 << 30) - (256 << 10));
  CHECK(text["next_offset"] == 256 << 10);
  CHECK(tools("read_file", {{"path", "zeros"}})["binary"] == true);
  CHECK(tools("read_file",
              {{"path", "zeros"}, {"base64", true}, {"offset", (1 << 30) - 3}})["bytes"] == 3);
  CHECK_THAT(tools.why("read_file", {{"path", "zeros"}, {"start_line", 2}}),
             Catch::Contains("read by offset"));
  CHECK_THAT(tools.why("edit_file", {{"path", "text"}, {"old_text", "a"}, {"new_text", "b"}}),
             Catch::Contains("use a command"));
  const auto found = tools("search_text", {{"pattern", "needle"}});
  CHECK(each(found["matches"], "path") == words{"line"});
  CHECK(found["matches"][0]["line"] == 2);
  CHECK(found["skipped"]["binary"] == 2);
  CHECK(most_resident() - before < room);
}

TEST_CASE("a_directory_of_100000_entries_is_answered_in_bounded_memory") {
  const folder at;
  at.make_directory("ws/many");
  const descriptor many{::open(at.path("ws/many").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  for (int i = 0; i < 100'000; ++i) {
    const auto name = "entry" + std::to_string(i);
    const int fd = ::openat(many.get(), name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) FAIL("no room for 100,000 entries");
    ::close(fd);
  }
  tools_at tools{at};
  const auto before = most_resident();
  const auto first = tools("list_directory", {{"path", "many"}});
  CHECK(first["entries"].size() == 1000);
  CHECK(first["total"] == 100'000);
  CHECK(first["left"] == 99'000);
  CHECK(first["order"] == "directory");
  const auto last = tools("list_directory", {{"path", "many"}, {"offset", 99'500}});
  CHECK(last["entries"].size() == 500);
  CHECK(last["truncated"] == false);
  const auto found = tools("find_files", {{"pattern", "entry*"}});
  CHECK(found["matches"].size() == 1000);
  CHECK(found["stopped"] == "limit");
  CHECK(found["next_offset"] == 1000);
  CHECK(tools("find_files", {{"pattern", "entry99999"}})["matches"].size() == 1);
  CHECK(most_resident() - before < room);
  CHECK(tools("remove", {{"path", "many"}, {"recursive", true}})["removed"] == 100'001);
  CHECK_FALSE(at.has("ws/many"));
}

TEST_CASE("a_walk_ends_at_its_bounds_and_when_it_is_cancelled") {
  const folder at;
  std::string deep = "ws";
  for (int i = 0; i < 12; ++i) deep += "/d";
  at.put(deep + "/f", "needle\n");
  for (int i = 0; i < 200; ++i) at.put("ws/n" + std::to_string(i), "needle\n");
  const auto walk = [&](const mcp::tool_bounds& bounds, bool is_cancelled = false) {
    tools_at tools{at, mode::autonomous, bounds};
    if (is_cancelled) tools.stop.request_stop();
    auto came = tools("search_text", {{"pattern", "needle$"}});
    return std::pair{came.value("stopped", "nothing"), came["skipped"].value("too_deep", 0)};
  };
  CHECK(walk({}) == std::pair<std::string, int>{"nothing", 0});
  CHECK(walk({.depth = 5}).second == 1);
  CHECK(walk({.entries = 50}).first == "entries");
  CHECK(walk({.time = std::chrono::milliseconds{-1}}).first == "time");
  CHECK(walk({}, true).first == "cancelled");
  CHECK(walk({.match_bytes = 100}).first == "limit");
}

TEST_CASE("a_pattern_that_other_engines_choke_on_takes_no_time") {
  const folder at;
  at.put("ws/f", std::string(30'000, 'a') + "!\n");
  at.put("ws/" + std::string(200, 'a'), "");
  tools_at tools{at};
  const auto begun = std::chrono::steady_clock::now();
  CHECK(tools("search_text", {{"pattern", "(a*)*(a*)*b"}})["matches"].empty());
  std::string many;
  for (int i = 0; i < 100; ++i) many += "*a";
  CHECK(tools("find_files", {{"pattern", many + "b"}})["matches"].empty());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{5});
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
