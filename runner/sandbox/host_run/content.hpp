// What the text of a file says, where its name alone does not tell whether it counts.
#pragma once

#include <string>
#include <string_view>

namespace pinfold {

/// The beginning of a regular file, and whether that is all.
struct file_text {
  std::string text;
  bool is_whole{true};
};

/// At most `most_of_a_text` bytes of what is open as `file`; nothing of what cannot be read.
inline constexpr std::size_t most_of_a_text = std::size_t{1} << 20;
[[nodiscard]] file_text text_of_file(int file);

/// The settings of a git configuration that git obeys, by name: "core.fsmonitor, filter.x.clean".
[[nodiscard]] std::string obeyed_settings(std::string_view configuration);

/// Whether attributes name a filter, a diff driver or a merge driver.
[[nodiscard]] bool names_a_driver(std::string_view attributes);

/// Whether a rebase's list has a line that starts a program (git-rebase(1), "exec").
[[nodiscard]] bool starts_a_program(std::string_view todo);

}  // namespace pinfold
