// A bare repository of the runner's own, with a configuration that nobody else wrote.
#pragma once

#include <string>

#include "sandbox/git_commit/conditions.hpp"

namespace pinfold {

/// Makes it at `path`, without an object, for the same kind of names; where the repository of `ground`
/// is shallow, so is this one. 0 or an errno.
[[nodiscard]] int make_own_repository(const std::string& path, const commit_ground& ground);

/// Lets it borrow the objects of the repository. 0 or an errno.
[[nodiscard]] int borrow_objects(const std::string& path, const commit_ground& ground);

}  // namespace pinfold
