// What a call may touch: one workspace, less its carve-outs, plus the roots that the harness added.
// A grant is made by the harness alone; nothing that a model says may ever reach its constructor.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <pinfold/path.hpp>

namespace pinfold {

/// Why a path below the workspace is taken out of the grant.
enum class carve_kind : std::uint8_t {
  harness_state,  ///< the harness's own data: out of reach for reading and writing alike
  host_run,       ///< a file that a host program runs or obeys later: readable, never writable
};

/// One carve-out: a path relative to the workspace, in normal form ("a/b"), and its kind. It covers
/// the path itself and all below it. The text belongs to the caller.
struct carve_out {
  std::string_view path;
  carve_kind kind;
};

/// What git on the host runs or obeys: its hooks and its config, the attributes that name filters
/// (info/attributes), and the files that say where another part of the repository lies (commondir,
/// worktrees/*/commondir), which would bring another config (gitrepository-layout(5)).
inline constexpr std::array<carve_out, 7> default_carve_outs{{
    {".efferent", carve_kind::harness_state},
    {".foundry", carve_kind::harness_state},
    {".git/hooks", carve_kind::host_run},
    {".git/config", carve_kind::host_run},
    {".git/info", carve_kind::host_run},
    {".git/worktrees", carve_kind::host_run},
    {".git/commondir", carve_kind::host_run},
}};

namespace detail {

// By hand, here and below: the algorithms of std::ranges cost whoever includes the guard a tenth of a
// second for each compilation.
[[nodiscard]] constexpr bool are_normal_tails(std::span<const carve_out> carve_outs) noexcept {
  for (const auto& carve : carve_outs) {
    if (!is_normal_tail(carve.path)) return false;
  }
  return true;
}

}  // namespace detail

static_assert(detail::are_normal_tails(default_carve_outs));

enum class root_access : std::uint8_t { read, write };

/// A directory outside the workspace that the harness chose to add; canonical and absolute.
struct extra_root {
  std::string_view path;
  root_access access;
};

/// Where a canonical path lies.
enum class region : std::uint8_t { workspace, harness_state, host_run, extra_root, outside };

[[nodiscard]] constexpr std::string_view name_of(region value) noexcept {
  switch (value) {
    case region::workspace:
      return "workspace";
    case region::harness_state:
      return "harness_state";
    case region::host_run:
      return "host_run";
    case region::extra_root:
      return "extra_root";
    case region::outside:
      return "outside";
  }
  return "outside";
}

/// The grant. Holds views only: the workspace's text and both lists must outlive it. Copying is
/// cheap; building one for every call is the intended use.
class grant {
 public:
  /// `workspace` must be in canonical form, each carve-out a relative path in normal form, each
  /// extra root in canonical form. In a constant expression anything else does not compile; at run
  /// time the grant then covers nothing: every path is `outside`.
  constexpr explicit grant(std::string_view workspace,
                           std::span<const carve_out> carve_outs = default_carve_outs,
                           std::span<const extra_root> extra_roots = {}) noexcept
      : workspace_{workspace}, carve_outs_{carve_outs}, extra_roots_{extra_roots} {
    if (!is_well_formed(workspace, carve_outs, extra_roots)) cover_nothing();
  }

  /// A grant keeps views: a string that is gone at the end of the line cannot be its workspace.
  template <std::same_as<std::string> Gone>
  explicit grant(Gone&&, std::span<const carve_out> = {},
                 std::span<const extra_root> = {}) = delete;

  [[nodiscard]] constexpr std::string_view workspace() const noexcept { return workspace_; }
  [[nodiscard]] constexpr std::span<const carve_out> carve_outs() const noexcept {
    return carve_outs_;
  }
  [[nodiscard]] constexpr std::span<const extra_root> extra_roots() const noexcept {
    return extra_roots_;
  }

  /// The region of a canonical path. Its form is checked here; that its links are resolved is the
  /// caller's promise. Decided in this order; the last line denies:
  ///  1. not absolute or not in normal form            -> outside
  ///  2. at or below a carve-out of kind harness state -> harness_state
  ///  3. at or below a carve-out of kind host-run      -> host_run
  ///  4. at or below the workspace                     -> workspace
  ///  5. at or below an extra root                     -> extra_root
  ///  6. anything else                                 -> outside
  [[nodiscard]] constexpr region region_of(std::string_view canonical) const noexcept {
    return is_canonical_form(canonical) ? region_of_unchecked(canonical) : region::outside;
  }

  /// The same for a path whose form was checked already (`is_canonical_form`): steps 2 to 6.
  [[nodiscard]] constexpr region region_of_unchecked(std::string_view canonical) const noexcept {
    if (auto tail = tail_below(workspace_, canonical)) return region_of_tail(*tail);
    return root_of(canonical) ? region::extra_root : region::outside;
  }

  /// The region of a path that lies `tail` below the workspace (no leading slash, "" for the
  /// workspace itself): steps 2 to 4 of `region_of`.
  [[nodiscard]] constexpr region region_of_tail(std::string_view tail) const noexcept {
    const auto* carve = carve_out_at(tail);
    if (carve == nullptr) return region::workspace;
    return carve->kind == carve_kind::harness_state ? region::harness_state : region::host_run;
  }

  /// The extra root that decides about a canonical path: the innermost one that holds it, and of
  /// two for the same place the one for reading. Nothing when none holds it.
  [[nodiscard]] constexpr std::optional<extra_root> root_of(
      std::string_view canonical) const noexcept {
    std::optional<extra_root> found;
    for (const auto& root : extra_roots_) {
      if (!contains(root.path, canonical)) continue;
      if (found && found->path.size() > root.path.size()) continue;
      if (found && found->path == root.path && root.access == root_access::write) continue;
      found = root;
    }
    return found;
  }

  [[nodiscard]] constexpr bool is_readable(std::string_view canonical) const noexcept {
    const auto where = region_of(canonical);
    return where != region::outside && where != region::harness_state;
  }

  [[nodiscard]] constexpr bool is_writable(std::string_view canonical) const noexcept {
    const auto where = region_of(canonical);
    if (where == region::workspace) return true;
    return where == region::extra_root && root_of(canonical)->access == root_access::write;
  }

  /// The carve-out at or above a path that lies `tail` below the workspace, harness state first;
  /// null when none.
  [[nodiscard]] constexpr const carve_out* carve_out_at(std::string_view tail) const noexcept {
    const carve_out* found = nullptr;
    for (const auto& carve : carve_outs_) {
      if (!covers(carve.path, tail)) continue;
      if (carve.kind == carve_kind::harness_state) return &carve;
      if (found == nullptr) found = &carve;
    }
    return found;
  }

  /// A carve-out strictly below a path that lies `tail` below the workspace ("" for the workspace
  /// itself), harness state first; null when none.
  [[nodiscard]] constexpr const carve_out* carve_out_below(std::string_view tail) const noexcept {
    const carve_out* found = nullptr;
    for (const auto& carve : carve_outs_) {
      if (carve.path == tail || !covers(tail, carve.path)) continue;
      if (carve.kind == carve_kind::harness_state) return &carve;
      if (found == nullptr) found = &carve;
    }
    return found;
  }

  /// An extra root for reading strictly below a canonical path; null when none.
  [[nodiscard]] constexpr const extra_root* read_root_below(
      std::string_view canonical) const noexcept {
    for (const auto& root : extra_roots_) {
      if (root.access != root_access::read || root.path == canonical) continue;
      if (contains(canonical, root.path)) return &root;
    }
    return nullptr;
  }

  /// True for the workspace itself and for the extra root that decides about the path.
  [[nodiscard]] constexpr bool is_a_root(std::string_view canonical) const noexcept {
    if (const auto tail = tail_below(workspace_, canonical)) return tail->empty();
    const auto root = root_of(canonical);
    return root && root->path == canonical;
  }

  /// A carve-out strictly below a canonical path; null when none, and for a path outside.
  [[nodiscard]] constexpr const carve_out* carve_out_inside(
      std::string_view canonical) const noexcept {
    const auto tail = tail_below(workspace_, canonical);
    return tail ? carve_out_below(*tail) : nullptr;
  }

  /// True when a carve-out, or the workspace itself, lies strictly below the canonical path:
  /// removing or renaming that path, or putting something else in its place, would take it along.
  [[nodiscard]] constexpr bool has_carve_out_below(std::string_view canonical) const noexcept {
    const bool is_inside = contains(workspace_, canonical);
    return is_inside ? carve_out_inside(canonical) != nullptr : contains(canonical, workspace_);
  }

 private:
  /// True when the relative path `outer` is `inner` or an ancestor of it; "" is above everything.
  [[nodiscard]] static constexpr bool covers(std::string_view outer,
                                             std::string_view inner) noexcept {
    if (outer.empty()) return true;
    if (inner.size() < outer.size() || inner.front() != outer.front()) return false;  // most are not
    if (!inner.starts_with(outer)) return false;
    return inner.size() == outer.size() || inner[outer.size()] == '/';
  }

  /// The default list is known to be in normal form, and a grant is built for every call.
  [[nodiscard]] static constexpr bool are_normal(std::span<const carve_out> carve_outs) noexcept {
    return carve_outs.data() == default_carve_outs.data() || detail::are_normal_tails(carve_outs);
  }

  [[nodiscard]] static constexpr bool is_well_formed(std::string_view workspace,
                                                     std::span<const carve_out> carve_outs,
                                                     std::span<const extra_root> roots) noexcept {
    if (!is_canonical_form(workspace) || !are_normal(carve_outs)) return false;
    for (const auto& root : roots) {
      if (!is_canonical_form(root.path)) return false;
    }
    return true;
  }

  /// Not constexpr on purpose: reached in a constant expression, it stops the compilation.
  void cover_nothing() noexcept {
    workspace_ = {};
    carve_outs_ = {};
    extra_roots_ = {};
  }

  std::string_view workspace_;
  std::span<const carve_out> carve_outs_;
  std::span<const extra_root> extra_roots_;
};

}  // namespace pinfold
