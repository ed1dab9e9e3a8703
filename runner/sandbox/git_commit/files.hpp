// Files and trees below open directories, through no link: what the copies of a run are made with,
// looked at and removed by, while somebody may still write there.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// Copies a regular file to a new one of mode 0600 (O_EXCL). Returns its bytes; an errno else: EFBIG for
/// more than `most` bytes, ELOOP or EINVAL for what is no regular file.
[[nodiscard]] std::expected<std::uint64_t, int> copy_file(int from, const std::string& name, int to,
                                                          const std::string& as, std::uint64_t most);

/// The text of a regular file of at most `most` bytes. Error: an errno, as above.
[[nodiscard]] std::expected<std::string, int> read_small_file(int from, const std::string& name,
                                                              std::size_t most);

/// Writes a new file of mode 0600. 0 or an errno.
[[nodiscard]] int write_new_file(int to, const std::string& name, std::string_view text);

/// What becomes of a directory that is not there.
enum class absent_directory : std::uint8_t {
  is_an_error,
  is_made,            ///< with mode 0700
  is_made_as_usual,  ///< with what the umask leaves, in the caller's own repository
};

/// A directory below an open one, through no link. Error: an errno.
[[nodiscard]] std::expected<descriptor, int> open_directory(int parent, const std::string& name,
                                                            absent_directory absent);

/// Calls `on_name` for each name in the directory but "." and ".." until it returns an errno, and
/// returns that: 0 when all were seen.
[[nodiscard]] int for_each_name(int directory, const std::function<int(const std::string&)>& on_name);

/// Removes what `name` is, with everything in it: no link is followed, and directories that a command
/// closed to us are opened again. What lies deep is moved up first, to a name of its own beside `name`,
/// so that a tree of any depth goes. 0 or an errno.
int remove_whole(int parent, const std::string& name);

}  // namespace pinfold
