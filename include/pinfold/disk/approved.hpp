// What a person approved, done: one operation on the one place outside that was asked about.
// The place is found anew and compared with the approved one; then the operation runs under the
// workspace's grant, wider by that place and nothing else, so every check of an ordinary operation
// holds for it as well.
#pragma once

#include <algorithm>
#include <expected>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/call.hpp>
#include <pinfold/disk/act.hpp>
#include <pinfold/disk/beneath.hpp>
#include <pinfold/disk/owned_root.hpp>
#include <pinfold/one_call.hpp>
#include <pinfold/path.hpp>

namespace pinfold::beneath {

/// The place that `input` names, wherever it is. Harness state and host-run files are refused as
/// ever, magic links too. It tells what is there outside, so it is for the harness alone.
[[nodiscard]] inline std::expected<std::string, refusal> place_anywhere(const owned_root& own,
                                                                        operation op,
                                                                        std::string_view input) {
  const auto below_root = [&](const carve_out& carve) {
    return own.path() == "/" ? std::string{carve.path} : own.path().substr(1) + '/' +
                                                             std::string{carve.path};
  };
  std::vector<std::string> texts;
  std::vector<carve_out> carves;
  std::ranges::transform(own.rules().carve_outs(), std::back_inserter(texts), below_root);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    carves.push_back({texts[i], own.rules().carve_outs()[i].kind});
  }
  const owned_root everything{"/", carves, {}, own.held().names()};
  auto found = resolve(everything.held(), op, input, own.path());
  if (!found) return std::unexpected{std::move(found.error())};
  return std::move(found->canonical);
}

/// The directory that holds a canonical path.
[[nodiscard]] inline std::string_view directory_of(std::string_view canonical) noexcept {
  const auto slash = canonical.rfind('/');
  return slash == 0 ? canonical.substr(0, 1) : canonical.substr(0, slash);
}

/// What the grant is widened by for one operation: the place itself where its content is meant, the
/// directory that holds it where its name is.
[[nodiscard]] inline extra_root root_for(operation op, std::string_view place) noexcept {
  const bool is_name = disk::acts_on_the_name(op) || op == operation::make_directory;
  return {is_name ? directory_of(place) : place,
          disk::changes_something(op) ? root_access::write : root_access::read};
}

/// Runs `act` on a root wider by what `made` needs, when `approved` is for exactly that call: the
/// caller has made it of the places that it found. Uses the approval up in any case. Error: what
/// `act` says; NeedsApproval for another call; WorkspaceGone; and what holding the root says.
template <typename Act>
[[nodiscard]] auto act_once(const owned_root& own, const disk::question& asked, const call& made,
                            one_call_grant approved, Act&& act)
    -> std::invoke_result_t<Act, const held_root&> {
  if (!approved.spend(made)) {
    return std::unexpected{disk::refused(asked, code::needs_approval,
                                         std::string{made.subject().as_the_call_says()})};
  }
  if (!own.held().is_in_place()) return std::unexpected{disk::refused(asked, code::workspace_gone)};
  std::vector<extra_root> roots{own.rules().extra_roots().begin(), own.rules().extra_roots().end()};
  for (const auto text : {made.subject(), made.place()}) {
    const auto place = text.as_the_call_says();
    if (!place.empty() && own.rules().region_of(place) == region::outside) {
      roots.push_back(root_for(made.op(), place));
    }
  }
  const owned_root wider{own.path(), own.rules().carve_outs(), roots, own.held().names()};
  if (const auto why = wider.held().error()) return std::unexpected{disk::refused(asked, *why)};
  return std::forward<Act>(act)(wider.held());
}

}  // namespace pinfold::beneath
