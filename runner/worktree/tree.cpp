#include "worktree/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

namespace pinfold {
namespace {

bool is_before(const timespec& one, const timespec& other) {
  return one.tv_sec != other.tv_sec ? one.tv_sec < other.tv_sec : one.tv_nsec < other.tv_nsec;
}

/// What a removal must leave alone.
struct spared_parts {
  dev_t device;  ///< all that is on another one
  std::optional<timespec> since;

  [[nodiscard]] bool has(int parent, const char* name) const {
    struct stat about {};
    return since && ::fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           !S_ISDIR(about.st_mode) && !is_before(about.st_ctim, *since);
  }
};

using open_list = std::unique_ptr<DIR, int (*)(DIR*)>;

/// A list of its own for an open directory.
open_list list_of(int directory) {
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  open_list list{again < 0 ? nullptr : ::fdopendir(again), &::closedir};
  if (!list && again >= 0) ::close(again);
  return list;
}

bool is_dot(std::string_view name) {
  return name == "." || name == "..";
}

descriptor open_directory(int parent, const char* name) {
  return descriptor{::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

/// Open, on the same file system, and its owner's to write to; whose owner may not look into it is
/// nobody's but root's before that is put right.
std::expected<descriptor, int> open_to_empty(int parent, const char* name, dev_t device) {
  auto directory = open_directory(parent, name);
  if (!directory && errno == EACCES) {
    if (::fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0) return std::unexpected{errno};
    directory = open_directory(parent, name);
  }
  struct stat about {};
  if (!directory || ::fstat(directory.get(), &about) != 0) return std::unexpected{errno};
  if (about.st_dev != device) return std::unexpected{EXDEV};
  const bool is_shut = (about.st_mode & S_IRWXU) != S_IRWXU;
  if (is_shut && ::fchmod(directory.get(), S_IRWXU) != 0) return std::unexpected{errno};
  return directory;
}

std::expected<void, int> empty_directory(const descriptor& directory, const spared_parts& spared);

std::expected<void, int> remove_entry(int parent, const char* name, unsigned char type,
                                      const spared_parts& spared) {
  if (type != DT_DIR) {
    if (spared.has(parent, name)) return std::unexpected{ENOTEMPTY};
    if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR) return std::unexpected{errno};
  }
  const auto directory = open_to_empty(parent, name, spared.device);
  if (!directory) return std::unexpected{directory.error()};
  if (auto emptied = empty_directory(*directory, spared); !emptied) return emptied;
  if (::unlinkat(parent, name, AT_REMOVEDIR) != 0) return std::unexpected{errno};
  return {};
}

std::expected<void, int> empty_directory(const descriptor& directory, const spared_parts& spared) {
  const auto list = list_of(directory.get());
  if (!list) return std::unexpected{errno};
  while (const dirent* entry = ::readdir(list.get())) {
    if (is_dot(entry->d_name)) continue;
    if (auto done = remove_entry(directory.get(), entry->d_name, entry->d_type, spared); !done) {
      return done;
    }
  }
  return {};
}

std::string change_below(int directory, const timespec& since, dev_t device,
                         const std::string& path) {
  const auto list = list_of(directory);
  if (!list) return path.empty() ? "." : path;
  while (const dirent* entry = ::readdir(list.get())) {
    if (is_dot(entry->d_name)) continue;
    const auto at = path + (path.empty() ? "" : "/") + entry->d_name;
    struct stat about {};
    if (::fstatat(directory, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) return at;
    if (about.st_dev != device) return at;
    if (!S_ISDIR(about.st_mode)) {
      if (!is_before(about.st_ctim, since)) return at;
      continue;
    }
    const auto inner = open_directory(directory, entry->d_name);
    if (!inner) return at;
    if (auto found = change_below(inner.get(), since, device, at); !found.empty()) return found;
  }
  return {};
}

}  // namespace

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  const auto list = list_of(directory);
  if (!list) return names;
  while (const dirent* entry = ::readdir(list.get())) {
    if (!is_dot(entry->d_name)) names.emplace_back(entry->d_name);
  }
  return names;
}

namespace {

std::expected<void, int> remove_below(int parent, const std::string& name,
                                      std::optional<timespec> since) {
  struct stat about {};
  if (::fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return std::unexpected{errno};
  }
  return remove_entry(parent, name.c_str(), S_ISDIR(about.st_mode) ? DT_DIR : DT_UNKNOWN,
                      {about.st_dev, since});
}

}  // namespace

std::expected<void, int> remove_tree(int parent, const std::string& name) {
  return remove_below(parent, name, std::nullopt);
}

std::expected<void, int> remove_tree(const std::string& path, std::optional<timespec> spared) {
  const std::string parent{parent_of(path)};
  const descriptor held{::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!held) {
    if (errno == ENOENT) return {};
    return std::unexpected{errno};
  }
  return remove_below(held.get(), path.substr(path.rfind('/') + 1), spared);
}

std::expected<timespec, int> moment_of(int directory) {
  const auto mark = [directory]() -> std::expected<timespec, int> {
    const descriptor file{::openat(directory, "moment", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                                   S_IRUSR | S_IWUSR)};
    struct stat about {};
    if (!file || ::futimens(file.get(), nullptr) != 0 || ::fstat(file.get(), &about) != 0) {
      return std::unexpected{errno};
    }
    return about.st_ctim;
  };
  auto first = mark();
  if (!first) return first;
  constexpr int most_tries = 1500;  // a file system may have a clock of whole seconds
  for (int i = 0; i < most_tries; ++i) {
    auto next = mark();
    if (!next || is_before(*first, *next)) return next;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return std::unexpected{ETIME};
}

std::string first_change(int directory, timespec since) {
  struct stat about {};
  if (::fstat(directory, &about) != 0) return ".";
  return change_below(directory, since, about.st_dev, {});
}

}  // namespace pinfold
