// What a resolver answers, and the one place where the end of a walk becomes a verdict.
// Both resolvers end here, so both speak the same refusals; nothing here may ask the disk.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/error.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/path.hpp>
#include <pinfold/refusal.hpp>

namespace pinfold {

/// Where a path leads. `canonical` is absolute, without links, "." or ".."; `where` is never
/// `outside` or `harness_state`.
struct resolved {
  std::string canonical;
  region where{region::workspace};

  friend bool operator==(const resolved&, const resolved&) = default;
};

namespace disk {

/// The kernel's limit for one walk (path_resolution(7)).
inline constexpr int most_links = 40;

/// A write or mkdir may name something that is not there yet, and so may a rename, which is asked
/// for both of its ends; everything else must exist.
[[nodiscard]] constexpr bool may_be_missing(operation op) noexcept {
  return op == operation::write || op == operation::make_directory || op == operation::rename;
}

/// Remove and rename act on the name itself, so a link in the last place is not followed.
[[nodiscard]] constexpr bool acts_on_the_name(operation op) noexcept {
  return op == operation::remove || op == operation::rename;
}

[[nodiscard]] constexpr bool changes_something(operation op) noexcept {
  return may_be_missing(op) || acts_on_the_name(op);
}

/// A name that is removed, renamed or made a file may break the way to what lies behind it.
[[nodiscard]] constexpr bool may_break_a_way(operation op) noexcept {
  return acts_on_the_name(op) || op == operation::write;
}

/// A carve-out that a place lies in: which one, and the canonical path at which it is entered (not
/// its spelled path where a mount or a folding file system shows it under another name).
struct carved {
  carve_out carve;
  std::string entered_at;
};

/// `directory` and `name` joined; both canonical.
[[nodiscard]] inline std::string joined(std::string_view directory, std::string_view name) {
  if (directory == "/") directory = {};
  std::string all;
  all.reserve(directory.size() + 1 + name.size());
  all += directory;
  all += '/';
  all += name;
  return all;
}

/// True when the relative path `inner` is `outer` or lies below it; both in normal form.
[[nodiscard]] constexpr bool is_at_or_below(std::string_view outer,
                                            std::string_view inner) noexcept {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

/// The carve-out of `rules` that a canonical path lies in by its spelling; harness state first.
[[nodiscard]] inline std::optional<carved> carved_by_name(const grant& rules,
                                                          std::string_view canonical) {
  const auto tail = tail_below(rules.workspace(), canonical);
  if (!tail) return std::nullopt;
  const carve_out* found = nullptr;
  for (const auto& carve : rules.carve_outs()) {
    if (!is_at_or_below(carve.path, *tail)) continue;
    if (found == nullptr || carve.kind == carve_kind::harness_state) found = &carve;
  }
  if (found == nullptr) return std::nullopt;
  return carved{*found, joined(rules.workspace(), found->path)};
}

/// Which places a walk has seen outside of everything granted. Remembers the first one since the
/// walk was last inside: the furthest that a refusal may name. It is kept while the walk passes the
/// workspace's ancestors, so that a refusal does not tell whether what came before was there.
class trail {
 public:
  explicit trail(const grant& rules) noexcept : rules_{&rules} {}

  /// From now on it is remembered whether the walk looks at this place or at anything below it.
  void watch(std::string_view place) { watched_ = place; }
  [[nodiscard]] bool has_passed_watched() const noexcept { return has_passed_watched_; }

  /// The walk looks at `place` (canonical but for links not yet followed).
  void look_at(std::string_view place) {
    if (!watched_.empty() && contains(watched_, place)) has_passed_watched_ = true;
    if (rules_->region_of_unchecked(place) != region::outside) return left_at_.clear();
    if (left_at_.empty() && !contains(place, rules_->workspace())) left_at_ = place;
  }

  /// How far a refusal may tell about `place`, which is outside.
  [[nodiscard]] const std::string& reported(const std::string& place) const noexcept {
    return left_at_.empty() ? place : left_at_;
  }

 private:
  const grant* rules_;
  std::string left_at_;
  std::string_view watched_;
  bool has_passed_watched_{false};
};

/// The end of a walk: the place reached, or the place at which `error` was met.
struct walk_end {
  std::string place;
  std::optional<code> error;
};

/// One question to a resolver.
struct question {
  const grant& rules;
  operation op;
  std::string_view input;
};

[[nodiscard]] inline refusal refused(const question& asked, code why, std::string resolved = {},
                                     std::string boundary = {}) {
  return {why, asked.op, std::string{asked.input}, std::move(resolved), std::move(boundary), {}};
}

/// Which carve-out lies strictly below the place `tail` under the workspace, if any: what a rename
/// or removal of the place would take along.
[[nodiscard]] inline const carve_out* carve_out_below_tail(const grant& rules,
                                                           std::string_view tail) noexcept {
  for (const auto& carve : rules.carve_outs()) {
    if (tail.empty() || (carve.path != tail && is_at_or_below(tail, carve.path))) return &carve;
  }
  return nullptr;
}

/// True when `place` is the workspace or the extra root it lies in, or holds the workspace.
[[nodiscard]] inline bool holds_a_root(const grant& rules, std::string_view place) noexcept {
  if (contains(place, rules.workspace())) return true;
  if (contains(rules.workspace(), place)) return false;
  const auto root = rules.root_of(place);
  return root && root->path == place;
}

[[nodiscard]] constexpr code code_of(carve_kind kind) noexcept {
  return kind == carve_kind::harness_state ? code::harness_state : code::host_run_file;
}

/// Why something may be read at a place but not changed there, and the boundary that says so.
struct standing_refusal {
  code why;
  std::string boundary;
};

/// What a place has to do with carve-outs: the one it lies in, and one whose own way through links
/// leads over the place or through it (looked for only where an operation `may_break_a_way`).
struct surroundings {
  std::optional<carved> inside{};
  const carve_out* led_through{nullptr};
};

/// What forbids the change `op` at `place`, which is in the grant. Decided in this order:
///  1. a host-run file                                             -> HostRunFile
///  2. a read-only root                                            -> ReadOnlyRoot
///  3. a directory made, if it is not there yet                    -> nothing forbids it
///  4. removal or rename of a whole root, or of what holds one     -> PermissionDenied
///  5. removal or rename that would take a carve-out along, or a link by which one is reached, and a
///     write of a file where a carve-out needs a directory         -> that carve-out's code
///  6. removal or rename that would take a read-only root along    -> ReadOnlyRoot
/// (5: a repository whose ".git" is a file obeys what the file names. A write to the workspace
/// itself, or to what holds it, meets a directory, so nothing is lost by letting the open say so.)
[[nodiscard]] inline std::optional<standing_refusal> what_forbids_change(
    const grant& rules, operation op, std::string_view place, const surroundings& around) {
  const auto refuse = [&](code why, std::string boundary) {
    return standing_refusal{why, std::move(boundary)};
  };
  if (around.inside) {
    return refuse(code::host_run_file, joined(rules.workspace(), around.inside->carve.path));
  }
  const auto tail = tail_below(rules.workspace(), place);
  const auto root = tail ? std::nullopt : rules.root_of(place);
  if (root && root->access != root_access::write) {
    return refuse(code::read_only_root, std::string{root->path});
  }
  if (op == operation::make_directory) return std::nullopt;
  if (acts_on_the_name(op) && holds_a_root(rules, place)) {
    return refuse(code::permission_denied, std::string{place});
  }
  if (contains(place, rules.workspace())) return std::nullopt;
  const auto* carve = tail ? carve_out_below_tail(rules, *tail) : nullptr;
  if (carve == nullptr) carve = around.led_through;
  if (carve != nullptr) return refuse(code_of(carve->kind), joined(rules.workspace(), carve->path));
  const auto* kept = tail || !acts_on_the_name(op) ? nullptr : rules.read_root_below(place);
  if (kept != nullptr) return refuse(code::read_only_root, std::string{kept->path});
  return std::nullopt;
}

/// The verdict. `around` are the carve-outs to do with the place, by name or by identity.
/// Decided in this order; the last line denies:
///  1. a magic link was met                         -> MagicLink, wherever it was
///  2. the process ran out of something, or the tree kept changing -> that: no fact about the place
///  3. the place is in harness state, error or not  -> HarnessState
///  4. the place is outside, error or not           -> OutsideWorkspace, told up to where it left
///  5. an error was met inside                      -> that error
///  6. a change that is forbidden there             -> what forbids it
///  7. workspace, host-run file or extra root       -> resolved
///  8. anything else                                -> OutsideWorkspace
[[nodiscard]] inline std::expected<resolved, refusal> judge(const question& asked, walk_end end,
                                                            const trail& seen,
                                                            const surroundings& around) {
  const auto& rules = asked.rules;
  const auto& inside = around.inside;
  const auto no = [&](code why, std::string place, std::string boundary = {}) {
    return std::unexpected{refused(asked, why, std::move(place), std::move(boundary))};
  };
  const auto where = rules.region_of_unchecked(end.place);
  if (end.error == code::magic_link) {
    return no(code::magic_link, where == region::outside ? seen.reported(end.place) : end.place);
  }
  if (end.error == code::resource_exhausted || end.error == code::try_again ||
      end.error == code::workspace_gone) {
    return no(*end.error, std::string{rules.workspace()});
  }
  if (inside && inside->carve.kind == carve_kind::harness_state) {
    return no(code::harness_state, inside->entered_at,
              joined(rules.workspace(), inside->carve.path));
  }
  if (where == region::outside) {
    return no(code::outside_workspace, seen.reported(end.place), std::string{rules.workspace()});
  }
  if (end.error) return no(*end.error, std::move(end.place));
  if (changes_something(asked.op)) {
    if (auto forbids = what_forbids_change(rules, asked.op, end.place, around)) {
      return no(forbids->why, std::move(end.place), std::move(forbids->boundary));
    }
  }
  if (inside) return resolved{std::move(end.place), region::host_run};
  if (where == region::workspace || where == region::extra_root) {
    return resolved{std::move(end.place), where};
  }
  return no(code::outside_workspace, seen.reported(end.place), std::string{rules.workspace()});
}

}  // namespace disk
}  // namespace pinfold
