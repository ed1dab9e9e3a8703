// The folder that a benchmark works on: made in TMPDIR, of a known shape, gone at the end.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pinfold_bench {

class tree {
 public:
  tree() {
    const auto pattern = std::filesystem::temp_directory_path() / "pinfold-bench-XXXXXX";
    root_ = pattern.native();
    if (::mkdtemp(root_.data()) == nullptr) throw std::runtime_error{"no folder in TMPDIR"};
    root_ = std::filesystem::canonical(root_).native();
    std::filesystem::create_directories(ws());
  }
  tree(const tree&) = delete;
  tree& operator=(const tree&) = delete;
  ~tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] std::string ws() const { return root_ + "/ws"; }
  [[nodiscard]] std::string path(std::string_view tail) const {
    return ws() + "/" + std::string{tail};
  }
  void file(std::string_view tail) const {
    std::filesystem::create_directories(std::filesystem::path{path(tail)}.parent_path());
    std::ofstream{path(tail)} << "bytes";
  }
  void link(std::string_view tail, std::string_view target) const {
    std::filesystem::create_directories(std::filesystem::path{path(tail)}.parent_path());
    std::filesystem::create_symlink(target, path(tail));
  }

 private:
  std::string root_;
};

}  // namespace pinfold_bench
