// Sizes that must not be kept in memory, and walks that must end: each is answered and cut.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "mcp/tools/ground.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

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
