// Whole outputs in files: all of it, bounded, and with what the file system said.
#include "launch/blob.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "launch/drain.hpp"
#include "runner/ground.hpp"
#include "support/catch.hpp"

namespace {

using namespace pinfold;
using pinfold_test::folder;
namespace fs = std::filesystem;

struct place {
  explicit place(std::uint64_t most = 1 << 24)
      : held{::open(home.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)},
        where{held.get(), home.path, most} {}
  folder home;
  descriptor held;
  blob_place where;
};

std::string content(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

auto files_in(const std::string& path) {
  return std::distance(fs::directory_iterator{path}, {});
}

/// Bytes through a pipe into a drain that spills, in pieces.
std::optional<kept_blob> spilled(const place& at, std::size_t cap, std::string_view bytes) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  const descriptor out{ends[0]};
  descriptor in{ends[1]};
  blob whole{at.where, "stdout"};
  drain taken{cap, &whole};
  while (!bytes.empty()) {
    const auto wrote = ::write(in.get(), bytes.data(), std::min<std::size_t>(bytes.size(), 9973));
    REQUIRE(wrote > 0);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    CHECK(taken.read_from(out.get(), {}) == drain::state::open);
  }
  return whole.finish();
}

std::string text_of(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(' ' + (i * 7 + i / 253) % 90);
  return text;
}

/// The descriptor of this process that is open on a file in the directory, or -1.
int descriptor_of_file_in(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone;
    const auto led = fs::read_symlink(entry, gone).string();
    if (led.starts_with(directory + "/")) return std::stoi(entry.path().filename());
  }
  return -1;
}

}  // namespace

TEST_CASE("a_stream_that_is_more_than_what_is_kept_is_in_the_file_from_its_first_byte") {
  for (const std::size_t cap : {2U, 4096U, 100'000U, 300'000U}) {
    for (const std::size_t size : {cap + 1, cap + 65'536, 3 * cap + 700'001}) {
      const place at;
      const auto text = text_of(size);
      const auto told = spilled(at, cap, text);
      INFO(cap << " " << size);
      REQUIRE(told);
      CHECK(told->bytes == size);
      CHECK(told->is_whole);
      CHECK(told->error.empty());
      CHECK((content(told->path) == text));  // too long to be shown
    }
  }
}

TEST_CASE("a_stream_that_is_kept_needs_no_file") {
  const place at;
  for (const std::size_t size : {0U, 1U, 4095U, 4096U}) {
    CHECK_FALSE(spilled(at, 4096, text_of(size)).has_value());
  }
  CHECK(files_in(at.home.path) == 0);
}

TEST_CASE("a_file_is_the_callers_alone_new_each_time_and_named_after_its_stream") {
  const place at;
  blob one{at.where, "stdout"};
  blob two{at.where, "stdout"};
  one.write("one");
  two.write("two");
  const auto first = one.finish();
  const auto second = two.finish();
  REQUIRE((first && second));
  CHECK(first->path != second->path);
  CHECK(first->path.starts_with(at.home.path + "/pinfold-"));
  CHECK(first->path.ends_with("-stdout"));
  CHECK(content(first->path) == "one");
  struct stat about {};
  REQUIRE(::stat(first->path.c_str(), &about) == 0);
  CHECK((about.st_mode & 07777) == 0600);
}

TEST_CASE("a_file_stops_at_its_bound_and_says_that_it_is_not_whole") {
  const place at{1000};
  const auto text = text_of(5000);
  const auto told = spilled(at, 100, text);
  REQUIRE(told);
  CHECK(told->bytes == 1000);
  CHECK_FALSE(told->is_whole);
  CHECK(told->error.empty());
  CHECK((content(told->path) == text.substr(0, 1000)));

  const place exact{5000};
  const auto whole = spilled(exact, 100, text);
  REQUIRE(whole);
  CHECK(whole->is_whole);
  CHECK(whole->bytes == 5000);
}

TEST_CASE("what_the_file_system_says_is_told_and_nothing_is_tried_again") {
  struct row {
    const char* device;
    const char* said;
  };
  for (const auto& [device, said] :
       {row{"/dev/full", "No space left on device"}, row{"/proc/self/mem", "Input/output error"}}) {
    INFO(device);
    const place at;
    blob whole{at.where, "stderr"};
    whole.write("first");
    // The same descriptor number, and so the same blob, with a device behind it that fails.
    const auto file = descriptor_of_file_in(at.home.path);
    REQUIRE(file >= 0);
    const descriptor broken{::open(device, O_WRONLY | O_CLOEXEC)};
    REQUIRE(broken);
    REQUIRE(::dup2(broken.get(), file) == file);
    whole.write("second");
    whole.write("third");
    const auto told = whole.finish();
    REQUIRE(told);
    CHECK(told->error == said);
    CHECK_FALSE(told->is_whole);
    CHECK(told->bytes == 5);
    CHECK(content(told->path) == "first");
  }
}

TEST_CASE("a_file_that_cannot_be_made_is_told_too") {
  const place at;
  fs::remove_all(at.home.path);
  blob whole{at.where, "stdout"};
  whole.write("x");
  const auto told = whole.finish();
  REQUIRE(told);
  CHECK(told->path.empty());
  CHECK(told->bytes == 0);
  CHECK(told->error == "No such file or directory");
}

TEST_CASE("a_bound_on_the_size_of_files_stops_the_blob_and_not_the_process") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const place at;
  auto bound = before;
  bound.rlim_cur = 100;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &bound) == 0);
  const auto told = spilled(at, 10, text_of(1000));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  REQUIRE(told);
  CHECK(told->bytes == 100);
  CHECK(told->error == "File too large");
}
