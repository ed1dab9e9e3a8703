// The Linux resolver: openat2 below the held workspace where no link and no mount is crossed, the
// careful walk everywhere else. It answers where a path leads and opens nothing for the caller.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/carved.hpp>
#include <pinfold/disk/held_root.hpp>
#include <pinfold/disk/kernel.hpp>
#include <pinfold/disk/location.hpp>
#include <pinfold/disk/straight.hpp>
#include <pinfold/disk/walk.hpp>

namespace pinfold::beneath {

/// What `disk::entered_at` asks, answered from the identities met on the way.
class identity_facts {
 public:
  /// `ids` are those of the components below the base.
  identity_facts(const held_root& root, const carve_out& carve, std::span<const identity> ids)
      : root_{root}, carve_{carve}, ids_{ids} {
    guard_.push_back(root.id());
    for (std::size_t q = 1; q <= disk::names_of(carve.path).size(); ++q) {
      struct stat status {};
      const auto name = guard_name(q);
      // Through links: where the carve-out leads is the carve-out.
      const bool is_there = ::fstatat(root.fd(), name.c_str(), &status, 0) == 0;
      guard_.push_back(is_there ? identity_of(status) : identity{});
    }
  }

  [[nodiscard]] bool is_there(std::size_t i) const { return i <= ids_.size(); }
  [[nodiscard]] bool guard_is_there(std::size_t q) const { return guard_[q] != identity{}; }
  [[nodiscard]] bool is_same(std::size_t i, std::size_t q) const {
    return guard_is_there(q) && ids_[i - 1] == guard_[q];
  }
  [[nodiscard]] bool folds(std::size_t q) const {
    if (root_.spelling() == naming::folding) return true;
    const descriptor directory{
        ::openat(root_.fd(), guard_name(q).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return naming_of(directory.get(), disk::joined(root_.path(), guard_name(q))) == naming::folding;
  }

 private:
  [[nodiscard]] std::string guard_name(std::size_t q) const {
    return disk::first_names(".", carve_.path, q);
  }
  const held_root& root_;
  const carve_out& carve_;
  std::span<const identity> ids_;
  std::vector<identity> guard_;  // of the first q names of the carve-out; zero where absent
};

/// The carve-out that `place` lies in: by name, by where a carve-out that is a link leads (there or
/// not), or by identity. `on_the_way` are the identities of the place's components.
[[nodiscard]] inline std::optional<disk::carved> carved_at(const held_root& root,
                                                           const std::string& place,
                                                           std::span<const identity> on_the_way) {
  const auto& rules = root.rules();
  auto found = disk::carved_by_name(rules, place);
  const auto base = disk::base_of(rules, place);
  if (base.empty()) return found;
  const auto above = disk::names_of(base).size();
  const auto ids = on_the_way.subspan(std::min(above, on_the_way.size()));
  for (const auto& carve : rules.carve_outs()) {
    if (!root.is_judged_by_name()) {  // else no carve-out is a link
      walk to_it{root, operation::make_directory, root.path(), carve.path};
      const auto target = to_it.finish().end;
      if (!target.error && contains(target.place, place) && contains(base, target.place)) {
        disk::keep_stronger(found, carve, target.place);
      }
    }
    const identity_facts facts{root, carve, ids};
    if (auto entered = disk::entered_at(root.path(), base, place, carve, facts)) {
      disk::keep_stronger(found, carve, *entered);
    }
  }
  return found;
}

/// The first carve-out whose own way through links leads over `place` or through it. Where places are
/// judged by name no carve-out is reached by a link.
[[nodiscard]] inline const carve_out* carve_out_led_through(const held_root& root,
                                                            const std::string& place) {
  if (root.is_judged_by_name()) return nullptr;
  for (const auto& carve : root.rules().carve_outs()) {
    walk to_it{root, operation::make_directory, root.path(), carve.path};
    to_it.seen().watch(place);
    static_cast<void>(to_it.finish());
    if (to_it.seen().has_passed_watched()) return &carve;
  }
  return nullptr;
}

/// The end of a walk, judged. Where the straight way finds the place too, no mount and no link is
/// on the way and its spelling decides; else the identities do.
[[nodiscard]] inline std::expected<resolved, refusal> judge(const held_root& root,
                                                            const disk::question& asked,
                                                            walked found, const disk::trail& seen) {
  const auto& place = found.end.place;
  const auto existing = found.on_the_way.size();
  if (!found.end.error) {
    if (auto answer = confirm_straight(root, asked.op, place, existing)) return std::move(*answer);
  }
  const bool is_by_name = found.end.error && is_plain_way(root, asked.op, place, existing);
  disk::surroundings around{.inside = is_by_name ? disk::carved_by_name(root.rules(), place)
                                                 : carved_at(root, place, found.on_the_way)};
  if (disk::may_break_a_way(asked.op)) around.led_through = carve_out_led_through(root, place);
  return disk::judge(asked, std::move(found.end), seen, around);
}

/// Where `input` leads, or why it may not be used. `start` is the canonical directory in which a
/// relative `input` begins. The straight way answers most calls; the walk answers the others, and
/// gives every refusal. Behind a link that it followed the straight way is tried again.
[[nodiscard]] inline std::expected<resolved, refusal> resolve(const held_root& root, operation op,
                                                              std::string_view input,
                                                              std::string_view start) {
  if (auto answer = resolve_straight(root, op, input, start)) return std::move(*answer);
  const disk::question asked{root.rules(), op, input};
  if (auto wrong = misspelling_of(input)) return std::unexpected{disk::refused(asked, *wrong)};
  if (!is_canonical_form(start) || root.path().empty()) {
    return std::unexpected{disk::refused(asked, code::invalid_path)};
  }
  if (root.error()) return std::unexpected{disk::refused(asked, *root.error())};
  if (!root.is_in_place()) return std::unexpected{disk::refused(asked, code::workspace_gone)};
  walk way{root, op, start, input};
  while (way.followed_a_link()) {
    const auto names = components{way.rest()};
    if (names.empty()) continue;
    const auto rest = names.begin().rest();
    if (auto answer = resolve_straight(root, op, rest, way.place(), links::refused)) {
      return std::move(*answer);
    }
  }
  return judge(root, asked, way.finish(), way.seen());
}

}  // namespace pinfold::beneath
