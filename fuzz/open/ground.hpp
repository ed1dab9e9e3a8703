// Where open_fuzz plays: a workspace that is built anew for each input, and around it what must
// stay as it is: an outside, a root for reading, harness state, files that a host runs. The kernel
// is asked to report whoever opens or changes any of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "support/bytes.hpp"

namespace pinfold_fuzz {

/// What stands in files that nothing may read.
inline constexpr std::string_view canary = "canary: never read, never changed";

/// A name in every directory that nothing may list, and nowhere else.
inline constexpr std::string_view never_listed = "never-listed";

/// Names that trees, plans and the rival share, so that they meet.
extern const std::vector<std::string> ground_names;

/// There is one; it lasts as long as the process.
class ground {
 public:
  static ground& of_this_process();
  ground(const ground&) = delete;
  ground& operator=(const ground&) = delete;

  [[nodiscard]] const std::string& workspace() const noexcept { return workspace_; }
  /// Roots of the grant: one for writing, and inside it one for reading.
  [[nodiscard]] const std::string& written_root() const noexcept { return written_; }
  [[nodiscard]] const std::string& read_root() const noexcept { return read_; }

  /// The workspace's directory and two directories in it, held: whoever renames through these never
  /// leaves the workspace, whatever stands at their paths.
  [[nodiscard]] const std::vector<int>& directories() const noexcept { return held_; }

  /// Fills the workspace with what the input says.
  void build(bytes& input);
  /// Takes all of it away again.
  void clear();
  /// Ends the process when anything that must stay as it is was opened or changed.
  void check(std::string_view facts);

 private:
  ground();
  void make_what_stays();
  void watch(const std::string& path, std::uint32_t events);
  void forget_events() const;

  std::string scratch_;
  std::string workspace_;
  std::string written_;
  std::string read_;
  pinfold::descriptor root_;
  pinfold::descriptor first_;
  pinfold::descriptor second_;
  pinfold::descriptor written_directory_;
  pinfold::descriptor events_;
  std::vector<pinfold::descriptor> canaries_;
  std::vector<std::string> watched_;
  std::vector<int> held_;
};

/// A path as a model might say it, in names of this ground.
std::string read_asked_path(bytes& input, const ground& on);

}  // namespace pinfold_fuzz
