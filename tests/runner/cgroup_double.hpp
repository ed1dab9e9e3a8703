// A directory tree that answers like a cgroup v2 file system (cgroup-v2.rst): what is there of each
// cgroup, who may sit where, what can be removed. It can be told to fail or to lie.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "launch/cgroup/find.hpp"
#include "runner/ground.hpp"

namespace pinfold_test {

namespace fs = std::filesystem;

class cgroup_double : public pinfold::cgroup_files {
 public:
  /// The root of all, with these controllers, and nobody in it.
  explicit cgroup_double(const std::string& available = "cpu memory pids") {
    fs::create_directories(root());
    fs::create_directories(proc() + "/self");
    put(root() + "/cgroup.controllers", available + "\n");
    put(root() + "/cgroup.subtree_control", "\n");
    put(root() + "/cgroup.procs", "");
    put(proc() + "/swaps", "");
    mounted("1 0 0:1 / / rw - ext4 /dev/x rw\n2 1 0:2 / " + root() + " rw shared:1 - cgroup2 none rw\n");
  }

  [[nodiscard]] std::string root() const { return home_.path + "/cgroup"; }
  [[nodiscard]] std::string proc() const { return home_.path + "/proc"; }
  [[nodiscard]] std::string at(const std::string& below) const {
    return below.empty() ? root() : root() + "/" + below;
  }
  [[nodiscard]] pinfold::cgroup_search search() const {
    return {proc(), home_.path + "/systemd", this};
  }

  void mounted(const std::string& table) { put(proc() + "/self/mountinfo", table); }
  void own_cgroup(const std::string& text) { put(proc() + "/self/cgroup", text); }
  void run_a_service_manager() { fs::create_directories(home_.path + "/systemd"); }

  /// A cgroup with its parent's controllers enabled for it.
  void add(const std::string& below) {
    const auto path = at(below);
    const auto parent = fs::path{path}.parent_path().string();
    put(parent + "/cgroup.subtree_control", get(parent + "/cgroup.controllers"));
    fs::create_directories(path);
    fill(path);
  }
  /// Puts a process there; this one, when no other is named.
  void sit(const std::string& below, long process = ::getpid()) {
    move(at(below), std::to_string(process));
  }
  void mark(const std::string& below) { marked_.insert(at(below)); }

  /// From now on every write to a control file of this name has this errno; 0: it is taken for done
  /// and changes nothing.
  void break_writes(const std::string& file, int error) { broken_[file] = error; }
  void be_another_file_system() { is_cgroup2_ = false; }

  [[nodiscard]] static std::string get(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream{path, std::ios::trunc} << text;
  }
  /// The names of the cgroups in one.
  [[nodiscard]] static std::vector<std::string> children(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{path}) {
      if (entry.is_directory()) names.push_back(entry.path().filename());
    }
    return names;
  }

  [[nodiscard]] bool is_cgroup2(int directory) const noexcept override {
    return is_cgroup2_ && path_of(directory).starts_with(root());
  }
  [[nodiscard]] bool is_marked_delegated(int directory) const noexcept override {
    return marked_.contains(path_of(directory));
  }
  [[nodiscard]] int make(int parent, const char* name) const noexcept override {
    const auto path = path_of(parent) + "/" + name;
    if (const auto found = broken_.find("mkdir"); found != broken_.end()) return found->second;
    if (!fs::create_directory(path)) return EEXIST;
    fill(path);
    return 0;
  }
  [[nodiscard]] int remove(int parent, const char* name) const noexcept override {
    const auto path = path_of(parent) + "/" + name;
    if (!fs::exists(path)) return ENOENT;
    if (!get(path + "/cgroup.procs").empty() || !children(path).empty()) return EBUSY;
    fs::remove_all(path);
    return 0;
  }
  [[nodiscard]] int write(int cgroup, const char* file, std::string_view word) const noexcept override {
    const auto path = path_of(cgroup);
    const std::string name{file};
    if (const auto found = broken_.find(name); found != broken_.end()) return found->second;
    if (!fs::exists(path + "/" + name)) return ENOENT;
    if (name == "cgroup.procs") return move(path, std::string{word});
    if (name == "cgroup.subtree_control") return enable(path, std::string{word});
    if (name == "cgroup.kill") {
      kill(path);
    } else {
      put(path + "/" + name, std::string{word} + "\n");
    }
    return 0;
  }

 private:
  static std::string path_of(int descriptor) {
    return fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
  }

  static std::set<std::string> words(const std::string& text) {
    std::istringstream all{text};
    return {std::istream_iterator<std::string>{all}, {}};
  }

  /// Puts in the files of a cgroup that are not there, and takes away those of what it has lost.
  static void fill(const std::string& path) {
    const auto given = get(fs::path{path}.parent_path().string() + "/cgroup.subtree_control");
    put(path + "/cgroup.controllers", given);
    const auto absent = [&path](const std::string& name, const std::string& text) {
      if (!fs::exists(path + "/" + name)) put(path + "/" + name, text);
    };
    for (const auto* name : {"cgroup.procs", "cgroup.kill"}) absent(name, "");
    absent("cgroup.subtree_control", "\n");
    absent("cgroup.type", "domain\n");
    absent("cgroup.events", "populated 0\nfrozen 0\n");
    const std::map<std::string, std::map<std::string, std::string>> files{
        {"memory",
         {{"memory.max", "max\n"},
          {"memory.swap.max", "max\n"},
          {"memory.oom.group", "0\n"},
          {"memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n"}}},
        {"pids", {{"pids.max", "max\n"}, {"pids.events", "max 0\n"}}}};
    for (const auto& [controller, all] : files) {
      for (const auto& [name, text] : all) {
        if (words(given).contains(controller)) {
          absent(name, text);
        } else {
          fs::remove(path + "/" + name);
        }
      }
    }
  }

  /// No process beside children with controllers, but in the root of all.
  int enable(const std::string& path, const std::string& text) const {
    auto now = words(get(path + "/cgroup.subtree_control"));
    for (const auto& word : words(text)) {
      const auto name = word.substr(1);
      if (word.front() == '-') {
        now.erase(name);
      } else if (!words(get(path + "/cgroup.controllers")).contains(name)) {
        return ENOENT;
      } else if (path != root() && !get(path + "/cgroup.procs").empty()) {
        return EBUSY;
      } else {
        now.insert(name);
      }
    }
    std::string list;
    for (const auto& name : now) list += (list.empty() ? "" : " ") + name;
    put(path + "/cgroup.subtree_control", list + "\n");
    for (const auto& name : children(path)) fill(path + "/" + name);
    return 0;
  }

  int move(const std::string& path, const std::string& process) const {
    if (path != root() && !words(get(path + "/cgroup.subtree_control")).empty()) return EBUSY;
    for (const auto& one : all_cgroups()) {
      std::string left;
      for (const auto& sitting : words(get(one + "/cgroup.procs"))) {
        if (sitting != process) left += sitting + "\n";
      }
      put(one + "/cgroup.procs", left);
    }
    put(path + "/cgroup.procs", get(path + "/cgroup.procs") + process + "\n");
    if (process == std::to_string(::getpid())) {
      const auto below = path.substr(root().size());
      put(proc() + "/self/cgroup", "1:name=systemd:/elsewhere\n0::" + (below.empty() ? "/" : below) + "\n");
    }
    count();
    return 0;
  }

  void kill(const std::string& path) const {
    for (const auto& one : all_cgroups()) {
      if (one.starts_with(path)) put(one + "/cgroup.procs", "");
    }
    count();
  }

  void count() const {
    for (const auto& one : all_cgroups()) {
      bool populated = false;
      for (const auto& other : all_cgroups()) {
        populated = populated || (other.starts_with(one) && !get(other + "/cgroup.procs").empty());
      }
      if (one == root()) continue;
      put(one + "/cgroup.events", std::string{"populated "} + (populated ? "1" : "0") + "\nfrozen 0\n");
    }
  }

  [[nodiscard]] std::vector<std::string> all_cgroups() const {
    std::vector<std::string> all{root()};
    for (const auto& entry : fs::recursive_directory_iterator{root()}) {
      if (entry.is_directory()) all.push_back(entry.path());
    }
    return all;
  }

  folder home_;
  std::set<std::string> marked_;
  std::map<std::string, int> broken_;
  bool is_cgroup2_{true};
};

}  // namespace pinfold_test
