// What is shown, hidden and kept of the machine around the workspace.
#include "sandbox/preparation.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include <pinfold/call.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/guard.hpp>
#include <pinfold/path.hpp>
#include <pinfold/runner/decided.hpp>
#include <pinfold/sandbox/confine.hpp>

#include "sandbox/places.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {
namespace {

step find_caches(preparation& now, const std::optional<std::string>& root) {
  if (now.request.caches == cache_choice::shared) {
    auto found = users_caches(now.who, now.facts.hidden, confined_home);
    if (!found) return std::unexpected{std::move(found.error())};
    now.caches = std::move(*found);
  }
  if (now.request.caches != cache_choice::own || !root) return {};
  const auto name = cache_name_of(now.directory());
  if (!name) return {};
  const auto missing = now.missing == making::made ? missing_part::made : missing_part::left_out;
  auto found = own_caches(*root, *name, confined_home, missing);
  if (!found) return std::unexpected{std::move(found.error())};
  now.caches = std::move(*found);
  now.cache_directory = *root + "/" + *name;
  return {};
}

}  // namespace

step close_own_place(preparation& now, const std::string& place, std::string_view why) {
  auto roots = now.read_roots;
  if (now.blobs) roots.push_back(now.blobs->path);
  for (const auto& path : roots) {
    if (!contains(path, place) && !contains(place, path)) continue;
    auto overlap = refused(code::invalid_argument, path, std::string{why});
    overlap.boundary = place;
    return std::unexpected{std::move(overlap)};
  }
  struct stat about {};
  if (::lstat(place.c_str(), &about) != 0) return {};
  const bool is_hidden = std::ranges::any_of(
      now.facts.hidden, [&](const auto& other) { return contains(other.path, place); });
  if (!is_hidden) {
    now.facts.hidden.push_back({.path = place, .contents = hidden_path::use::closed});
  }
  return {};
}

step add_places(preparation& now) {
  const auto network = network_of(now.request);
  now.facts.root = now.request.root;
  now.facts.hidden = hidden_places(now.who);
  if (now.request.root == root_profile::minimal) {
    now.facts.visible = minimal_root(network);
  } else {
    now.facts.hidden_files = secret_files();
  }
  if (network == network_access::on) now.facts.shared = resolver_files();
  for (const auto& path : now.request.read_roots) {
    auto root = read_root(path, now.who, now.facts.hidden);
    if (!root) return std::unexpected{std::move(root.error())};
    now.read_roots.push_back(std::move(root->source));
  }
  return {};
}

step add_blob_directory(preparation& now) {
  if (now.request.blob_directory.empty()) return {};
  auto blobs =
      open_blob_directory(now.request.blob_directory, now.workspace, now.who, now.facts.hidden);
  if (!blobs) return std::unexpected{std::move(blobs.error())};
  now.blobs.emplace(std::move(*blobs));
  return {};
}

/// One of the last steps, since it makes directories in the caller's home. The caches of other
/// workspaces are out of reach whatever this run's are.
step add_caches(preparation& now) {
  auto root = cache_root_of(now.who);
  if (!root && now.request.caches == cache_choice::own) {
    return std::unexpected{std::move(root.error())};
  }
  const auto known = root ? std::move(*root) : std::nullopt;
  if (auto found = find_caches(now, known); !found) {
    if (now.request.caches == cache_choice::own) {
      found.error().detail +=
          "; a cache is kept there: mend it, set XDG_CACHE_HOME, or run "
          "with --no-cache";
    }
    return found;
  }
  auto places = now.read_roots;
  places.push_back(now.workspace);
  if (now.blobs) places.push_back(now.blobs->path);
  for (const auto& place : places) {
    if (auto apart = check_apart(place, now.caches); !apart) return apart;
  }
  return known ? close_own_place(now, *known, "the caches of workspaces lie there") : step{};
}

step decide(preparation& now) {
  std::vector<carve_out> carve_outs;
  for (const auto& carve : now.facts.carve_outs) {
    const auto tail = tail_below(now.workspace, carve.path);
    if (!tail) return std::unexpected{refused(code::carve_out_unusable, carve.path, {})};
    carve_outs.push_back({*tail, carve.kind});
  }
  std::vector<extra_root> roots;
  for (const auto& path : now.read_roots) roots.push_back({path, root_access::read});
  if (now.blobs) roots.push_back({now.blobs->path, root_access::read});
  const grant policy{now.workspace, carve_outs, roots};
  const auto listed = egress_list_of(now.request.egress);
  guard decided{policy, now.request.present, now.request.open, now.request.labels,
                enforcement::enforced};
  if (now.request.egress.is_any()) decided = decided.with_egress(listed);
  for (const auto& one : now.caches) {
    now.facts.shared.push_back(shown_cache(decided, one.source, one.target, one.owner, one.listed));
  }
  auto facts =
      confine(decided, call::execute(now.facts.command.front(), now.facts.directory), now.facts);
  if (!facts) return std::unexpected{std::move(facts.error())};
  now.facts = std::move(*facts);
  return {};
}

}  // namespace pinfold
