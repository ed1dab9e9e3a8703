// The message layer: what each line is taken for, and the error for what is no message.
#include "mcp/message.hpp"

#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace pinfold::mcp;
using pinfold::json;

namespace {

message only(std::string_view line, batches allowed = batches::refused) {
  auto parsed = parse_line(line, allowed);
  REQUIRE(parsed.messages.size() == 1);
  return std::move(parsed.messages.front());
}

malformed bad(std::string_view line, batches allowed = batches::refused) {
  auto one = only(line, allowed);
  REQUIRE(std::holds_alternative<malformed>(one));
  return std::get<malformed>(one);
}

std::string nested(unsigned depth) {
  return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + std::string(depth, '[') +
         std::string(depth, ']') + "}}";
}

}  // namespace

TEST_CASE("a request has an id, a method and the parameters as they came") {
  const auto one = std::get<request>(
      only(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}})"));
  CHECK(std::get<std::string>(one.id) == "a");
  CHECK(one.method == "tools/call");
  REQUIRE(one.params);
  CHECK((*one.params)["name"] == "x");
  CHECK(std::get<request>(only(R"({"jsonrpc":"2.0","id":-7,"method":"ping"})")).params == nullptr);
}

TEST_CASE("without an id it is a notification, with a result or an error an answer") {
  CHECK(std::get<notification>(only(R"({"jsonrpc":"2.0","method":"n"})")).method == "n");
  const auto good = std::get<response>(only(R"({"jsonrpc":"2.0","id":"p","result":{"a":1}})"));
  CHECK_FALSE(good.is_error);
  CHECK((*good.body)["a"] == 1);
  CHECK(std::get<response>(only(R"({"jsonrpc":"2.0","id":"p","error":{"code":1}})")).is_error);
}

TEST_CASE("what is no JSON is a parse error with a null id") {
  for (const auto* line : {"", "{", "nonsense", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} x",
                           "{\"a\":\"\xff\"}", "{\"a\":\"\x01\"}", "\xef\xbb\xbf{}x", "'a'", "[1,"}) {
    INFO(line);
    const auto found = bad(line);
    CHECK(found.error == error_number::parse_error);
    CHECK_FALSE(found.id);
  }
}

TEST_CASE("a message with more values than any has is too large, wherever they stand") {
  const auto with = [](std::size_t values, const std::string& one) {
    std::string line = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[)";
    for (std::size_t i = 0; i < values; ++i) line += (i == 0 ? "" : ",") + one;
    return line + "]}}";
  };
  for (const std::string one : {"{}", "[]", "0", "\"\""}) {
    INFO(one);
    const auto found = bad(with(most_values, one));
    CHECK(found.error == error_number::invalid_request);
    CHECK(found.why.contains(std::to_string(most_values)));
    CHECK(std::holds_alternative<request>(only(with(most_values / 4, one))));
  }
  CHECK(std::holds_alternative<request>(only(with(1, '"' + std::string(most_values, ',') + '"'))));
}

TEST_CASE("what is JSON and no message is an invalid request") {
  for (const auto* line :
       {"1", "null", "\"text\"", "{}", R"({"jsonrpc":"2.0"})", R"({"jsonrpc":"2.0","id":null,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", R"({"jsonrpc":"2.0","id":{},"method":"m"})",
        R"({"jsonrpc":"2.0","id":true,"method":"m"})",
        R"({"jsonrpc":"2.0","id":9223372036854775808,"method":"m"})",
        R"({"jsonrpc":"2.0","result":{}})"}) {
    INFO(line);
    const auto found = bad(line);
    CHECK(found.error == error_number::invalid_request);
    CHECK_FALSE(found.id);
  }
}

TEST_CASE("an error keeps the id where the id is sound") {
  for (const auto* line :
       {R"({"id":1,"method":"m"})", R"({"jsonrpc":"1.0","id":1,"method":"m"})",
        R"({"jsonrpc":2.0,"id":1,"method":"m"})", R"({"jsonrpc":"2.0","id":1,"method":7})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})"}) {
    INFO(line);
    const auto found = bad(line);
    CHECK(found.error == error_number::invalid_request);
    REQUIRE(found.id);
    CHECK(std::get<std::int64_t>(*found.id) == 1);
  }
}

TEST_CASE("ids reach from the least to the greatest number, and texts to a bound") {
  const auto with_id = [](const std::string& id) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"m"})";
  };
  for (const auto* id : {"9223372036854775807", "-9223372036854775808", "0", "\"\""}) {
    CHECK(std::holds_alternative<request>(only(with_id(id))));
  }
  CHECK(std::holds_alternative<request>(only(with_id('"' + std::string(most_id, 'x') + '"'))));
  CHECK(bad(with_id('"' + std::string(most_id + 1, 'x') + '"')).error ==
        error_number::invalid_request);
}

TEST_CASE("nesting has a bound, which brackets in a string do not reach") {
  CHECK(std::holds_alternative<request>(only(nested(most_depth - 2))));
  CHECK(bad(nested(most_depth - 1)).error == error_number::parse_error);
  CHECK(bad(std::string(1'000'000, '[')).error == error_number::parse_error);
  CHECK(std::holds_alternative<request>(
      only(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\")" + std::string(500, '[') + R"("}})")));
}

TEST_CASE("a line that is longer than a message may be is not parsed") {
  const std::string start = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":")";
  const std::string end = "\"}}";
  const auto room = most_message - start.size() - end.size();
  CHECK(std::holds_alternative<request>(only(start + std::string(room, 'x') + end)));
  CHECK(bad(start + std::string(room + 1, 'x') + end).error == error_number::invalid_request);
}

TEST_CASE("batches are taken where the revision has them, and each message is judged by itself") {
  const auto* batch = R"([{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"n"},7])";
  CHECK(bad(batch).error == error_number::invalid_request);
  const auto parsed = parse_line(batch, batches::taken);
  CHECK(parsed.is_batch);
  REQUIRE(parsed.messages.size() == 3);
  CHECK(std::holds_alternative<request>(parsed.messages[0]));
  CHECK(std::holds_alternative<notification>(parsed.messages[1]));
  CHECK(std::holds_alternative<malformed>(parsed.messages[2]));
  CHECK(bad("[]", batches::taken).error == error_number::invalid_request);
  std::string many = "[1";
  for (std::size_t i = 0; i < most_batch; ++i) many += ",1";
  CHECK(bad(many + "]", batches::taken).error == error_number::invalid_request);
}

TEST_CASE("lines to send are JSON on one line, whatever stands in them") {
  const auto line = result_line(request_id{"a\n\"\xff"}, "{}");
  CHECK_FALSE(line.contains('\n'));
  CHECK(json::parse(line)["id"] == "a\n\"\xef\xbf\xbd");
  const auto error = json::parse(error_line(std::nullopt, error_number::parse_error, "why\n"));
  CHECK(error["id"].is_null());
  CHECK(error["error"]["code"] == -32700);
  CHECK(error["error"]["message"] == "why\n");
}
