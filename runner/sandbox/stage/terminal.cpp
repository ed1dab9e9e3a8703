// The command's pseudo-terminal, made inside: its name leads to it there, and the host has no name for
// it at all where there is a sandbox.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stage.hpp"

namespace pinfold::stage {
namespace {

constexpr auto multiplexer = "/dev/ptmx";

/// Without stdio, which would be a third of this program.
void name_slave(char* to, unsigned number) {
  ::strcpy(to, "/dev/pts/");
  char digits[12]{};
  char* at = digits + sizeof digits - 1;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  ::strcat(to, at);
}

}  // namespace

/// The slave stays open here until the command has ended: a master without one reads as hung up.
void open_terminal(specification& spec) {
  spec.master = ::open(multiplexer, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (spec.master < 0) fail(step::open_terminal, errno, multiplexer);
  int unlocked = 0;
  int number = 0;
  if (::ioctl(spec.master, TIOCSPTLCK, &unlocked) != 0 ||
      ::ioctl(spec.master, TIOCGPTN, &number) != 0) {
    fail(step::open_terminal, errno, multiplexer);
  }
  name_slave(spec.terminal, static_cast<unsigned>(number));
  spec.slave = ::open(spec.terminal, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (spec.slave < 0) fail(step::open_terminal, errno, spec.terminal);
}

void send_ready(specification& spec, std::uint64_t obtained) {
  const message ready{report::ready, 0, obtained, {}};
  if (!spec.has_terminal()) return send(ready);
  send_with(ready, spec.master);
  ::close(spec.master);
}

}  // namespace pinfold::stage
