// The straight way of the Linux resolver: a path that the kernel walks below the held workspace in
// one call, judged by its spelling. It answers yes or nothing; it must never refuse, and never say
// yes where the careful walk would not.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/disk/carved.hpp>
#include <pinfold/disk/held_root.hpp>
#include <pinfold/disk/kernel.hpp>
#include <pinfold/disk/location.hpp>

namespace pinfold::beneath {

using maybe_resolved = std::optional<resolved>;

/// The asked path below the workspace as the kernel gets it, ended by NUL; empty when it does not
/// begin there, or cannot be a path.
class tail_text {
 public:
  tail_text(const held_root& root, std::string_view start, std::string_view input) noexcept {
    if (input.size() >= path_max) return;  // as it was spelled, not as what is left of it
    std::string_view before;
    if (is_absolute(input)) {
      const auto tail = tail_below(root.path(), input);
      if (!tail) return;
      input = tail->empty() ? std::string_view{"."} : *tail;
    } else if (start != root.path()) {
      const auto tail = tail_below(root.path(), start);
      if (!tail) return;
      before = *tail;
    }
    const auto size = before.size() + (before.empty() ? 0 : 1) + input.size();
    if (input.empty() || size >= sizeof bytes_) return;
    if (std::memchr(input.data(), 0, input.size()) != nullptr) return;
    char* end = bytes_ + before.copy(bytes_, before.size());
    if (!before.empty()) *end++ = '/';
    end += input.copy(end, input.size());
    *end = '\0';
    size_ = size;
  }

  [[nodiscard]] std::string_view text() const noexcept { return {bytes_, size_}; }
  [[nodiscard]] char* bytes() noexcept { return bytes_; }

 private:
  char bytes_[path_max];  // not cleared: 4 KiB of zeros for each call would cost more than the call
  std::size_t size_{0};
};

/// True when a tail is in normal form as it stands, as far as a quick look tells.
[[nodiscard]] constexpr bool is_plainly_normal(std::string_view tail) noexcept {
  return !tail.starts_with('.') && !tail.ends_with('/') && !tail.contains("/.") &&
         !tail.contains("//");
}

/// A tail that crosses no link in normal form: its lexical form is what the kernel walked. A view
/// of `buffer`; nothing when it cannot be had. Kept out of the callers' frames, as all that only
/// some paths need: after a system call each page touched costs.
[[nodiscard, gnu::noinline]] inline std::optional<std::string_view> normal_tail(
    std::string_view tail, std::span<char> buffer) noexcept {
  char text[path_max];
  if (tail.size() + 1 >= sizeof text) return std::nullopt;
  text[0] = '/';
  tail.copy(text + 1, tail.size());
  const auto form = lexically_normal({text, tail.size() + 1}, buffer);
  if (!form) return std::nullopt;
  return form->substr(1);
}

/// True when a tail in normal form cannot be judged by name for this operation: it lies beside a
/// nested carve-out, in a directory that may fold case on its own.
[[nodiscard]] inline bool is_beside_carve_out(const grant& rules, std::string_view tail,
                                              operation op) noexcept {
  for (const auto& carve : rules.carve_outs()) {
    const auto slash = carve.path.find('/');
    if (slash == std::string_view::npos) continue;
    if (carve.kind == carve_kind::host_run && !disk::changes_something(op)) continue;
    if (disk::is_at_or_below(carve.path.substr(0, slash), tail)) return true;
  }
  return false;
}

/// True when a place below the workspace, `tail` in normal form, may be used so by its spelling.
[[nodiscard]] inline bool is_allowed_by_name(const held_root& root, operation op,
                                             std::string_view tail) noexcept {
  const auto& rules = root.rules();
  if (root.path().size() + 1 + tail.size() >= path_max) return false;
  if (is_beside_carve_out(rules, tail, op)) return false;
  const auto where = rules.region_of_tail(tail);
  if (!disk::changes_something(op)) return where != region::harness_state;
  if (where != region::workspace) return false;
  return !disk::acts_on_the_name(op) || disk::carve_out_below_tail(rules, tail) == nullptr;
}

/// The same for a tail that need not be in normal form.
[[nodiscard, gnu::noinline]] inline bool is_allowed_once_normal(const held_root& root, operation op,
                                                                std::string_view tail) noexcept {
  char buffer[path_max];
  const auto normal = normal_tail(tail, buffer);
  return normal && is_allowed_by_name(root, op, *normal);
}

/// The answer for such a place.
[[nodiscard]] inline maybe_resolved judged_by_name(const held_root& root, operation op,
                                                   std::string_view tail) {
  if (!is_allowed_by_name(root, op, tail)) return std::nullopt;
  return resolved{tail.empty() ? std::string{root.path()} : disk::joined(root.path(), tail),
                  root.rules().region_of_tail(tail)};
}

[[nodiscard, gnu::noinline]] inline maybe_resolved judged_once_normal(const held_root& root,
                                                                      operation op,
                                                                      std::string_view tail) {
  char buffer[path_max];
  const auto normal = normal_tail(tail, buffer);
  return normal ? judged_by_name(root, op, *normal) : std::nullopt;
}

[[nodiscard]] inline maybe_resolved judged_as_walked(const held_root& root, operation op,
                                                     std::string_view tail) {
  return is_plainly_normal(tail) ? judged_by_name(root, op, tail)
                                 : judged_once_normal(root, op, tail);
}

/// A path that crosses links which stay below the workspace: the kernel follows them, and the
/// descriptor's own path in procfs is the canonical one.
[[nodiscard, gnu::noinline]] inline maybe_resolved resolve_through_links(const held_root& root,
                                                                         operation op,
                                                                         const char* tail) {
  constexpr std::uint64_t inside = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const descriptor found{open_below(root.names(), root.fd(), tail, {.resolve = inside})};
  if (!found.is_open() || !root.has_procfs()) return std::nullopt;
  char name[64] = "/proc/thread-self/fd/";
  char* end = name + std::strlen(name);
  *std::to_chars(end, name + sizeof name - 1, found.get()).ptr = '\0';
  char path[path_max];
  const auto size = ::readlink(name, path, sizeof path);
  if (size <= 0 || static_cast<std::size_t>(size) == sizeof path) return std::nullopt;
  const std::string_view canonical{path, static_cast<std::size_t>(size)};
  // What the kernel says of a name that is gone; a name may also end so by itself.
  if (canonical.ends_with(" (deleted)")) return std::nullopt;
  const auto below = tail_below(root.path(), canonical);
  return below ? judged_by_name(root, op, *below) : std::nullopt;
}

/// Whether the kernel may follow links on the way. `refused` after the walk has followed some: the
/// kernel would count its 40 anew.
enum class links : std::uint8_t { followed, refused };

[[nodiscard]] inline maybe_resolved read_straight(const held_root& root, operation op,
                                                  tail_text& tail, links allowed) {
  const int found = open_below(root.names(), root.fd(), tail.bytes(), {});
  if (found == -ELOOP && allowed == links::followed) {
    return resolve_through_links(root, op, tail.bytes());
  }
  if (found < 0) return std::nullopt;
  ::close(found);
  return judged_as_walked(root, op, tail.text());
}

/// True when the last name may be judged by its spelling: not there and allowed to be, or there, no
/// link to follow, no mount, no file with other names.
[[nodiscard]] inline bool is_plain_leaf(operation op, int parent, const char* leaf) noexcept {
  struct statx status {};
  if (::statx(parent, leaf, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_NLINK,
              &status) != 0) {
    return errno == ENOENT && disk::may_be_missing(op);
  }
  if ((status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0 ||
      (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
    return false;
  }
  if (S_ISDIR(status.stx_mode)) return true;
  return status.stx_nlink == 1 && (!S_ISLNK(status.stx_mode) || disk::acts_on_the_name(op));
}

[[nodiscard]] inline maybe_resolved change_straight(const held_root& root, operation op,
                                                    tail_text& tail) {
  const auto text = tail.text();
  const auto slash = text.rfind('/');
  const auto leaf = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (leaf.empty() || leaf == "." || leaf == "..") return std::nullopt;
  if (slash == std::string_view::npos) {
    if (!is_plain_leaf(op, root.fd(), leaf.data())) return std::nullopt;
  } else {
    char* end_of_parent = tail.bytes() + slash;
    *end_of_parent = '\0';
    const descriptor parent{
        open_below(root.names(), root.fd(), tail.bytes(), {.flags = O_PATH | O_DIRECTORY})};
    *end_of_parent = '/';
    if (!parent.is_open() || !is_plain_leaf(op, parent.get(), leaf.data())) return std::nullopt;
  }
  return judged_as_walked(root, op, text);
}

/// True when the first `existing` components of a place below the workspace can be reached without
/// a link or a mount, so that the place's spelling decides.
[[nodiscard]] inline bool is_plain_way(const held_root& root, operation op,
                                       const std::string& place, std::size_t existing) {
  const auto below = tail_below(root.path(), place);
  if (!below || !root.is_judged_by_name() || is_beside_carve_out(root.rules(), *below, op)) {
    return false;
  }
  const auto there = disk::first_names("/", place.substr(1), existing);
  tail_text tail{root, root.path(), there};
  if (tail.text().empty()) return false;
  return descriptor{open_below(root.names(), root.fd(), tail.bytes(), {})}.is_open();
}

/// The straight way's answer for a canonical place that the walk found without an error; nothing
/// where it is not to be had.
[[nodiscard]] inline maybe_resolved confirm_straight(const held_root& root, operation op,
                                                     const std::string& place,
                                                     std::size_t existing) {
  if (!is_plain_way(root, op, place, existing)) return std::nullopt;
  if (existing == disk::names_of(place).size() && disk::changes_something(op)) {
    tail_text tail{root, root.path(), place};
    return change_straight(root, op, tail);
  }
  return judged_by_name(root, op, *tail_below(root.path(), place));
}

/// The straight way. Nothing when the path needs the careful walk, which gives every refusal.
[[nodiscard]] inline maybe_resolved resolve_straight(const held_root& root, operation op,
                                                     std::string_view input, std::string_view start,
                                                     links allowed = links::followed) {
  if (root.error() || !root.is_judged_by_name()) return std::nullopt;
  tail_text tail{root, start, input};
  if (tail.text().empty()) return std::nullopt;
  return disk::changes_something(op) ? change_straight(root, op, tail)
                                     : read_straight(root, op, tail, allowed);
}

}  // namespace pinfold::beneath
