// A run as an embedding program holds it: started, waited for, cancelled, watched by an event loop;
// with a boundary and without one.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "runner/embedded.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
using pinfold_test::boundary;
using pinfold_test::embedding;
using pinfold_test::open_descriptors;
using pinfold_test::processes_left;

namespace {

bool is_readable(int descriptor) {
  pollfd on{descriptor, POLLIN, 0};
  return ::poll(&on, 1, 0) == 1;
}

void wait_for_file(const std::string& path) {
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(5ms);
}

}  // namespace

TEST_CASE("a started run is over once, says so by its descriptor, and keeps its record") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    const auto before = open_descriptors();
    {
      const auto now =
          here.start(kind, "while [ ! -e go ]; do sleep 0.02; done; echo done; exit 3");
      CHECK_FALSE(now.wait_for(50ms));
      CHECK_FALSE(is_readable(now.ended_descriptor()));
      { std::ofstream{here.workspace() + "/go"}; }
      pollfd on{now.ended_descriptor(), POLLIN, 0};
      REQUIRE(::poll(&on, 1, 60'000) == 1);
      CHECK(now.wait_for(60s));
      CHECK(now.wait().exit_code == 3);
      CHECK(now.wait().out.text == "done\n");
      CHECK(is_readable(now.ended_descriptor()));
      now.cancel();  // too late: nothing changes
      CHECK(now.wait().ended == ending::exited);
    }
    std::filesystem::remove(here.workspace() + "/go");
    CHECK(open_descriptors() == before);
  }
}

TEST_CASE("a run goes on when the thread that asked for it has ended") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    std::optional<running> now;
    std::thread{[&] {
      now.emplace(
          here.start(kind, "touch ready; while [ ! -e go ]; do sleep 0.02; done; echo alive"));
      wait_for_file(here.workspace() + "/ready");
    }}.join();
    { std::ofstream{here.workspace() + "/go"}; }
    CHECK(now->wait().ended == ending::exited);
    CHECK(now->wait().out.text == "alive\n");
    std::filesystem::remove(here.workspace() + "/go");
    std::filesystem::remove(here.workspace() + "/ready");
  }
}

TEST_CASE("a run that is cancelled, dropped or replaced leaves no process") {
  const embedding here;
  const auto word = "pinfold-running-" + std::to_string(::getpid());
  const auto text = "setsid sleep 300 & touch ready; sleep 300 # " + word;
  const limits bounds{.time = {}, .grace = 50ms};
  for (const auto kind : here.boundaries()) {
    for (const int how : {0, 1, 2}) {
      auto now = here.start(kind, text, bounds);
      wait_for_file(here.workspace() + "/ready");
      if (how == 0) {
        now.cancel();
        CHECK(now.wait().ended == ending::cancelled);
        CHECK(processes_left(word).empty());
      } else if (how == 1) {
        const auto dropped = std::move(now);
      } else {
        now = here.start(kind, "true");
        CHECK(now.wait().exit_code == 0);
      }
      CHECK(processes_left(word).empty());
      std::filesystem::remove(here.workspace() + "/ready");
    }
  }
}

TEST_CASE("what refuses a run is in the record of a started one too") {
  const embedding here;
  auto request = here.shell("true");
  request.directory = "/etc";
  const auto now = here.commands.start(request, {});
  REQUIRE(now);
  CHECK(now->wait().ended == ending::refused);
  REQUIRE(now->wait().error);
}

TEST_CASE("every piece of the output is lent to a sink, the first part to the other") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    std::string pieces;
    std::string head;
    std::size_t largest = 0;
    sinks events;
    events.on_piece = [&](stream, std::string_view text) {
      pieces += text;
      largest = std::max(largest, text.size());
    };
    events.on_output = [&](stream, std::string_view text) { head += text; };
    const auto record = here.run(kind, "head -c 3000000 /dev/zero | tr '\\0' x; echo end",
                                 {.time = {}, .output = 1000}, events);
    CHECK(record.out.bytes == 3'000'004);
    CHECK(pieces.size() == 3'000'004);
    CHECK(pieces.ends_with("xend\n"));
    CHECK(head == pieces.substr(0, 500));
    CHECK(largest <= 128 * 1024);
  }
}

TEST_CASE("a sink that throws ends the run, and its exception comes out when nothing is left") {
  const embedding here;
  const auto word = "pinfold-throws-" + std::to_string(::getpid());
  for (const auto kind : here.boundaries()) {
    const auto before = open_descriptors();
    sinks events;
    int calls = 0;
    events.on_output = [&](stream, std::string_view) {
      ++calls;
      throw std::runtime_error{"mine"};
    };
    const auto text = "while echo x; do sleep 0.01; done # " + word;
    CHECK_THROWS_WITH(here.run(kind, text, {.time = {}, .grace = 20ms}, events), "mine");
    CHECK(calls == 1);
    {
      const auto now = here.start(kind, text, {.time = {}, .grace = 20ms}, events);
      CHECK_THROWS_WITH(now.wait(), "mine");
    }
    CHECK(processes_left(word).empty());
    CHECK(open_descriptors() == before);
  }
}

TEST_CASE("the start and the progress of a run are told, with what a sandbox counts") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    pinfold_test::event enough;
    std::vector<progress> told;
    run_record started;
    sinks events;
    events.cancel_descriptor = enough.fd.get();
    events.progress_interval = 50ms;
    events.on_started = [&](const run_record& so_far) { started = so_far; };
    events.on_progress = [&](const progress& now) {
      told.push_back(now);
      if (told.size() == 4) enough.raise();
    };
    const auto record = here.run(kind, "echo out; echo err >&2; sleep 300 & sleep 300",
                                 {.time = 600s, .grace = 20ms}, events);
    CHECK(record.ended == ending::cancelled);
    CHECK(started.backend == record.backend);
    CHECK(started.setup == record.setup);
    REQUIRE(told.size() >= 4);
    const auto& last = told[3];
    CHECK(last.elapsed >= 200ms);
    REQUIRE(last.left);
    CHECK(last.elapsed + *last.left >= 599s);
    CHECK(*last.left < 600s);
    if (kind == boundary::sandbox) {
      REQUIRE(last.processes);
      CHECK(*last.processes == 3);
      CHECK(last.memory.value_or(0) > 0);
      CHECK(last.out_bytes == 4);
      CHECK(last.err_bytes == 4);
    } else {
      CHECK_FALSE(last.processes);
      CHECK_FALSE(last.memory);
    }
  }
}
