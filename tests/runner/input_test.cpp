// What reaches a command from outside while it runs: its input, and a terminal of its own.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "runner/embedded.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
using pinfold_test::boundary;
using pinfold_test::embedding;

namespace {

struct ends {
  descriptor read;
  descriptor write;
};

ends make_pipe() {
  int both[2];
  if (::pipe2(both, O_CLOEXEC) != 0) std::abort();
  return {descriptor{both[0]}, descriptor{both[1]}};
}

ends make_sockets() {
  int both[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0) std::abort();
  return {descriptor{both[0]}, descriptor{both[1]}};
}

sinks fed_by(int descriptor) {
  sinks events;
  events.input_descriptor = descriptor;
  return events;
}

void put(const descriptor& to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(to.get(), bytes.data(), bytes.size());
    if (wrote < 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::string many_bytes() {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += std::to_string(i) + "\n";
  return bytes;
}

}  // namespace

TEST_CASE("input arrives byte for byte and ends, from a pipe, a socket and a file") {
  const embedding here;
  const auto bytes = many_bytes();
  const auto path = here.place.path + "/input";
  std::ofstream{path} << bytes;
  for (const auto kind : here.boundaries()) {
    for (const int from : {0, 1, 2}) {
      INFO(from);
      ends both = from == 1 ? make_sockets() : make_pipe();
      if (from == 2) both.read.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      std::jthread writer{[&] {
        if (from != 2) put(both.write, bytes);
        both.write.reset();
      }};
      const auto record =
          here.run(kind, "cat", {.time = 60s, .output = 1 << 24}, fed_by(both.read.get()));
      CHECK(record.exit_code == 0);
      CHECK((record.out.text == bytes));
    }
  }
}

TEST_CASE("a command that reads nothing, or not all, ends as it does without") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    const auto zeros = descriptor{::open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    CHECK(here.run(kind, "exit 4", {.time = 60s}, fed_by(zeros.get())).exit_code == 4);
    const auto record =
        here.run(kind, "head -c 100000 | wc -c", {.time = 60s}, fed_by(zeros.get()));
    CHECK(record.out.text == "100000\n");
    CHECK(here.run(kind, "exec <&-; sleep 0.1; exit 5", {.time = 60s}, fed_by(zeros.get()))
              .exit_code == 5);
  }
}

TEST_CASE("an input that nobody writes to holds up nothing, neither the end nor the time limit") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    const auto silent = make_pipe();
    CHECK(here.run(kind, "exit 6", {.time = 60s}, fed_by(silent.read.get())).exit_code == 6);
    const auto record =
        here.run(kind, "cat", {.time = 200ms, .grace = 50ms}, fed_by(silent.read.get()));
    CHECK(record.ended == ending::timed_out);
  }
}

TEST_CASE("an input that cannot be read is not given out as one that has ended") {
  const embedding here;
  const descriptor directory{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  for (const auto kind : here.boundaries()) {
    const auto record =
        here.run(kind, "cat; touch ended; sleep 300", {.time = 60s}, fed_by(directory.get()));
    CHECK(record.ended == ending::failed);
    REQUIRE(record.error);
    CHECK(record.error->error == code::run_lost);
    CHECK_FALSE(std::filesystem::exists(here.workspace() + "/ended"));
  }
}

TEST_CASE("the command never holds the descriptor itself") {
  const embedding here;
  const auto path = here.place.path + "/precious";
  std::ofstream{path} << "precious\n";
  const descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  for (const auto kind : here.boundaries()) {
    (void)here.run(kind, "cat; echo x >/proc/self/fd/0; echo y >&0; : >/dev/stdin", {.time = 60s},
                   fed_by(file.get()));
    CHECK(pinfold_test::text_of(path) == "precious\n");
    ::lseek(file.get(), 0, SEEK_SET);
  }
}

TEST_CASE("a terminal is the command's controlling one, in a session of its own, on all streams") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    sinks events;
    events.terminal.emplace();
    const auto record =
        here.run(kind,
                 "test -t 0 && test -t 1 && test -t 2 && stty size && tty && : >/dev/tty && "
                 "awk '{print ($5 == $6), ($1 == $6), $7 != 0}' /proc/$$/stat && echo err >&2",
                 {.time = 60s}, events);
    INFO(record.out.text << record.err.text);
    CHECK(record.exit_code == 0);
    CHECK(record.out.text.starts_with("24 80\r\n/dev/pts/"));
    CHECK(record.out.text.ends_with("1 1 1\r\nerr\r\n"));
  }
}

TEST_CASE(
    "what is typed at a terminal arrives, its interrupt character as a signal, its end as one") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    auto keys = make_pipe();
    put(keys.write, "one\n");
    auto events = fed_by(keys.read.get());
    events.terminal.emplace();
    events.on_piece = [&](stream, std::string_view text) {
      if (text.find("ready") != std::string_view::npos) put(keys.write, "\x03");
      if (text.find("caught") != std::string_view::npos) keys.write.reset();
    };
    const auto record = here.run(kind,
                                 "read line; echo got $line; trap 'echo caught; cat; exit 9' INT; "
                                 "echo ready; while :; do sleep 0.05; done",
                                 {.time = 60s}, events);
    INFO(record.out.text);
    CHECK(record.ended == ending::exited);
    CHECK(record.exit_code == 9);
    CHECK(record.out.text.find("got one") != std::string::npos);
  }
}

TEST_CASE("a shell at a terminal is ended by the time limit without its being killed") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    const auto silent = make_pipe();
    auto events = fed_by(silent.read.get());
    events.terminal.emplace();
    auto request = here.shell("");
    request.command = {"bash", "--norc", "-i"};
    const limits bounds{.time = 500ms, .grace = 60s};
    const auto record = kind == boundary::sandbox
                            ? here.commands.run(request, bounds, events)
                            : here.commands.run(request, bounds, unconfined{}, events);
    CHECK(record.ended == ending::timed_out);
    CHECK(record.duration < 60s);
  }
}
