// An example for the plug point that is not caught: the engine's own resolver with a grant that is
// the workspace alone. The control beside weakly_canonical.cpp.
#include <utility>

#include <pinfold/disk/resolve.hpp>

#include "resolve/plug.hpp"

namespace pinfold_fuzz {

plugged_answer resolve_plugged(const std::string& root, std::string_view path,
                               pinfold::operation op) {
  const pinfold::grant workspace_alone{root, {}};
  auto found = pinfold::resolve(workspace_alone, op, path);
  if (!found) return {};
  return {plugged_verdict::inside, std::move(found->canonical)};
}

}  // namespace pinfold_fuzz
