// A second process swaps what a path leads to, as fast as it can, while the operations run.
// Whatever the moment, nothing outside and nothing in harness state is read, made, changed, listed
// or removed. Each test lists all lawful outcomes. PINFOLD_RACE_ATTEMPTS sets the number of
// attempts for each operation (the ordinary run is a short one) and has the outcomes printed.
#include <pinfold/disk/open.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "disk/folder.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

long attempts() {
  const char* wanted = std::getenv("PINFOLD_RACE_ATTEMPTS");
  return wanted != nullptr ? std::atol(wanted) : 400;
}

// A process that does one thing in a loop until it goes out of scope.
class rival {
 public:
  explicit rival(const std::function<void()>& step) : child_{::fork()} {
    if (child_ < 0) throw std::runtime_error{"no second process"};
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) step();
  }
  rival(const rival&) = delete;
  rival& operator=(const rival&) = delete;
  ~rival() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_;
};

// Exchanges two names for ever.
std::function<void()> exchanging(const std::string& a, const std::string& b) {
  return [a, b] { ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE); };
}

// Makes `name` a link to `target`, then a file again, for ever; each step is one rename.
std::function<void()> turning(const std::string& name, const std::string& target) {
  return [name, target] {
    const auto next = name + ".next";
    ::unlink(next.c_str());
    if (::symlink(target.c_str(), next.c_str()) == 0) ::rename(next.c_str(), name.c_str());
    const descriptor file{::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
    static_cast<void>(write_all(file, "inside"));
    ::rename(next.c_str(), name.c_str());
  };
}

struct raced {
  std::string_view name;
  std::function<std::string(const workspace&)> run;
};

// Runs each operation many times; every answer must be a lawful one.
void race(const folder& at, const std::vector<raced>& operations,
          const std::vector<std::string>& lawful) {
  for (auto names : both_lookups) {
    const auto ws = at.open(names);
    for (const auto& op : operations) {
      std::map<std::string, long> outcomes;
      for (long i = 0; i < attempts(); ++i) ++outcomes[op.run(ws)];
      std::string summary;
      for (const auto& [answer, count] : outcomes) {
        summary += " " + answer + "=" + std::to_string(count);
        INFO(op.name);
        CHECK_THAT(lawful, Catch::VectorContains(answer));
      }
      if (std::getenv("PINFOLD_RACE_ATTEMPTS") != nullptr) {
        std::printf("%-18s %s:%s\n", std::string{op.name}.c_str(),
                    names == beneath::lookup::openat2 ? "openat2" : "walk", summary.c_str());
      }
    }
  }
}

std::string content(const result<descriptor>& file) {
  if (!file) return said(file);
  return all_of(*file) == "inside" ? "ok" : "READ SOMETHING ELSE";
}

std::string listing(const workspace& ws, std::string_view path) {
  const auto listed = ws.list_directory(path);
  if (!listed) return said(listed);
  for (const auto& entry : *listed) {
    if (entry.name == "canary") return "LISTED THE OUTSIDE";
  }
  return "ok";
}

// What every operation does in the directory "d"; in the directory it is swapped with, nothing but
// "f" and "canary" lies, and that must stay so.
std::vector<raced> operations_in_d() {
  return {
      {"open_read", [](auto& ws) { return content(ws.open_read("d/f")); }},
      {"stat_of", [](auto& ws) { return said(ws.stat_of("d/f")); }},
      {"list_directory", [](auto& ws) { return listing(ws, "d"); }},
      {"open_write",
       [](auto& ws) {
         const auto file = ws.open_write("d/f");
         if (file) static_cast<void>(write_all(*file, "inside"));
         return said(file);
       }},
      {"create",
       [](auto& ws) { return said(ws.open_write("d/new", {.make = creation::exclusive})); }},
      {"remove", [](auto& ws) { return said(ws.remove("d/new")); }},
      {"create_and_remove",
       [](auto& ws) {
         static_cast<void>(ws.open_write("d/new"));
         return said(ws.remove("d/new"));
       }},
      {"replace_file", [](auto& ws) { return said(ws.replace_file("d/f", "inside")); }},
      {"make_directories", [](auto& ws) { return said(ws.make_directories("d/x/y")); }},
      {"remove_directory",
       [](auto& ws) {
         static_cast<void>(ws.make_directories("d/z"));
         return said(ws.remove("d/z"));
       }},
      {"rename_within",
       [](auto& ws) {
         static_cast<void>(ws.open_write("d/from"));
         return said(ws.rename_within("d/from", "d/to"));
       }},
  };
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{path}) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("a_directory_swapped_with_a_link_out_never_leads_out") {
  const folder at;
  at.put("outside/f", canary);
  at.put("ws/d/f", "inside");
  at.link("ws/l", "../outside");
  {
    const rival swapping{exchanging(at.path("ws/d"), at.path("ws/l"))};
    // NotFound: what an operation made under "d" a moment ago now lies under "l".
    race(at, operations_in_d(),
         {"ok", "OutsideWorkspace", "TryAgain", "NotFound", "AlreadyExists"});
  }
  CHECK(names_in(at.path("outside")) == std::vector<std::string>{"canary", "f"});
  CHECK(at.get("outside/f") == canary);
}

TEST_CASE("a_directory_swapped_with_a_link_to_harness_state_never_leads_there") {
  const folder at;
  at.put("ws/.efferent/f", canary);
  at.put("ws/.efferent/canary", canary);
  at.put("ws/d/f", "inside");
  at.link("ws/l", at.path("ws/.efferent"));
  {
    const rival swapping{exchanging(at.path("ws/d"), at.path("ws/l"))};
    race(at, operations_in_d(), {"ok", "HarnessState", "TryAgain", "NotFound", "AlreadyExists"});
  }
  CHECK(names_in(at.path("ws/.efferent")) == std::vector<std::string>{"canary", "f"});
  CHECK(at.get("ws/.efferent/f") == canary);
}

TEST_CASE("a_parent_swapped_with_a_link_never_lets_dot_dot_out") {
  const folder at;
  at.put("outside/deep/f", canary);
  at.put("outside/f", canary);
  at.put("ws/d/deep/f", "inside");
  at.put("ws/d/f", "inside");
  at.link("ws/l", "../outside/deep");
  {
    const rival swapping{exchanging(at.path("ws/d"), at.path("ws/l"))};
    race(at,
         {{"read", [](auto& ws) { return content(ws.open_read("d/deep/../f")); }},
          {"read_up", [](auto& ws) { return content(ws.open_read("d/../d/f")); }},
          {"write", [](auto& ws) { return said(ws.replace_file("d/deep/../f", "inside")); }}},
         {"ok", "OutsideWorkspace", "TryAgain"});
  }
  CHECK(at.get("outside/f") == canary);
  CHECK(at.get("outside/deep/f") == canary);
}

TEST_CASE("a_file_turned_into_a_link_out_is_never_followed_out") {
  const folder at;
  at.put("ws/f", "inside");
  {
    const rival turning_f{turning(at.path("ws/f"), "../outside/canary")};
    race(at,
         {{"open_read",
           [](auto& ws) {
             const auto file = ws.open_read("f");
             if (!file) return said(file);
             const auto bytes = all_of(*file);
             return std::string{bytes == canary ? "READ THE CANARY" : "ok"};
           }},
          {"open_write",
           [](auto& ws) {
             const auto file = ws.open_write("f", {.existing = contents::append});
             if (file) static_cast<void>(write_all(*file, "+"));
             return said(file);
           }},
          {"truncate", [](auto& ws) { return said(ws.open_write("f")); }},
          {"replace_file", [](auto& ws) { return said(ws.replace_file("f", "inside")); }},
          {"remove", [](auto& ws) { return said(ws.remove("f")); }},
          {"rename_onto",
           [](auto& ws) {
             static_cast<void>(ws.open_write("g"));
             return said(ws.rename_within("g", "f"));
           }}},
         {"ok", "OutsideWorkspace", "TryAgain", "NotFound"});
  }
  CHECK(at.get("outside/canary") == canary);
  CHECK(names_in(at.path("outside")) == std::vector<std::string>{"canary"});
}

TEST_CASE("a_directory_moved_out_while_it_is_walked_takes_no_operation_along") {
  // The rival moves a directory out of the workspace and back; ".." from there is the outside.
  const folder at;
  at.put("outside/f", canary);
  at.put("ws/d/in/f", "inside");
  at.put("ws/d/f", "inside");
  {
    const auto inside = at.path("ws/d/in");
    const auto out = at.path("outside/in");
    const rival moving{[inside, out] {
      ::rename(inside.c_str(), out.c_str());
      ::rename(out.c_str(), inside.c_str());
    }};
    race(at,
         {{"read", [](auto& ws) { return content(ws.open_read("d/in/../f")); }},
          {"write", [](auto& ws) { return said(ws.replace_file("d/in/../f", "inside")); }},
          {"list", [](auto& ws) { return listing(ws, "d/in/.."); }},
          {"make", [](auto& ws) { return said(ws.make_directories("d/in/../made")); }}},
         {"ok", "NotFound", "TryAgain"});
  }
  CHECK(at.get("outside/f") == canary);
  CHECK_FALSE(at.has("outside/made"));
}

TEST_CASE("a_hard_link_whose_name_inside_goes_in_the_moment_of_a_write_is_not_written_through") {
  const folder at;
  at.put("outside/shared", canary);
  const auto outside = at.path("outside/shared");
  const auto inside = at.path("ws/a");
  {
    const rival removing{[inside] { ::unlink(inside.c_str()); }};
    race(at,
         {{"open_write",
           [&](auto& ws) {
             static_cast<void>(::link(outside.c_str(), inside.c_str()));
             return said(ws.open_write("a", {.make = creation::never}));
           }}},
         {"HardLinkedFile", "NotFound", "TryAgain"});
  }
  CHECK(at.get("outside/shared") == canary);
}
