// A server at the other end of a pipe, with tools that are made for what is asked of it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "ground.hpp"
#include "support/catch.hpp"

namespace pinfold_test {

using namespace std::chrono_literals;
using namespace pinfold;
using namespace pinfold::mcp;

inline constexpr auto any_object = R"({"type":"object"})";

inline tool made(std::string name, pace runs, std::function<tool_result(const tool_call&)> act) {
  return {.name = std::move(name),
          .title = "A title",
          .description = "A description",
          .input = any_object,
          .output = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})",
          .hints = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
          .runs = runs,
          .act = std::move(act)};
}

inline refusal no(const std::string& path) {
  return refusal{.error = code::outside_workspace,
                 .op = operation::read,
                 .path = path,
                 .resolved = {},
                 .boundary = "/w",
                 .detail = {}};
}

/// Waits until it is cancelled; counts who waits, and who was let go.
struct waiting_room {
  std::atomic<int> inside{0};
  std::atomic<int> cancelled{0};

  tool_result wait(const tool_call& call) {
    ++inside;
    while (!call.cancelled.stop_requested()) std::this_thread::sleep_for(1ms);
    ++cancelled;
    return done("too late", {{"n", 0}});
  }
};

inline client::tool_list tools_with(waiting_room& room) {
  return [&room](const session&) {
    return std::vector{
        made("quick", pace::quick, [](const tool_call& call) { return done("quick", call.arguments); }),
        made("file", pace::file, [](const tool_call&) { return done("file", {{"n", 1}}); }),
        made("large", pace::file,
             [](const tool_call&) { return done(std::string(std::size_t{1} << 20, 'x'), {{"n", 1}}); }),
        made("wait", pace::command, [&room](const tool_call& call) { return room.wait(call); }),
        made("wait_file", pace::file, [&room](const tool_call& call) { return room.wait(call); }),
        made("refuse", pace::quick, [](const tool_call&) { return not_done(no("../x")); }),
        made("throw", pace::file,
             [](const tool_call&) -> tool_result { throw std::runtime_error{"a secret"}; }),
        made("taint", pace::quick,
             [](const tool_call& call) {
               call.now.take_in(taint::private_data);
               return done("", {{"n", 1}});
             }),
        made("ask", pace::quick,
             [](const tool_call& call) {
               const auto why = call.person.refuses({.about = "/x", .text = call.arguments.value("text", "May it?")});
               return done(why.value_or("yes"), {{"n", 1}});
             }),
        made("progress", pace::file, [](const tool_call& call) {
          for (int i = 1; i <= 3 && call.progress; ++i) call.progress(i, 3, "step");
          return done("", {{"n", call.progress ? 1 : 0}});
        })};
  };
}

inline void wait_until(const std::atomic<int>& count, int wanted) {
  for (int i = 0; i < 20'000 && count < wanted; ++i) std::this_thread::sleep_for(1ms);
  REQUIRE(count >= wanted);
}

inline int error_of(const json& answer) {
  return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
}

inline std::string text_of(const json& answer) {
  return answer["result"]["content"][0]["text"];
}

struct served {
  explicit served(std::function<void(session_settings&)> change = {}, audit_sink* log = nullptr)
      : here{std::move(change)}, peer{here.now(), tools_with(room), log} {}
  ground here;
  waiting_room room;
  client peer;
};

}  // namespace pinfold_test
