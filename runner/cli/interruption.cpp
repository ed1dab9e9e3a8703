// A handler that does nothing but note the signal and write to an eventfd.
#include "cli/interruption.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace pinfold {
namespace {

constexpr std::array watched{SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t came = 0;
volatile sig_atomic_t event_descriptor = -1;

void write_event(int fd) noexcept {
  const std::uint64_t one = 1;
  const auto wrote = ::write(fd, &one, sizeof one);
  (void)wrote;  // an eventfd is full only after 2^64-2 signals
}

void on_signal(int number) {
  const int kept = errno;
  if (came == 0) came = number;
  write_event(event_descriptor);
  errno = kept;
}

void mask(int how) noexcept {
  sigset_t all;
  ::sigemptyset(&all);
  for (int number : watched) ::sigaddset(&all, number);
  ::sigprocmask(how, &all, nullptr);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void hold_interruptions() noexcept {
  mask(SIG_BLOCK);
}

void let_interruptions_in() noexcept {
  mask(SIG_UNBLOCK);
}

interruption::interruption() : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  event_descriptor = event_.get();
  for (int number : watched) handle(number, &on_signal);
  handle(SIGPIPE, SIG_IGN);
  let_interruptions_in();
}

interruption::~interruption() {
  for (int number : watched) handle(number, SIG_DFL);
}

int interruption::signal() noexcept {
  return came;
}

void interruption::raise() const noexcept {
  write_event(event_.get());
}

}  // namespace pinfold
