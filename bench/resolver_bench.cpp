// What the resolver and the file tools cost, beside the kernel's own call and beside what others
// offer, on one tree in one run. Only ratios between rows of a run mean anything.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <boost/filesystem/operations.hpp>

#include <benchmark/benchmark.h>

#include <pinfold/pinfold.hpp>

#include "main.hpp"
#include "tree.hpp"

using namespace pinfold;

namespace {

// Six components each, one link where the name says so.
constexpr std::string_view existing = "src/lib/parser/detail/ast/node.cpp";
constexpr std::string_view missing = "src/lib/parser/detail/ast/new.cpp";
constexpr std::string_view linked = "src/lib/parser/detail/ast/link";
constexpr std::string_view linked_early = "src/lib/alias/detail/ast/node.cpp";
constexpr std::string_view absolute = "src/lib/parser/detail/ast/absolute";
constexpr std::string_view absolute_early = "src/lib/far/detail/ast/node.cpp";

constexpr std::array lengths{1, 2, 5, 10, 20, 50, 100, 150, 200};
constexpr std::array sizes{10, 100, 1'000, 10'000, 100'000};

/// A path of `count` components, the last of them a file.
std::string chain_of(int count) {
  std::string path;
  for (int i = 1; i < count; ++i) path += "name/";
  return path + "file";
}

std::string entry_of(int size, int which) {
  return "size/" + std::to_string(size) + "/entry-" + std::to_string(which);
}

void make(const pinfold_bench::tree& files) {
  files.file(existing);
  files.link(linked, "node.cpp");
  files.link("src/lib/alias", "parser");
  files.link(absolute, files.path(existing));
  files.link("src/lib/far", files.path("src/lib/parser"));
}

void make_what_grows(const pinfold_bench::tree& files) {
  for (int length : lengths) files.file(chain_of(length));
  for (int size : sizes) {
    files.file(entry_of(size, 0));
    for (int i = 1; i < size; ++i) {
      const descriptor made{::open(files.path(entry_of(size, i)).c_str(), O_CREAT | O_WRONLY, 0600)};
      if (!made.is_open()) throw std::runtime_error{"a directory that does not grow"};
    }
  }
}

// What the rows measure: each takes a path below the workspace and throws when it is refused, so
// that no refusal is ever measured in the place of an answer.

template <typename T>
void must(T&& answer) {
  if (!answer) throw std::runtime_error{answer.error().message()};
  benchmark::DoNotOptimize(answer);
}

/// The kernel's call with the same flags, and the close that belongs to it.
void openat2_and_close(int root, const char* tail, int flags, std::uint64_t resolve) {
  const int fd = beneath::open_below(beneath::lookup::openat2, root, tail,
                                     {.flags = flags, .resolve = resolve});
  if (fd < 0) throw std::runtime_error{"openat2"};
  ::close(fd);
}

/// What an agent does for one call: the guard is built for it, and asked about where the path leads
/// in the act of opening.
void composed(const workspace& held, std::string_view tail) {
  const guard now{held.grant(), mode::autonomous, gate::untainted, taint{}, enforcement::enforced};
  must(held.open_read(tail, now));
}

/// The same by three calls.
void composed_of_three(const workspace& held, std::string_view tail) {
  const guard now{held.grant(), mode::autonomous, gate::untainted, taint{}, enforcement::enforced};
  const auto place = held.resolve_read(tail);
  must(place);
  if (now.check(call::read(place->canonical)) != verdict::allow) throw std::runtime_error{"guard"};
  must(held.open_read(place->canonical));
}

void realpath_of(const std::string& path) {
  std::array<char, PATH_MAX> buffer;
  if (::realpath(path.c_str(), buffer.data()) == nullptr) throw std::runtime_error{"realpath"};
  benchmark::DoNotOptimize(buffer);
}

class rows {
 public:
  rows() : files_{}, held_{(make(files_), workspace::open(files_.ws()))} {
    if (!held_) throw std::runtime_error{held_.error().message()};
    root_ = descriptor{::open(files_.ws().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  }

  void kernel() {
    const auto same = beneath::no_links_or_mounts;
    add("openat2_path", existing, [=, this](auto& t) { kernel_call(t, O_PATH, same); });
    add("openat2_path_unrestricted", existing, [this](auto& t) { kernel_call(t, O_PATH, 0); });
    add("openat2_read", existing, [=, this](auto& t) { kernel_call(t, O_RDONLY, same); });
    add("openat2_read_unrestricted", existing, [this](auto& t) { kernel_call(t, O_RDONLY, 0); });
  }

  void ours() {
    const auto& ws = *held_;
    const auto read = [&ws](auto& t) { must(ws.resolve_read(t)); };
    const auto write = [&ws](auto& t) { must(ws.resolve_write(t)); };
    add("resolve_read", existing, read);
    add("resolve_read_absolute_spelling", files_.path(existing), read);
    add("resolve_read_one_link", linked, read);
    add("resolve_read_one_link_early", linked_early, read);
    add("resolve_read_absolute_link", absolute, read);
    add("resolve_read_absolute_link_early", absolute_early, read);
    add("resolve_write", existing, write);
    add("resolve_write_missing_leaf", missing, write);
    add("open_read", existing, [&ws](auto& t) { must(ws.open_read(t)); });
    add("open_read_one_link", linked, [&ws](auto& t) { must(ws.open_read(t)); });
    add("composed", existing, [&ws](auto& t) { composed(ws, t); });
    add("composed_of_three_calls", existing, [&ws](auto& t) { composed_of_three(ws, t); });
  }

  /// Each gets the whole path, as its callers have it.
  void peers() {
    add("realpath", files_.path(existing), realpath_of);
    add("std_weakly_canonical", files_.path(existing),
        [](auto& p) { benchmark::DoNotOptimize(std::filesystem::weakly_canonical(p)); });
    add("boost_weakly_canonical", files_.path(existing),
        [](auto& p) { benchmark::DoNotOptimize(boost::filesystem::weakly_canonical(p)); });
    add("portable", existing,
        [this](auto& t) { must(resolve(held_->grant(), operation::read, t, {}, resolver::portable)); });
    add("std_weakly_canonical_missing_leaf", files_.path(missing),
        [](auto& p) { benchmark::DoNotOptimize(std::filesystem::weakly_canonical(p)); });
  }

  /// The same calls for paths that grow and in directories that grow; drawn by plot.sh.
  void growth() {
    make_what_grows(files_);
    for (int length : lengths) grow("components", length, chain_of(length));
    for (int size : sizes) grow("entries", size, entry_of(size, size / 2));
  }

 private:
  void kernel_call(const std::string& tail, int flags, std::uint64_t resolve) {
    openat2_and_close(root_.get(), tail.c_str(), flags, resolve);
  }

  void grow(const std::string& what, int size, const std::string& tail) {
    const auto& ws = *held_;
    const auto name = [&](const char* row) { return what + "/" + row + "/" + std::to_string(size); };
    add(name("openat2"), tail,
        [this](auto& t) { kernel_call(t, O_PATH, beneath::no_links_or_mounts); });
    add(name("resolve_read"), tail, [&ws](auto& t) { must(ws.resolve_read(t)); });
    add(name("open_read"), tail, [&ws](auto& t) { must(ws.open_read(t)); });
    add(name("realpath"), files_.path(tail), realpath_of);
  }

  template <typename Work>
  void add(const std::string& name, std::string_view path, Work work) {
    benchmark::RegisterBenchmark(name.c_str(), [work, text = std::string{path}](auto& state) {
      for (auto _ : state) work(text);
    });
  }

  pinfold_bench::tree files_;
  result<workspace> held_;
  descriptor root_;
};

}  // namespace

// With the word `growth` before all options: the rows of the plots, else those of the table.
int main(int count, char** arguments) {
  rows all;
  const bool is_growth = count > 1 && std::string_view{arguments[1]} == "growth";
  if (is_growth) {
    all.growth();
    std::swap(arguments[0], arguments[1]);
    --count;
    ++arguments;
  } else {
    all.kernel();
    all.ours();
    all.peers();
  }
  return pinfold_bench::run(count, arguments);
}
