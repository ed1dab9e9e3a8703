// git's index, as git writes it and as somebody else might.
#include "git/git_index.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using paths = std::vector<std::string>;

namespace {

/// A checkout with two gitlinks among files, by git itself.
struct work_tree {
  explicit work_tree(const std::string& format = "sha1") {
    git("init -q --object-format=" + format);
    git("config user.name n && git config user.email e");
    for (const auto* name : {"a", "deep/er/b", "deep/er/bc", "z"}) {
      git("rev-parse -q HEAD || mkdir -p " + std::string{name} + "; rmdir " + name +
          "; mkdir -p $(dirname " + name + "); echo x > " + name);
    }
    git("add . && git commit -q -m x");
    for (const auto* name : {"deep/link", "other"}) {
      git("update-index --add --cacheinfo 160000,$(git rev-parse HEAD)," + std::string{name});
    }
  }
  void git(const std::string& words) const {
    const auto line = "cd " + at.path + " && (git " + words + ") >/dev/null 2>&1";
    (void)std::system(line.c_str());
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream file{at.path + "/.git/index", std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  pinfold_test::folder at;
};

index_error error_of(const std::string& bytes) {
  const auto found = gitlinks_in(bytes);
  REQUIRE_FALSE(found);
  return found.error();
}

}  // namespace

TEST_CASE("gitlinks_are_found_in_every_version_and_with_either_hash") {
  for (const auto* format : {"sha1", "sha256"}) {
    const work_tree it{format};
    for (const auto* version : {"2", "3", "4"}) {
      INFO(format << " " << version);
      it.git(std::string{"update-index --index-version "} + version);
      if (*version == '3') it.git("update-index --skip-worktree z");  // an extended flag
      const auto found = gitlinks_in(it.bytes());
      REQUIRE(found);
      CHECK(*found == paths{"deep/link", "other"});
    }
  }
}

TEST_CASE("an_index_that_is_cut_or_none_is_said_to_be_damaged") {
  const work_tree it;
  const auto whole = it.bytes();
  REQUIRE(gitlinks_in(whole));
  std::size_t read = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    const auto found = gitlinks_in(whole.substr(0, size));
    // Where an extension is cut so that its beginning may be the checksum, no entry is missing.
    if (found) CHECK(*found == paths{"deep/link", "other"});
    if (!found) CHECK(found.error() == index_error::damaged);
    read += found ? 1U : 0U;
  }
  CHECK(read <= 2);
  CHECK(error_of(whole + "x") == index_error::damaged);
  auto other = whole;
  other[7] = 5;
  CHECK(error_of(other) == index_error::damaged);
  other = whole;
  for (int i = 8; i < 12; ++i) other[static_cast<std::size_t>(i)] = '\xff';
  CHECK(error_of(other) == index_error::damaged);
}

TEST_CASE("a_split_index_is_said_to_be_one") {
  const work_tree it;
  it.git("update-index --split-index");
  CHECK(error_of(it.bytes()) == index_error::split);
}

TEST_CASE("what_an_index_says_of_itself_makes_no_memory") {
  // Each entry a gitlink with a name that goes on from the one before, in version 4.
  std::string bytes("DIRC\0\0\0\4\0\1\0\0", 12);
  const std::string entry = std::string(24, '\0') + std::string("\0\0\xe0\0", 4) +
                            std::string(12 + 20, '\0') + std::string("\0\0", 2) +
                            std::string(1, '\0') + "name" + std::string(1, '\0');
  for (int i = 0; i < 65536; ++i) bytes += entry;
  bytes += std::string(20, '\0');
  CHECK(error_of(bytes) != index_error::split);
}

TEST_CASE("a_file_that_is_too_long_is_not_read") {
  const pinfold_test::folder at;
  const auto path = at.path + "/index";
  const descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  REQUIRE(::ftruncate(file.get(), static_cast<off_t>(most_of_an_index) + 1) == 0);
  CHECK(gitlinks_of(file.get()).error() == index_error::too_long);
  const descriptor directory{::open(at.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  CHECK(gitlinks_of(directory.get()).error() == index_error::unreadable);
}
