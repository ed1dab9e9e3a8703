// The careful way of the Linux resolver: one component at a time by descriptors that never go
// through a link, links followed by hand. It says where a path leads; whoever opens it afterwards
// opens the answer again from the workspace down, because the tree may have changed under the walk.
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/carved.hpp>
#include <pinfold/disk/held_root.hpp>
#include <pinfold/disk/kernel.hpp>
#include <pinfold/disk/location.hpp>
#include <pinfold/disk/unwalked.hpp>

namespace pinfold::beneath {

/// Where a walk ended and which objects lie on the way: one identity for each component of the
/// place that exists, zero for those that were not looked at.
struct walked {
  disk::walk_end end;
  std::vector<identity> on_the_way;
};

/// The inode of a procfs root (PROC_ROOT_INO in the kernel's include/linux/proc_ns.h).
inline constexpr ino_t procfs_root = 1;

/// One walk from the held workspace, or from "/" when the path begins elsewhere.
class walk {
 public:
  walk(const held_root& root, operation op, std::string_view start, std::string_view input)
      : root_{root}, op_{op}, seen_{root.rules()}, pending_{first_text(root, start, input)} {
    if (tail_of(root, start, input)) {
      enter(root.fd(), root.path(), root.id());
    } else {
      go_to_root();
    }
  }

  /// Walks on until a link was followed (true) or the end is reached (false).
  [[nodiscard]] bool followed_a_link() {
    const int before = links_;
    while (!error_ && links_ == before) {
      const auto name = pending_.take();
      if (name.empty()) return false;
      step(name);
    }
    return !error_;
  }

  /// Walks to the end.
  [[nodiscard]] walked finish() {
    while (followed_a_link()) {
    }
    if (!error_ && !missing_) check_end();
    return {{std::move(place_), error_}, std::move(ids_)};
  }

  /// Where the walk stands and what is left of the path.
  [[nodiscard]] const std::string& place() const noexcept { return place_; }
  [[nodiscard]] std::string_view rest() const noexcept { return pending_.rest(); }

  [[nodiscard]] disk::trail& seen() noexcept { return seen_; }

  /// The part of the asked path below the workspace when it begins there by its spelling.
  [[nodiscard]] static std::optional<std::string_view> tail_of(const held_root& root,
                                                               std::string_view start,
                                                               std::string_view input) noexcept {
    return tail_below(root.path(), is_absolute(input) ? input : start);
  }

 private:
  [[nodiscard]] static std::string first_text(const held_root& root, std::string_view start,
                                              std::string_view input) {
    const auto tail = tail_of(root, start, input);
    std::string text{tail ? *tail : is_absolute(input) ? input : start};
    if (is_absolute(input)) return text;
    return (text += '/') += input;
  }

  void step(const std::string& name) {
    if (missing_) return append_missing(name);
    if (name == ".") return step_in_place();
    if (name == "..") return step_up();
    auto next = disk::joined(place_, name);
    seen_.look_at(next);
    struct stat status {};
    descriptor opened = look(next, name, status);
    if (error_ == code::not_found && disk::may_be_missing(op_)) {
      error_.reset();
      missing_ = true;
      return append_missing(name);
    }
    if (error_) {
      place_ = std::move(next);
      return;
    }
    if (S_ISLNK(status.st_mode) && !(pending_.is_last() && disk::acts_on_the_name(op_))) {
      return follow(opened, next);
    }
    here_is_directory_ = S_ISDIR(status.st_mode);
    enter(std::move(opened), std::move(next), identity_of(status));
  }

  /// "." changes nothing, but needs a directory that may be searched.
  void step_in_place() {
    struct stat status {};
    static_cast<void>(look(place_, ".", status));
  }

  void step_up() {
    struct stat status {};
    auto opened = look(place_, "..", status);
    if (error_) return;
    place_ = parent_of(place_);
    if (!ids_.empty()) ids_.pop_back();
    here_is_directory_ = true;
    seen_.look_at(place_);
    hold(std::move(opened));
    if (!ids_.empty()) ids_.back() = identity_of(status);
    check_workspace(identity_of(status));
  }

  [[nodiscard]] descriptor look(const std::string& next, const std::string& name,
                                struct stat& status) {
    if (next.size() >= path_max) {
      error_ = code::name_too_long;
      return {};
    }
    const int fd = open_name(here_, name.c_str(), O_PATH);
    if (fd < 0) {
      error_ = code_of(-fd);
      return {};
    }
    descriptor opened{fd};
    if (::fstat(fd, &status) != 0) error_ = code_of(errno);
    return opened;
  }

  /// Links of a process in /proc name open objects, not paths; those directly in the root of a
  /// procfs (self, thread-self, mounts, net) are ordinary (proc(5)).
  [[nodiscard]] bool is_magic_link(const descriptor& link) const {
    struct statfs kind {};
    if (::fstatfs(link.get(), &kind) != 0) return true;
    if (kind.f_type != PROC_SUPER_MAGIC) return false;
    struct stat parent {};
    return ::fstat(here_, &parent) != 0 || parent.st_ino != procfs_root;
  }

  void follow(const descriptor& link, const std::string& place) {
    if (is_magic_link(link)) return fail(code::magic_link, place);
    if (++links_ > disk::most_links) return fail(code::symlink_loop, place);
    char text[path_max];  // the kernel keeps no longer target
    const auto size = ::readlinkat(link.get(), "", text, sizeof text);
    if (size <= 0) return fail(size == 0 ? code::not_found : code_of(errno), place);
    std::string_view target{text, static_cast<std::size_t>(size)};
    if (const auto tail = tail_below(root_.path(), target)) {
      enter(root_.fd(), root_.path(), root_.id());
      target = *tail;
    } else if (is_absolute(target)) {
      go_to_root();
    }
    pending_.put_before(target);
  }

  void append_missing(const std::string& name) {
    if (name == ".") return check_missing_end();
    auto next = disk::joined(place_, name);
    seen_.look_at(next);
    if (name == "..") {
      error_ = code::not_found;
      return;
    }
    if (name.size() > name_max || next.size() >= path_max) error_ = code::name_too_long;
    place_ = std::move(next);
    if (!error_) check_missing_end();
  }

  /// A file that is to be made may not end in '/'; a directory may.
  void check_missing_end() {
    if (pending_.is_last() && pending_.ends_as_directory() && op_ == operation::write) {
      error_ = code::invalid_path;
    }
  }

  /// What is spelled as a directory must be one; "." and ".." cannot be removed or renamed.
  void check_end() {
    if (pending_.is_dots() && disk::acts_on_the_name(op_)) {
      error_ = code::invalid_path;
    } else if (pending_.ends_as_directory() && !here_is_directory_) {
      error_ = code::not_a_directory;
    }
  }

  /// The walk is at the workspace's path again: it must still be the held directory.
  void check_workspace(const identity& found) {
    if (place_ == root_.path() && found != root_.id()) error_ = code::workspace_gone;
  }

  void go_to_root() {
    const int fd = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail(code_of(errno), "/");
    hold(descriptor{fd});
    place_ = "/";
    seen_.look_at(place_);
    ids_.clear();
    here_is_directory_ = true;
    struct stat status {};
    if (root_.path() == "/" && ::fstat(fd, &status) == 0) check_workspace(identity_of(status));
  }

  void enter(int borrowed, std::string_view place, const identity& id) {
    here_ = borrowed;
    place_ = place;
    ids_.assign(disk::names_of(place).size(), {});
    if (!ids_.empty()) ids_.back() = id;
    here_is_directory_ = true;
    seen_.look_at(place_);
  }

  void enter(descriptor opened, std::string place, const identity& id) {
    hold(std::move(opened));
    place_ = std::move(place);
    ids_.push_back(id);
    check_workspace(id);
  }

  void hold(descriptor opened) {
    held_ = std::move(opened);
    here_ = held_.get();
  }

  void fail(code why, std::string_view where) {
    error_ = why;
    place_ = where;
  }

  const held_root& root_;
  operation op_;
  disk::trail seen_;
  disk::unwalked pending_;
  std::string place_;          // canonical so far
  std::vector<identity> ids_;  // of place_'s components
  descriptor held_;
  int here_{-1};  // what place_ names: held_ or the workspace's own descriptor
  bool here_is_directory_{true};
  bool missing_{false};
  int links_{0};
  std::optional<code> error_;
};

}  // namespace pinfold::beneath
