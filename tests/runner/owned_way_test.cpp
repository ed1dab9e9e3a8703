// Directories that nobody but the caller and root can put something else in the place of.
#include "host/owned_way.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runner/ground.hpp"
#include "sandbox/look_below.hpp"
#include "support/catch.hpp"

namespace {

using namespace pinfold;
using pinfold_test::folder;
namespace fs = std::filesystem;

/// "made", "absent", or the path that was refused.
std::string answer(const std::string& path, missing_part missing = missing_part::left_out) {
  const auto found = open_owned_way(path, missing);
  if (found) return *found ? "made" : "absent";
  CHECK(found.error().error == code::permission_denied);
  return found.error().path;
}

}  // namespace

TEST_CASE("a_way_of_the_callers_own_is_opened_and_what_is_missing_is_made_for_the_caller_alone") {
  const folder home;
  const auto path = home.path + "/a/b/c";
  CHECK(answer(path) == "absent");
  CHECK_FALSE(fs::exists(home.path + "/a"));
  const auto mask = ::umask(0);
  CHECK(answer(path, missing_part::made) == "made");
  ::umask(mask);
  for (const std::string tail : {"/a", "/a/b", "/a/b/c"}) {
    struct stat about {};
    REQUIRE(::stat((home.path + tail).c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == 0700);
  }
  CHECK(answer(path) == "made");
}

TEST_CASE("a_directory_that_others_may_write_to_is_no_way_unless_it_is_sticky") {
  const folder home;
  const auto shared = home.path + "/shared";
  fs::create_directories(shared + "/inner");
  for (const mode_t mode : {0777U, 0770U, 0720U, 0702U}) {
    INFO(mode);
    REQUIRE(::chmod(shared.c_str(), mode) == 0);
    CHECK(answer(shared + "/inner") == shared);
    CHECK(answer(shared + "/new", missing_part::made) == shared);
    CHECK_FALSE(fs::exists(shared + "/new"));
  }
  REQUIRE(::chmod(shared.c_str(), 01777) == 0);
  CHECK(answer(shared + "/inner") == "made");
}

TEST_CASE("a_link_and_a_file_are_no_way") {
  const folder home;
  fs::create_directories(home.path + "/real/inner");
  fs::create_directory_symlink("real", home.path + "/link");
  CHECK(answer(home.path + "/link/inner") == home.path + "/link");
  CHECK(answer(home.path + "/link") == home.path + "/link");
  fs::create_symlink("/nowhere", home.path + "/dangling");
  CHECK(answer(home.path + "/dangling", missing_part::made) == home.path + "/dangling");
  CHECK(answer("/proc/self/status/x") != "made");
}

TEST_CASE("a_directory_of_another_user_is_no_way") {
  if (::geteuid() != 0) return;  // only root can give one away
  const folder home;
  fs::create_directories(home.path + "/theirs/inner");
  REQUIRE(::chown((home.path + "/theirs").c_str(), 12345, 12345) == 0);
  CHECK(answer(home.path + "/theirs/inner") == home.path + "/theirs");
  REQUIRE(::chown((home.path + "/theirs").c_str(), 0, 0) == 0);
  CHECK(answer(home.path + "/theirs/inner") == "made");
}

TEST_CASE("private_unshared_and_owned_are_three_things") {
  const folder home;
  const auto held = open_owned_way(home.path, missing_part::left_out);
  REQUIRE(held);
  const auto is = [&](mode_t mode) {
    REQUIRE(::chmod(home.path.c_str(), mode) == 0);
    const int fd = held->get();
    return std::string{check_owner(fd, home.path) ? "o" : "-"} +
           (check_unshared(fd, home.path) ? "u" : "-") + (check_private(fd, home.path) ? "p" : "-");
  };
  CHECK(is(0700) == "oup");
  CHECK(is(0500) == "oup");
  CHECK(is(0755) == "ou-");
  CHECK(is(0750) == "ou-");
  CHECK(is(0770) == "o--");
  CHECK(is(0777) == "o--");
  CHECK(is(01777) == "o--");
  if (::geteuid() != 0) return;
  REQUIRE(::chown(home.path.c_str(), 12345, 12345) == 0);
  CHECK(is(0700) == "---");
  REQUIRE(::chown(home.path.c_str(), 0, 0) == 0);
}

TEST_CASE("what_a_proof_is_compared_with_is_never_found_through_a_link") {
  const folder workspace;
  fs::create_directories(workspace.path + "/d/z");
  fs::create_directories(workspace.path + "/elsewhere/z");
  fs::create_directory_symlink("elsewhere", workspace.path + "/link");
  fs::create_directory_symlink("../elsewhere/z", workspace.path + "/d/last");
  const descriptor held{::open(workspace.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct stat about {};
  struct stat expected {};
  REQUIRE(look_below(held.get(), "d/z", about) == 0);
  REQUIRE(::lstat((workspace.path + "/d/z").c_str(), &expected) == 0);
  CHECK(about.st_ino == expected.st_ino);
  REQUIRE(look_below(held.get(), "", about) == 0);
  REQUIRE(::lstat(workspace.path.c_str(), &expected) == 0);
  CHECK(about.st_ino == expected.st_ino);
  REQUIRE(look_below(held.get(), "d/last", about) == 0);
  CHECK(S_ISLNK(about.st_mode));
  CHECK(look_below(held.get(), "link/z", about) != 0);
  CHECK(look_below(held.get(), "d/last/x", about) != 0);
  CHECK(look_below(held.get(), "d/none/z", about) == ENOENT);
}
