// A file of the server's own that no tool may change, whoever approves it: the audit log.
#pragma once

#include <sys/types.h>

#include <expected>
#include <string>
#include <utility>
#include <vector>

#include <pinfold/error.hpp>

namespace pinfold::mcp {

/// Known by its path and, by whatever name it is reached, as itself; so is each directory above it.
class kept_file {
 public:
  /// `path` is there, and a link on its way is followed. Error: the code of what stat(2) says.
  [[nodiscard]] static std::expected<kept_file, code> at(const std::string& path);

  /// Whether a change of what has the name `canonical` (written, replaced, moved or removed) would be one
  /// of the file, or of where it lies.
  [[nodiscard]] bool is_held_by(const std::string& canonical) const;

 private:
  std::string path_;
  std::vector<std::pair<dev_t, ino_t>> identities_;  ///< of the file and of each directory above it
};

}  // namespace pinfold::mcp
