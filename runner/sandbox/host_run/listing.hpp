// One directory as the walk needs it: what leads on, and what has to be looked at.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/kernel.hpp>

#include "sandbox/host_run/names.hpp"

namespace pinfold {

struct listed_entry {
  std::string name;
  bool is_directory;
};

struct listed_directory {
  std::vector<listed_entry> entries;
  beneath::identity id;  ///< of the directory itself
  std::size_t count{0};  ///< of all that is there, named above or not
  bool is_whole{true};   ///< false: an error came in between
  bool has_head{false};
  bool has_objects{false};
  bool has_refs{false};
  bool has_common{false};  ///< "commondir": the rest lies where it says

  /// A repository that is not called ".git": git obeys its configuration when it is started there, or
  /// sent there.
  [[nodiscard]] bool is_repository() const noexcept {
    return has_head && ((has_objects && has_refs) || has_common);
  }
};

/// Which regular files are named: all, or those whose names count.
struct listing_choice {
  room kind{room::plain};
  bool wants_all{true};
  std::size_t most{0};  ///< entries
};

/// Takes over the descriptor of an open directory. Nothing when more than `most` is there.
[[nodiscard]] std::optional<listed_directory> list(int directory, const listing_choice& choice);

}  // namespace pinfold
