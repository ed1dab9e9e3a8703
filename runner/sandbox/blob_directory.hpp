// The directory in which the harness keeps whole outputs: outside of everything that a command may
// write, and shown to it for reading only. It is never the model's to choose.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

#include "sandbox/caller.hpp"

namespace pinfold {

struct blob_directory {
  std::string path;  ///< canonical
  descriptor held;   ///< O_PATH: files are made below it, whatever comes of its name
};

/// Opens the directory that was named. Errors: `invalid_argument` where it holds the workspace
/// (canonical) or lies in it, and for places that are never shown (as for `read_root`);
/// `permission_denied` when it is not the caller's, when others may write to it, or when somebody
/// else could put another in its place; those of the resolver.
[[nodiscard]] std::expected<blob_directory, refusal> open_blob_directory(
    const std::string& path, const std::string& workspace, const caller& who,
    const std::vector<hidden_path>& hidden);

}  // namespace pinfold
