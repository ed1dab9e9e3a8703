// posix_spawn with everything that must hold for a child of ours: own session, clean signals, only
// the descriptors that were named.
#include "launch/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace pinfold {
namespace {

/// Sources are first moved above every target, so that no dup2 overwrites a later source.
constexpr int above_all_targets = 64;

class spawn_actions {
 public:
  spawn_actions() { ::posix_spawn_file_actions_init(&actions_); }
  spawn_actions(const spawn_actions&) = delete;
  spawn_actions& operator=(const spawn_actions&) = delete;
  ~spawn_actions() { ::posix_spawn_file_actions_destroy(&actions_); }

  int pass(int from, int to) { return ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  int close_from(int first) { return ::posix_spawn_file_actions_addclosefrom_np(&actions_, first); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class spawn_attributes {
 public:
  spawn_attributes() {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
  }
  spawn_attributes(const spawn_attributes&) = delete;
  spawn_attributes& operator=(const spawn_attributes&) = delete;
  ~spawn_attributes() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const auto& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

/// A child that no descriptor stands for: it has just been started, so it has its number still.
void end_unknown(pid_t child) {
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::expected<process, int> spawn(const process_image& image,
                                  std::span<const passed_descriptor> passed) {
  spawn_actions actions;
  std::vector<descriptor> moved;
  int next = 0;
  for (const auto& one : passed) {
    moved.emplace_back(::fcntl(one.from, F_DUPFD_CLOEXEC, above_all_targets));
    if (!moved.back()) return std::unexpected{errno == EINVAL ? EMFILE : errno};
    if (const int wrong = actions.pass(moved.back().get(), one.to)) return std::unexpected{wrong};
    next = std::max(next, one.to + 1);
  }
  if (const int wrong = actions.close_from(next)) return std::unexpected{wrong};

  const spawn_attributes attributes;
  const auto arguments = pointers_to(image.arguments);
  const auto environment = pointers_to(image.environment);
  process child;
  if (const int wrong = ::posix_spawn(&child.pid, image.program.c_str(), actions.get(),
                                      attributes.get(), arguments.data(), environment.data())) {
    return std::unexpected{wrong};
  }
  moved.clear();  // and there is room for one more
  child.ended.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  if (child.ended) return child;
  const int wrong = errno;
  if (wrong != ESRCH) end_unknown(child.pid);
  return std::unexpected{wrong};
}

void reap(const process& child) noexcept {
  siginfo_t about{};
  while (::waitid(P_PIDFD, static_cast<id_t>(child.ended.get()), &about, WEXITED) < 0 &&
         errno == EINTR) {
  }
}

void kill_now(const descriptor& process_descriptor) noexcept {
  if (process_descriptor) {
    ::syscall(SYS_pidfd_send_signal, process_descriptor.get(), SIGKILL, nullptr, 0);
  }
}

}  // namespace pinfold
