// Whole directory trees, by descriptors and through no link: looked through for what changed, and
// removed. Neither leaves the file system that the tree begins on.
#pragma once

#include <time.h>

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// The names in an open directory, without "." and ".."; what cannot be read is empty.
[[nodiscard]] std::vector<std::string> names_in(int directory);

/// Removes `name` below the open directory `parent`, with all in it; directories that their owner may
/// not write to are made writable. What is not there is no error. Error: an errno; EXDEV where
/// something is mounted in it. What was removed before stays so.
[[nodiscard]] std::expected<void, int> remove_tree(int parent, const std::string& name);

/// The same, by path. With `spared`, a moment, a file or link that was changed at it or later is not
/// removed, and the error is then ENOTEMPTY.
[[nodiscard]] std::expected<void, int> remove_tree(const std::string& path,
                                                   std::optional<timespec> spared = std::nullopt);

/// A moment of the clock that the file system of the open `directory` marks changes with: what was
/// changed before the call has an earlier mark, what is changed after it has none earlier. It writes a
/// file "moment" there and takes some milliseconds, a tick of that clock.
[[nodiscard]] std::expected<timespec, int> moment_of(int directory);

/// The path below `directory` of a file or link (no directory) that was changed at that moment or later,
/// of a place where something is mounted, or of a directory that cannot be read; empty when there is
/// none.
[[nodiscard]] std::string first_change(int directory, timespec since);

}  // namespace pinfold
