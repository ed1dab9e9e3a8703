// What the runner says to stage two.
#include <errno.h>
#include <sys/socket.h>

#include "stage.hpp"

namespace pinfold::stage {

char next_word() {
  char word = 0;
  for (;;) {
    const auto got = ::recv(channel_fd, &word, 1, 0);
    if (got == 1) return word;
    if (got < 0 && errno == EINTR) continue;
    return 0;
  }
}

bool wait_for(char word, specification& spec) {
  for (;;) {
    const char said = next_word();
    if (said == word) return true;
    switch (said) {
      case memory_is_held:
        spec.counts.limits.memory_bytes = 0;
        break;
      case tasks_are_held:
        spec.counts.limits.tasks = 0;
        break;
      default:
        return false;
    }
  }
}

}  // namespace pinfold::stage
