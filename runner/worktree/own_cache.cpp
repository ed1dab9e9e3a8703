#include "worktree/own_cache.hpp"

#include <cstring>
#include <utility>

#include "host/owned_way.hpp"
#include "sandbox/caches.hpp"
#include "sandbox/caller.hpp"
#include "worktree/tree.hpp"

namespace pinfold {

std::string cache_root_of(const std::vector<std::string>& environment) {
  const auto who = look_at_caller(caller_environment{environment});
  if (!who) return {};
  auto root = cache_root_of(*who);
  return root && *root ? std::move(**root) : std::string{};
}

std::string cache_name_in(const std::string& root, int tree) {
  return root.empty() ? std::string{} : cache_name_of(tree).value_or("");
}

std::optional<std::string> remove_cache(const std::string& root, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto why = [&](const std::string& text) {
    return "its cache is left in " + root + "/" + name + ": " + text;
  };
  const auto held = open_owned_way(root, missing_part::left_out);
  if (!held) return why(held.error().message());
  if (!*held) return std::nullopt;
  if (const auto ours = check_private(held->get(), root); !ours) return why(ours.error().message());
  const auto done = remove_tree(held->get(), name);
  return done ? std::nullopt : std::optional{why(std::strerror(done.error()))};
}

}  // namespace pinfold
