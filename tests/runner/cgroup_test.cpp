// What is written into a run's cgroup, and what is left of it: nothing. Against a directory tree that
// answers like the kernel; tests/vm/run.sh asks the kernel itself.
#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/cgroup/leaf.hpp"
#include "launch/cgroup/run_cgroup.hpp"
#include "runner/cgroup_ground.hpp"
#include "sandbox/probe.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold_test;
namespace fs = std::filesystem;

TEST_CASE("the_limits_stand_above_the_cgroup_that_the_processes_sit_in") {
  delegated kernel;
  const auto made = run_cgroup::make(kernel.search(), limits_of((100 << 20) + 17, 12));
  REQUIRE(made);
  CHECK((made->held().memory && made->held().pids));
  CHECK(fs::path{made->path()}.parent_path() == kernel.at("unit"));
  CHECK(is_cgroup_name(fs::path{made->path()}.filename().string(), ::getpid()));
  const auto says = [&made](const char* file) { return cgroup_double::get(made->path() + "/" + file); };
  CHECK(says("memory.max") == std::to_string(100 << 20) + "\n");
  CHECK(says("memory.swap.max") == "0\n");
  CHECK(says("memory.oom.group") == "1\n");
  CHECK(says("pids.max") == "13\n");  // and stage two
  REQUIRE(made->take_in(4711));
  CHECK(says("cgroup.procs").empty());
  CHECK(says("inside/cgroup.procs") == "4711\n");
  CHECK_FALSE(fs::exists(made->path() + "/inside/memory.max"));
}

TEST_CASE("only_what_was_asked_for_is_enabled_and_limited") {
  delegated kernel;
  {
    const auto made = run_cgroup::make(kernel.search(), limits_of({}, 12));
    REQUIRE(made);
    CHECK_FALSE(made->held().memory);
    CHECK_FALSE(fs::exists(made->path() + "/memory.max"));
  }
  CHECK(cgroup_double::get(kernel.at("unit/cgroup.subtree_control")) == "pids\n");
  CHECK_FALSE(run_cgroup::make(kernel.search(), limits_of({}, {})));
}

TEST_CASE("nothing_is_left_of_a_run_not_even_a_process") {
  delegated kernel;
  {
    auto made = run_cgroup::make(kernel.search(), limits_of(1 << 20, 10));
    REQUIRE(made);
    REQUIRE(made->take_in(4711));
    const auto moved = std::move(*made);  // and only one of the two ends it
    CHECK(moved.held().pids);
    CHECK(cgroup_double::children(kernel.at("unit")).size() == 2);
  }
  CHECK(cgroup_double::children(kernel.at("unit")) == std::vector<std::string>{"harness"});
}

TEST_CASE("a_limit_that_the_kernel_does_not_take_is_none_and_nothing_is_left") {
  for (const auto* file : {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max"}) {
    for (const int error : {0, EINVAL, EACCES}) {
      INFO(file << " " << error);
      delegated kernel;
      kernel.break_writes(file, error);
      CHECK(why_no_cgroup(kernel).contains(file));
      CHECK(cgroup_double::children(kernel.at("unit")) == std::vector<std::string>{"harness"});
    }
  }
  delegated kernel;
  kernel.break_writes("cgroup.subtree_control", EBUSY);
  CHECK(why_no_cgroup(kernel).contains("cgroup.subtree_control"));
  delegated full;
  full.break_writes("mkdir", EAGAIN);
  CHECK(why_no_cgroup(full).contains("making"));
}

TEST_CASE("a_process_that_is_not_seen_inside_was_not_taken_in") {
  for (const int error : {0, EOPNOTSUPP}) {
    INFO(error);
    delegated kernel;
    auto made = run_cgroup::make(kernel.search(), limits_of(1 << 20, 10));
    REQUIRE(made);
    kernel.break_writes("cgroup.procs", error);
    CHECK_FALSE(made->take_in(4711));
  }
}

TEST_CASE("memory_may_not_go_to_the_swap_unless_there_is_none") {
  delegated kernel;
  kernel.break_writes("memory.swap.max", ENOENT);
  CHECK(why_no_cgroup(kernel).contains("memory.swap.max"));
  fs::remove(kernel.proc() + "/swaps");
  CHECK(why_no_cgroup(kernel).empty());
}

TEST_CASE("a_limit_is_met_when_the_kernel_says_so") {
  delegated kernel;
  const auto made = run_cgroup::make(kernel.search(), limits_of(1 << 20, 10));
  REQUIRE(made);
  CHECK_FALSE(made->met());
  const auto memory = [&made](const std::string& text) {
    cgroup_double::put(made->path() + "/memory.events", text);
  };
  memory("low 0\nmax 9\noom 3\noom_kill 0\n");  // it was close, and nobody had to go
  CHECK_FALSE(made->met());
  memory("max 0\noom 0\noom_kill 4\n");  // the whole machine is out of memory
  CHECK_FALSE(made->met());
  memory("max 9\noom 1\noom_kill 7\n");
  CHECK(made->met() == run_limit::memory);
  CHECK(made->killed_for_memory() == 7);
  memory("");
  cgroup_double::put(made->path() + "/pids.events", "max 1\n");
  CHECK(made->met() == run_limit::processes);
}

TEST_CASE("what_a_killed_runner_left_is_removed_by_the_next_and_nothing_else") {
  delegated kernel;
  const auto stay = std::vector<std::string>{"unit/pinfold-77-beef", "unit/pinfold-x", "unit/other",
                                             "unit/pinfold-77-beef-x", "unit/pinfold--1-ab"};
  for (const auto& name : {"unit/pinfold-99-abc", "unit/pinfold-88-0123456789abcdef"}) kernel.add(name);
  kernel.add("unit/pinfold-88-0123456789abcdef/inside");
  cgroup_double::put(kernel.at("unit/pinfold-88-0123456789abcdef/cgroup.subtree_control"), "\n");
  for (const auto& name : stay) kernel.add(name);
  cgroup_double::put(kernel.at("unit/cgroup.subtree_control"), "\n");
  kernel.sit(stay.front(), another_process);
  const auto first = run_cgroup::make(kernel.search(), limits_of(1 << 20, 10));
  REQUIRE(first);
  const auto second = run_cgroup::make(kernel.search(), limits_of(1 << 20, 10));
  REQUIRE(second);
  CHECK(fs::exists(first->path()));  // nobody sits in it yet, but it is held
  CHECK(fs::exists(second->path()));
  CHECK_FALSE(fs::exists(kernel.at("unit/pinfold-99-abc")));
  CHECK_FALSE(fs::exists(kernel.at("unit/pinfold-88-0123456789abcdef")));
  for (const auto& name : stay) CHECK(fs::exists(kernel.at(name)));
}

TEST_CASE("a_process_that_sits_alone_makes_room_and_comes_back") {
  cgroup_double kernel;
  kernel.add("seat");
  kernel.sit("seat");
  CHECK(why_no_cgroup(kernel).contains("itself sits in"));
  {
    const auto leaf = cgroup_leaf::enter(kernel.search(), both);
    REQUIRE(leaf);
    CHECK(cgroup_double::get(kernel.at("seat/cgroup.procs")).empty());
    CHECK_FALSE(cgroup_leaf::enter(kernel.search(), both));  // there is room already
    const auto made = run_cgroup::make(kernel.search(), limits_of(1 << 20, 10));
    REQUIRE(made);
    CHECK(fs::path{made->path()}.parent_path() == kernel.at("seat"));
    CHECK(fs::exists(made->path() + "/memory.max"));
  }
  CHECK(cgroup_double::get(kernel.at("seat/cgroup.procs")) == std::to_string(::getpid()) + "\n");
  CHECK(cgroup_double::get(kernel.at("seat/cgroup.subtree_control")) == "\n");
  CHECK(cgroup_double::children(kernel.at("seat")).empty());
}

TEST_CASE("a_leaf_of_another_process_does_not_open_the_cgroup_above") {
  cgroup_double kernel;
  kernel.add("seat");
  kernel.add("seat/pinfold-1-ab");
  cgroup_double::put(kernel.at("seat/cgroup.subtree_control"), "\n");
  kernel.sit("seat/pinfold-1-ab");
  const auto place = find_cgroup_place(kernel.search(), both);
  CHECK((!place || place->path != kernel.at("seat")));
}

TEST_CASE("nobody_moves_where_others_sit_or_where_it_is_of_no_use") {
  cgroup_double shared;
  shared.add("seat");
  shared.sit("seat", another_process);
  shared.sit("seat");
  CHECK_FALSE(cgroup_leaf::enter(shared.search(), both));
  CHECK(cgroup_double::children(shared.at("seat")).empty());

  cgroup_double alone;
  alone.add("seat");
  alone.sit("seat");
  CHECK_FALSE(cgroup_leaf::enter(alone.search(), {}));
  alone.break_writes("cgroup.subtree_control", EBUSY);
  CHECK_FALSE(cgroup_leaf::enter(alone.search(), both));
  CHECK(cgroup_double::get(alone.at("seat/cgroup.procs")) == std::to_string(::getpid()) + "\n");
  CHECK(cgroup_double::children(alone.at("seat")).empty());
}

TEST_CASE("doctor_says_what_would_hold_limits_and_why_nothing_does") {
  delegated kernel;
  const auto found = probe_cgroup(kernel.search());
  CHECK(found.status == probe_status::info);
  CHECK(found.found.contains("bounds memory and processes of a run, in a cgroup such as " + kernel.at("unit")));
  CHECK(cgroup_double::children(kernel.at("unit")) == std::vector<std::string>{"harness"});
  kernel.break_writes("memory.max", EACCES);
  const auto none = probe_cgroup(kernel.search());
  CHECK(none.status == probe_status::info);
  CHECK(none.found.contains("stage two watches over them"));
  CHECK(none.found.contains("memory.max: Permission denied"));
}

TEST_CASE("names_of_ours_are_told_from_others") {
  const auto name = new_cgroup_name();
  CHECK(is_cgroup_name(name));
  CHECK(is_cgroup_name(name, ::getpid()));
  CHECK_FALSE(is_cgroup_name(name, ::getpid() + 1));
  for (const auto* other : {"", "pinfold", "pinfold-", "pinfold-1", "pinfold-1-", "pinfold-0-a",
                            "pinfold-1-g", "pinfold-1-A", "pinfold-1-0123456789abcdef0", "xpinfold-1-a",
                            "pinfold-1-a/b", "pinfold-+1-a"}) {
    INFO(other);
    CHECK_FALSE(is_cgroup_name(other));
  }
}
