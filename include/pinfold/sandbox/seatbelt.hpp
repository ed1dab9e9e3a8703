// The macOS dialect: a confinement as a profile for sandbox-exec, in the argument vector and never
// in a file. Pure: it reads no disk and starts nothing. What the dialect cannot say is an error.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/path.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold {

/// Device files that a shell has to write to in order to be a shell.
inline constexpr std::array<std::string_view, 6> seatbelt_devices{
    "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/urandom", "/dev/tty", "/dev/dtracehelper"};

/// Directories that are links on macOS (/tmp is /private/tmp; per-user temporary folders lie below
/// /private/var/folders). The kernel matches the real path, so a rule for one of these would
/// confine a directory that nobody uses.
inline constexpr std::array<std::string_view, 3> seatbelt_links{"/tmp", "/var", "/etc"};

namespace detail {

/// Collects the rules of a profile. Of two rules that fit, the later one wins, so the order of the
/// calls in `profile_of` is the boundary.
class profile_text {
 public:
  enum class filter : std::uint8_t { literal, subpath };

  constexpr void rule(std::string_view words) { text_.append("(").append(words).append(")\n"); }
  constexpr void rule(std::string_view words, filter kind, std::string_view path) {
    text_.append("(").append(words).append(" ");
    append_filter(kind, path);
    text_.append(")\n");
  }
  constexpr void socket_rule(std::string_view words, std::string_view path) {
    text_.append("(").append(words).append(" (remote unix-socket ");
    append_filter(filter::subpath, path);
    text_.append("))\n");
  }
  constexpr std::string take() && { return std::move(text_); }

 private:
  constexpr void append_filter(filter kind, std::string_view path) {
    text_.append(kind == filter::literal ? "(literal " : "(subpath ");
    append_string(path);
    text_.append(")");
  }
  /// The one place where a path is quoted. A string of the dialect ends at a double quote, and a
  /// backslash takes the next byte as it is; every other byte, a line break too, stands for itself.
  constexpr void append_string(std::string_view path) {
    text_ += '"';
    for (char c : path) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
  }

  std::string text_;
};

/// A place that is shown: the workspace or a shared path.
struct shown_place {
  std::string_view path;
  root_access access;
};

/// Everything shown, what lies further in after what holds it; of two entries for one place the one
/// for reading comes last.
constexpr std::vector<shown_place> shown_places(const confinement& facts) {
  std::vector<shown_place> shown;
  for (const auto& one : facts.shared) shown.push_back({one.target, one.access});
  const bool is_writable = facts.access == workspace_access::read_write;
  shown.push_back({facts.workspace, is_writable ? root_access::write : root_access::read});
  std::ranges::sort(shown, [](const shown_place& a, const shown_place& b) {
    if (a.path != b.path) return a.path < b.path;
    return a.access == root_access::write && b.access == root_access::read;
  });
  return shown;
}

/// Renaming or removing one of these would take a carve-out, or the boundary itself, along: what is
/// shown, what is pinned, and every directory between the workspace and a carve-out.
constexpr std::vector<std::string_view> kept_names(const confinement& facts) {
  std::vector<std::string_view> kept;
  for (const auto& place : shown_places(facts)) kept.push_back(place.path);
  for (const auto& path : facts.pinned) kept.emplace_back(path);
  for (const auto& carve : facts.carve_outs) {
    for (auto above = parent_of(carve.path); above.size() > facts.workspace.size();
         above = parent_of(above)) {
      kept.push_back(above);
    }
  }
  std::ranges::sort(kept);
  const auto [first, last] = std::ranges::unique(kept);
  kept.erase(first, last);
  return kept;
}

/// The directories above what is shown that a hidden place covers: a program that asks where it is
/// has to see that they are there, and no more.
constexpr std::vector<std::string_view> covered_ways(const confinement& facts) {
  std::vector<std::string_view> ways;
  for (const auto& place : shown_places(facts)) {
    for (auto above = parent_of(place.path); above.size() > 1; above = parent_of(above)) {
      const bool is_covered = std::ranges::any_of(
          facts.hidden, [above](const auto& hidden) { return contains(hidden.path, above); });
      if (is_covered) ways.push_back(above);
    }
  }
  std::ranges::sort(ways);
  const auto [first, last] = std::ranges::unique(ways);
  ways.erase(first, last);
  return ways;
}

/// A path that names the place the kernel will see: canonical, and below no link of macOS's own.
constexpr bool is_canonical_on_macos(std::string_view path) {
  return is_canonical_form(path) &&
         std::ranges::none_of(seatbelt_links, [path](auto link) { return contains(link, path); });
}

/// True for a path strictly below the workspace.
constexpr bool is_inside(const confinement& facts, std::string_view path) {
  return is_canonical_on_macos(path) && path != facts.workspace && contains(facts.workspace, path);
}

/// The first fact that this dialect cannot say, or nothing:
///  1. a host name: a rule filters by address and port, and a profile that names a host is none
///  2. the minimal root, a place shown elsewhere or in place of another, an empty scratch place: there are no mounts
///  3. a path that is not the one the kernel sees
///  4. a carve-out or pinned directory that is not below the workspace, or is a link
constexpr std::string fact_beyond_seatbelt(const confinement& facts) {
  if (facts.command.empty()) return "an empty command";
  if (!facts.egress.empty()) return "egress to " + facts.egress.front();
  if (!facts.replaced.empty() || !facts.covered.empty()) return "replaced paths";
  if (facts.root == root_profile::minimal) return "root minimal";
  if (!facts.visible.empty()) return "visible path " + facts.visible.front().path;
  if (!is_canonical_on_macos(facts.workspace)) return "workspace " + facts.workspace;
  if (!is_canonical_on_macos(facts.directory)) return "directory " + facts.directory;
  for (const auto& one : facts.shared) {
    if (one.purpose == shared_path::use::socket) return "socket " + one.target;
    if (one.source != one.target) return "shared path " + one.source + " at " + one.target;
    if (!is_canonical_on_macos(one.target)) return "shared path " + one.target;
  }
  for (const auto& one : facts.hidden) {
    if (one.contents == hidden_path::use::scratch) return "scratch place " + one.path;
    if (!is_canonical_on_macos(one.path)) return "hidden place " + one.path;
  }
  for (const auto& path : facts.hidden_files) {
    if (!is_canonical_on_macos(path)) return "hidden file " + path;
  }
  for (const auto& one : facts.carve_outs) {
    if (!is_inside(facts, one.path) || one.type == file_kind::link) return "carve-out " + one.path;
  }
  for (const auto& path : facts.pinned) {
    if (!is_inside(facts, path)) return "pinned directory " + path;
  }
  return {};
}

/// The hidden place that something shown would uncover, or nothing.
constexpr std::string_view place_uncovered_by_seatbelt(const confinement& facts) {
  for (const auto& shown : shown_places(facts)) {
    for (const auto& hidden : facts.hidden) {
      if (contains(shown.path, hidden.path)) return hidden.path;
    }
    for (const auto& path : facts.hidden_files) {
      if (contains(shown.path, path)) return path;
    }
  }
  return {};
}

}  // namespace detail

/// Its plans are tested as data only: the rules and their order, not what a macOS kernel makes of
/// them. Facts about the dialect are those of the sandbox-exec manual page and of profiles in use.
struct seatbelt {
  std::string program{"/usr/bin/sandbox-exec"};

  /// The plan for these facts. Errors: `not_enforceable`, naming the fact; `workspace_too_broad`
  /// when the workspace or a shared path would uncover a hidden place.
  [[nodiscard]] constexpr std::expected<launch_plan, refusal> wrap(const confinement& facts) const {
    if (const auto fact = detail::fact_beyond_seatbelt(facts); !fact.empty()) {
      return std::unexpected{not_enforceable(fact, backend_name::seatbelt)};
    }
    if (const auto place = detail::place_uncovered_by_seatbelt(facts); !place.empty()) {
      refusal broad = not_enforceable(facts.workspace, backend_name::seatbelt);
      broad.error = code::workspace_too_broad;
      broad.boundary = place;
      broad.detail = "what is shown would uncover a hidden place";
      return std::unexpected{std::move(broad)};
    }
    launch_plan plan;
    plan.backend = backend_name::seatbelt;
    plan.program = program;
    plan.options = {"-p", profile_of(facts), "--"};
    plan.command = facts.command;
    plan.environment = facts.environment;
    plan.directory = facts.directory;
    plan.workspace = facts.workspace;
    plan.network = facts.network;
    return plan;
  }

 private:
  /// The rules, in order; later ones win:
  ///  1. everything is allowed but writing; then the devices of a shell
  ///  2. the network, or with the network on the sockets in hidden places
  ///  3. hidden places cannot be read
  ///  4. what is shown can be read again, and written where that was granted
  ///  5. what holds a carve-out keeps its name
  ///  6. carve-outs cannot be written; the hidden ones cannot be read
  [[nodiscard]] static constexpr std::string profile_of(const confinement& facts) {
    using enum detail::profile_text::filter;
    detail::profile_text rules;
    rules.rule("version 1");
    rules.rule("allow default");
    rules.rule("deny file-write*");
    for (auto device : seatbelt_devices) rules.rule("allow file-write*", literal, device);
    if (facts.network == network_access::off) rules.rule("deny network*");
    for (const auto& hidden : facts.hidden) {
      rules.socket_rule("deny network-outbound", hidden.path);
      rules.rule("deny file-read*", subpath, hidden.path);
    }
    for (const auto& path : facts.hidden_files) rules.rule("deny file-read*", literal, path);
    for (auto way : detail::covered_ways(facts)) {
      rules.rule("allow file-read-metadata", literal, way);
    }
    for (const auto& place : detail::shown_places(facts)) {
      rules.rule("allow file-read*", subpath, place.path);
      rules.rule(place.access == root_access::write ? "allow file-write*" : "deny file-write*",
                 subpath, place.path);
    }
    for (auto name : detail::kept_names(facts)) rules.rule("deny file-write-unlink", literal, name);
    for (const auto& carve : facts.carve_outs) {
      const bool is_hidden =
          carve.kind == carve_kind::harness_state && carve.shell == carved_path::shown::hidden;
      rules.rule("deny file-write*", subpath, carve.path);
      if (is_hidden) rules.rule("deny file-read*", subpath, carve.path);
    }
    return std::move(rules).take();
  }
};

}  // namespace pinfold
