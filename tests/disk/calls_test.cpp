// What the quick ways ask of the kernel, call by call. A call more is a regression of their speed
// that no clock has to show; a call less is a check that is gone.
#include <pinfold/pinfold.hpp>

#include <string>

#include "disk/folder.hpp"
#include "support/catch.hpp"
#include "support/system_calls.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

std::string calls_to_read(const workspace& ws, std::string_view path) {
  return fewest_system_calls_of([&] {
    if (!ws.resolve_read(path)) throw std::runtime_error{"refused"};
  });
}
std::string calls_to_write(const workspace& ws, std::string_view path) {
  return fewest_system_calls_of([&] {
    if (!ws.resolve_write(path)) throw std::runtime_error{"refused"};
  });
}
std::string calls_to_open(const workspace& ws, std::string_view path) {
  return fewest_system_calls_of([&] {
    if (!ws.open_read(path)) throw std::runtime_error{"refused"};
  });
}

}  // namespace

TEST_CASE("calls_are_counted_one_by_one") {
  CHECK(fewest_system_calls_of([] {}) == "");
  CHECK(fewest_system_calls_of([] {
          ::close(::open("/", O_PATH));
          ::close(-1);
        }) == "openat close close");
}

TEST_CASE("an_existing_path_without_links_is_resolved_by_one_openat2") {
  const folder at;
  at.put("ws/a/b/c/f", "f");
  const auto ws = at.open();
  for (const std::string path : {"a/b/c/f", "./a/../a//b/c/f", "a/b/", "."}) {
    INFO(path);
    CHECK(calls_to_read(ws, path) == "openat2 close");
  }
  CHECK(calls_to_read(ws, at.path("ws/a/b/c/f")) == "openat2 close");
  CHECK(calls_to_read(ws, at.path("ws//a/b/c/f")) == "openat2 close");
}

TEST_CASE("one_link_costs_a_look_at_it_and_a_second_walk") {
  const folder at;
  at.put("ws/a/b/c/f", "f");
  at.link("ws/a/b/c/link", "f");
  at.link("ws/a/b/c/up", "../../b/c/f");
  at.link("ws/a/b/c/back", at.path("ws/a/b/c/f"));
  at.link("ws/a/dir", "b");
  at.link("ws/a/far", at.path("ws/a/b"));
  const auto ws = at.open();
  for (const std::string path : {"a/b/c/link", "a/b/c/up", "a/b/c/back"}) {
    INFO(path);
    CHECK(calls_to_read(ws, path) == "openat2 readlinkat openat2 close");
  }
  // Looked for from the last name on, and at once where the one before was.
  for (const std::string path : {"a/dir/c/f", "a/far/c/f"}) {
    INFO(path);
    CHECK(calls_to_read(ws, path) == "openat2 readlinkat openat2 close");
  }
}

TEST_CASE("a_write_reaches_the_directory_and_looks_at_the_name") {
  const folder at;
  at.put("ws/a/b/c/f", "f");
  const auto ws = at.open();
  CHECK(calls_to_write(ws, "a/b/c/f") == "openat2 statx close");
  CHECK(calls_to_write(ws, "a/b/c/new") == "openat2 statx close");
  CHECK(calls_to_write(ws, "new") == "statx");
}

TEST_CASE("a_file_is_opened_by_one_openat2_and_one_look_at_what_was_opened") {
  const folder at;
  at.put("ws/a/b/c/f", "f");
  const auto ws = at.open();
  CHECK(calls_to_open(ws, "a/b/c/f") == "openat2 copy_file_range close");
  CHECK(calls_to_open(ws, "./a/b/c/f") == "openat2 copy_file_range close");
  const auto composed = [&](std::string_view path) {
    return fewest_system_calls_of([&] {
      const guard now{ws.grant(), mode::plan, gate::off, taint{}};
      if (!ws.open_read(path, now)) throw std::runtime_error{"refused"};
    });
  };
  CHECK(composed("a/b/c/f") == "openat2 copy_file_range close");
  CHECK(composed("./a/b/../b/c/f") == "openat2 copy_file_range close");
}
