// A workspace in bad company: removed or replaced while it is held, no descriptors left, no memory,
// no openat2, no permission. Each is a refusal with its own code, and no descriptor is ever left.
#include <pinfold/disk/open.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "disk/folder.hpp"
#include "support/catch.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

// The answers of one call of each operation, joined.
std::string answers_of(const workspace& ws) {
  std::string all;
  all += said(ws.resolve_read("a/f")) + " ";
  all += said(ws.open_read("a/f")) + " ";
  all += said(ws.open_write("a/f")) + " ";
  all += said(ws.replace_file("a/f", "f")) + " ";
  all += said(ws.make_directories("a/d")) + " ";
  all += said(ws.list_directory("a")) + " ";
  all += said(ws.rename_within("a/f", "a/f")) + " ";
  all += said(ws.stat_of("a/f")) + " ";
  all += said(ws.remove("a/d"));
  return all;
}

std::string nine_times(std::string_view word) {
  std::string all;
  for (int i = 0; i < 9; ++i) all += (i == 0 ? "" : " ") + std::string{word};
  return all;
}

// The workspace looks whether it is still in place when its last look is older than 10 ms.
void let_the_last_look_grow_old() {
  std::this_thread::sleep_for(std::chrono::milliseconds{40});
}

// From now on the given system calls of this process fail with `error`.
void make_fail(std::vector<long> calls, int error) {
  std::vector<sock_filter> program;
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    throw std::runtime_error{"no seccomp"};
  }
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a_removed_workspace_is_gone_for_every_operation") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/f", "f");
    const auto ws = at.open(names);
    CHECK(answers_of(ws) == nine_times("ok"));
    std::filesystem::remove_all(at.ws());
    CHECK(answers_of(ws) == nine_times("WorkspaceGone"));
    CHECK(said(ws.open_write("f")) == "WorkspaceGone");
    CHECK(said(ws.make_directories("d")) == "WorkspaceGone");
    CHECK_FALSE(at.has("ws"));
  }
}

TEST_CASE("a_replaced_workspace_is_gone_and_what_took_its_place_is_not_touched") {
  for (auto names : both_lookups) {
    for (bool by_link : {false, true}) {
      const folder at;
      at.put("ws/a/f", "f");
      at.put("outside/a/f", "other");
      const auto ws = at.open(names);
      std::filesystem::rename(at.ws(), at.path("moved"));
      if (by_link)
        at.link("ws", "outside");
      else
        std::filesystem::rename(at.path("outside"), at.ws());
      let_the_last_look_grow_old();
      CHECK(answers_of(ws) == nine_times("WorkspaceGone"));
      CHECK(at.get("ws/a/f") == "other");
      CHECK(at.get("moved/a/f") == "f");
    }
  }
}

TEST_CASE("what_cannot_be_a_workspace_is_refused_with_its_own_code") {
  const folder at;
  at.put("file", "x");
  at.link("loop", "loop");
  at.link("dangling", "nowhere");
  at.link("magic", "/proc/self/cwd");
  at.link("good", "ws");
  CHECK(said(workspace::open(at.path("file"))) == "NotADirectory");
  CHECK(said(workspace::open(at.path("file/"))) == "NotADirectory");
  CHECK(said(workspace::open(at.path("loop"))) == "SymlinkLoop");
  CHECK(said(workspace::open(at.path("dangling"))) == "NotFound");
  CHECK(said(workspace::open(at.path("magic"))) == "MagicLink");
  CHECK(said(workspace::open(at.path("nope"))) == "NotFound");
  CHECK(said(workspace::open("")) == "InvalidPath");
  CHECK(said(workspace::open(at.path(std::string(300, 'n')))) == "NameTooLong");
  CHECK(workspace::open(at.path("good"))->path() == at.ws());
  const std::array bad_carve{carve_out{"/absolute", carve_kind::harness_state}};
  CHECK(said(workspace::open(at.ws(), bad_carve)) == "InvalidArgument");
  const std::array bad_root{extra_root{"relative", root_access::read}};
  CHECK(said(workspace::open(at.ws(), {}, bad_root)) == "InvalidArgument");
}

TEST_CASE("a_workspace_owns_its_texts_and_can_be_moved") {
  const folder at;
  at.put("ws/.secret/s", "s");
  at.put("ws/f", "f");
  auto opened = [&] {
    const std::string name{".secret"};
    const std::array carves{carve_out{name, carve_kind::harness_state}};
    return workspace::open(at.ws(), carves);
  }();
  REQUIRE(opened);
  const auto moved = std::move(*opened);
  CHECK(said(moved.open_read(".secret/s")) == "HarnessState");
  CHECK(said(moved.open_read("f")) == "ok");
  CHECK(moved.grant().workspace() == at.ws());
  CHECK(moved.grant().region_of(at.path("ws/.secret")) == region::harness_state);
}

TEST_CASE("a_process_without_descriptors_is_told_so") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/f", "f");
    CHECK(isolated([&] {
            const auto ws = at.open(names);
            static_cast<void>(answers_of(ws));
            const rlimit none{0, 0};
            ::setrlimit(RLIMIT_NOFILE, &none);
            return answers_of(ws);
          }) == nine_times("ResourceExhausted"));
    CHECK(at.get("ws/a/f") == "f");
  }
}

TEST_CASE("a_kernel_without_memory_is_told_as_such") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/f", "f");
    CHECK(isolated([&] {
            const auto ws = at.open(names);
            make_fail({SYS_openat, SYS_openat2}, ENOMEM);
            return answers_of(ws);
          }) == nine_times("ResourceExhausted"));
  }
}

TEST_CASE("without_openat2_the_answers_are_the_same") {
  for (int error : {ENOSYS, EPERM}) {
    const folder at;
    at.put("ws/a/f", "f");
    at.put("ws/.efferent/s", "s");
    CHECK(isolated([&] {
            make_fail({SYS_openat2}, error);
            const auto ws = at.open();
            return answers_of(ws) + " " + said(ws.open_read(".efferent/s")) + " " +
                   said(ws.open_read("../outside/canary"));
          }) == nine_times("ok") + " HarnessState OutsideWorkspace");
  }
}

TEST_CASE("without_statx_or_procfs_flags_the_answers_are_the_same") {
  const folder at;
  at.put("ws/a/f", "f");
  at.link("ws/l", "a");
  CHECK(isolated([&] {
          make_fail({SYS_statx, SYS_ioctl, SYS_statfs}, ENOSYS);
          const auto ws = at.open();
          return answers_of(ws) + " " + ws.resolve_read("l/f")->canonical;
        }) == nine_times("ok") + " " + at.path("ws/a/f"));
}

TEST_CASE("permissions_are_told_as_such_and_are_no_way_around") {
  const folder at;
  at.put("ws/closed/f", "f");
  at.put("ws/blind/f", "f");
  at.put("ws/locked", "x");
  CHECK(isolated([&] {
          for (auto name :
               {"", "ws", "ws/closed", "ws/closed/f", "ws/blind", "ws/blind/f", "ws/locked"}) {
            static_cast<void>(::chown(at.path(name).c_str(), 54321, 54321));
          }
          ::chmod(at.path("ws/closed").c_str(), 0);
          ::chmod(at.path("ws/blind").c_str(), 0311);
          ::chmod(at.path("ws/locked").c_str(), 0444);
          become_ordinary_user();
          std::string all;
          for (auto names : both_lookups) {
            const auto ws = at.open(names);
            all += said(ws.open_read("closed/f")) + " " + said(ws.open_write("closed/new")) + " " +
                   said(ws.list_directory("blind")) + " " + said(ws.open_read("blind/f")) + " " +
                   said(ws.open_write("locked")) + " ";
            // The way to the workspace is closed while it is held: the held directory still serves.
            ::chmod(at.path("").c_str(), 0);
            let_the_last_look_grow_old();
            all += said(ws.open_read("blind/f")) + "\n";
            ::chmod(at.path("").c_str(), 0755);
          }
          return all;
        }) ==
        "PermissionDenied PermissionDenied PermissionDenied ok PermissionDenied ok\n"
        "PermissionDenied PermissionDenied PermissionDenied ok PermissionDenied ok\n");
}

TEST_CASE("no_operation_leaves_a_descriptor_behind") {
  const folder at;
  at.put("ws/a/f", "f");
  at.put("ws/.efferent/s", "s");
  at.put("outside/two", "x");
  at.link("ws/out", "../outside/canary");
  at.link("ws/loop", "loop");
  at.link("ws/in", "a/f");
  at.link("ws/back", "../ws/a/f");
  std::filesystem::create_hard_link(at.path("outside/two"), at.path("ws/two"));
  REQUIRE(::mkfifo(at.path("ws/fifo").c_str(), 0600) == 0);
  for (auto names : both_lookups) {
    const auto before = open_descriptors();
    {
      const auto ws = at.open(names);
      const auto held = open_descriptors();
      for (std::string_view path :
           {"a/f", "in", "back", "out", "loop", "nope", "a/f/x", ".efferent/s", "..", "", "fifo",
            "two", "/proc/self/fd/0", "a/new/deep", ".", "a"}) {
        static_cast<void>(ws.open_read(path));
        static_cast<void>(ws.open_write(path, {.make = creation::never}));
        static_cast<void>(
            ws.open_write(path, {.existing = contents::keep, .shared = hard_links::replace}));
        static_cast<void>(ws.replace_file(path, "f"));
        static_cast<void>(ws.make_directories(path));
        static_cast<void>(ws.list_directory(path));
        static_cast<void>(ws.stat_of(path));
        static_cast<void>(ws.rename_within(path, "a/other"));
        static_cast<void>(ws.rename_within("a/other", path));
        static_cast<void>(ws.remove("a/other"));
      }
      CHECK(open_descriptors() == held);
    }
    CHECK(open_descriptors() == before);
  }
}
