// tcsetattr(3) may be called in a signal handler (signal-safety(7)).
#include "cli/terminal.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace pinfold {
namespace {

/// What ends the program at once: faults, and signals that nothing else here handles.
constexpr std::array fatal{SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,   SIGSYS,   SIGTRAP,
                           SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU};

termios before{};
volatile sig_atomic_t resized_event = -1;

void on_resize(int) {
  const int kept = errno;
  const std::uint64_t one = 1;
  const auto wrote = ::write(resized_event, &one, sizeof one);
  (void)wrote;  // an eventfd that is full is readable already
  errno = kept;
}

/// The default action is back by now (SA_RESETHAND): the signal is taken again at the return.
void on_fatal(int number) {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
  ::raise(number);
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

raw_terminal::raw_terminal() : resized_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  resized_event = resized_.get();
  ::tcgetattr(STDIN_FILENO, &before);
  for (const int number : fatal) handle(number, &on_fatal, static_cast<int>(SA_RESETHAND));
  handle(SIGWINCH, &on_resize, SA_RESTART);
  termios raw = before;
  ::cfmakeraw(&raw);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

raw_terminal::~raw_terminal() {
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  handle(SIGWINCH, SIG_DFL, 0);
  for (const int number : fatal) handle(number, SIG_DFL, 0);
}

}  // namespace pinfold
