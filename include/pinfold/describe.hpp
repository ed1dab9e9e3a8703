// The rule in words, for tool descriptions, and what is promised and what is not, as data. The one
// source of these sentences: a program prints them from here, and a test attacks each by its id.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>

#include <pinfold/caches.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/network.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/settings.hpp>

namespace pinfold {

/// What decides which sentences are true: the backend in force, what is shown of the machine,
/// whether the network is there, and whose caches are.
struct situation {
  backend_name backend{backend_name::none};
  root_profile root{root_profile::host};
  reach network{reach::network};
  cache_choice caches{cache_choice::shared};
};

/// When a sentence is true.
enum class holds_when : std::uint8_t {
  always,
  confined,          ///< any backend that confines
  under_bubblewrap,  ///< bubblewrap alone
  under_seatbelt,    ///< seatbelt alone
  unconfined,        ///< no boundary
  confined_offline,  ///< a backend that confines, without the network
  held_to_a_list,    ///< bubblewrap, and no more of the network than an egress list
  host_root,         ///< a backend that confines, and shows the machine's own tree
  network_is_there,  ///< all of it, or what is on a list
  caches_apart,   ///< bubblewrap, and no cache that another workspace uses
  caches_kept,    ///< bubblewrap, and caches that the next run finds
  caches_shared,  ///< a backend that confines, and caches that others use
};

/// One promise, or one thing that is not promised. `id` is stable: tests and programs refer to it.
struct claim {
  std::string_view id;
  holds_when when;
  std::string_view sentence;
};

inline constexpr std::array<claim, 14> promises{{
    {"paths-stay-inside", holds_when::always,
     "a file tool opens nothing outside the workspace and the roots added to it: not through "
     "\"..\", "
     "not through a link, not while another process swaps links"},
    {"state-closed-to-tools", holds_when::always,
     "a file tool neither reads nor writes the harness's own state, and does not write what the "
     "host "
     "runs later"},
    {"nothing-without-a-boundary", holds_when::confined,
     "when the sandbox cannot be made, nothing is run"},
    {"time-and-output-bounded", holds_when::always,
     "a run ends at its time limit, and its output is kept up to a bound and counted beyond it"},
    {"writes-stay-inside", holds_when::confined,
     "a command writes inside its workspace, its caches and the write roots, and nothing else that "
     "it writes lasts, but commits where they were allowed"},
    {"state-closed-to-commands", holds_when::confined,
     "a command does not reach the harness's own state, and cannot change, replace or rename what "
     "the host runs later"},
    {"hidden-places", holds_when::confined,
     "the homes, password hashes and the directories that hold sockets are closed to a command"},
    {"no-route-out", holds_when::confined_offline,
     "without the network a command reaches nothing beyond itself, the loopback of the host "
     "included"},
    {"list-alone", holds_when::held_to_a_list,
     "with an egress list a command connects to what is on it, through a proxy outside, and to "
     "nothing else"},
    {"caches-apart", holds_when::caches_apart,
     "a command neither reads nor writes what another workspace keeps in its cache"},
    {"no-privilege", holds_when::under_bubblewrap,
     "a command has no capability, gains none through set-id files and changes no setting of the "
     "kernel"},
    {"no-set-id-left", holds_when::under_bubblewrap,
     "a command gives no file a set-user-ID or set-group-ID bit"},
    {"nothing-inherited", holds_when::under_bubblewrap,
     "a command gets none of the caller's environment and descriptors but those that were named"},
    {"nothing-survives", holds_when::under_bubblewrap,
     "no process of a command is alive when its run has ended"},
}};

inline constexpr std::array<claim, 18> not_promised{{
    {"no-boundary", holds_when::unconfined,
     "without a sandbox a command can do whatever its user can: nothing here binds it but time and "
     "output"},
    {"macos-as-data", holds_when::under_seatbelt,
     "the plans of this backend are tested as data only, never on a macOS kernel"},
    {"wrecked-workspace", holds_when::always,
     "ordinary project files have no policy of their own: a command can wreck its own workspace"},
    {"machine-readable", holds_when::host_root,
     "with the root profile host a command reads much of the machine outside the hidden places"},
    {"kept-caches", holds_when::caches_kept,
     "what a command leaves in its workspace's cache, the next run in that workspace finds"},
    {"shared-caches", holds_when::caches_shared,
     "a shared cache is a way from one workspace to the next, and into what you build from it"},
    {"old-hard-links", holds_when::always,
     "a hard link that is in the workspace already shares its content with the other name"},
    {"open-network-leaks", holds_when::network_is_there,
     "with the network open, what a command can read can leave"},
    {"names-not-content", holds_when::network_is_there,
     "an egress list decides by host and port, not by what is sent there"},
    {"fronting", holds_when::network_is_there,
     "a server on an egress list that serves for others, or passes on what it gets, is as wide as "
     "they are"},
    {"gates-unconfined", holds_when::always,
     "code that the agent wrote runs unconfined when a gate runs it"},
    {"unasked-guard", holds_when::always,
     "a guard that is not asked stops nothing, and a label that is not reported is not known"},
    {"approved-calls", holds_when::always,
     "what a person approves is done: an approval is for one call, and nothing checks its wisdom"},
    {"host-renames", holds_when::under_bubblewrap,
     "a host program that renames over a carve-out during a run takes its cover away, for the moment "
     "until the run is ended for it"},
    {"limits-by-looking", holds_when::under_bubblewrap,
     "processor time, and where no cgroup is ours memory and (as root) the number of processes, are "
     "looked at 50 times a second: between two looks a command can pass its limit"},
    {"set-id-left-behind", holds_when::under_seatbelt,
     "run as root, a command can leave a file with a set-user-ID bit in its workspace"},
    {"limits-not-planned", holds_when::under_seatbelt,
     "processes and memory of a command are not limited before its time limit"},
    {"kernel-trusted", holds_when::always, "the kernel is trusted"},
}};

/// Whether a sentence is true in a situation. Of what is not known to hold, nothing is promised.
[[nodiscard]] constexpr bool is_true_in(const claim& said, const situation& now) noexcept {
  const bool is_confined = enforcement_of(now.backend) == enforcement::enforced;
  switch (said.when) {
    case holds_when::always:
      return true;
    case holds_when::confined:
      return is_confined;
    case holds_when::under_bubblewrap:
      return now.backend == backend_name::bubblewrap;
    case holds_when::under_seatbelt:
      return now.backend == backend_name::seatbelt;
    case holds_when::unconfined:
      return !is_confined;
    case holds_when::confined_offline:
      return is_confined && now.network == reach::offline;
    case holds_when::held_to_a_list:
      return now.backend == backend_name::bubblewrap && now.network != reach::network;
    case holds_when::host_root:
      return is_confined && now.root == root_profile::host;
    case holds_when::network_is_there:
      return !is_confined || now.network != reach::offline;
    case holds_when::caches_apart:
      return now.backend == backend_name::bubblewrap && now.caches != cache_choice::shared;
    case holds_when::caches_kept:
      return now.backend == backend_name::bubblewrap && now.caches == cache_choice::own;
    case holds_when::caches_shared:
      return is_confined && now.caches == cache_choice::shared;
  }
  return false;
}

/// The promises of a situation, in order, as a view of `promises`.
[[nodiscard]] constexpr auto promised_in(const situation& now) noexcept {
  return promises | std::views::filter([now](const claim& one) { return is_true_in(one, now); });
}

/// What is not promised there, in order, as a view of `not_promised`.
[[nodiscard]] constexpr auto not_promised_in(const situation& now) noexcept {
  return not_promised |
         std::views::filter([now](const claim& one) { return is_true_in(one, now); });
}

namespace detail {

/// Appends the quoted names of a list with commas and a last "and": what `name` gives for each
/// element that `wanted` takes. Returns how many.
template <class List, class Wanted>
constexpr std::size_t append_names(std::string& text, const List& list, Wanted wanted) {
  std::size_t left = 0;
  for (const auto& one : list) left += wanted(one) ? 1U : 0U;
  const auto count = left;
  for (const auto& one : list) {
    if (!wanted(one)) continue;
    append_quoted(text, one.path);
    --left;
    if (left > 0) text += left > 1 ? ", " : " and ";
  }
  return count;
}

/// Appends "NAMES SINGULAR" or "NAMES PLURAL", nothing when there are none.
template <class List, class Wanted>
constexpr void append_sentence(std::string& text, const List& list, Wanted wanted,
                               std::string_view singular, std::string_view plural) {
  std::string names;
  const auto count = append_names(names, list, wanted);
  if (count > 0) text.append(" ").append(names).append(count == 1 ? singular : plural);
}

}  // namespace detail

/// What a file tool's description says before the boundary is hit. Owns its text.
[[nodiscard]] constexpr std::string rule_for_file_tools(const grant& policy, mode present) {
  std::string text = "Reads and writes are bound to ";
  append_quoted(text, policy.workspace());
  text += "; relative paths start there. Links that lead out are refused.";
  const auto of_kind = [](carve_kind kind) {
    return [kind](const carve_out& one) { return one.kind == kind; };
  };
  const auto of_access = [](root_access access) {
    return [access](const extra_root& one) { return one.access == access; };
  };
  detail::append_sentence(text, policy.carve_outs(), of_kind(carve_kind::harness_state),
                          " belongs to the harness and is not available.",
                          " belong to the harness and are not available.");
  detail::append_sentence(text, policy.carve_outs(), of_kind(carve_kind::host_run),
                          " can be read but not changed, because the host runs or obeys it.",
                          " can be read but not changed, because the host runs or obeys them.");
  detail::append_sentence(text, policy.extra_roots(), of_access(root_access::read),
                          " can be read as well.", " can be read as well.");
  detail::append_sentence(text, policy.extra_roots(), of_access(root_access::write),
                          " can be read and written as well.", " can be read and written as well.");
  switch (present) {
    case mode::plan:
      return text + " Nothing may be written in this session.";
    case mode::ask:
      return text + " Anything else outside is asked about.";
    case mode::autonomous:
      return text + " Nobody can be asked: anything else needs a wider grant.";
  }
  return text;
}

/// What a shell tool's description says.
[[nodiscard]] constexpr std::string rule_for_commands(const grant& policy, mode present,
                                                      enforcement boundary) {
  if (boundary != enforcement::enforced) {
    const std::string start = "Commands run without a sandbox";
    if (present == mode::ask) return start + ", so each one needs a person's approval.";
    if (present == mode::plan) return start + ", so none is run while nothing may be written.";
    return start + ", so they run only where the harness said so.";
  }
  std::string text = "Commands run in a sandbox and need no approval. They ";
  text += present == mode::plan ? "write nothing in " : "write in ";
  append_quoted(text, policy.workspace());
  text += present == mode::plan ? " or anywhere else but their cache and scratch places."
                                : " and its write roots and nowhere else.";
  return text + " The homes and the harness's own state are closed to them.";
}

/// What a tool's description says about the network as it is decided now.
[[nodiscard]] constexpr std::string_view rule_for_network(decision now) noexcept {
  switch (now) {
    case decision::deny:
      return "The network is closed.";
    case decision::ask:
      return "The network is closed until a person approves the call.";
    case decision::allow:
      return "The network is open for this call.";
  }
  return "The network is closed.";
}

}  // namespace pinfold
