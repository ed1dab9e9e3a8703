// Directories that nobody but the caller and root can put something else in the place of: what is
// bound into a sandbox, or written by the runner, has to be reached through such.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <expected>
#include <string>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>

namespace pinfold {

/// What becomes of a component that is not there.
enum class missing_part : bool { left_out, made };

/// Opens (O_PATH) the directory at `path`, canonical, one component after the other and through no
/// link. What is missing is made with mode 0700; where it is left out, the answer is a closed
/// descriptor. Errors: `permission_denied` for a component that somebody else owns or others may
/// write to (a sticky directory such as /tmp is no harm), and for what cannot be made or entered.
[[nodiscard]] std::expected<descriptor, refusal> open_owned_way(const std::string& path,
                                                                missing_part missing);

/// One component below an open directory, through no link, whoever owns it; `path` is for the words
/// of an error.
[[nodiscard]] std::expected<descriptor, refusal> open_part(int parent, const std::string& name,
                                                           const std::string& path,
                                                           missing_part missing);

/// Refuses (`permission_denied`) a directory that is not the caller's alone: mode 0700, or
/// stricter.
[[nodiscard]] std::expected<void, refusal> check_private(int directory, const std::string& path);

/// Refuses (`permission_denied`) a directory that is not the caller's.
[[nodiscard]] std::expected<void, refusal> check_owner(int directory, const std::string& path);

/// The same, and one that others may write to.
[[nodiscard]] std::expected<void, refusal> check_unshared(int directory, const std::string& path);

}  // namespace pinfold
