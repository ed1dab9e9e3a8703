// Where a run's cgroup may be made. Against a directory tree that answers like the kernel;
// tests/vm/run.sh asks the kernel itself.
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

TEST_CASE("the_root_of_all_is_taken_where_no_service_manager_runs") {
  cgroup_double kernel;
  kernel.sit("");
  const auto place = find_cgroup_place(kernel.search(), both);
  REQUIRE(place);
  CHECK(place->path == kernel.root());
  CHECK_FALSE(place->is_our_seat);
  kernel.run_a_service_manager();
  CHECK(why_none(kernel).contains("not delegated"));
  kernel.mark("");
  CHECK(why_none(kernel).empty());
}

TEST_CASE("a_cgroup_that_this_process_alone_sits_in_is_its_seat") {
  cgroup_double kernel;
  kernel.add("a");
  kernel.sit("a");
  auto place = find_cgroup_place(kernel.search(), both);
  REQUIRE(place);
  CHECK(place->path == kernel.at("a"));
  CHECK(place->is_our_seat);
  CHECK((place->offered.memory && place->offered.pids));
  CHECK_FALSE(place->enabled.is_any());
  kernel.sit("a", another_process);
  CHECK(why_none(kernel).contains("other processes sit in"));
}

TEST_CASE("where_systemd_runs_nothing_is_taken_without_its_mark") {
  cgroup_double kernel;
  kernel.run_a_service_manager();
  kernel.add("a");
  kernel.sit("a");
  CHECK(why_none(kernel).contains("not delegated"));
  kernel.mark("a");
  CHECK(why_none(kernel).empty());
}

TEST_CASE("the_cgroup_above_is_taken_with_the_mark_alone") {
  delegated kernel;
  const auto place = find_cgroup_place(kernel.search(), both);
  REQUIRE(place);
  CHECK(place->path == kernel.at("unit"));
  CHECK_FALSE(place->is_our_seat);

  cgroup_double unmarked;  // its limits are those of whoever put us here: never stepped out of
  unmarked.add("unit");
  unmarked.add("unit/harness");
  unmarked.sit("unit/harness");
  const auto own = find_cgroup_place(unmarked.search(), both);
  REQUIRE(own);
  CHECK(own->path == unmarked.at("unit/harness"));
}

TEST_CASE("a_marked_cgroup_with_processes_in_it_is_left_alone") {
  delegated kernel;
  kernel.sit("unit", another_process);
  const auto place = find_cgroup_place(kernel.search(), both);
  REQUIRE(place);
  CHECK(place->path == kernel.at("unit/harness"));
}

TEST_CASE("a_cgroup_that_a_service_manager_divides_is_left_alone") {
  delegated kernel;
  kernel.run_a_service_manager();
  kernel.add("unit/init.scope");
  CHECK_FALSE(why_none(kernel).empty());
}

TEST_CASE("only_controllers_that_are_there_are_offered") {
  cgroup_double none{"cpu io"};
  none.sit("");
  CHECK(why_none(none).contains("not available"));
  cgroup_double pids{"cpu pids"};
  pids.sit("");
  const auto place = find_cgroup_place(pids.search(), both);
  REQUIRE(place);
  CHECK_FALSE(place->offered.memory);
  CHECK(place->offered.pids);
  CHECK(why_none(pids, {.memory = true, .pids = false}).contains("not available"));
}

TEST_CASE("a_directory_of_another_file_system_is_no_cgroup") {
  cgroup_double kernel;
  kernel.sit("");
  kernel.be_another_file_system();
  CHECK(why_none(kernel).contains("no cgroup that can be opened"));
}

TEST_CASE("the_kernels_own_files_are_told_by_their_number") {
  const pinfold_test::folder at;
  const descriptor held{::open(at.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  CHECK_FALSE(kernel_cgroup_files().is_cgroup2(held.get()));
  CHECK_FALSE(kernel_cgroup_files().is_marked_delegated(held.get()));
}

TEST_CASE("no_link_is_followed_on_the_way") {
  cgroup_double kernel;
  kernel.add("a");
  kernel.sit("a");
  CHECK(why_none(kernel).empty());
  fs::create_directory_symlink(kernel.at("a"), kernel.at("link"));
  kernel.own_cgroup("0::/link\n");
  CHECK(why_none(kernel).contains("no cgroup that can be opened"));
  kernel.own_cgroup("0::/a\n");
  fs::remove(kernel.at("a/cgroup.procs"));
  fs::create_symlink(kernel.at("cgroup.procs"), kernel.at("a/cgroup.procs"));
  CHECK_FALSE(why_none(kernel).empty());
}

TEST_CASE("the_mount_is_the_one_that_shows_our_cgroup") {
  cgroup_double kernel;
  kernel.sit("");
  const auto line = [](const std::string& root, const std::string& point) {
    return "7 1 0:9 " + root + " " + point + " rw - cgroup2 none rw\n";
  };
  kernel.mounted("");
  CHECK(why_none(kernel).contains("no mounted cgroup v2"));
  kernel.mounted(line("/part", kernel.root()));
  CHECK(why_none(kernel).contains("no mounted cgroup v2"));
  kernel.mounted("7 1 0:9 / " + kernel.root() + " rw - cgroup none rw,memory\n");
  CHECK(why_none(kernel).contains("no mounted cgroup v2"));
  kernel.mounted(line("/part", "/nowhere") + line("/", kernel.root()));
  CHECK(why_none(kernel).empty());

  kernel.add("part");
  kernel.sit("part");
  kernel.mounted(line("/part", kernel.at("part")));  // as a container sees its own
  const auto place = find_cgroup_place(kernel.search(), both);
  REQUIRE(place);
  CHECK(place->path == kernel.at("part"));
}

TEST_CASE("a_cgroup_that_is_not_seen_is_none") {
  cgroup_double kernel;
  for (const auto* text : {"", "4:memory:/x\n", "0::\n", "0::relative\n"}) {
    INFO(text);
    kernel.own_cgroup(text);
    CHECK(why_none(kernel).contains("in no cgroup v2"));
  }
  kernel.own_cgroup("0::/../other\n");  // above the root of our cgroup namespace
  CHECK(why_none(kernel).contains("outside of what is seen"));
  kernel.own_cgroup("0::/gone (deleted)\n");
  CHECK_FALSE(why_none(kernel).empty());
  kernel.add("a");
  kernel.own_cgroup("0::/a\n");  // which does not list this process
  CHECK(why_none(kernel).contains("does not list this process"));
}

TEST_CASE("a_cgroup_that_cannot_be_written_to_was_not_given_to_us") {
  if (::geteuid() == 0) return;  // root may write whatever the mode says
  cgroup_double kernel;
  kernel.add("a");
  kernel.sit("a");
  for (const auto* name : {"a", "a/cgroup.procs", "a/cgroup.subtree_control"}) {
    INFO(name);
    ::chmod(kernel.at(name).c_str(), 0555);
    CHECK(why_none(kernel).contains("cannot be written to"));
    ::chmod(kernel.at(name).c_str(), 0755);
  }
  CHECK(why_none(kernel).empty());
}
