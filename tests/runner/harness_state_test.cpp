// The workspace's lock and the marked directories: what we made goes, what somebody else made stays.
#include "sandbox/harness_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace pinfold;
namespace fs = std::filesystem;

/// A workspace in a directory of its own, gone at the end. /var/tmp keeps user attributes where
/// /tmp may be a tmpfs that does not (before Linux 6.6).
struct folder {
  folder() {
    std::string name = "/var/tmp/pinfold-test-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = fs::canonical(name).string();
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { fs::remove_all(path); }
  [[nodiscard]] std::string at(const std::string& name) const { return path + "/" + name; }
  [[nodiscard]] bool is_empty() const { return fs::is_empty(path); }
  std::string path;
};

workspace_lock taken(const folder& place) {
  auto lock = workspace_lock::take(place.path);
  REQUIRE(lock);
  return std::move(*lock);
}

}  // namespace

TEST_CASE("an absent directory is made empty, marked and private, and goes with the lock") {
  const folder place;
  {
    auto lock = taken(place);
    REQUIRE(lock.ensure(".foundry"));
    CHECK(::getxattr(place.at(".foundry").c_str(), "user.pinfold", nullptr, 0) >= 0);
    CHECK(fs::is_empty(place.at(".foundry")));
    struct stat about {};
    REQUIRE(::stat(place.at(".foundry").c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0700);
  }
  CHECK(place.is_empty());
}

TEST_CASE("a directory without the mark is never removed, empty or not") {
  const folder place;
  fs::create_directory(place.at(".foundry"));
  {
    auto lock = taken(place);
    REQUIRE(lock.ensure(".foundry"));
  }
  CHECK(fs::is_directory(place.at(".foundry")));
}

TEST_CASE("a marked directory that somebody filled stays with all in it") {
  const folder place;
  {
    auto lock = taken(place);
    REQUIRE(lock.ensure(".foundry"));
    std::ofstream{place.at(".foundry/state")} << "kept";
  }
  CHECK(fs::file_size(place.at(".foundry/state")) == 4);
}

TEST_CASE("a link, a file and a pipe are refused and left alone") {
  const folder place;
  fs::create_symlink("nowhere", place.at("dangling"));
  fs::create_directory_symlink("/etc", place.at("link"));
  std::ofstream{place.at("file")} << "x";
  REQUIRE(::mkfifo(place.at("pipe").c_str(), 0600) == 0);
  {
    auto lock = taken(place);
    for (const std::string name : {"dangling", "link", "file", "pipe"}) {
      INFO(name);
      const auto done = lock.ensure(name);
      REQUIRE_FALSE(done);
      CHECK(done.error().error == code::carve_out_unusable);
      CHECK(done.error().path == place.at(name));
    }
  }
  CHECK(fs::is_symlink(place.at("dangling")));
  CHECK(fs::is_symlink(place.at("link")));
  CHECK(fs::exists(place.at("file")));
}

TEST_CASE("the last of several locks takes the directory away, no earlier one does") {
  const folder place;
  auto first = std::make_unique<workspace_lock>(taken(place));
  auto second = std::make_unique<workspace_lock>(taken(place));
  REQUIRE(first->ensure(".foundry"));
  REQUIRE(second->ensure(".foundry"));
  first.reset();
  CHECK(fs::is_directory(place.at(".foundry")));
  second.reset();
  CHECK(place.is_empty());
}

TEST_CASE("a sandbox that still holds the lock's descriptor keeps the directory") {
  const folder place;
  descriptor held;
  {
    auto lock = taken(place);
    REQUIRE(lock.ensure(".foundry"));
    held.reset(::fcntl(lock.directory(), F_DUPFD_CLOEXEC, 0));  // the same open file, as bwrap has it
    REQUIRE(held);
  }
  CHECK(fs::is_directory(place.at(".foundry")));
  held.reset();
  {
    auto lock = taken(place);
    REQUIRE(lock.ensure(".foundry"));
  }
  CHECK(place.is_empty());
}

TEST_CASE("what a killed run left is taken away by the next one") {
  const folder place;
  fs::create_directory(place.at(".pinfold-new-1-3"));
  fs::create_directory(place.at(".foundry"));
  REQUIRE(::setxattr(place.at(".foundry").c_str(), "user.pinfold", "1", 1, 0) == 0);
  {
    auto lock = taken(place);
    REQUIRE(lock.ensure(".foundry"));
  }
  CHECK(place.is_empty());
}

TEST_CASE("many at once always find the directory, and nothing is left") {
  const folder place;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 100; ++turn) {
        auto lock = workspace_lock::take(place.path);
        if (!lock || !lock->ensure(".foundry") || !lock->ensure(".efferent") ||
            ::access(place.at(".foundry").c_str(), F_OK) != 0) {
          ++wrong;
        }
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
  // Two that end together may each find the other's lock; whoever comes next cleans up.
  {
    auto lock = taken(place);
    REQUIRE(lock.ensure(".foundry"));
    REQUIRE(lock.ensure(".efferent"));
  }
  CHECK(place.is_empty());
}

TEST_CASE("a workspace that is not there, is a file or a link is refused") {
  const folder place;
  std::ofstream{place.at("file")} << "x";
  fs::create_directory_symlink(place.path, place.at("link"));
  CHECK(workspace_lock::take(place.at("absent")).error().error == code::workspace_gone);
  CHECK(workspace_lock::take(place.at("file")).error().error == code::workspace_gone);
  CHECK_FALSE(workspace_lock::take(place.at("link")));
}

TEST_CASE("a hard link is found however deep it lies, and a spent budget is said") {
  const folder place;
  fs::create_directories(place.at(".efferent/a/b"));
  fs::create_directories(place.at(".foundry"));
  std::ofstream{place.at(".efferent/a/b/deep")} << "x";
  std::ofstream{place.at(".foundry/plain")} << "x";
  fs::create_directory_symlink("/etc", place.at(".foundry/link"));
  const auto lock = taken(place);
  CHECK(hard_linked_state(lock.directory()).files.empty());
  CHECK(hard_linked_state(lock.directory()).is_whole);
  fs::create_hard_link(place.at(".efferent/a/b/deep"), place.at("other"));
  CHECK(hard_linked_state(lock.directory()).files ==
        std::vector<std::string>{".efferent/a/b/deep"});
  const auto cut = hard_linked_state(lock.directory(), 2);
  CHECK(cut.files.empty());
  CHECK_FALSE(cut.is_whole);
}
