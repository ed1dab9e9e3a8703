// What no operation of a workspace does: get out of it, into harness state, or change a host-run
// file. Each test runs with openat2 and without it.
#include <pinfold/disk/open.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "disk/folder.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

struct named_operation {
  std::string_view name;
  std::function<std::string(const workspace&, std::string_view)> run;
};

// Every operation on one path; renames into and out of it.
const std::vector<named_operation> every_operation{
    {"open_read", [](auto& ws, auto path) { return said(ws.open_read(path)); }},
    {"open_write", [](auto& ws, auto path) { return said(ws.open_write(path)); }},
    {"append", [](auto& ws, auto path) {
       return said(ws.open_write(path, {.make = creation::never, .existing = contents::append}));
     }},
    {"replace_hard_link", [](auto& ws, auto path) {
       return said(ws.open_write(path, {.shared = hard_links::replace}));
     }},
    {"replace_file", [](auto& ws, auto path) { return said(ws.replace_file(path, "new")); }},
    {"make_directories", [](auto& ws, auto path) { return said(ws.make_directories(path)); }},
    {"list_directory", [](auto& ws, auto path) { return said(ws.list_directory(path)); }},
    {"remove", [](auto& ws, auto path) { return said(ws.remove(path)); }},
    {"rename_from", [](auto& ws, auto path) { return said(ws.rename_within(path, "moved")); }},
    {"rename_to", [](auto& ws, auto path) { return said(ws.rename_within("plain", path)); }},
    {"stat_of", [](auto& ws, auto path) { return said(ws.stat_of(path)); }},
};

struct refused_row {
  std::string_view path;
  std::string_view answer;
  std::string_view why;
};

void check_refused_everywhere(const folder& at, const std::vector<refused_row>& rows) {
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    for (const auto& row : rows) {
      for (const auto& op : every_operation) {
        INFO(op.name << " " << row.path << ": " << row.why);
        CHECK(op.run(ws, row.path) == row.answer);
      }
    }
  }
}

}  // namespace

TEST_CASE("what_leads_out_is_refused_by_every_operation") {
  const folder at;
  at.put("ws/plain", "x");
  at.link("ws/dir", "../outside");
  at.link("ws/absolute", at.path("outside"));
  const std::string absolute = at.path("outside/canary");
  check_refused_everywhere(at, {
      {"../outside/canary", "OutsideWorkspace", "an existing file by '..'"},
      {"../outside/nope", "OutsideWorkspace", "one that is not there: the same answer"},
      {"../outside", "OutsideWorkspace", "a directory"},
      {"..", "OutsideWorkspace", "the workspace's parent"},
      {absolute, "OutsideWorkspace", "an absolute path"},
      {"dir/canary", "OutsideWorkspace", "through a relative link"},
      {"dir/nope", "OutsideWorkspace", "through a link, not there"},
      {"absolute/canary", "OutsideWorkspace", "through an absolute link"},
      {"", "InvalidPath", "no path"},
      {std::string_view{"a\0b", 3}, "InvalidPath", "a NUL byte"},
      {"/proc/self/root/etc", "MagicLink", "a process's own link"},
  });
  CHECK(at.get("outside/canary") == canary);
  CHECK_FALSE(at.has("outside/nope"));
  CHECK(at.get("ws/plain") == "x");
}

TEST_CASE("harness_state_is_refused_by_every_operation_whether_it_is_there_or_not") {
  const folder at;
  at.put("ws/plain", "x");
  at.put("ws/.efferent/s", canary);
  at.link("ws/into", ".efferent");
  check_refused_everywhere(at, {
      {".efferent", "HarnessState", "the directory"},
      {".efferent/s", "HarnessState", "a file in it"},
      {".efferent/nope", "HarnessState", "not there: the same answer"},
      {".efferent/s/x", "HarnessState", "below a file: the same answer"},
      {"./.efferent//s", "HarnessState", "spelled otherwise"},
      {"into/s", "HarnessState", "through a link"},
      {".foundry", "HarnessState", "absent harness state"},
      {".foundry/x", "HarnessState", "below absent harness state"},
  });
  CHECK(at.get("ws/.efferent/s") == canary);
  CHECK_FALSE(at.has("ws/.foundry"));
}

TEST_CASE("host_run_files_are_readable_and_never_changed") {
  const folder at;
  at.put("ws/plain", "x");
  at.put("ws/.git/config", "[core]");
  at.put("ws/.git/hooks/pre-commit", "#!/bin/sh");
  at.put("ws/.git/index", "i");
  at.link("ws/hooks", ".git/hooks");
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    CHECK(said(ws.open_read(".git/config")) == "ok");
    CHECK(all_of(*ws.open_read("hooks/pre-commit")) == "#!/bin/sh");
    CHECK(names_in(ws, ".git/hooks") == std::vector<std::string>{"pre-commit"});
    for (std::string_view path : {".git/config", ".git/hooks/pre-commit", ".git/hooks/new",
                                  "hooks/new", ".git/hooks"}) {
      INFO(path);
      CHECK(said(ws.open_write(path)) == "HostRunFile");
      CHECK(said(ws.replace_file(path, "evil")) == "HostRunFile");
      CHECK(said(ws.make_directories(path)) == "HostRunFile");
      const auto gone = at.has("ws/" + std::string{path}) ? "HostRunFile" : "NotFound";
      CHECK(said(ws.remove(path)) == gone);
      CHECK(said(ws.rename_within(path, "moved")) == "HostRunFile");
      CHECK(said(ws.rename_within("plain", path)) == "HostRunFile");
    }
    CHECK(said(ws.rename_within(".git", "g")) == "HostRunFile");
    CHECK(said(ws.remove(".git")) == "HostRunFile");
    CHECK(said(ws.replace_file(".git/index", "j")) == "ok");
    CHECK(said(ws.open_write(".git/configuration")) == "ok");
  }
  CHECK(at.get("ws/.git/config") == "[core]");
}

TEST_CASE("a_directory_may_not_become_the_parent_of_a_carve_out_by_a_rename") {
  const folder at;
  at.put("ws/g/hooks/pre-commit", "evil");
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    CHECK(said(ws.rename_within("g", ".git")) == "HostRunFile");
    CHECK_FALSE(at.has("ws/.git"));
  }
}

TEST_CASE("the_workspace_itself_is_neither_removed_nor_renamed") {
  const folder at;
  at.put("ws/a/x", "x");
  for (auto names : both_lookups) {
    const auto opened = workspace::open(at.ws(), {}, {}, names);
    REQUIRE(opened);
    for (std::string_view path : {".", "a/.", "a/..", "./"}) {
      INFO(path);
      CHECK(said(opened->remove(path)) != "ok");
      CHECK(said(opened->rename_within(path, "b")) != "ok");
    }
    CHECK(said(opened->remove(at.ws())) == "PermissionDenied");
    CHECK(said(opened->rename_within("a", at.ws())) == "PermissionDenied");
  }
  CHECK(at.get("ws/a/x") == "x");
}
