// What lies in a workspace that is no plain file or directory, and names that deceive.
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
