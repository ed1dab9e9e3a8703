#include "mcp/tools/removal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <pinfold/disk/act.hpp>

#include "mcp/tools/entries.hpp"

namespace pinfold::mcp {

namespace {

constexpr int as_directory = O_RDONLY | O_DIRECTORY | beneath::never_wait;

/// A directory by its name in another, never through a link and never on another mount: a descriptor
/// or a negative errno (EXDEV for a mount). Where openat2 is not there, statx tells a mount's root.
int open_on_this_mount(beneath::lookup names, int directory, const char* name) {
  const int fd = beneath::open_below(names, directory, name, {.flags = as_directory});
  if (fd != -ENOSYS && fd != -EPERM) return fd;
  struct statx about{};
  if (::statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO,
              &about) != 0) {
    return -errno;
  }
  const bool can_tell = (about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
  if (!can_tell || (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) return -EXDEV;
  const int opened = beneath::open_name(directory, name, as_directory);
  if (opened < 0) return opened;
  struct stat status{};
  const bool is_same = ::fstat(opened, &status) == 0 && status.st_ino == about.stx_ino;
  if (is_same) return opened;
  ::close(opened);
  return -EXDEV;
}

/// Both goes over a tree: first one that changes nothing, then one that removes.
class tree_removal {
 public:
  enum class pass : std::uint8_t { look, remove };

  tree_removal(beneath::lookup names, const std::function<bool()>& is_cancelled)
      : names_{names}, is_cancelled_{is_cancelled} {}

  removal run(int directory, const std::string& name, pass now) {
    now_ = now;
    done_ = {};
    levels_.clear();
    if (!go_into(directory, name)) return std::move(done_);
    while (!levels_.empty() && !done_.error) step(directory);
    return std::move(done_);
  }

 private:
  struct level {
    entries names;
    std::string name;  // of the directory in the one above
    bool is_again{false};
  };

  bool stop(code why, std::string detail = {}) {
    done_.error = why;
    done_.detail = std::move(detail);
    return false;
  }

  bool go_into(int directory, const std::string& name) {
    if (levels_.size() == most_levels) {
      return stop(code::resource_exhausted, "it is deeper than 200 directories; use a command");
    }
    const int fd = open_on_this_mount(names_, directory, name.c_str());
    if (fd == -EXDEV) {
      return stop(code::not_enforceable, "something is mounted in it, at " + name);
    }
    if (fd < 0) return stop(beneath::code_of(-fd));
    auto opened = entries::of(descriptor{fd});
    if (!opened) return stop(opened.error());
    levels_.push_back({std::move(*opened), name});
    return true;
  }

  void step(int directory) {
    if (is_cancelled_()) {
      stop(code::try_again, "the call was cancelled");
      return;
    }
    auto& top = levels_.back();
    const auto next = top.names.next();
    if (!next) {
      stop(next.error());
    } else if (next->name.empty()) {
      leave(directory);
    } else if (next->type == file_type::directory) {
      go_into(top.names.fd(), std::string{next->name});
    } else if (now_ == pass::remove) {
      unlink(top.names.fd(), std::string{next->name});
    }
  }

  void unlink(int directory, const std::string& name) {
    if (::unlinkat(directory, name.c_str(), 0) == 0) {
      ++done_.names;
    } else if (errno != ENOENT) {
      stop(beneath::code_of(errno));
    }
  }

  /// The directory at the top is read to its end.
  void leave(int directory) {
    const auto name = levels_.back().name;
    const int above = levels_.size() == 1 ? directory : levels_[levels_.size() - 2].names.fd();
    if (now_ == pass::look) {
      levels_.pop_back();
      return;
    }
    if (::unlinkat(above, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
      ++done_.names;
      levels_.pop_back();
    } else if (errno == ENOTEMPTY && !std::exchange(levels_.back().is_again, true)) {
      levels_.back().names.rewind();  // a name may be missed while others go (readdir(3))
    } else {
      stop(beneath::code_of(errno));
    }
  }

  beneath::lookup names_;
  const std::function<bool()>& is_cancelled_;
  pass now_{pass::look};
  removal done_;
  std::vector<level> levels_;
};

}  // namespace

removal remove_tree_at(beneath::lookup names, int directory, const std::string& name,
                       const std::function<bool()>& is_cancelled) {
  tree_removal both{names, is_cancelled};
  auto looked = both.run(directory, name, tree_removal::pass::look);
  if (looked.error) return looked;
  return both.run(directory, name, tree_removal::pass::remove);
}

}  // namespace pinfold::mcp
