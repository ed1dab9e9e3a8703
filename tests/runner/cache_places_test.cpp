// Where caches lie on the disk, what they are called, and what is refused.
#include "sandbox/caches.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <pinfold/path.hpp>

#include "runner/ground.hpp"
#include "support/catch.hpp"

namespace {

using namespace pinfold;
using pinfold_test::folder;
namespace fs = std::filesystem;

constexpr std::string_view inside = "/tmp/home";

caller caller_of(const std::string& home, std::vector<std::string> entries = {}) {
  return {.environment = caller_environment{std::move(entries)},
          .home = home,
          .homes = {home},
          .git = {}};
}

std::string root_of(const caller& who) {
  const auto root = cache_root_of(who);
  REQUIRE(root);
  return root->value_or("none");
}

std::optional<std::string> name_of_directory(const std::string& path) {
  const descriptor held{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  REQUIRE(held);
  return cache_name_of(held.get());
}

/// The path that own caches were refused for, or "made".
std::string answer(const std::string& root, const std::string& name = "id") {
  const auto found = own_caches(root, name, inside, missing_part::made);
  return found ? "made" : found.error().path;
}

std::vector<hidden_path> hidden_for(const caller& who) {
  return {{who.home, hidden_path::use::closed}};
}

/// The sources of what is shared, or the path that was refused.
std::vector<std::string> shared(const caller& who) {
  const auto found = users_caches(who, hidden_for(who), inside);
  if (!found) return {"refused", found.error().path};
  std::vector<std::string> sources;
  for (const auto& one : *found) sources.push_back(one.source);
  return sources;
}

}  // namespace

TEST_CASE("the_caches_of_workspaces_lie_in_the_callers_cache_directory") {
  const folder home;
  CHECK(root_of(caller_of(home.path)) == home.path + "/.cache/pinfold");
  CHECK(root_of(caller_of(home.path, {"XDG_CACHE_HOME=" + home.path + "/x"})) ==
        home.path + "/x/pinfold");
  CHECK(root_of(caller_of(home.path, {"XDG_CACHE_HOME=relative"})) ==
        home.path + "/.cache/pinfold");
  CHECK(root_of(caller_of("")) == "none");
  fs::create_directories(home.path + "/real");
  fs::create_directory_symlink("real", home.path + "/.cache");
  CHECK(root_of(caller_of(home.path)) == home.path + "/real/pinfold");
}

TEST_CASE("a_name_goes_with_the_directory_and_no_other_directory_at_its_path_has_it") {
  const folder home;
  const auto one = home.path + "/one";
  fs::create_directory(one);
  const auto name = name_of_directory(one);
  REQUIRE(name);
  CHECK(name == name_of_directory(one));
  CHECK(name->find('/') == std::string::npos);
  fs::rename(one, home.path + "/moved");
  CHECK(name == name_of_directory(home.path + "/moved"));
  fs::create_directory(one);
  CHECK(name != name_of_directory(one));
  // The inode is free again, and the next directory may well get it: its birth tells it apart.
  fs::remove(home.path + "/moved");
  // (Not in the same tick: not every file system counts its inodes' lives.)
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  for (int i = 0; i < 50; ++i) {
    const auto next = home.path + "/next" + std::to_string(i);
    fs::create_directory(next);
    CHECK(name != name_of_directory(next));
    fs::remove(next);
  }
}

TEST_CASE("own_caches_are_made_for_the_caller_alone_and_found_again") {
  const folder home;
  const auto root = home.path + "/.cache/pinfold";
  const auto planned = own_caches(root, "id", inside, missing_part::left_out);
  REQUIRE(planned);
  CHECK_FALSE(fs::exists(home.path + "/.cache"));
  const auto made = own_caches(root, "id", inside, missing_part::made);
  REQUIRE(made);
  REQUIRE(made->size() == kept_caches.size());
  for (std::size_t i = 0; i < made->size(); ++i) {
    const auto& one = (*made)[i];
    struct stat about {};
    REQUIRE(::lstat(one.source.c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == 0700);
    CHECK(one.inode == about.st_ino);
    CHECK(one.target == below_home(kept_caches[i], inside));
    CHECK(one.source == (*planned)[i].source);
    CHECK((*planned)[i].inode == 0);
  }
  CHECK(answer(root) == "made");
}

TEST_CASE("a_cache_that_could_be_taken_over_is_refused") {
  const folder home;
  const auto root = home.path + "/.cache/pinfold";
  REQUIRE(answer(root) == "made");
  const auto with_mode = [&](const std::string& path, mode_t mode) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    auto said = answer(root);
    REQUIRE(::chmod(path.c_str(), 0700) == 0);
    return said;
  };
  CHECK(with_mode(root, 0755) == root);
  CHECK(with_mode(root, 0710) == root);
  CHECK(with_mode(root + "/id", 0711) == root + "/id");
  CHECK(with_mode(home.path + "/.cache", 0777) == home.path + "/.cache");
  CHECK(with_mode(home.path + "/.cache", 0755) == "made");
  CHECK(with_mode(root + "/id/.cache", 0777) == "made");  // the command may do that to its own
  CHECK(with_mode(root + "/id/.cache", 0000) == "made");
}

TEST_CASE("a_link_in_the_place_of_a_cache_leads_nowhere") {
  const folder home;
  const auto root = home.path + "/.cache/pinfold";
  fs::create_directories(home.path + "/precious");
  for (const std::string tail :
       {"/id/.cache", "/id/.npm", "/id/.local", "/id/.local/share", "/id", ""}) {
    INFO(tail);
    REQUIRE(answer(root) == "made");
    fs::remove_all(root + tail);
    fs::create_directory_symlink(home.path + "/precious", root + tail);
    CHECK(answer(root) == root + tail);
    fs::remove(root + tail);
    std::ofstream{root + tail} << "a file";
    CHECK(answer(root) == root + tail);
    fs::remove(root + tail);
  }
  CHECK(fs::is_empty(home.path + "/precious"));
}

TEST_CASE("a_cache_of_another_user_is_refused") {
  if (::geteuid() != 0) return;  // only root can give one away
  const folder home;
  const auto root = home.path + "/.cache/pinfold";
  for (const std::string tail : {"/id/.cache", "/id/.local", "/id", ""}) {
    INFO(tail);
    REQUIRE(answer(root) == "made");
    REQUIRE(::chown((root + tail).c_str(), 12345, 12345) == 0);
    CHECK(answer(root) == root + tail);
    REQUIRE(::chown((root + tail).c_str(), 0, 0) == 0);
  }
}

TEST_CASE("of_the_users_caches_only_what_is_there_and_data_is_shared") {
  const folder home;
  const auto who = caller_of(home.path);
  CHECK(shared(who).empty());
  for (auto tail : {"/.cargo/bin", "/.cargo/registry/cache", "/.cargo/registry/src",
                    "/.npm/_cacache", "/.local/share/keyrings", "/.cache/pip"}) {
    fs::create_directories(home.path + tail);
  }
  CHECK(shared(who) == std::vector<std::string>{home.path + "/.cache/pip",
                                                home.path + "/.cargo/registry/cache",
                                                home.path + "/.npm/_cacache"});
  const auto places = users_caches(who, hidden_for(who), inside);
  REQUIRE(places);
  for (const auto& one : *places) CHECK(one.owner == cache_owner::user);
  CHECK(places->back().target == "/tmp/home/.npm/_cacache");
}

TEST_CASE("a_shared_cache_that_leads_to_what_is_never_shared_is_refused") {
  const folder home;
  const auto who = caller_of(home.path);
  const auto link = home.path + "/.npm/_cacache";
  fs::create_directories(home.path + "/.npm");
  for (const std::string tail : {"/.cargo/bin", "/.local/bin", "/.local/share/systemd/user",
                                 "/.ssh", "/.config/git", "/.cargo", "/.local/share", ""}) {
    INFO(tail);
    fs::create_directories(home.path + tail);
    fs::create_directory_symlink(home.path + tail, link);
    const auto said = shared(who);
    CHECK((said.size() == 2 && said.front() == "refused"));
    fs::remove(link);
  }
  // A home whose own .local/bin is a link elsewhere is protected where it leads.
  fs::remove_all(home.path + "/.local/bin");
  fs::create_directories(home.path + "/tools");
  fs::create_directory_symlink("../tools", home.path + "/.local/bin");
  fs::create_directory_symlink(home.path + "/tools", link);
  CHECK(shared(who).front() == "refused");
  fs::remove(link);
  fs::create_directories(home.path + "/data");
  fs::create_directory_symlink(home.path + "/data", link);
  CHECK(shared(who) == std::vector<std::string>{home.path + "/data"});
}

TEST_CASE("two_shared_caches_that_are_one_are_refused") {
  const folder home;
  fs::create_directories(home.path + "/.cargo/registry/index/inner");
  fs::create_directories(home.path + "/.npm");
  fs::create_directory_symlink(home.path + "/.cargo/registry/index/inner",
                               home.path + "/.npm/_cacache");
  CHECK(shared(caller_of(home.path)).front() == "refused");
}

TEST_CASE("a_shared_cache_that_others_may_write_to_is_refused") {
  const folder home;
  fs::create_directories(home.path + "/.cache/pip");
  REQUIRE(::chmod((home.path + "/.cache/pip").c_str(), 0777) == 0);
  CHECK(shared(caller_of(home.path)).front() == "refused");
}

TEST_CASE("a_place_at_either_side_of_a_cache_is_not_apart_from_it") {
  const std::vector<cache_place> caches{
      {.source = "/home/u/.cache/pinfold/id/.npm", .target = "/tmp/home/.npm"}};
  for (const std::string place : {"/home/u/.cache/pinfold/id/.npm", "/home/u", "/tmp/home",
                                  "/tmp/home/.npm/x", "/home/u/.cache/pinfold/id/.npm/x"}) {
    INFO(place);
    CHECK_FALSE(check_apart(place, caches));
  }
  for (const std::string place : {"/home/u/work", "/tmp/home/work", "/tmp/home/.npm-old"}) {
    INFO(place);
    CHECK(check_apart(place, caches));
  }
}
