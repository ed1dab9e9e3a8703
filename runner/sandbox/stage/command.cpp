// Starting the command: PATH of the command's own environment, a process group of its own, default
// signals, no descriptor but the first three.
#include "stage.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace pinfold::stage {
namespace {

const char* search_path(char* const* environment) {
  for (; *environment != nullptr; ++environment) {
    if (::strncmp(*environment, "PATH=", 5) == 0) return *environment + 5;
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

/// With a terminal: a session of its own, whose first opening of a terminal makes it the controlling
/// one (tty_ioctl(4)). Without: a process group of its own.
class spawn_settings {
 public:
  explicit spawn_settings(const specification& spec) {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    const short place = spec.has_terminal() ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(place | POSIX_SPAWN_SETSIGMASK |
                                                                POSIX_SPAWN_SETSIGDEF));
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawn_file_actions_init(&streams_);
    if (!spec.has_terminal()) return;
    ::posix_spawn_file_actions_addopen(&streams_, 0, spec.terminal, O_RDWR, 0);
    ::posix_spawn_file_actions_adddup2(&streams_, 0, 1);
    ::posix_spawn_file_actions_adddup2(&streams_, 0, 2);
  }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }
  [[nodiscard]] const posix_spawn_file_actions_t* streams() const { return &streams_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t streams_{};
};

/// One attempt. A file without a format that the kernel knows is given to /bin/sh, as execvp does.
int attempt(const char* program, const specification& spec, const spawn_settings& settings,
            pid_t& child) {
  const int wrong = ::posix_spawn(&child, program, settings.streams(), settings.get(),
                                  spec.arguments, spec.environment);
  if (wrong != ENOEXEC) return wrong;
  const auto count = spec.counts.arguments;
  auto** shell = static_cast<char**>(::calloc(count + 2UL, sizeof(char*)));
  if (shell == nullptr) return ENOMEM;
  shell[0] = const_cast<char*>("/bin/sh");
  shell[1] = const_cast<char*>(program);
  for (std::uint32_t i = 1; i < count; ++i) shell[i + 1] = spec.arguments[i];
  return ::posix_spawn(&child, shell[0], settings.streams(), settings.get(), shell,
                       spec.environment);
}

bool means_look_further(int wrong) {
  return wrong == ENOENT || wrong == ENOTDIR || wrong == EACCES;
}

}  // namespace

/// As execvp: a name with a slash is taken as it is; else each directory of PATH in turn, an empty
/// entry being the current directory; EACCES is remembered and reported if nothing better is found.
int start(const specification& spec, pid_t& child) {
  const char* name = spec.arguments[0];
  const spawn_settings settings{spec};
  if (::strchr(name, '/') != nullptr) return attempt(name, spec, settings, child);
  if (*name == '\0') return ENOENT;
  int remembered = ENOENT;
  for (const char* at = search_path(spec.environment);; ++at) {
    const char* colon = ::strchrnul(at, ':');
    const auto length = static_cast<std::size_t>(colon - at);
    char program[PATH_MAX];
    if (length + ::strlen(name) + 2 <= sizeof program) {
      ::memcpy(program, at, length);
      if (length > 0) program[length] = '/';
      ::strcpy(program + length + (length > 0 ? 1 : 0), name);
      if (length == 0) {
        ::strcpy(program, "./");
        ::strcat(program, name);
      }
      const bool is_there = ::access(program, F_OK) == 0;  // a process for each miss costs more
      const int wrong = is_there ? attempt(program, spec, settings, child) : errno;
      if (!means_look_further(wrong)) return wrong;
      if (wrong == EACCES) remembered = EACCES;
    }
    if (*colon == '\0') return remembered;
    at = colon;
  }
}

}  // namespace pinfold::stage
