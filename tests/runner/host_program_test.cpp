// The program that embeds the library keeps what is its own: its signal handlers, its children, its
// mask, its umask, its folder, its environment. Each in a process of its own.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "runner/embedded.hpp"
#include "support/catch.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using pinfold_test::boundary;
using pinfold_test::embedding;
using pinfold_test::isolated;

namespace {

volatile sig_atomic_t reaped = 0;

/// What many programs do: whatever child has ended is waited for, whoever started it.
void reap_all(int) {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) reaped = reaped + 1;
}

void on_child(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGCHLD, &action, nullptr);
}

/// "" when twenty runs end as they should, blocking and started ones.
std::string twenty_runs(const embedding& here, boundary kind) {
  for (int i = 0; i < 20; ++i) {
    const auto text = "sleep 300 & exit " + std::to_string(i);
    const auto record = i % 2 == 0 ? here.run(kind, text) : here.start(kind, text).wait();
    if (record.exit_code != i || record.killed != 1) {
      return "run " + std::to_string(i) + ": " + std::string{name_of(record.ended)} + ", " +
             (record.error ? record.error->message() : "");
    }
  }
  return {};
}

/// A thread that was joined is counted until the kernel has taken it down.
bool comes_to_one_thread() {
  for (int i = 0; i < 500; ++i) {
    if (pinfold_test::text_of("/proc/self/status").contains("Threads:\t1\n")) return true;
    ::usleep(10'000);
  }
  return false;
}

std::string everything_of_the_process() {
  std::string all;
  for (int number = 1; number < 32; ++number) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    all += std::to_string(reinterpret_cast<std::uintptr_t>(action.sa_handler)) + "," +
           std::to_string(action.sa_flags) + ";";
  }
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < 65; ++number) all += ::sigismember(&mask, number) == 1 ? '1' : '0';
  const auto bits = ::umask(0);
  ::umask(bits);
  all += std::to_string(bits) + std::filesystem::current_path().string();
  for (char** entry = ::environ; *entry != nullptr; ++entry) all += *entry;
  all += pinfold_test::text_of("/proc/self/limits");
  const auto status = pinfold_test::text_of("/proc/self/status");
  for (const auto* name : {"NoNewPrivs", "Seccomp:", "CapEff", "CoreDumping"}) {
    const auto at = status.find(name);
    if (at != std::string::npos) all += status.substr(at, status.find('\n', at) - at);
  }
  return all;
}

}  // namespace

TEST_CASE("a host that waits for every child, or ignores them all, disturbs no run") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    CHECK(isolated([&] {
            on_child(&reap_all);
            return twenty_runs(here, kind);
          }) == "");
    CHECK(isolated([&] {
            on_child(SIG_IGN);
            return twenty_runs(here, kind);
          }) == "");
  }
}

TEST_CASE("the children of the host are left to it") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    CHECK(isolated([&]() -> std::string {
            const auto mine = ::fork();
            if (mine == 0) ::_exit(7);
            if (auto wrong = twenty_runs(here, kind); !wrong.empty()) return wrong;
            int status = 0;
            if (::waitpid(mine, &status, 0) != mine || WEXITSTATUS(status) != 7) return "taken";
            return ::waitpid(-1, &status, WNOHANG) == -1 ? "" : "one more child";
          }) == "");
  }
}

TEST_CASE("no handler, no mask, no global and no adopted orphan is left behind by runs") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    CHECK(isolated([&]() -> std::string {
            on_child(&reap_all);
            const auto before = everything_of_the_process();
            if (auto wrong = twenty_runs(here, kind); !wrong.empty()) return wrong;
            if (!comes_to_one_thread()) return "a thread is left";
            return everything_of_the_process() == before ? "" : "something has changed";
          }) == "");
  }
}

TEST_CASE("signals to the host are taken by its own threads") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    CHECK(isolated([&]() -> std::string {
            static volatile sig_atomic_t taken_by = 0;
            struct sigaction action {};
            action.sa_handler = [](int) { taken_by = ::gettid(); };
            ::sigaction(SIGUSR1, &action, nullptr);
            const auto now = here.start(kind, "sleep 300");
            sigset_t one;
            ::sigemptyset(&one);
            ::sigaddset(&one, SIGUSR1);
            ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
            ::kill(::getpid(), SIGUSR1);
            (void)now.wait_for(std::chrono::milliseconds{50});
            if (taken_by != 0) return "a thread of the library took it";
            ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
            return taken_by == ::gettid() ? "" : "nobody took it";
          }) == "");
  }
}
