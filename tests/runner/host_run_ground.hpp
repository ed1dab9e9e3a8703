// A checkout in which something is left, and what the walk says of it.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "runner/ground.hpp"
#include "sandbox/host_run.hpp"
#include "support/catch.hpp"

namespace pinfold_test {

using namespace pinfold;
using lines = std::vector<std::string>;

class left_checkout {
 public:
  left_checkout() : directory_{::open(at.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)} {}

  void put(const std::string& name, std::string_view bytes = "x") const {
    const std::filesystem::path file{at.path + "/" + name};
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << bytes;
  }
  void link(const std::string& name, const std::string& target) const {
    const std::filesystem::path file{at.path + "/" + name};
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  void begin() {
    // File times come in ticks of a few milliseconds; what was there before must be older.
    std::this_thread::sleep_for(std::chrono::milliseconds{30});
    search = begin_host_run_search(at.path, directory_.get());
    list_ahead();
  }
  void list_ahead() {
    search.ahead.clear();
    pinfold::list_ahead(search, directory_.get());
  }
  void watch(std::vector<std::string> paths) {
    search.obeyed = watched(std::move(paths), directory_.get());
  }
  /// As in a run whose system calls are filtered.
  void begin_filtered() {
    begin();
    search.set_id = set_id_files::barred;
  }
  [[nodiscard]] host_run_report report() const {
    return look_for_host_run(search, directory_.get());
  }
  /// "kind path" or "kind path: detail" for each find.
  [[nodiscard]] lines found() const {
    lines all;
    for (const auto& one : report().found) {
      auto line = std::string{name_of(one.kind)} + " " + one.path;
      if (!one.detail.empty()) line += ": " + one.detail;
      all.push_back(std::move(line));
    }
    std::ranges::sort(all);
    return all;
  }

  folder at;
  host_run_search search;

 private:
  descriptor directory_;
};

}  // namespace pinfold_test
