// The message layer of `pinfold mcp`: whatever a client sends, each request gets exactly one answer, each
// answer is one of JSON-RPC, and how the bytes were cut on their way changes nothing.
#include <array>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "mcp/client.hpp"
#include "mcp/oracle.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {
namespace {

using json = nlohmann::ordered_json;

/// Before the stream: nothing, or a session of one of the revisions, so that what comes behind it is
/// reached by every input.
constexpr std::array<std::string_view, 6> openings{
    "", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"};

std::string opening_of(std::string_view version) {
  if (version.empty()) return {};
  return R"({"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":")" +
         std::string{version} + "\"}}\n";
}

/// The answer that stands in one message of the server; nothing where it is a notification.
std::optional<awaited> answer_in(const json& message, std::string_view line) {
  must(message.is_object() && message.value("jsonrpc", json()) == "2.0",
       "the server's messages are JSON-RPC 2.0", quoted(line));
  if (message.contains("method")) {
    must(message["method"].is_string() && !message.contains("id") && !message.contains("result") &&
             !message.contains("error"),
         "what is no answer is a notification", quoted(line));
    return std::nullopt;
  }
  must(message.contains("id"), "an answer has an id", quoted(line));
  const auto& id = message["id"];
  must(id.is_string() || id.is_number_integer() || id.is_null(), "an id is a string or a number",
       quoted(line));
  must(message.contains("result") != message.contains("error") && message.size() == 3,
       "an answer has a result or an error and nothing else", quoted(line));
  if (message.contains("result")) {
    must(message["result"].is_object() && !id.is_null(), "a result is an object", quoted(line));
    return awaited{id.dump(), std::nullopt};
  }
  const auto& error = message["error"];
  must(error.is_object() && error.value("code", json()).is_number_integer() &&
           error.value("message", json()).is_string(),
       "an error has a code and a message", quoted(line));
  return awaited{id.dump(), error["code"].get<int>()};
}

awaited_line answers_in(std::string_view line) {
  const auto value = json::parse(line, nullptr, false);
  must(!value.is_discarded(), "what the server says is JSON", quoted(line));
  awaited_line all{{}, value.is_array()};
  const auto add = [&](const json& message) {
    if (auto answer = answer_in(message, line)) all.answers.push_back(std::move(*answer));
  };
  if (!value.is_array()) {
    add(value);
    return all;
  }
  must(!value.empty(), "an array of answers is not empty", quoted(line));
  for (const auto& one : value) add(one);
  must(all.answers.size() == value.size(), "an array holds answers alone", quoted(line));
  return all;
}

void check_line(const awaited_line& wanted, const awaited_line& given, std::string_view stream) {
  must(wanted.is_batch == given.is_batch && wanted.answers.size() == given.answers.size(),
       "a line is answered by one answer, a batch by one array", pinfold_fuzz::quoted(stream));
  for (std::size_t i = 0; i < wanted.answers.size(); ++i) {
    must(wanted.answers[i].id == given.answers[i].id, "each request gets its answer, in order",
         pinfold_fuzz::quoted(stream) + " wants " + wanted.answers[i].id + ", got " + given.answers[i].id);
    must(!wanted.answers[i].code || wanted.answers[i].code == given.answers[i].code,
         "an error has the code that the specification asks for", pinfold_fuzz::quoted(stream));
  }
}

void check_answers(std::string_view stream, std::string_view output) {
  const auto wanted = answers_to(stream);
  std::size_t count = 0;
  while (!output.empty()) {
    const auto end = output.find('\n');
    must(end != std::string_view::npos, "every line of the server is finished", pinfold_fuzz::quoted(stream));
    const auto given = answers_in(output.substr(0, end));
    output.remove_prefix(end + 1);
    if (given.answers.empty()) continue;
    must(count < wanted.size(), "nothing is answered that was not asked", pinfold_fuzz::quoted(stream));
    check_line(wanted[count++], given, stream);
  }
  must(count == wanted.size(), "every request is answered", pinfold_fuzz::quoted(stream));
}

}  // namespace

void try_input(std::span<const std::uint8_t> input) {
  bytes rest{input.first(std::min(input.size(), std::size_t{16} << 10))};
  auto stream = opening_of(rest.one_of(openings));
  const auto pieces = rest.text();
  while (!rest.is_empty()) stream += static_cast<char>(rest.byte());
  std::vector<std::size_t> cuts;
  std::size_t at = 0;
  for (const auto step : pieces) {
    at += static_cast<unsigned char>(step);
    if (at < stream.size() && cuts.size() < 60) cuts.push_back(at);
  }
  const auto whole = serve(stream, {});
  must(whole.begun == whole.ended, "each call that began has ended", pinfold_fuzz::quoted(stream));
  check_answers(stream, whole.output);
  const auto cut = serve(stream, cuts);
  must(cut.output == whole.output, "how the bytes are cut changes nothing", pinfold_fuzz::quoted(stream));
}

}  // namespace pinfold_fuzz
