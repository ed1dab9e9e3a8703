// Opening for reading: that what is no file is seen however the kernel is asked, that the guard is
// asked about what is opened, and that links are followed as the kernel follows them.
#include <pinfold/pinfold.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <poll.h>

#include <atomic>
#include <string>
#include <thread>

#include "disk/folder.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

guard in(const workspace& ws, mode present) {
  return guard{ws.grant(), present, gate::off, taint{}};
}

std::string led_to(const folder& at, const result<resolved>& answer) {
  if (!answer) return said(answer);
  return std::string{*tail_below(at.ws(), answer->canonical)};
}

}  // namespace

TEST_CASE("copying_nothing_tells_a_regular_file_from_everything_else") {
  const folder at;
  at.put("ws/f", "f");
  at.put("ws/empty", "");
  REQUIRE(::mkfifo(at.path("ws/fifo").c_str(), 0600) == 0);
  const auto error_of = [](const std::string& path, int flags) {
    const descriptor opened{::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC)};
    REQUIRE(opened.is_open());
    return beneath::error_of_copying_nothing(opened.get());
  };
  CHECK(error_of(at.path("ws/f"), O_RDONLY) == EBADF);
  CHECK(error_of(at.path("ws/empty"), O_RDONLY) == EBADF);
  CHECK(error_of(at.ws(), O_RDONLY) == EISDIR);
  CHECK(error_of(at.path("ws/fifo"), O_RDONLY) == EINVAL);
  CHECK(error_of("/dev/null", O_RDONLY) == EINVAL);
  CHECK(error_of("/dev/null", O_PATH) == EBADF);  // why it is only for what is open for reading
  const descriptor folder_itself{::open(at.ws().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  CHECK(beneath::copying_nothing_tells_files(folder_itself.get()));
  // A kernel that says EBADF of a directory, here of none at all, is not believed.
  CHECK_FALSE(beneath::copying_nothing_tells_files(-1));
  const descriptor file{::open(at.path("ws/f").c_str(), O_RDONLY | O_CLOEXEC)};
  CHECK_FALSE(beneath::copying_nothing_tells_files(file.get()));
}

TEST_CASE("a_device_in_the_workspace_is_special_and_never_handed_out") {
  const folder at;
  const bool is_made = ::mknod(at.path("ws/null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;
  if (!is_made) REQUIRE(errno == EPERM);  // an ordinary user cannot make one
  if (!is_made) return;
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    for (std::string_view path : {"null", "./null"}) {
      CHECK(said(ws.open_read(path)) == "SpecialFile");
      CHECK(said(ws.open_read(path, in(ws, mode::plan))) == "SpecialFile");
    }
  }
}

TEST_CASE("a_fifo_behind_a_link_is_refused_without_being_opened") {
  const folder at;
  at.put("ws/plain", "x");
  at.link("ws/link", "fifo");
  REQUIRE(::mkfifo(at.path("ws/fifo").c_str(), 0600) == 0);
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    // Whoever opens it for writing waits for a reader; O_NONBLOCK tells whether there was one.
    std::atomic<bool> was_let_go{false};
    std::thread writer{[&] {
      const descriptor end{::open(at.path("ws/fifo").c_str(), O_WRONLY | O_CLOEXEC)};
      was_let_go = true;
    }};
    for (int i = 0; i < 2'000; ++i) {
      if (said(ws.open_read("link")) != "SpecialFile") break;
    }
    CHECK(said(ws.open_read("link")) == "SpecialFile");
    CHECK_FALSE(was_let_go);
    const descriptor reader{
        ::open(at.path("ws/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    writer.join();
  }
}

TEST_CASE("the_guard_is_asked_about_the_place_that_is_opened") {
  const folder at;
  at.put("ws/a/f", "f");
  at.put("ws/.efferent/s", canary);
  at.link("ws/link", "a/f");
  at.link("ws/out", "../outside");
  at.put("other/f", "f");
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    const auto now = in(ws, mode::plan);
    for (std::string_view path : {"a/f", "./a//f", "link", "a/../a/f"}) {
      INFO(path);
      const auto opened = ws.open_read(path, now);
      REQUIRE(opened);
      CHECK(all_of(*opened) == "f");
    }
    CHECK(said(ws.open_read(".efferent/s", now)) == "HarnessState");
    CHECK(said(ws.open_read("out/canary", now)) == "OutsideWorkspace");
    CHECK(said(ws.open_read("a", now)) == "IsADirectory");
    CHECK(said(ws.open_read("nope", now)) == "NotFound");
  }
}

TEST_CASE("a_guard_of_a_narrower_grant_refuses_what_the_workspace_would_open") {
  const folder at;
  at.put("ws/a/f", "f");
  at.put("ws/b/f", "f");
  at.link("ws/a/to_b", "../b/f");
  const auto narrow_path = at.path("ws/a");
  const grant narrow{narrow_path};
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    const guard now{narrow, mode::autonomous, gate::off, taint{}};
    CHECK(said(ws.open_read("a/f", now)) == "ok");
    for (std::string_view path : {"b/f", "a/../b/f", "a/to_b"}) {
      INFO(path);
      const auto answer = ws.open_read(path, now);
      REQUIRE_FALSE(answer);
      CHECK(answer.error().error == code::outside_workspace);
      CHECK(answer.error().path == path);
      CHECK(answer.error().resolved == at.path("ws/b/f"));
    }
  }
}

TEST_CASE("links_that_lead_back_inside_are_followed_as_the_kernel_does") {
  const folder at;
  at.put("ws/a/b/f", "f");
  at.put("ws/f", "top");
  at.make_directory("ws/x/y");
  at.link("ws/x/y/absolute", at.path("ws/a/b/f"));
  at.link("ws/x/y/dir", at.path("ws/a"));
  at.link("ws/x/y/root", at.ws());
  at.link("ws/x/y/up", "../../a");
  at.link("ws/x/y/chain", "dir");
  at.link("ws/x/y/relative_chain", "up");
  at.link("ws/x/y/slash", at.path("ws//a/./b/../b/f"));
  at.link("ws/x/y/around", at.path("ws/../ws/a/b/f"));
  at.link("ws/x/y/away", at.path("outside/canary"));
  at.link("ws/x/y/there_and_back", at.path("outside/back"));
  at.link("outside/back", at.path("ws/a/b/f"));
  at.link("ws/x/y/dangling", at.path("ws/a/nope"));
  at.link("ws/x/y/state", at.path("ws/.efferent/s"));
  at.put("ws/.efferent/s", canary);
  at.link("ws/process", "/proc/self");
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    for (int twice = 0; twice < 2; ++twice) {  // also with what the last call has left behind
      const auto read = [&](std::string_view path) { return led_to(at, ws.resolve_read(path)); };
      CHECK(read("x/y/absolute") == "a/b/f");
      CHECK(read("x/y/dir/b/f") == "a/b/f");
      CHECK(read("x/y/dir/../f") == "f");  // the parent of what the link leads to
      CHECK(read("x/y/root/a/b/f") == "a/b/f");
      CHECK(read("x/y/root") == "");
      CHECK(read("x/y/up/b/f") == "a/b/f");
      CHECK(read("x/y/chain/b/f") == "a/b/f");
      CHECK(read("x/y/relative_chain/b/f") == "a/b/f");
      CHECK(read("x/y/root/x/y/chain/b/../../x/y/absolute") == "a/b/f");
      CHECK(read("x/../x/y/absolute") == "a/b/f");
      CHECK(read("x/y/slash") == "a/b/f");
      CHECK(read("x/y/around") == "a/b/f");
      CHECK(read("x/y/there_and_back") == "a/b/f");
      CHECK(read("x/y/away") == "OutsideWorkspace");
      CHECK(read("x/y/dangling") == "NotFound");
      CHECK(read("x/y/absolute/") == "NotADirectory");
      CHECK(read("x/y/absolute/z") == "NotADirectory");
      CHECK(read("x/y/state") == "HarnessState");
      CHECK(read("process/cwd") == "MagicLink");
      CHECK(read("process/root" + at.path("ws/a/b/f")) == "MagicLink");
    }
  }
}

TEST_CASE("forty_links_are_followed_and_no_more_whatever_they_look_like") {
  const folder at;
  at.put("ws/f", "f");
  at.link("ws/l0", "f");
  for (int i = 1; i <= 40; ++i) {
    const auto before = "l" + std::to_string(i - 1);
    at.link("ws/l" + std::to_string(i), i % 2 == 0 ? before : at.path("ws/" + before));
  }
  at.link("ws/loop", at.path("ws/loop"));
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    CHECK(led_to(at, ws.resolve_read("l39")) == "f");
    CHECK(led_to(at, ws.resolve_read("l40")) == "SymlinkLoop");
    CHECK(led_to(at, ws.resolve_read("loop")) == "SymlinkLoop");
    CHECK(led_to(at, ws.resolve_read("loop/f")) == "SymlinkLoop");
  }
}

TEST_CASE("a_path_as_long_as_one_may_be_resolves_through_links_or_is_refused_as_too_long") {
  const folder at;
  std::string deep;
  while (at.ws().size() + deep.size() + 12 < path_max - 1) deep += "0123456789/";
  at.make_directory("ws/" + deep);
  at.put("ws/f", "f");
  at.link("ws/down", deep.substr(0, deep.size() - 1));
  at.link("ws/absolute", at.path("ws/" + deep.substr(0, deep.size() - 1)));
  const std::string far = "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/absolute";
  at.link("ws/" + far, at.path("ws/" + deep.substr(0, deep.size() - 1)));
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    for (const std::string& path : {std::string{"down"}, std::string{"absolute"}, far}) {
      CHECK(led_to(at, ws.resolve_read(path)) == deep.substr(0, deep.size() - 1));
    }
    CHECK(led_to(at, ws.resolve_read("down/" + std::string(255, 'n'))) == "NameTooLong");
  }
}
