// The server at the other end of a pipe: revisions, messages, batches, and how tools are told of.
#include <string>

#include <nlohmann/json.hpp>

#include "server_ground.hpp"

using namespace pinfold_test;

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
  for (const auto* method : {"server/discover", "tools/list", "tools/call", "resources/list", "logging/setLevel"}) {
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
