// The lock is flock(2) on the directory: it ends with the process that holds it, and no number of a
// process that is gone can be mistaken for another's.
#include "launch/cgroup/held_cgroup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <pinfold/disk/kernel.hpp>

namespace pinfold {
namespace {

std::string failed(const std::string& what, int error) {
  return what + ": " + std::strerror(error);
}

struct close_directory {
  void operator()(DIR* list) const noexcept { ::closedir(list); }
};

std::vector<std::string> names_of_ours(int directory) {
  std::vector<std::string> names;
  descriptor again{beneath::open_name(directory, ".", O_RDONLY | O_DIRECTORY)};
  if (!again) return names;
  const std::unique_ptr<DIR, close_directory> list{::fdopendir(again.get())};
  if (!list) return names;
  (void)again.release();
  while (const dirent* entry = ::readdir(list.get())) {
    if (is_cgroup_name(entry->d_name)) names.emplace_back(entry->d_name);
  }
  return names;
}

bool is_owned_by_us(int directory) {
  struct stat about {};
  return ::fstat(directory, &about) == 0 && about.st_uid == ::geteuid();
}

/// Errors do not matter: what holds a process stays, and whoever comes next tries again.
void remove_with_inner(const cgroup_files& files, int parent, const std::string& name, int held) {
  (void)files.remove(held, inner_cgroup);
  (void)files.remove(parent, name.c_str());
}

}  // namespace

std::expected<held_cgroup, std::string> held_cgroup::make_in(const cgroup_place& place,
                                                             const cgroup_files& files) {
  descriptor parent{beneath::open_name(place.held.get(), ".", O_RDONLY | O_DIRECTORY)};
  if (!parent) return std::unexpected{place.path + " cannot be opened again"};
  auto name = new_cgroup_name();
  if (name.empty()) return std::unexpected{std::string{"the kernel gives no chance for a name"}};
  auto path = place.path + "/" + name;
  if (const int wrong = files.make(parent.get(), name.c_str()); wrong != 0) {
    return std::unexpected{failed("making " + path, wrong)};
  }
  held_cgroup made{files, std::move(parent), std::move(name), std::move(path), {}};
  made.held_.reset(beneath::open_name(made.parent_.get(), made.name_.c_str(), O_RDONLY | O_DIRECTORY));
  if (!made.held_ || !files.is_cgroup2(made.get()) || ::flock(made.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected{made.path_ + " cannot be held"};
  }
  return made;
}

held_cgroup::~held_cgroup() {
  if (parent_) remove_with_inner(*files_, parent_.get(), name_, held_.get());
}

std::expected<void, std::string> write_control(const cgroup_files& files, int cgroup,
                                               const char* file, const std::string& word) {
  const int wrong = files.write(cgroup, file, word);
  if (wrong == 0) return {};
  return std::unexpected{failed("writing " + word + " to " + file, wrong)};
}

std::expected<void, std::string> enable_controllers(const cgroup_place& place,
                                                    const cgroup_files& files) {
  std::string words;
  if (place.offered.memory && !place.enabled.memory) words += "+memory ";
  if (place.offered.pids && !place.enabled.pids) words += "+pids ";
  if (words.empty()) return {};
  words.pop_back();
  return write_control(files, place.held.get(), "cgroup.subtree_control", words);
}

void remove_left_behind(const cgroup_place& place, const cgroup_files& files) noexcept {
  for (const auto& name : names_of_ours(place.held.get())) {
    const descriptor one{
        beneath::open_name(place.held.get(), name.c_str(), O_RDONLY | O_DIRECTORY)};
    const bool is_left = one && is_owned_by_us(one.get()) && ::flock(one.get(), LOCK_EX | LOCK_NB) == 0;
    if (is_left) remove_with_inner(files, place.held.get(), name, one.get());
  }
}

}  // namespace pinfold
