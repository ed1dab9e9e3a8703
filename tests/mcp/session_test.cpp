// What the server's session tells and asks: its log, labels, the resource, a person, the audit log.
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server_ground.hpp"

using namespace pinfold_test;

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

TEST_CASE("what an agent wrote into a question turns no line round and obeys no terminal") {
  served on{[](session_settings& settings) { settings.defaults.present = mode::ask; }};
  on.peer.initialize("2025-11-25", {{"elicitation", json::object()}});
  on.peer.call(1, "ask", {{"text", "May \u202e\u2066\u2028\u009b\x1b[2J\n it? \u00e4"}});
  CHECK(on.peer.next()["params"]["message"] ==
        "May \\u{202e}\\u{2066}\\u{2028}\\u{009b}\\x1b[2J\\x0a it? \u00e4");
}

TEST_CASE("the first answer to a question counts: no later one makes a yes of a no") {
  served on{[](session_settings& settings) { settings.defaults.present = mode::ask; }};
  on.peer.initialize("2025-11-25", {{"elicitation", json::object()}});
  for (int i = 1; i <= 100; ++i) {
    on.peer.call(i, "ask");
    const auto question = on.peer.next();
    const auto answer = [&](const char* action) {
      return json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", {{"action", action}}}}.dump();
    };
    on.peer.send_text(answer("decline") + '\n' + answer("accept"));
    REQUIRE(text_of(on.peer.answer(i)) == "the person declined");
  }
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
  std::optional<refusal> ended(const call_ended& call) override {
    const std::lock_guard locked{lock};
    lines.push_back("ended " + std::to_string(call.number) + " " +
                    std::to_string(static_cast<int>(call.how)));
    return loses_ends ? std::optional{no("end")} : std::nullopt;
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

TEST_CASE("a call that cannot be written down is not done, and the client is told once until it works again") {
  test_log log;
  served on{{}, &log};
  on.peer.initialize();
  log.is_full = true;
  on.peer.call(1, "wait");
  CHECK(on.peer.answer(1)["result"]["isError"] == true);
  on.peer.call(2, "quick");
  CHECK(on.peer.answer(2)["result"]["isError"] == true);
  CHECK(on.room.inside == 0);
  REQUIRE(on.peer.others.size() == 1);
  CHECK(on.peer.others[0]["params"]["level"] == "error");
  CHECK(on.peer.others[0]["params"]["data"] == no("log").message());
  log.is_full = false;
  log.loses_ends = true;
  on.peer.others.clear();
  on.peer.call(3, "quick");
  CHECK(text_of(on.peer.answer(3)) == "quick");
  REQUIRE(on.peer.others.size() == 1);
  CHECK(on.peer.others[0]["params"]["data"] == no("end").message());
  log.is_full = true;
  on.peer.call(4, "quick");
  CHECK(on.peer.answer(4)["result"]["isError"] == true);
  CHECK(on.peer.others.size() == 1);
}
