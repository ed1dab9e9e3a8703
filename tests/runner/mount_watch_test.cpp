// The mount table, read: names with blanks and backslashes, places that are gone.
#include "launch/mount_watch.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;

TEST_CASE("mount_points_are_the_fifth_field_with_its_escapes_undone") {
  CHECK(mount_points_in("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                        "23 22 0:5 /x\\040y /work/a\\040b\\134c\\012d rw,nosuid shared:1 - tmpfs t rw\n"
                        "24 22 0:5 / /last rw") ==
        std::vector<std::string>{"/", "/work/a b\\c\nd", "/last"});
  CHECK(mount_points_in("").empty());
  CHECK(mount_points_in("short line\n\n").empty());
}

TEST_CASE("a_place_that_is_no_mount_point_is_lost_and_named") {
  auto whole = mount_watch::of(::getpid(), {"/proc"}, "/proc");
  REQUIRE(whole);
  CHECK_FALSE(whole->lost());
  CHECK_FALSE(whole->lost());
  auto lacking = mount_watch::of(::getpid(), {"/proc", "/no such mount point"}, "/proc");
  REQUIRE(lacking);
  CHECK(lacking->lost() == "/no such mount point");
  CHECK_FALSE(mount_watch::of(0x3fffffff, {}, "/"));
}

TEST_CASE("a_place_that_is_moved_or_replaced_is_seen_when_it_is_looked_at") {
  const pinfold_test::folder at;
  const auto place = at.path + "/place";
  std::filesystem::create_directory(place);
  auto watch = mount_watch::of(::getpid(), {place}, at.path);
  REQUIRE(watch);
  CHECK_FALSE(watch->has_moved());
  std::filesystem::rename(place, at.path + "/elsewhere");
  CHECK(watch->has_moved());
  std::filesystem::create_directory(place);
  CHECK(watch->has_moved());
  CHECK(watch->lost() == place);
}

TEST_CASE("places_are_due_once_in_a_while_and_not_at_each_wake") {
  auto watch = mount_watch::of(::getpid(), {"/proc"}, "/proc");
  REQUIRE(watch);
  CHECK(watch->is_due());
  const auto end = std::chrono::steady_clock::now() + 4 * mount_watch::interval;
  int times = 0;
  while (std::chrono::steady_clock::now() < end) times += watch->is_due() ? 1 : 0;
  CHECK(times >= 3);
  CHECK(times <= 16);
}

TEST_CASE("a_place_that_has_another_path_out_here_is_left_to_the_table") {
  auto watch = mount_watch::of(::getpid(), {"/no such place"}, "/work");
  REQUIRE(watch);
  CHECK_FALSE(watch->has_moved());
  CHECK(watch->lost() == "/no such place");
}
