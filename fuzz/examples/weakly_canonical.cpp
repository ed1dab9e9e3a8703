// An example for the plug point that is meant to be caught: what most tools do. The path is made
// canonical by the standard library, then compared with the root.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "resolve/plug.hpp"

namespace pinfold_fuzz {

plugged_answer resolve_plugged(const std::string& root, std::string_view path,
                               pinfold::operation op) {
  namespace fs = std::filesystem;
  if (path.empty() || path.contains('\0')) return {};
  std::error_code failed;
  const fs::path base{root};
  const auto canonical = fs::weakly_canonical(base / path, failed);
  if (failed) return {};
  // To be fair: what must be there is looked for, and links are not asked to be removed.
  const auto status = fs::symlink_status(base / path, failed);
  const bool must_exist = op == pinfold::operation::read || op == pinfold::operation::list ||
                          op == pinfold::operation::remove;
  if (must_exist && !fs::exists(status)) return {};
  if (op == pinfold::operation::remove || op == pinfold::operation::rename) return {};
  const auto parts = std::ranges::mismatch(base, canonical);
  if (parts.in1 != base.end()) return {};
  // "a/" and "a" are one place.
  return {plugged_verdict::inside,
          canonical.has_filename() ? canonical.native() : canonical.parent_path().native()};
}

}  // namespace pinfold_fuzz
