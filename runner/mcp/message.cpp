// Parsed once, by the JSON library; what is checked here is what a message of JSON-RPC has to be.
#include "mcp/message.hpp"

#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/dumped.hpp"

namespace pinfold::mcp {
namespace {

struct shape {
  bool is_too_deep{false};
  std::size_t values{0};  ///< or more than there are: what could begin one is counted
};

/// Looked at before anything is parsed: the library writes and frees a value by recursion, and a value of
/// three bytes becomes a hundred. What stands in strings does not count; in text that is no JSON the counts
/// mean nothing.
shape shape_of(std::string_view text) noexcept {
  unsigned depth = 0;
  shape found;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      is_in_string = c != '"';
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most_depth) return {true, found.values};
      ++found.values;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',') {
      ++found.values;
    }
  }
  return found;
}

malformed no_message(std::optional<request_id> id, std::string why) {
  return {std::move(id), error_number::invalid_request, std::move(why)};
}

parsed_line one_error(error_number error, std::string why) {
  parsed_line parsed;
  parsed.messages.emplace_back(malformed{std::nullopt, error, std::move(why)});
  return parsed;
}

std::shared_ptr<json> taken_out(json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return nullptr;
  return std::make_shared<json>(std::move(*at));
}

message read_call(json& object, std::optional<request_id> id) {
  auto& method = object["method"];
  if (!method.is_string()) return no_message(std::move(id), "the method is not a string");
  auto params = taken_out(object, "params");
  if (params && !params->is_object()) {
    return no_message(std::move(id), "the parameters are not an object");
  }
  auto name = std::move(method.get_ref<std::string&>());
  if (!id) return notification{std::move(name), std::move(params)};
  return request{std::move(*id), std::move(name), std::move(params)};
}

message read_answer(json& object, std::optional<request_id> id) {
  const bool is_result = object.contains("result");
  const bool is_error = object.contains("error");
  if (!is_result && !is_error) {
    return no_message(std::move(id), "there is no method, no result and no error");
  }
  if (is_result && is_error) {
    return no_message(std::move(id), "there are a result and an error");
  }
  if (!id) return no_message(std::nullopt, "an answer needs the id of its request");
  return response{std::move(*id), is_error, taken_out(object, is_error ? "error" : "result")};
}

message read_message(json& value) {
  if (!value.is_object()) return no_message(std::nullopt, "a message is an object");
  std::optional<request_id> id;
  if (const auto at = value.find("id"); at != value.end()) {
    id = read_id(*at);
    if (!id) return no_message(std::nullopt, "an id is a whole number or a short string");
  }
  const auto version = value.find("jsonrpc");
  if (version == value.end() || *version != "2.0") {
    return no_message(std::move(id), "\"jsonrpc\" is not \"2.0\"");
  }
  if (value.contains("method")) return read_call(value, std::move(id));
  return read_answer(value, std::move(id));
}

parsed_line read_batch(json& all, batches allowed) {
  const auto refuse = [](std::string why) {
    return one_error(error_number::invalid_request, std::move(why));
  };
  if (allowed == batches::refused) return refuse("this revision of the protocol has no batches");
  if (all.empty()) return refuse("a batch holds at least one message");
  if (all.size() > most_batch) {
    return refuse("a batch holds at most " + std::to_string(most_batch) + " messages");
  }
  parsed_line parsed;
  parsed.is_batch = true;
  parsed.messages.reserve(all.size());
  for (auto& one : all) parsed.messages.push_back(read_message(one));
  return parsed;
}

}  // namespace

parsed_line parse_line(std::string_view line, batches allowed) {
  if (line.size() > most_message) {
    parsed_line parsed;
    parsed.messages.emplace_back(oversized());
    return parsed;
  }
  const auto found = shape_of(line);
  if (found.is_too_deep) {
    return one_error(error_number::parse_error,
                     "nested deeper than " + std::to_string(most_depth) + " arrays and objects");
  }
  if (found.values > most_values) {
    return one_error(error_number::invalid_request, "a message has at most " + std::to_string(most_values) +
                                                        " values: this one was not read");
  }
  auto value = json::parse(line, nullptr, false);
  if (value.is_discarded()) return one_error(error_number::parse_error, "the line is not JSON");
  parsed_line parsed;
  if (value.is_array()) {
    parsed = read_batch(value, allowed);
  } else {
    parsed.messages.push_back(read_message(value));
  }
  parsed.bytes = line.size() + found.values * value_bytes;
  return parsed;
}

malformed oversized() {
  return no_message(std::nullopt, "a message has at most " + std::to_string(most_message) +
                                      " bytes: this one was not read");
}

std::string result_line(const request_id& id, std::string_view result) {
  std::string line = R"({"jsonrpc":"2.0","id":)";
  line.reserve(result.size() + 64);
  line += dumped(to_json(id));
  line += R"(,"result":)";
  line += result;
  return line += '}';
}

std::string error_line(const std::optional<request_id>& id, error_number error,
                       std::string_view why) {
  json object;
  object["jsonrpc"] = "2.0";
  object["id"] = id ? to_json(*id) : json(nullptr);
  object["error"] = {{"code", static_cast<int>(error)}, {"message", why}};
  return dumped(object);
}

json to_json(const request_id& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return *number;
  return std::get<std::string>(id);
}

std::optional<request_id> read_id(const json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > most_id) return std::nullopt;
    return request_id{text};
  }
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return request_id{value.get<std::int64_t>()};
}

}  // namespace pinfold::mcp
