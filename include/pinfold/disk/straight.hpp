// The straight way of the Linux resolver: a path that the kernel walks below the held workspace in
// one call, judged by its spelling. It answers yes or nothing; it must never refuse, and never say
// yes where the careful walk would not.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/disk/carved.hpp>
#include <pinfold/disk/held_root.hpp>
#include <pinfold/disk/kernel.hpp>
#include <pinfold/disk/location.hpp>
#include <pinfold/disk/tail_text.hpp>

namespace pinfold::beneath {

using maybe_resolved = std::optional<resolved>;

/// True when a tail in normal form cannot be judged by name for this operation: it lies beside a
/// nested carve-out, in a directory that may fold case on its own.
[[nodiscard]] inline bool is_beside_carve_out(const grant& rules, std::string_view tail,
                                              operation op) noexcept {
  for (const auto& carve : rules.carve_outs()) {
    if (carve.kind == carve_kind::host_run && !disk::changes_something(op)) continue;
    if (tail.empty() || tail.front() != carve.path.front()) continue;
    const auto slash = carve.path.find('/');
    if (slash == std::string_view::npos) continue;
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

/// The answer for such a place: `whole` is its canonical path, `tail` what of it lies below the
/// workspace.
[[nodiscard]] inline maybe_resolved judged_by_name(const held_root& root, operation op,
                                                   std::string_view whole, std::string_view tail) {
  if (!is_allowed_by_name(root, op, tail)) return std::nullopt;
  return resolved{std::string{whole}, root.rules().region_of_tail(tail)};
}
[[nodiscard]] inline maybe_resolved judged_by_name(const held_root& root, operation op,
                                                   std::string_view tail) {
  return judged_by_name(
      root, op, tail.empty() ? std::string{root.path()} : disk::joined(root.path(), tail), tail);
}

[[nodiscard, gnu::noinline]] inline maybe_resolved judged_once_normal(const held_root& root,
                                                                      operation op,
                                                                      std::string_view tail) {
  char buffer[path_max];
  const auto normal = normal_tail(tail, buffer);
  return normal ? judged_by_name(root, op, *normal) : std::nullopt;
}

[[nodiscard]] inline maybe_resolved judged_as_walked(const held_root& root, operation op,
                                                     const tail_text& tail) {
  return is_normal_tail(tail.text()) ? judged_by_name(root, op, tail.whole(), tail.text())
                                     : judged_once_normal(root, op, tail.text());
}

/// What stands at one name of `tail`, which ends at `end`: a link, whose target is then put in its
/// place; no link; or something that the careful walk must answer.
enum class looked : std::uint8_t { followed, no_link, unclear };

[[nodiscard, gnu::noinline]] inline looked follow_link_at(const held_root& root, tail_text& tail,
                                                          std::size_t end) noexcept {
  char target[path_max];  // the kernel keeps no longer one
  const auto size = tail.with_beginning(end, [&](const char* name) {
    return ::readlinkat(root.fd(), name, target, sizeof target);
  });
  if (size < 0 && errno == EINVAL) return looked::no_link;
  if (size <= 0 || size == sizeof target) return looked::unclear;
  const bool is_below = tail.follow(end, {target, static_cast<std::size_t>(size)});
  return is_below ? looked::followed : looked::unclear;
}

/// Follows one link on the way of `tail`: looks where the last one was found, then at each name
/// from the last one on. False when there is none, or after too many `looks`.
[[nodiscard]] inline bool follow_a_link(const held_root& root, tail_text& tail,
                                        int& looks) noexcept {
  const auto likely = root.likely_link();
  if (tail.ends_a_name(likely) && --looks > 0) {
    const auto found = follow_link_at(root, tail, likely);
    if (found != looked::no_link) return found == looked::followed;
  }
  for (auto end = tail.text().size(); end != 0 && --looks > 0; end = tail.name_before(end)) {
    if (end == likely) continue;
    const auto found = follow_link_at(root, tail, end);
    if (found == looked::no_link) continue;
    root.remember_link(end);
    return found == looked::followed;
  }
  return false;
}

/// A path whose links lead to somewhere below the workspace by their spelling. They are read by name
/// and put into the text, which keeps the way to each of them; so nothing that was read counts
/// before the kernel has walked the whole text without meeting a link.
[[nodiscard, gnu::noinline]] inline maybe_resolved resolve_through_links(const held_root& root,
                                                                         operation op,
                                                                         tail_text& tail) {
  int looks = 64;
  for (int followed = 0; followed < disk::most_links; ++followed) {
    if (!follow_a_link(root, tail, looks)) return std::nullopt;
    const int found = open_below(root.names(), root.fd(), tail.bytes(), {});
    if (found >= 0) {
      ::close(found);
      return judged_as_walked(root, op, tail);
    }
    if (found != -ELOOP) return std::nullopt;
  }
  return std::nullopt;
}

/// Whether links on the way may be followed. `refused` after the walk has followed some: they would
/// be counted anew.
enum class links : std::uint8_t { followed, refused };

[[nodiscard]] inline maybe_resolved read_straight(const held_root& root, operation op,
                                                  tail_text& tail, links allowed) {
  const int found = open_below(root.names(), root.fd(), tail.bytes(), {});
  if (found == -ELOOP && allowed == links::followed) return resolve_through_links(root, op, tail);
  if (found < 0) return std::nullopt;
  ::close(found);
  return judged_as_walked(root, op, tail);
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
    const descriptor parent{tail.with_beginning(slash, [&](const char* above) {
      return open_below(root.names(), root.fd(), above, {.flags = O_PATH | O_DIRECTORY});
    })};
    if (!parent.is_open() || !is_plain_leaf(op, parent.get(), leaf.data())) return std::nullopt;
  }
  return judged_as_walked(root, op, tail);
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
  tail_text tail{root.path(), root.path(), there};
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
    tail_text tail{root.path(), root.path(), place};
    return change_straight(root, op, tail);
  }
  return judged_by_name(root, op, *tail_below(root.path(), place));
}

/// The straight way. Nothing when the path needs the careful walk, which gives every refusal.
[[nodiscard]] inline maybe_resolved resolve_straight(const held_root& root, operation op,
                                                     std::string_view input, std::string_view start,
                                                     links allowed = links::followed) {
  if (root.error() || !root.is_judged_by_name()) return std::nullopt;
  tail_text tail{root.path(), start, input};
  if (tail.text().empty()) return std::nullopt;
  return disk::changes_something(op) ? change_straight(root, op, tail)
                                     : read_straight(root, op, tail, allowed);
}

}  // namespace pinfold::beneath
