// For threads of our own: they take no signal of the embedding program.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace pinfold {

/// While one lives, this thread takes no signal, and neither does a thread that it starts.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace pinfold
