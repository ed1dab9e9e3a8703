// From a decision to the facts that a backend gets. The one place where a guard's answers become a
// confinement, so that no backend is ever asked for more than was allowed.
#pragma once

#include <algorithm>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/caches.hpp>
#include <pinfold/call.hpp>
#include <pinfold/guard.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

namespace detail {

constexpr void add_roots(confinement& facts, const guard& decided) {
  for (const auto& root : decided.policy().extra_roots()) {
    auto& shared = facts.shared.emplace_back();
    shared.source = shared.target = root.path;
    shared.access = decided.present() == mode::plan ? root_access::read : root_access::write;
    if (root.access == root_access::read) shared.access = root_access::read;
  }
}

/// Every carve-out of the grant: as the harness found it, the stricter kind of the two, or as a
/// directory where it did not say.
constexpr void add_carve_outs(confinement& facts, const guard& decided) {
  for (const auto& carve : decided.policy().carve_outs()) {
    std::string path{decided.policy().workspace()};
    if (!path.ends_with('/')) path += '/';
    path += carve.path;
    const auto known = std::ranges::find(facts.carve_outs, path, &carved_path::path);
    if (known != facts.carve_outs.end()) {
      if (carve.kind == carve_kind::harness_state) known->kind = carve.kind;
      continue;
    }
    auto& place = facts.carve_outs.emplace_back();
    place.path = std::move(path);
    place.kind = carve.kind;
  }
}

/// The network as it was decided. A list goes along; one without entries leaves nothing to reach.
constexpr void set_network(confinement& facts, const guard& decided) {
  const auto list = decided.egress();
  const bool is_open = decided.is_network_allowed() && !(list && list->empty());
  facts.network = is_open ? network_access::on : network_access::off;
  if (list) facts.egress.clear();
  if (!list || !is_open) return;
  for (const auto& entry : *list) facts.egress.push_back(entry.text());
}

}  // namespace detail

/// A cache as a command finds it, for `confinement::shared`. `source` and `target` are canonical.
///  1. the user's own, in mode plan -> for reading: it is data that others use
///  2. the user's own               -> as its list says
///  3. one that only this workspace uses -> for writing, in mode plan too: what reads a project has
///     a cache as well, and nobody but a later run in the same workspace sees what was left there
[[nodiscard]] constexpr shared_path shown_cache(const guard& decided, std::string_view source,
                                                std::string_view target, cache_owner owner,
                                                root_access listed) {
  shared_path shown;
  shown.source = source;
  shown.target = target;
  shown.access = root_access::write;
  if (owner == cache_owner::user && decided.present() == mode::plan) listed = root_access::read;
  if (owner == cache_owner::user) shown.access = listed;
  return shown;
}

/// What a backend has to hold one command to. `asked` is the call as the guard is to judge it: its
/// command text is for words only, its directory is where the command starts. `known` is what the
/// harness knows beforehand: argv, environment, hidden places, what lies where a carve-out is; what
/// the guard decides is set over it. Error: the guard's refusal, when it does not plainly allow.
///
/// Under a boundary:
///  1. the workspace is writable but in mode plan
///  2. the network is there only when the decision of this moment is a plain yes, and an egress
///     list goes along with it
///  3. roots are shown, in mode plan for reading
///  4. every carve-out of the grant is in it; whoever runs the plan sees to it that each is there
/// Without one, the facts ask for nothing but what the network decision says: a backend that
/// confines nothing refuses to run a command whose network is closed.
[[nodiscard]] constexpr std::expected<confinement, refusal> confine(const guard& decided,
                                                                    const call& asked,
                                                                    const confinement& known) {
  const auto answer = decided.check(asked);
  if (asked.op() != operation::execute || answer != verdict::allow) {
    auto refused = answer.to_refusal();
    if (answer == verdict::allow) refused.error = code::invalid_argument;
    return std::unexpected{std::move(refused)};
  }
  confinement facts = known;  // g++ 12 cannot take it by value in a constant expression
  const auto directory = asked.place().as_the_call_says();
  facts.workspace = decided.policy().workspace();
  facts.directory = directory.empty() ? decided.policy().workspace() : directory;
  detail::set_network(facts, decided);
  if (decided.boundary() != enforcement::enforced) return facts;
  facts.access =
      decided.present() == mode::plan ? workspace_access::read_only : workspace_access::read_write;
  detail::add_roots(facts, decided);
  detail::add_carve_outs(facts, decided);
  return facts;
}

}  // namespace pinfold
