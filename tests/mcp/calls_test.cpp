// Calls of the server: what runs beside what, what is cancelled, and what a call is told of meanwhile.
#include <future>
#include <map>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "server_ground.hpp"

using namespace pinfold_test;

TEST_CASE("calls that wait block no file call, no quick call and no ping") {
  served on;
  on.peer.initialize();
  for (int i = 0; i < 40; ++i) on.peer.call(100 + i, "wait");  // more than there are threads
  wait_until(on.room.inside, static_cast<int>(server::command_threads));
  on.peer.call(1, "quick");
  CHECK(on.peer.next()["id"] == 1);
  on.peer.call(2, "file");
  CHECK(on.peer.next()["id"] == 2);
  on.peer.ask(3, "ping");
  CHECK(on.peer.next()["id"] == 3);
  CHECK(on.room.inside == static_cast<int>(server::command_threads));
}

TEST_CASE("an id in flight is not taken twice; afterwards it may come again") {
  served on;
  on.peer.initialize();
  on.peer.call(1, "wait");
  wait_until(on.room.inside, 1);
  for (const auto* method : {"ping", "tools/call", "tools/list"}) {
    on.peer.ask(1, method, {{"name", "quick"}});
    CHECK(error_of(on.peer.next()) == -32600);
  }
  on.peer.ask("1", "ping");  // a text is another id
  CHECK(on.peer.next()["id"] == "1");
  on.peer.notify("notifications/cancelled", {{"requestId", 1}});
  wait_until(on.room.cancelled, 1);
  json again;
  for (int i = 0; i < 1000; ++i) {  // the call ends on its own thread
    on.peer.ask(1, "ping");
    again = on.peer.next();
    if (again.contains("result")) break;
    std::this_thread::sleep_for(1ms);
  }
  CHECK(again["result"] == json::object());
}

TEST_CASE("a cancelled call gets no answer, whether it runs or waits for a thread") {
  served on;
  on.peer.initialize();
  for (int i = 0; i < 8; ++i) on.peer.call(100 + i, "wait");
  wait_until(on.room.inside, 8);
  on.peer.call(200, "wait");  // there is no thread for it
  on.peer.notify("notifications/cancelled", {{"requestId", 200}});
  on.peer.notify("notifications/cancelled", {{"requestId", "nothing"}});
  on.peer.notify("notifications/cancelled");
  for (int i = 0; i < 8; ++i) on.peer.notify("notifications/cancelled", {{"requestId", 100 + i}});
  wait_until(on.room.cancelled, 8);
  on.peer.ask(1, "ping");
  CHECK(on.peer.next()["id"] == 1);
  CHECK(on.peer.next(200).is_null());
  CHECK(on.room.inside == 8);
}

TEST_CASE("the end of the input, an interruption and a client that is gone end every call") {
  for (const auto how : {0, 1}) {
    served on;
    on.peer.initialize();
    for (int i = 0; i < 20; ++i) on.peer.call(i + 1, i % 2 == 0 ? "wait" : "wait_file");
    wait_until(on.room.inside, 12);
    if (how == 0) on.peer.hang_up();
    if (how == 1) on.peer.interrupt();
    on.peer.join();
    CHECK(on.room.inside == on.room.cancelled);
  }
}

TEST_CASE("questions that nobody answers hold up no file call; only so many are put") {
  served on{[](session_settings& settings) { settings.defaults.present = mode::ask; }};
  on.peer.initialize("2025-11-25", {{"elicitation", json::object()}});
  for (int i = 0; i < 8; ++i) on.peer.call(100 + i, "ask");
  for (int i = 0; i < 8; ++i) CHECK(on.peer.next(3000)["method"] == "elicitation/create");
  on.peer.call(1, "file");
  CHECK(on.peer.next(3000)["id"] == 1);
  constexpr auto most = static_cast<int>(questions::most_open);
  for (int i = 8; i < most; ++i) on.peer.call(100 + i, "ask");
  for (int i = 8; i < most; ++i) CHECK(on.peer.next(3000)["method"] == "elicitation/create");
  on.peer.call(2, "ask");
  CHECK(text_of(on.peer.answer(2)) == "too many questions wait for an answer");
  on.peer.call(3, "file");
  CHECK(on.peer.next(3000)["id"] == 3);
}

TEST_CASE("a client that closed its end and reads nothing keeps no call alive") {
  served on;
  on.peer.initialize();
  on.peer.call(1, "wait");
  wait_until(on.room.inside, 1);
  on.peer.call(2, "quick", {{"n", std::string(std::size_t{1} << 20, 'x')}});  // more than a pipe takes
  std::this_thread::sleep_for(100ms);
  on.peer.hang_up();
  auto ended = std::async(std::launch::async, [&] { on.peer.join(); });
  const bool is_in_time = ended.wait_for(3s) == std::future_status::ready;
  if (!is_in_time) on.peer.interrupt();
  ended.get();
  CHECK(is_in_time);
  CHECK(on.room.cancelled == 1);
}

TEST_CASE("what a client that closed its end still reads at once is written whole") {
  served on;
  on.peer.initialize();
  on.peer.call(1, "quick", {{"n", std::string(std::size_t{1} << 20, 'x')}});
  on.peer.hang_up();
  CHECK(on.peer.answer(1)["result"]["structuredContent"]["n"].get<std::string>().size() == 1 << 20);
}

TEST_CASE("what waits for the rest of its batch is bounded; every call gets an answer") {
  served on;
  on.peer.initialize("2025-03-26");
  json batch = json::array();
  const auto add = [&](int id, const char* tool) {
    batch.push_back(
        {{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", {{"name", tool}}}});
  };
  add(0, "wait");
  for (int i = 1; i <= 60; ++i) add(i, "large");
  on.peer.send(batch);
  wait_until(on.room.inside, 1);
  on.peer.notify("notifications/cancelled", {{"requestId", 0}});
  const auto all = on.peer.next();
  REQUIRE(all.size() == 60);
  std::size_t whole = 0;
  for (const auto& one : all) {
    if (one.contains("result")) ++whole;
    else CHECK(error_of(one) == -32603);
  }
  CHECK(whole >= 25);
  CHECK(whole * (1 << 20) <= server::most_held);
  on.peer.call(61, "large");  // what was held is free again
  CHECK(on.peer.answer(61).contains("result"));
}

TEST_CASE("what the values of waiting calls take in memory is bounded too") {
  served on;
  on.peer.initialize();
  for (int i = 0; i < 8; ++i) on.peer.call(100 + i, "wait");
  wait_until(on.room.inside, 8);
  json many = json::array();
  for (int i = 0; i < 8000; ++i) many.push_back(json::object());
  for (int i = 0; i < 40; ++i) on.peer.call(i + 1, "wait", {{"n", many}});
  const auto first = on.peer.next(3000);
  CHECK(first["result"]["structuredContent"]["refusal"]["error"] == "ResourceExhausted");
}

TEST_CASE("more calls than may wait are refused as a result, and none of them is lost") {
  served on;
  on.peer.initialize();
  constexpr int most = 1024 + static_cast<int>(server::command_threads);
  std::thread writer{[&] {
    for (int i = 0; i < most + 10; ++i) on.peer.call(i + 1, "wait");
  }};
  const auto first = on.peer.next();
  CHECK(first["result"]["structuredContent"]["refusal"]["error"] == "ResourceExhausted");
  writer.join();
}

TEST_CASE("progress is told to who asked for it, in order, and not after the answer") {
  served on;
  on.peer.initialize();
  on.peer.call(1, "progress");
  CHECK(on.peer.answer(1)["result"]["structuredContent"]["n"] == 0);
  CHECK(on.peer.others.empty());
  for (const json& token : {json("t"), json(7)}) {
    on.peer.others.clear();
    on.peer.ask(2, "tools/call", {{"name", "progress"}, {"_meta", {{"progressToken", token}}}});
    CHECK(on.peer.answer(2)["result"]["structuredContent"]["n"] == 1);
    REQUIRE(on.peer.others.size() == 3);
    for (int i = 0; i < 3; ++i) {
      const auto& told = on.peer.others[static_cast<std::size_t>(i)];
      CHECK(told["method"] == "notifications/progress");
      CHECK(told["params"]["progressToken"] == token);
      CHECK(told["params"]["progress"] == i + 1);
      CHECK(told["params"]["total"] == 3);
    }
  }
}

TEST_CASE("a question is withdrawn when its call is cancelled, and nobody is asked before initialized") {
  served on{[](session_settings& settings) { settings.defaults.present = mode::ask; }};
  on.peer.ask(0, "initialize", {{"protocolVersion", "2025-11-25"},
                                {"capabilities", {{"elicitation", json::object()}}}});
  on.peer.answer(0);
  on.peer.call(1, "ask");
  CHECK(text_of(on.peer.answer(1)).contains("not said that it is initialized"));
  on.peer.notify("notifications/initialized");
  on.peer.call(2, "ask");
  const auto question = on.peer.next();
  on.peer.notify("notifications/cancelled", {{"requestId", 2}});
  const auto withdrawn = on.peer.next();
  CHECK(withdrawn["method"] == "notifications/cancelled");
  CHECK(withdrawn["params"]["requestId"] == question["id"]);
  on.peer.ask(3, "ping");
  CHECK(on.peer.next()["id"] == 3);
}
