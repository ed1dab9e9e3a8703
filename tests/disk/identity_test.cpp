// Carve-outs recognised by what they are and not by how they are spelled: shown elsewhere by a
// mount, or reached through a name that the file system folds.
#include <pinfold/disk/carved.hpp>
#include <pinfold/disk/open.hpp>

#include <sys/mount.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "disk/folder.hpp"
#include "support/catch.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

// What each resolver says of a path, one line each where they differ from `expected`.
std::string wrong_answers(const folder& at, operation op, std::string_view path,
                          std::string_view expected) {
  std::string wrong;
  for (auto by : {resolver::portable, resolver::beneath, resolver::beneath_walk}) {
    const auto workspace_text = at.ws();
    const grant own{workspace_text};
    const auto answer = said(resolve(own, op, path, {}, by));
    if (answer != expected) {
      wrong += std::string{name_of(op)} + " " + std::string{path} + " by " +
               std::to_string(static_cast<int>(by)) + ": " + answer + "\n";
    }
  }
  return wrong;
}

template <typename T>
std::string unless(const result<T>& answer, std::string_view expected, const std::string& what) {
  return said(answer) == expected ? "" : what + ": " + said(answer) + "\n";
}

std::string opened_wrongly(const folder& at, std::string_view path, std::string_view read,
                           std::string_view write) {
  std::string wrong;
  const std::string name{path};
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    wrong += unless(ws.open_read(path), read, "open_read " + name);
    wrong += unless(ws.open_write(path), write, "open_write " + name);
    wrong += unless(ws.replace_file(path, "evil"), write, "replace_file " + name);
    wrong += unless(ws.make_directories(path), write, "make_directories " + name);
    wrong += unless(ws.rename_within("plain", path), write, "rename_within to " + name);
    wrong += unless(ws.remove(path), write, "remove " + name);
  }
  return wrong;
}

}  // namespace

TEST_CASE("harness_state_shown_elsewhere_by_a_mount_is_harness_state") {
  const folder at;
  at.put("ws/plain", "x");
  at.put("ws/.efferent/s", canary);
  at.put("ws/.efferent/deep/t", canary);
  at.make_directory("ws/view");
  at.make_directory("ws/part");
  at.make_directory("ws/all");
  CHECK("" == isolated([&] {
    enter_private_mounts();
    bind_mount(at.path("ws/.efferent"), at.path("ws/view"));
    bind_mount(at.ws(), at.path("ws/all"));
    std::string wrong = opened_wrongly(at, "view/s", "HarnessState", "HarnessState");
    wrong += opened_wrongly(at, "view/deep/t", "HarnessState", "HarnessState");
    wrong += opened_wrongly(at, "all/.efferent/s", "HarnessState", "HarnessState");
    for (auto path : {"view", "view/s", "view/nope", "all/.efferent", "all/.foundry"}) {
      wrong += wrong_answers(at, operation::write, path, "HarnessState");
    }
    wrong += wrong_answers(at, operation::read, "all/plain", "ok");
    return wrong;
  }));
  CHECK(at.get("ws/.efferent/s") == canary);
}

TEST_CASE("a_file_of_the_host_shown_elsewhere_by_a_mount_stays_read_only") {
  const folder at;
  at.put("ws/plain", "x");
  at.put("ws/.git/config", "[core]");
  at.put("ws/.git/hooks/h", "h");
  at.put("ws/file", "");
  at.make_directory("ws/g");
  CHECK("" == isolated([&] {
    enter_private_mounts();
    bind_mount(at.path("ws/.git"), at.path("ws/g"));
    bind_mount(at.path("ws/.git/config"), at.path("ws/file"));
    std::string wrong = opened_wrongly(at, "g/config", "ok", "HostRunFile");
    wrong += opened_wrongly(at, "g/hooks/h", "ok", "HostRunFile");
    wrong += opened_wrongly(at, "file", "ok", "HostRunFile");
    wrong += wrong_answers(at, operation::write, "g/hooks/new", "HostRunFile");
    wrong += wrong_answers(at, operation::write, "g/index", "ok");
    return wrong;
  }));
  CHECK(at.get("ws/.git/config") == "[core]");
}

TEST_CASE("harness_state_that_is_itself_a_mount_is_harness_state_under_its_own_name_too") {
  const folder at;
  at.put("ws/plain", "x");
  at.put("ws/state/s", canary);
  at.make_directory("ws/.efferent");
  CHECK("" == isolated([&] {
    enter_private_mounts();
    bind_mount(at.path("ws/state"), at.path("ws/.efferent"));
    return opened_wrongly(at, "state/s", "HarnessState", "HarnessState");
  }));
  CHECK(at.get("ws/state/s") == canary);
}

TEST_CASE("what_was_reached_is_checked_even_when_the_resolver_was_content") {
  // As if the mount had come between resolving and opening.
  const folder at;
  at.put("ws/.efferent/s", canary);
  at.put("ws/.git/config", "[core]");
  at.make_directory("ws/view");
  at.make_directory("ws/g");
  CHECK("" == isolated([&] {
    enter_private_mounts();
    bind_mount(at.path("ws/.efferent"), at.path("ws/view"));
    bind_mount(at.path("ws/.git"), at.path("ws/g"));
    std::string wrong;
    const auto text = at.ws();
    const grant rules{text};
    for (auto names : both_lookups) {
      const beneath::held_root root{rules, names};
      const resolved state{at.path("ws/view/s"), region::workspace};
      const resolved fresh{at.path("ws/view/new"), region::workspace};
      const resolved config{at.path("ws/g/config"), region::workspace};
      const auto note = [&](const auto& answer, code expected, std::string_view what) {
        if (answer || answer.error() != expected) wrong += std::string{what} + "\n";
      };
      note(beneath::open_place(root, operation::read, state, {.flags = O_RDONLY}),
           code::harness_state, "read");
      note(beneath::open_place(root, operation::write, fresh, {.flags = O_WRONLY | O_CREAT}),
           code::harness_state, "create");
      note(beneath::open_place(root, operation::write, config, {.flags = O_WRONLY}),
           code::host_run_file, "write");
      note(beneath::reach_parent(root, operation::remove, state), code::harness_state, "remove");
      note(beneath::reach_parent(root, operation::rename, config), code::host_run_file, "rename");
      note(beneath::make_each(root, fresh), code::harness_state, "mkdir");
    }
    return wrong;
  }));
  CHECK_FALSE(at.has("ws/.efferent/new"));
}

TEST_CASE("what_a_mount_shows_inside_is_inside") {
  const folder at;
  at.put("outside/f", "f");
  at.make_directory("ws/m");
  CHECK("" == isolated([&] {
    enter_private_mounts();
    bind_mount(at.path("outside"), at.path("ws/m"));
    std::string wrong;
    for (auto names : both_lookups) {
      const auto ws = at.open(names);
      const auto file = ws.open_read("m/f");
      if (!file || all_of(*file) != "f") wrong += "open_read\n";
      wrong += unless(ws.replace_file("m/f", "f"), "ok", "replace_file");
      wrong += unless(ws.make_directories("m/a/b"), "ok", "make_directories");
      wrong += unless(ws.rename_within("m/f", "f"), "InvalidArgument", "rename_within");
    }
    return wrong;
  }));
}

TEST_CASE("another_name_of_a_single_carved_file_is_the_carved_file") {
  const folder at;
  at.put("ws/.git/config", "[core]");
  at.put("ws/.foundry", canary);
  std::filesystem::create_hard_link(at.path("ws/.git/config"), at.path("ws/cfg"));
  std::filesystem::create_hard_link(at.path("ws/.foundry"), at.path("ws/state"));
  CHECK(wrong_answers(at, operation::write, "cfg", "HostRunFile") == "");
  CHECK(wrong_answers(at, operation::read, "cfg", "ok") == "");
  CHECK(wrong_answers(at, operation::read, "state", "HarnessState") == "");
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    CHECK(said(ws.open_write("cfg", {.shared = hard_links::replace})) == "HostRunFile");
    CHECK(said(ws.open_read("state")) == "HarnessState");
  }
}

TEST_CASE("a_carve_out_that_is_a_link_guards_what_it_leads_to") {
  const folder at;
  at.put("ws/plain", "x");
  at.put("ws/state/s", canary);
  at.put("ws/myhooks/h", "h");
  at.link("ws/.efferent", "state");
  at.link("ws/.foundry", "later");
  at.link("ws/.git/hooks", "../myhooks");
  CHECK(opened_wrongly(at, "state/s", "HarnessState", "HarnessState") == "");
  CHECK(opened_wrongly(at, "myhooks/h", "ok", "HostRunFile") == "");
  CHECK(wrong_answers(at, operation::make_directory, "later", "HarnessState") == "");
  CHECK(wrong_answers(at, operation::write, "myhooks/new", "HostRunFile") == "");
}

TEST_CASE("a_name_that_folds_to_an_absent_carve_out_is_guarded_where_names_fold") {
  const folder at;
  at.make_directory("ws/.git");
  at.put("ws/.FOUNDRY2", "x");
  const auto text = at.ws();
  const grant rules{text};
  const auto ask = [&](beneath::naming spelling, std::string_view path) {
    const beneath::held_root root{rules, beneath::lookup::openat2, spelling};
    return said(beneath::resolve(root, operation::make_directory, path, text));
  };
  for (std::string_view path : {".EFFERENT", ".Efferent/x", ".foundry.", ".git/hoo\xe2\x84\xaas",
                                ".git/HOOKS/x", ".e\xef\xac\x80" "erent"}) {
    INFO(path);
    CHECK(ask(beneath::naming::folding, path) != "ok");
    CHECK(ask(beneath::naming::exact, path) == "ok");
  }
  for (std::string_view path : {".FOUNDRY2", "efferent", "a/.EFFERENT", ".git/HOOK"}) {
    INFO(path);
    CHECK(ask(beneath::naming::folding, path) == "ok");
  }
  // Once the carve-out is there, the lookup itself tells: on this file system these are other names.
  at.make_directory("ws/.efferent");
  CHECK(ask(beneath::naming::folding, ".EFFERENT") == "ok");
  CHECK(ask(beneath::naming::folding, ".efferent") == "HarnessState");
}

TEST_CASE("folding_is_taken_wider_than_any_file_system_folds") {
  CHECK(disk::may_fold_to(".EFFERENT", ".efferent"));
  CHECK(disk::may_fold_to(".efferent. .", ".efferent"));
  CHECK(disk::may_fold_to(".eff\xe2\x80\x8d" "erent", ".efferent"));  // a zero-width joiner
  CHECK(disk::may_fold_to("hoo\xe2\x84\xaa\xc5\xbf", "hooks"));       // Kelvin sign, long s
  CHECK_FALSE(disk::may_fold_to(".efferent2", ".efferent"));
  CHECK_FALSE(disk::may_fold_to("efferent", ".efferent"));
  CHECK_FALSE(disk::may_fold_to("\xe6\x97\xa5\xe6\x9c\xac", ".efferent"));
}

TEST_CASE("harness_state_on_a_file_system_that_folds_case") {
  // ext4 with the casefold feature, where the kernel has it (CONFIG_UNICODE).
  if (!std::filesystem::exists("/sys/fs/ext4/features/casefold") || ::geteuid() != 0) {
    WARN("did not run: this kernel has no ext4 casefold, or the test is not run by root");
    return;
  }
  const folder at;
  const auto answer = isolated([&] {
    enter_private_mounts();
    const auto image = at.path("image");
    const auto mounted = at.path("outside");
    const auto make = "truncate -s 32M " + image + " && /sbin/mkfs.ext4 -q -O casefold " + image +
                      " && mount -o loop " + image + " " + mounted + " && mkdir " + mounted +
                      "/ws && chattr +F " + mounted + "/ws";
    if (std::system(make.c_str()) != 0) return std::string{"cannot make the image"};
    std::filesystem::remove(at.ws());
    std::filesystem::create_directory_symlink("outside/ws", at.ws());
    std::string wrong;
    for (auto names : both_lookups) {
      const auto ws = at.open(names);
      wrong += unless(ws.make_directories(".EFFERENT"), "HarnessState", "absent");
      std::filesystem::create_directories(at.path("ws/.efferent"));
      at.put("ws/.efferent/s", canary);
      wrong += unless(ws.open_read(".EFFERENT/S"), "HarnessState", "there");
      wrong += unless(ws.replace_file(".Efferent/s", "x"), "HarnessState", "there");
      wrong += unless(ws.open_read(".EFF\xe2\x80\x8d" "erent/s"), "HarnessState", "ignored byte");
      wrong += unless(ws.replace_file("Plain", "x"), "ok", "an ordinary file");
      wrong += unless(ws.open_read("pLAIN"), "ok", "an ordinary file, folded");
      std::filesystem::remove_all(at.path("ws/.efferent"));
    }
    return wrong;
  });
  CHECK(answer == "");
}
