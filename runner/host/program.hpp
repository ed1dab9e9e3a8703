// Programs that the runner itself starts: whether the file at a place, and every directory above it,
// is root's alone, since a directory's writer can replace what is in it. It starts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

enum class program_kind : std::uint8_t { missing, file, other, unreadable };
enum class file_capabilities : bool { none, some };

struct owner_and_mode {
  std::string path{};
  std::uint32_t owner{0};
  std::uint32_t mode{0};
};

/// What was found at one place; links are resolved, so `file.path` is canonical.
struct program_facts {
  std::string asked{};
  program_kind kind{program_kind::missing};
  owner_and_mode file{};
  file_capabilities capabilities{file_capabilities::none};
  std::vector<owner_and_mode> directories{};  ///< all above `file` and above `asked`, "/" included
  std::string error{};                        ///< for `unreadable`: what the kernel said
};

/// Asks the disk: a few stat calls, nothing is started.
[[nodiscard]] program_facts look_at_program(const std::string& path);

/// Why a program must not be started by the runner: a clause, or empty when it may be. Asked: it is a
/// regular file that everybody may execute; it and all directories above it belong to root, and nobody
/// else may write to them.
[[nodiscard]] std::string why_distrusted(const program_facts& facts);

}  // namespace pinfold
