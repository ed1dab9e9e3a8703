// Writing to the terminal or the pipe that the program was given.
#include <unistd.h>

#include <cerrno>
#include <string>

#include "cli/commands.hpp"
#include "cli/text.hpp"

namespace pinfold {

void complain(std::string_view what, std::string_view why) {
  const auto line = "pinfold: " + terminal_safe(what) + ": " + terminal_safe(why) + "\n";
  (void)write_all(STDERR_FILENO, line);
}

void complain(std::string_view what, const refusal& refused) {
  complain(what, std::string{name_of(refused.error)} + ": " + refused.message());
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace pinfold
