// Which places a run hides, shows and refuses, for a caller that is made up here.
#include "sandbox/places.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

#include "support/catch.hpp"

namespace {

using namespace pinfold;
namespace fs = std::filesystem;

/// Two homes with what homes hold.
struct homes {
  homes() {
    std::string name = "/var/tmp/pinfold-test-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root = fs::canonical(name).string();
    for (const std::string home : {"/one", "/two"}) {
      for (const std::string part : {"/.ssh/keys", "/.aws", "/.gnupg", "/.config/git", "/tools/bin",
                                     "/.ssh-tools", "/work"}) {
        fs::create_directories(root + home + part);
      }
      who.homes.push_back(root + home);
    }
    who.home = root + "/one";
    fs::create_directory_symlink(".ssh", root + "/one/innocent");
    std::ofstream{root + "/one/file"} << "x";
    for (const auto& home : who.homes) hidden.push_back({home, hidden_path::use::closed});
    hidden.push_back({"/run", hidden_path::use::closed});
    hidden.push_back({"/tmp", hidden_path::use::scratch});
  }
  homes(const homes&) = delete;
  homes& operator=(const homes&) = delete;
  ~homes() { fs::remove_all(root); }

  std::string root;
  caller who{.environment = caller_environment{{}}, .home = {}, .homes = {}, .git = {}};
  std::vector<hidden_path> hidden;
};

bool holds(const std::vector<hidden_path>& list, const std::string& path) {
  return std::ranges::find(list, path, &hidden_path::path) != list.end();
}

}  // namespace

TEST_CASE("a workspace that is too much of the machine is refused, one below it is not") {
  const homes world;
  const auto fits = [&](const std::string& path) {
    const auto answer = check_breadth(path, world.who, world.hidden);
    if (!answer) CHECK(answer.error().error == code::workspace_too_broad);
    return answer.has_value();
  };
  for (const std::string path :
       {"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/proc",
        "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/usr/bin", "/usr/local",
        "/var", "/var/lib", "/var/tmp", "/proc/self", "/sys/kernel", "/dev/pts", "/dev/shm"}) {
    INFO(path);
    CHECK_FALSE(fits(path));
  }
  for (const std::string tail : {"", "/one", "/two", "/one/.ssh", "/one/.ssh/keys", "/two/.aws",
                                 "/one/.gnupg"}) {
    INFO(tail);
    CHECK_FALSE(fits(world.root + tail));
  }
  for (const std::string path : {"/srv/app", "/opt/app", "/usr/src/app", "/tmp/app", "/dev/shm/app",
                                 "/var/tmp/app", "/home/somebody/app", "/etcetera"}) {
    INFO(path);
    CHECK(fits(path));
  }
  CHECK(fits(world.root + "/one/work"));
  CHECK(fits(world.root + "/one/.ssh-tools"));
  CHECK(fits(world.root + "/one/.config"));
}

TEST_CASE("a folder of a home can be shown, never a home, credentials or sockets") {
  const homes world;
  const auto one = world.root + "/one";
  for (const std::string tail : {"/tools", "/tools/bin", "/.config/git", "/.ssh-tools", "/work"}) {
    INFO(tail);
    const auto shown = read_root(one + tail, world.who, world.hidden);
    REQUIRE(shown);
    CHECK(shown->source == one + tail);
    CHECK(shown->target == one + tail);
    CHECK(shown->access == root_access::read);
  }
  const auto refused = [&](const std::string& path) {
    INFO(path);
    CHECK_FALSE(read_root(path, world.who, world.hidden));
  };
  for (const std::string tail : {"", "/", "/.ssh", "/.ssh/keys", "/.aws", "/.gnupg", "/.config",
                                 "/innocent", "/innocent/keys", "/tools/..", "/tools/../.ssh",
                                 "/file", "/absent", "/.config/git/.."}) {
    refused(one + tail);
  }
  refused(world.root);
  for (const std::string path : {"/", "/run", "/tmp", "/proc", "/proc/self", "/sys", "/dev",
                                 "/dev/shm", "", "relative"}) {
    refused(path);
  }
}

TEST_CASE("homes, run and the scratch places are hidden, outermost only") {
  homes world;
  world.who.homes.push_back(world.root + "/one/work");
  world.who.environment = caller_environment{{"XDG_RUNTIME_DIR=" + world.root + "/two/tools"}};
  const auto hidden = hidden_places(world.who);
  CHECK(holds(hidden, "/run"));
  CHECK(holds(hidden, "/tmp"));
  // The test's homes lie in /var/tmp, which is covered whole.
  CHECK(holds(hidden, "/var/tmp"));
  CHECK_FALSE(holds(hidden, world.root + "/one"));
  CHECK_FALSE(holds(hidden, world.root + "/two/tools"));
  for (const auto& place : hidden) {
    const bool is_scratch = place.path == "/tmp" || place.path == "/var/tmp";
    CHECK((place.contents == hidden_path::use::scratch) == is_scratch);
    for (const auto& other : hidden) {
      CHECK((&place == &other || !contains(place.path, other.path)));
    }
  }
}

TEST_CASE("secret files are listed as far as the caller could read them") {
  for (const auto& path : secret_files()) {
    INFO(path);
    CHECK(::access(path.c_str(), R_OK) == 0);
    CHECK(path.starts_with("/etc/"));
  }
  const auto found = secret_files();
  const bool listed = std::ranges::find(found, "/etc/shadow") != found.end();
  CHECK(listed == (::access("/etc/shadow", R_OK) == 0));
}

TEST_CASE("the minimal root names no hosts without a network and no secret ever") {
  for (auto network : {network_access::off, network_access::on}) {
    bool has_hosts = false;
    for (const auto& entry : minimal_root(network)) {
      INFO(entry.path);
      struct stat about {};
      REQUIRE(::lstat(entry.path.c_str(), &about) == 0);
      CHECK((entry.type == file_kind::link) == S_ISLNK(about.st_mode));
      CHECK(entry.path != "/etc");
      CHECK(entry.path != "/");
      CHECK_FALSE(entry.path.starts_with("/etc/ssh"));
      CHECK_FALSE(entry.path.starts_with("/etc/shadow"));
      has_hosts = has_hosts || entry.path == "/etc/hosts";
    }
    CHECK(has_hosts == (network == network_access::on && fs::exists("/etc/hosts")));
  }
}

TEST_CASE("root is refused where only privilege would let it in") {
  if (::geteuid() != 0) {
    CHECK(check_search("/", STDIN_FILENO));  // others are asked by the kernel alone
    return;
  }
  homes world;
  const auto work = world.root + "/one/work";
  const descriptor held{::open(work.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  REQUIRE(held);
  const auto allowed = [&](uid_t owner, gid_t group, mode_t mode) {
    REQUIRE(::chown(work.c_str(), owner, group) == 0);
    REQUIRE(::chmod(work.c_str(), mode) == 0);
    return check_search(work, held.get()).has_value();
  };
  CHECK(allowed(0, 0, 0700));
  CHECK(allowed(12345, 12345, 0711));
  CHECK(allowed(12345, 0, 0710));
  CHECK_FALSE(allowed(12345, 12345, 0700));
  CHECK_FALSE(allowed(12345, 12345, 0770));
  CHECK_FALSE(allowed(12345, 0, 0701));
}
