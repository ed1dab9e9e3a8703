// The launcher with backend `none`: how a command ends is what the record says, and nothing of the
// command or of the launcher's own is left.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
using pinfold_test::cancelled_by;
using pinfold_test::open_descriptors;
using pinfold_test::plan_of;
using pinfold_test::shell;

namespace {

run_record run_shell(const std::string& text, const limits& bounds = {}) {
  return run(shell(text), bounds);
}

limits at_most(std::size_t bytes) {
  limits bounds;
  bounds.output = bytes;
  return bounds;
}

}  // namespace

TEST_CASE("the exit code is the command's own") {
  for (const int code : {0, 1, 7, 124, 125, 126, 127, 128, 137, 255}) {
    const auto record = run_shell("exit " + std::to_string(code));
    CHECK(record.ended == ending::exited);
    CHECK(record.exit_code == code);
    CHECK_FALSE(record.signal);
    CHECK_FALSE(record.error);
    CHECK(exit_code_of(record) == code);
  }
}

TEST_CASE("a signal is told apart from a code of the same number") {
  for (const int number : {SIGHUP, SIGINT, SIGABRT, SIGKILL, SIGSEGV, SIGTERM}) {
    const auto record = run_shell("kill -" + std::to_string(number) + " $$");
    INFO(number);
    CHECK(record.ended == ending::signaled);
    CHECK(record.signal == number);
    CHECK_FALSE(record.exit_code);
    CHECK(exit_code_of(record) == 128 + number);
  }
}

TEST_CASE("arguments, environment and directory arrive byte for byte") {
  auto plan = plan_of({"/bin/sh", "-c", "printf '%s|' \"$@\" \"$X\"; pwd", "sh", "", "two words",
                       "a\nb", "\xff", "--", "$(x)"});
  plan.environment = {"X=y=z"};
  plan.directory = "/usr";
  CHECK(run(plan, {}).out.text == "|two words|a\nb|\xff|--|$(x)|y=z|/usr\n");
}

TEST_CASE("the environment is the plan's and nothing else") {
  ::setenv("PINFOLD_TEST_SECRET", "S3CR3T", 1);
  const auto record = run_shell("/usr/bin/env");
  CHECK(record.out.text.find("S3CR3T") == std::string::npos);
  ::unsetenv("PINFOLD_TEST_SECRET");
}

TEST_CASE("standard output and standard error are kept apart, standard input is empty") {
  const auto record = run_shell("echo out; echo err >&2; cat; wc -c");
  CHECK(record.out.text == "out\n0\n");
  CHECK(record.err.text == "err\n");
}

TEST_CASE("a command that cannot be executed says why") {
  struct row {
    std::string command;
    code error;
    int exit_code;
  };
  const std::vector<row> rows{{"/nonexistent/x", code::command_not_found, 127},
                              {"no-such-command-anywhere", code::command_not_found, 127},
                              {"/etc/passwd/x", code::command_not_found, 127},
                              {"", code::command_not_found, 127},
                              {"/", code::command_not_executable, 126},
                              {"/etc/passwd", code::command_not_executable, 126}};
  for (const auto& [command, error, exit_code] : rows) {
    INFO(command);
    const auto record = run(plan_of({command}), {});
    CHECK(record.ended == ending::refused);
    REQUIRE(record.error);
    CHECK(record.error->error == error);
    CHECK(exit_code_of(record) == exit_code);
  }
  CHECK(run(plan_of({}), {}).error->error == code::invalid_argument);
}

TEST_CASE("a directory that is not there is a refusal, not a run elsewhere") {
  auto plan = shell("echo ran");
  plan.directory = "/nonexistent";
  const auto record = run(plan, {});
  CHECK(record.ended == ending::refused);
  CHECK(record.out.text.empty());
}

TEST_CASE("a time limit ends a command that ignores SIGTERM") {
  const auto record =
      run_shell("trap '' TERM; echo started; while :; do sleep 0.05; done",
                {.time = 300ms, .grace = 100ms});
  CHECK(record.ended == ending::timed_out);
  CHECK(record.signal == SIGKILL);
  CHECK(record.out.text == "started\n");
  CHECK(exit_code_of(record) == 124);
}

TEST_CASE("a command that obeys SIGTERM may clean up within the grace") {
  const auto record = run_shell("trap 'echo cleaned; exit 3' TERM; while :; do sleep 0.02; done",
                                {.time = 300ms, .grace = 60s});
  CHECK(record.ended == ending::timed_out);
  CHECK(record.exit_code == 3);
  CHECK(record.out.text == "cleaned\n");
}

TEST_CASE("without a grace nothing is asked first") {
  const auto record = run_shell("trap 'echo cleaned; exit 3' TERM; while :; do sleep 0.02; done",
                                {.time = 300ms, .grace = 0ms});
  CHECK(record.ended == ending::timed_out);
  CHECK(record.out.text.empty());
}

TEST_CASE("a stopped command is ended by the time limit too") {
  const auto record = run_shell("kill -STOP $$", {.time = 300ms, .grace = 100ms});
  CHECK(record.ended == ending::timed_out);
  CHECK(record.signal == SIGTERM);
}

TEST_CASE("a grandchild that holds the pipe cannot delay the return, and is killed and counted") {
  const auto record = run_shell("echo a; sleep 300 & setsid sleep 300 & exit 5");
  CHECK(record.ended == ending::exited);
  CHECK(record.exit_code == 5);
  CHECK(record.killed == 2);
  CHECK(record.out.text == "a\n");
}

TEST_CASE("a command may close its outputs and go on") {
  const auto record = run_shell("exec >&- 2>&-; sleep 0.2; exit 4");
  CHECK(record.exit_code == 4);
}

TEST_CASE("output beyond the cap is counted and dropped, and the writer never blocks") {
  const auto record = run_shell("head -c 3000000 /dev/zero | tr '\\0' x; echo end",
                                at_most(1000));
  CHECK(record.exit_code == 0);
  CHECK(record.out.bytes == 3'000'004);
  CHECK(record.out.text.size() == 1000);
  CHECK(record.out.dropped == 3'000'004 - 1000);
  CHECK(record.out.text.ends_with("xend\n"));
}

TEST_CASE("the first part of the output is handed over as it comes") {
  std::string live;
  sinks events;
  events.on_output = [&](stream, std::string_view text) { live += text; };
  const auto record = run(shell("echo one; echo two >&2; echo three"), at_most(6), events);
  CHECK(live.find("one") == 0);
  CHECK(live.find("three") == std::string::npos);
  CHECK(record.out.bytes == 10);
}

TEST_CASE("a cancel descriptor that is readable already starts nothing that lasts") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(::write(ends[1], "x", 1) == 1);
  const auto record = run(shell("sleep 300"), {.time = {}, .grace = 100ms}, cancelled_by(ends[0]));
  CHECK(record.ended == ending::cancelled);
  CHECK(exit_code_of(record) == 130);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("no descriptor of the caller reaches the command, marked close-on-exec or not") {
  const int open_one = ::open("/dev/null", O_RDONLY);
  const int far_one = ::fcntl(open_one, F_DUPFD, 200);
  const auto record = run_shell("ls /proc/self/fd | tr '\\n' ' '");
  CHECK(record.out.text == "0 1 2 3 ");  // 3 is the listing itself
  ::close(far_one);
  ::close(open_one);
}

TEST_CASE("a run leaves no descriptor and no child, however it ends") {
  const auto before = open_descriptors();
  for (const auto& plan : {shell("exit 1"), shell("kill -9 $$"), plan_of({"/nonexistent"}),
                           plan_of({}), shell("sleep 300 & exit")}) {
    (void)run(plan, {});
  }
  (void)run_shell("sleep 300", {.time = 100ms, .grace = 50ms});
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("signals that the caller ignores or blocks are ordinary ones for the command") {
  ::signal(SIGTERM, SIG_IGN);
  sigset_t all;
  sigset_t kept;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &kept);
  const auto record = run_shell("grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2 | sort -u");
  ::pthread_sigmask(SIG_SETMASK, &kept, nullptr);
  ::signal(SIGTERM, SIG_DFL);
  // glibc's posix_spawn itself ignores its two internal signals, 32 and 33.
  CHECK((record.out.text == "0000000000000000\n" ||
         record.out.text == "0000000000000000\n0000000180000000\n"));
}

TEST_CASE("core dumps are off unless the caller's limit was asked for") {
  CHECK(run_shell("ulimit -Hc").out.text == "0\n");
}

TEST_CASE("files are made before the start, and never over something") {
  pinfold_test::folder place;
  launch_extras extras;
  extras.files.push_back({place.path + "/made", "content"});
  CHECK(run(shell("cat " + place.path + "/made"), {}, {}, extras).out.text == "content");
  const auto again = run(shell("echo ran"), {}, {}, extras);
  CHECK(again.ended == ending::refused);
  CHECK(again.out.text.empty());
}

TEST_CASE("limits that nothing counts are refused, not dropped") {
  for (const int which : {0, 1, 2, 3}) {
    limits bounds;
    if (which == 0) bounds.resources.memory = 1 << 30;
    if (which == 1) bounds.resources.processes = 100;
    if (which == 2) bounds.resources.cpu_time = 60s;
    if (which == 3) bounds.resources.file_size = 1 << 30;
    const auto record = run_shell("echo ran", bounds);
    CHECK(record.ended == ending::refused);
    REQUIRE(record.error);
    CHECK(record.error->error == code::not_enforceable);
    CHECK(record.out.text.empty());
  }
}
