#include "sandbox/own_places.hpp"

#include <array>
#include <utility>
#include <vector>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/path.hpp>

#include "sandbox/caches.hpp"

namespace pinfold {
namespace {

std::unexpected<refusal> too_broad(const std::string& workspace, std::string boundary,
                                   std::string_view why) {
  return std::unexpected{refusal{.error = code::workspace_too_broad,
                                 .op = operation::execute,
                                 .path = workspace,
                                 .resolved = {},
                                 .boundary = std::move(boundary),
                                 .detail = std::string{why}}};
}

/// REPOSITORY/NAME/TREE below the place. What begins with a dot is the runner's, beside a tree and
/// above one: a name of a worktree begins with a letter or a digit.
bool is_in_a_tree(const std::string& place, const std::string& workspace) {
  const auto tail = tail_below(place, workspace);
  if (!tail) return false;
  std::vector<std::string_view> names;
  for (const auto name : components{*tail}) names.push_back(name);
  constexpr std::size_t to_the_tree = 3;
  return names.size() >= to_the_tree && !names[1].starts_with('.') && names[2] != ".pinfold";
}

}  // namespace

std::expected<std::optional<std::string>, refusal> state_place_of(const caller& who,
                                                                  std::string_view tail) {
  const auto asked = who.environment.find("XDG_STATE_HOME");
  std::string base;
  if (asked && is_absolute(*asked)) {
    base = *asked;
  } else if (!who.home.empty()) {
    base = who.home + "/.local/state";
  } else {
    return std::nullopt;
  }
  const grant everything{"/", {}};
  auto found = resolve_directory(everything, base + "/pinfold" + std::string{tail});
  if (!found) {
    found.error().op = operation::execute;
    return std::unexpected{std::move(found.error())};
  }
  return std::move(found->canonical);
}

std::expected<void, refusal> check_own_places(const std::string& workspace, const caller& who) {
  const auto caches = cache_root_of(who);
  if (caches && *caches && (contains(workspace, **caches) || contains(**caches, workspace))) {
    return too_broad(workspace, **caches, "the caches of workspaces lie there");
  }
  const std::array places{
      std::pair{state_place_of(who, ""), "pinfold keeps its own state there"},
      std::pair{state_place_of(who, "/worktrees"), "pinfold keeps its records of worktrees there"},
      std::pair{state_place_of(who, "/commits"), "private copies of repositories lie there"}};
  for (const auto& [place, why] : places) {
    if (place && *place && contains(workspace, **place)) return too_broad(workspace, **place, why);
  }
  const auto& trees = places[1].first;
  if (trees && *trees && is_in_a_tree(**trees, workspace)) return {};
  for (const auto& [place, why] : places) {
    if (place && *place && contains(**place, workspace)) return too_broad(workspace, **place, why);
  }
  return {};
}

}  // namespace pinfold
