// Reading a text in the form of /proc/PID/mountinfo (proc(5)): one line for each mount.
#pragma once

#include <string>
#include <string_view>

namespace pinfold {

/// The fields of one line that somebody here asks for, as they stand there: still escaped, and empty
/// where the line is too short. They point into the text.
struct mount_fields {
  std::string_view root;     ///< what of the file system is mounted
  std::string_view point;    ///< where
  std::string_view options;  ///< of this mount, not of its file system
  std::string_view type;     ///< of the file system
};

/// The fields of one line without its line end.
[[nodiscard]] mount_fields fields_of(std::string_view line) noexcept;

/// Blanks, backslashes and line ends, which are written as \ooo, as they are.
[[nodiscard]] std::string unescaped(std::string_view text);

/// Calls `visit` with the fields of each line in turn.
template <class Visit>
void for_each_mount(std::string_view mountinfo, const Visit& visit) {
  while (!mountinfo.empty()) {
    const auto line = mountinfo.substr(0, mountinfo.find('\n'));
    visit(fields_of(line));
    mountinfo.remove_prefix(line.size() < mountinfo.size() ? line.size() + 1 : line.size());
  }
}

}  // namespace pinfold
