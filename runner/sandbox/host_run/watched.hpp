// Files that count because git's configuration names them, wherever they lie: looked at by name, so
// that neither an ignored directory nor a link on the way hides what became of them.
#pragma once

#include <time.h>

#include <optional>
#include <string>
#include <vector>

#include <pinfold/disk/kernel.hpp>

namespace pinfold {

struct watched_file {
  std::string path;                         ///< relative to the workspace
  std::optional<beneath::identity> before;  ///< what was there, itself; nothing when nothing was
};

/// What has become of one of them.
struct replaced_file {
  std::string path;    ///< the file, or the link on the way to it
  std::string target;  ///< where that link leads; empty for a file
};

/// Looks at each before the run.
[[nodiscard]] std::vector<watched_file> watched(std::vector<std::string> paths, int directory);

/// The file, if it is another one or has changed since, or the first link on the way to it, if that
/// is new. Nothing when it is as it was, or gone.
[[nodiscard]] std::optional<replaced_file> look_again(const watched_file& file, int directory,
                                                      const timespec& since);

}  // namespace pinfold
