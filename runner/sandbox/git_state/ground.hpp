// The workspace as whoever reads its repository sees it, and what that reading may cost: a carve-out
// that was not looked for is none, so what is not read to its end is refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

using git_step = std::expected<void, refusal>;

/// Error `carve_out_unusable` about a place of the repository.
[[nodiscard]] refusal unusable(std::string path, std::string why);

/// What one reading may cost.
struct git_limits {
  std::size_t entries{20'000};              ///< names looked at
  std::size_t bytes{std::size_t{4} << 20};  ///< of configurations, all together
  std::size_t file_bytes{std::size_t{1} << 20};
  std::size_t carve_outs{256};             ///< each mount costs a millisecond
  std::chrono::milliseconds time{10'000};  ///< of the monotonic clock
};

/// Counts down; what is spent is a refusal (`not_enforceable`) that names the place where it ended
/// and what to do about it.
class git_budget {
 public:
  explicit git_budget(const git_limits& most)
      : left_{most}, until_{std::chrono::steady_clock::now() + most.time} {}

  [[nodiscard]] git_step take_entry(std::string_view place);
  [[nodiscard]] git_step take_bytes(std::string_view place, std::size_t count);
  [[nodiscard]] git_step take_carve_out(std::string_view place);
  [[nodiscard]] std::size_t most_of_a_file() const noexcept { return left_.file_bytes; }

 private:
  git_limits left_;
  std::chrono::steady_clock::time_point until_;
};

/// The canonical workspace, held open, and the budget.
struct git_ground {
  const std::string& workspace;
  int directory;
  git_budget& budget;

  /// The absolute path of what lies `tail` below the workspace; empty: the workspace.
  [[nodiscard]] std::string path_of(std::string_view tail) const {
    return tail.empty() ? workspace : workspace + "/" + std::string{tail};
  }
};

/// "directory/name", or the name alone where the directory is the workspace ("").
[[nodiscard]] std::string tail_of(std::string_view directory, std::string_view name);

/// What `name` is, itself; `link` for everything that cannot be a carve-out.
[[nodiscard]] std::optional<file_kind> kind_of(int parent, const char* name);

/// Opens what lies `tail` below `directory`, through no link: a descriptor or a negative errno.
[[nodiscard]] int open_through_no_link(int directory, std::string_view tail, int flags);

/// The path in a file that says where something lies, as git reads it: all but the line's end.
[[nodiscard]] std::string_view path_in(std::string_view text);

/// A path, and what of the workspace lies on it.
struct git_way {
  enum class place : std::uint8_t { outside, top, inside } where{place::outside};
  std::string path;               ///< canonical as far as it is there
  std::string tail;               ///< `inside`: the same below the workspace
  std::optional<file_kind> kind;  ///< of what is there; nothing where nothing is
  std::string link;               ///< tail of the first link of the workspace on it, or empty
  bool turns_back{false};         ///< ".." after a name of the workspace, which may become a link
};

/// Where the kernel would get to from the canonical directory `start`, links followed. Error: the
/// budget's.
[[nodiscard]] std::expected<git_way, refusal> find_way(const git_ground& ground,
                                                       std::string_view named,
                                                       const std::string& start);

/// The text of a regular file at the canonical `path`, in the workspace or elsewhere; nothing when
/// there is none, or none that the caller may read outside. Errors: the budget's;
/// `carve_out_unusable` for one in the workspace that cannot be read, or is too long.
[[nodiscard]] std::expected<std::optional<std::string>, refusal> text_of(const git_ground& ground,
                                                                         const std::string& path);

}  // namespace pinfold
