// A folder for one test: a workspace `ws` beside an `outside` with a canary, and a few short ways
// to put things there and look at them. Gone at the end of the test.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/open.hpp>

#include "disk/case_tree.hpp"
#include "support/catch.hpp"

namespace pinfold_test {

inline constexpr std::string_view canary = "canary: never read, never changed";

/// Both ways of looking names up; every test of an operation runs over them.
inline constexpr std::array both_lookups{pinfold::beneath::lookup::openat2,
                                         pinfold::beneath::lookup::walk_only};

class folder {
 public:
  folder() : scratch_{make_scratch()} {
    make_directory("ws");
    make_directory("outside");
    put("outside/canary", canary);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { remove_tree(scratch_); }

  [[nodiscard]] std::string path(std::string_view name) const {
    return scratch_ + "/" + std::string{name};
  }
  [[nodiscard]] std::string ws() const { return path("ws"); }

  void make_directory(std::string_view name) const {
    std::filesystem::create_directories(path(name));
  }
  void put(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path file{path(name)};
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << bytes;
  }
  void link(std::string_view name, std::string_view target) const {
    const std::filesystem::path file{path(name)};
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  [[nodiscard]] std::string get(std::string_view name) const {
    std::ifstream in{path(name), std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] bool has(std::string_view name) const {
    struct stat status {};
    return ::lstat(path(name).c_str(), &status) == 0;
  }

  [[nodiscard]] pinfold::workspace open(
      pinfold::beneath::lookup names = pinfold::beneath::lookup::openat2) const {
    auto opened = pinfold::workspace::open(ws(), pinfold::default_carve_outs, {}, names);
    if (!opened) throw std::runtime_error{opened.error().message()};
    return std::move(*opened);
  }

 private:
  std::string scratch_;
};

/// What can be read from a descriptor from where it stands.
inline std::string all_of(const pinfold::descriptor& file) {
  std::string bytes;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(file.get(), buffer.data(), buffer.size())) > 0;) {
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return bytes;
}

inline bool write_all(const pinfold::descriptor& file, std::string_view bytes) {
  return ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
}

/// The name of an answer: "ok", or the code it was refused with.
template <typename T>
std::string said(const pinfold::result<T>& answer) {
  return answer ? "ok" : std::string{name_of(answer.error().error)};
}

/// The sorted names in a directory, or the code it was refused with.
inline std::vector<std::string> names_in(const pinfold::workspace& ws, std::string_view path) {
  std::vector<std::string> names;
  const auto listed = ws.list_directory(path);
  if (!listed) return {said(listed)};
  for (const auto& entry : *listed) names.push_back(entry.name);
  std::ranges::sort(names);
  return names;
}

}  // namespace pinfold_test
