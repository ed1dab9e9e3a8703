// Which system calls a piece of code makes, in order. The kernel stops a thread before each one and
// asks the test (seccomp user notification, seccomp_unotify(2), Linux 5.5), so no tracer is needed
// and nothing is timed.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinfold_test {

namespace detail {

/// What the allocator, the thread library and the clock call: no work for the kernel that counts.
inline constexpr std::array passed_over{
    SYS_mmap,        SYS_munmap, SYS_mprotect, SYS_madvise,     SYS_brk,  SYS_futex,
    SYS_sched_yield, SYS_gettid, SYS_getpid,   SYS_rt_sigprocmask, SYS_sigaltstack,
    SYS_exit,        SYS_clock_gettime};

/// From now on each other call of this thread waits for the answer of the listener returned.
inline int listen_to_this_thread() {
  std::vector<sock_filter> program{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (long call : passed_over) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                    SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

/// Lets every call through and notes it, until the thread is gone.
inline std::vector<long> calls_heard_by(int listener) {
  std::vector<long> calls;
  for (;;) {
    pollfd ready{listener, POLLIN, 0};
    if (::poll(&ready, 1, 10'000) <= 0) throw std::runtime_error{"a thread that does not end"};
    if ((ready.revents & POLLIN) == 0) return calls;
    seccomp_notif asked{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) continue;
    calls.push_back(asked.data.nr);
    seccomp_notif_resp answer{};
    answer.id = asked.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

inline std::string name_of_call(long call) {
  switch (call) {
    case SYS_openat2: return "openat2";
    case SYS_openat: return "openat";
    case SYS_close: return "close";
    case SYS_copy_file_range: return "copy_file_range";
    case SYS_fstat: return "fstat";
    case SYS_newfstatat: return "newfstatat";
    case SYS_statx: return "statx";
    case SYS_readlinkat: return "readlinkat";
    default: return std::to_string(call);
  }
}

}  // namespace detail

/// The calls of the second of two runs of `work`, which has a thread to itself.
template <typename Work>
std::vector<long> system_calls_of(Work&& work) {
  std::atomic<int> listener{-2};
  std::thread worker{[&] {
    work();
    const int heard = detail::listen_to_this_thread();
    listener.store(heard);
    if (heard >= 0) work();
  }};
  while (listener.load() == -2) std::this_thread::yield();
  std::vector<long> calls;
  if (listener.load() >= 0) calls = detail::calls_heard_by(listener.load());
  worker.join();
  if (listener.load() < 0) throw std::runtime_error{"no seccomp notification here"};
  ::close(listener.load());
  return calls;
}

/// The fewest calls of many runs, as their names: what is done now and then only is left out.
template <typename Work>
std::string fewest_system_calls_of(Work&& work) {
  auto fewest = system_calls_of(work);
  for (int i = 0; i < 30; ++i) {
    auto again = system_calls_of(work);
    if (again.size() < fewest.size()) fewest = std::move(again);
  }
  std::string names;
  for (long call : fewest) names += (names.empty() ? "" : " ") + detail::name_of_call(call);
  return names;
}

}  // namespace pinfold_test
