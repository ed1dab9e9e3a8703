// The server at the other end of a pipe: what it answers to whom, and when; with tools made for that.
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "ground.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace pinfold;
using namespace pinfold::mcp;
using pinfold_test::client;
using pinfold_test::ground;

namespace {

constexpr auto any_object = R"({"type":"object"})";

tool made(std::string name, pace runs, std::function<tool_result(const tool_call&)> act) {
  return {.name = std::move(name),
          .title = "A title",
          .description = "A description",
          .input = any_object,
          .output = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})",
          .hints = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
          .runs = runs,
          .act = std::move(act)};
}

refusal no(const std::string& path) {
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

client::tool_list tools_with(waiting_room& room) {
  return [&room](const session&) {
    return std::vector{
        made("quick", pace::quick, [](const tool_call& call) { return done("quick", call.arguments); }),
        made("file", pace::file, [](const tool_call&) { return done("file", {{"n", 1}}); }),
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
               const auto why = call.person.refuses("May it?");
               return done(why.value_or("yes"), {{"n", 1}});
             }),
        made("progress", pace::file, [](const tool_call& call) {
          for (int i = 1; i <= 3 && call.progress; ++i) call.progress(i, 3, "step");
          return done("", {{"n", call.progress ? 1 : 0}});
        })};
  };
}

void wait_until(const std::atomic<int>& count, int wanted) {
  for (int i = 0; i < 20'000 && count < wanted; ++i) std::this_thread::sleep_for(1ms);
  REQUIRE(count >= wanted);
}

int error_of(const json& answer) {
  return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
}

std::string text_of(const json& answer) {
  return answer["result"]["content"][0]["text"];
}

struct served {
  explicit served(std::function<void(session_settings&)> change = {}, audit_sink* log = nullptr)
      : here{std::move(change)}, peer{here.now(), tools_with(room), log} {}
  ground here;
  waiting_room room;
  client peer;
};

}  // namespace

TEST_CASE("the revision is the client's where it is known, else the newest") {
  const std::map<std::string, std::string> rows{{"2024-11-05", "2024-11-05"},
                                                {"2025-03-26", "2025-03-26"},
                                                {"2025-06-18", "2025-06-18"},
                                                {"2025-11-25", "2025-11-25"},
                                                {"2031-01-01", "2025-11-25"},
                                                {"", "2025-11-25"}};
  for (const auto& [asked, given] : rows) {
    served on;
    const auto greeting = on.peer.initialize(asked);
    CHECK(greeting["result"]["protocolVersion"] == given);
    CHECK(greeting["result"]["serverInfo"]["name"] == "pinfold");
    CHECK(greeting["result"]["instructions"].get<std::string>().contains(on.here.workspace()));
  }
}

TEST_CASE("before initialize only ping and initialize are answered") {
  served on;
  for (const auto* method : {"tools/list", "tools/call", "resources/list", "logging/setLevel"}) {
    on.peer.ask(1, method);
    CHECK(error_of(on.peer.answer(1)) == -32600);
  }
  on.peer.ask(2, "ping");
  CHECK(on.peer.answer(2)["result"] == json::object());
  on.peer.ask(3, "initialize");
  CHECK(error_of(on.peer.answer(3)) == -32602);
  CHECK(on.peer.initialize().contains("result"));
  on.peer.ask(4, "initialize", {{"protocolVersion", "2025-11-25"}});
  CHECK(error_of(on.peer.answer(4)) == -32600);
}

TEST_CASE("bad input is answered with its error, and the server lives on") {
  served on;
  on.peer.initialize();
  struct row {
    std::string line;
    int error;
  };
  const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"tools/call")";
  for (const auto& [line, error] : {
           row{"nonsense", -32700},
           row{std::string(10'000, '['), -32700},
           row{"[]", -32600},
           row{R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600},
           row{R"({"jsonrpc":"2.0","id":1,"method":"nothing/such"})", -32601},
           row{R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}})", -32601},
           row{call + "}", -32602},
           row{call + R"(,"params":{"name":"nothing"}})", -32602},
           row{call + R"(,"params":{"name":7}})", -32602},
           row{call + R"(,"params":{"name":"quick","arguments":[]}})", -32602},
           row{R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})", -32602},
           row{R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}})", -32602},
           row{R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}})", -32002},
           row{R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{}})", -32002},
       }) {
    INFO(line);
    on.peer.send_text(line);
    CHECK(error_of(on.peer.next()) == error);
  }
  on.peer.send_text("\n  \r");
  on.peer.notify("notifications/nothing");
  on.peer.send({{"jsonrpc", "2.0"}, {"id", "never asked"}, {"result", json::object()}});
  on.peer.ask(2, "ping");
  CHECK(on.peer.next()["id"] == 2);
}

TEST_CASE("an oversized message is read over, and the next one is answered") {
  served on;
  on.peer.initialize();
  std::thread writer{[&] {
    on.peer.send_text(std::string(3 * most_message, 'x'));
    on.peer.ask(1, "ping");
  }};
  const auto error = on.peer.next();
  CHECK(error_of(error) == -32600);
  CHECK(error["id"].is_null());
  CHECK(on.peer.next()["id"] == 1);
  writer.join();
}

TEST_CASE("a batch is answered with one array, where the revision has batches") {
  served on;
  on.peer.initialize("2025-03-26");
  on.peer.send_text(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},)"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"file"}},8,)"
      R"({"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}])");
  const auto all = on.peer.next();
  REQUIRE(all.is_array());
  std::map<std::string, json> answers;
  for (const auto& one : all) answers[one["id"].dump()] = one;
  REQUIRE(answers.size() == 4);
  CHECK(answers["1"]["result"] == json::object());
  CHECK(text_of(answers["2"]) == "file");
  CHECK(error_of(answers["3"]) == -32600);
  CHECK(error_of(answers["null"]) == -32600);
  on.peer.send_text(R"([{"jsonrpc":"2.0","method":"notifications/x"}])");  // nothing to answer
  on.peer.ask(4, "ping");
  CHECK(on.peer.next()["id"] == 4);
}

TEST_CASE("a cancelled request of a batch is left out of its answer") {
  served on;
  on.peer.initialize("2025-03-26");
  on.peer.send_text(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}},)"
                    R"({"jsonrpc":"2.0","id":2,"method":"ping"}])");
  wait_until(on.room.inside, 1);
  on.peer.notify("notifications/cancelled", {{"requestId", 1}});
  const auto all = on.peer.next();
  REQUIRE(all.size() == 1);
  CHECK(all[0]["id"] == 2);
}

TEST_CASE("a tool is listed as the revision has it, and a refusal fits its output schema") {
  for (const auto* version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    served on;
    on.peer.initialize(version);
    on.peer.ask(1, "tools/list");
    const auto first = on.peer.answer(1)["result"]["tools"][0];
    const bool has_output = std::string_view{version} >= "2025-06-18";
    CHECK(first["name"] == "quick");
    CHECK(first["inputSchema"]["type"] == "object");
    CHECK(first.contains("annotations") == (std::string_view{version} >= "2025-03-26"));
    CHECK(first.contains("outputSchema") == has_output);
    on.peer.call(2, "refuse");
    const auto refused = on.peer.answer(2)["result"];
    CHECK(refused["isError"] == true);
    CHECK(refused.contains("structuredContent") == has_output);
    const auto& texts = refused["content"];
    CHECK(texts[0]["text"] == no("../x").message());
    CHECK(json::parse(texts[1]["text"].get<std::string>())["refusal"]["error"] == "OutsideWorkspace");
    if (!has_output) continue;
    CHECK(first["annotations"]["readOnlyHint"] == true);
    CHECK(first["annotations"]["idempotentHint"] == true);
    CHECK(first["annotations"]["destructiveHint"] == false);
    CHECK(first["annotations"]["openWorldHint"] == false);
    CHECK(refused["structuredContent"]["refusal"]["remedy"] == "use_path_inside");
    CHECK_FALSE(first["outputSchema"].contains("required"));
    CHECK(first["outputSchema"]["anyOf"][0]["required"][0] == "n");
    CHECK(first["outputSchema"]["anyOf"][1]["required"][0] == "refusal");
    on.peer.call(3, "quick", {{"n", 5}});
    const auto good = on.peer.answer(3)["result"];
    CHECK(good["structuredContent"]["n"] == 5);
    CHECK_FALSE(good.contains("isError"));
  }
}

TEST_CASE("a tool that throws is an internal error that tells nothing, and the server lives on") {
  served on;
  on.peer.initialize();
  on.peer.call(1, "throw");
  const auto answer = on.peer.answer(1);
  CHECK(error_of(answer) == -32603);
  CHECK_FALSE(answer.dump().contains("secret"));
  on.peer.call(2, "file");
  CHECK(text_of(on.peer.answer(2)) == "file");
}

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

TEST_CASE("log messages below the level are not sent") {
  served on;
  on.peer.initialize();
  const auto messages_of = [&](const std::string& level) {
    on.peer.ask(1, "logging/setLevel", {{"level", level}});
    on.peer.answer(1);
    on.peer.others.clear();
    on.peer.call(2, "refuse");
    on.peer.answer(2);
    return on.peer.others.size();
  };
  CHECK(messages_of("warning") == 0);
  CHECK(messages_of("info") == 1);
  CHECK(on.peer.others[0]["params"]["level"] == "info");
  CHECK(messages_of("emergency") == 0);
}

TEST_CASE("new labels are told, and that the descriptions changed with the network") {
  served on{[](session_settings& settings) { settings.defaults.open = gate::untainted; }};
  on.peer.initialize();
  on.peer.ask(1, "resources/subscribe", {{"uri", "pinfold://grant"}});
  on.peer.answer(1);
  on.peer.ask(2, "logging/setLevel", {{"level", "notice"}});
  on.peer.answer(2);
  on.peer.call(3, "taint");
  on.peer.answer(3);
  std::set<std::string> told;
  for (const auto& one : on.peer.others) told.insert(one["method"].get<std::string>());
  CHECK(told == std::set<std::string>{"notifications/message", "notifications/tools/list_changed",
                                      "notifications/resources/updated"});
  on.peer.others.clear();
  on.peer.call(4, "taint");  // nothing new
  on.peer.answer(4);
  CHECK(on.peer.others.empty());
}

TEST_CASE("the resource shows the grant, the labels and the last decisions") {
  served on{[](session_settings& settings) {
    settings.defaults.open = gate::guarded;
    settings.defaults.labels = taint::untrusted_content;
  }};
  on.peer.initialize();
  on.peer.ask(1, "resources/list");
  CHECK(on.peer.answer(1)["result"]["resources"][0]["uri"] == "pinfold://grant");
  on.here.now().note({{.call = 9,
                       .tool = "read_file",
                       .op = operation::read,
                       .asked = "../x\xff",
                       .canonical = "/x",
                       .says = verdict::refuse,
                       .why = code::outside_workspace}});
  on.peer.ask(2, "resources/read", {{"uri", "pinfold://grant"}});
  const auto shown = json::parse(on.peer.answer(2)["result"]["contents"][0]["text"].get<std::string>());
  CHECK(shown["workspace"] == std::filesystem::canonical(on.here.workspace()).string());
  CHECK(shown["carve_outs"][0]["path"] == ".efferent");
  CHECK(shown["taint"] == json::array({"untrusted_content"}));
  CHECK(shown["network"] == "allow");
  CHECK(shown["gate"] == "guarded");
  const auto& last = shown["decisions"][0];
  CHECK(last["call"] == 9);
  CHECK(last["verdict"] == "refuse");
  CHECK(last["reason"] == "OutsideWorkspace");
  CHECK(last["asked"] == "../x\xef\xbf\xbd");
  CHECK(last["asked_base64"] == "Li4veP8=");
}

TEST_CASE("a person is asked where the client can ask; the answer decides") {
  const auto in_mode_ask = [](session_settings& settings) { settings.defaults.present = mode::ask; };
  struct row {
    json capabilities;
    std::string version;
    json reply;
    std::string text;
  };
  const json forms{{"elicitation", json::object()}};
  const auto action = [](const char* name) { return json{{"result", {{"action", name}}}}; };
  for (const auto& [capabilities, version, reply, text] : {
           row{forms, "2025-11-25", action("accept"), "yes"},
           row{forms, "2025-06-18", action("accept"), "yes"},
           row{{{"elicitation", {{"form", json::object()}}}}, "2025-11-25", action("accept"), "yes"},
           row{forms, "2025-11-25", action("decline"), "the person declined"},
           row{forms, "2025-11-25", action("cancel"), "the person dismissed the question"},
           row{forms, "2025-11-25", action("ACCEPT"), "the client could not ask the person"},
           row{forms, "2025-11-25", {{"result", nullptr}}, "the client could not ask the person"},
           row{forms, "2025-11-25", {{"error", {{"code", -1}, {"message", ""}}}},
               "the client could not ask the person"},
           row{{{"elicitation", {{"url", json::object()}}}}, "2025-11-25", nullptr,
               "the client has no elicitation, so no person can be asked"},
           row{json::object(), "2025-11-25", nullptr,
               "the client has no elicitation, so no person can be asked"},
           row{forms, "2025-03-26", nullptr,
               "the client has no elicitation, so no person can be asked"},
       }) {
    INFO(capabilities.dump() + version + reply.dump());
    served on{in_mode_ask};
    on.peer.initialize(version, capabilities);
    on.peer.call(1, "ask");
    if (!reply.is_null()) {
      const auto question = on.peer.next();
      CHECK(question["method"] == "elicitation/create");
      CHECK(question["params"]["message"] == "May it?");
      CHECK(question["params"]["requestedSchema"]["type"] == "object");
      on.peer.ask(2, "ping");  // the reader is free meanwhile
      CHECK(on.peer.next()["id"] == 2);
      json answer{{"jsonrpc", "2.0"}, {"id", question["id"]}};
      answer.update(reply);
      on.peer.send(answer);
      on.peer.send(answer);  // a second answer changes nothing
    }
    CHECK(text_of(on.peer.answer(1)) == text);
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

namespace {

/// Remembers what it was told, and can be full.
struct test_log : audit_sink {
  std::optional<refusal> begins(const call_begun& call) override {
    const std::lock_guard locked{lock};
    if (is_full) return no("log");
    lines.push_back("begins " + std::to_string(call.number) + " " + std::string{call.tool});
    return std::nullopt;
  }
  bool ended(const call_ended& call) override {
    const std::lock_guard locked{lock};
    lines.push_back("ended " + std::to_string(call.number) + " " +
                    std::to_string(static_cast<int>(call.how)));
    return !loses_ends;
  }
  std::mutex lock;
  std::vector<std::string> lines;
  bool is_full{false};
  bool loses_ends{false};
};

}  // namespace

TEST_CASE("the log is told before a call begins and before it is answered") {
  test_log log;
  served on{{}, &log};
  on.peer.initialize();
  on.peer.call(1, "quick");
  on.peer.answer(1);
  on.peer.call(2, "refuse");
  on.peer.answer(2);
  on.peer.call(3, "throw");
  on.peer.answer(3);
  on.peer.call(4, "wait");
  wait_until(on.room.inside, 1);
  on.peer.notify("notifications/cancelled", {{"requestId", 4}});
  on.peer.hang_up();
  on.peer.join();
  CHECK(log.lines == std::vector<std::string>{"begins 1 quick", "ended 1 0", "begins 2 refuse",
                                              "ended 2 1", "begins 3 throw", "ended 3 3",
                                              "begins 4 wait", "ended 4 2"});
}

TEST_CASE("a call that cannot be written down is not done; after a lost end none is") {
  test_log log;
  served on{{}, &log};
  on.peer.initialize();
  log.is_full = true;
  on.peer.call(1, "wait");
  CHECK(on.peer.answer(1)["result"]["isError"] == true);
  CHECK(on.room.inside == 0);
  log.is_full = false;
  log.loses_ends = true;
  on.peer.call(2, "quick");
  CHECK(text_of(on.peer.answer(2)) == "quick");
  REQUIRE(on.peer.others.size() == 1);
  CHECK(on.peer.others[0]["params"]["level"] == "error");
  log.loses_ends = false;
  on.peer.call(3, "quick");
  const auto refused = on.peer.answer(3)["result"];
  CHECK(refused["structuredContent"]["refusal"]["error"] == "InputOutputError");
}
