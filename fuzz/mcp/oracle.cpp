// See oracle.hpp.
#include "mcp/oracle.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

namespace pinfold_fuzz {
namespace {

using json = nlohmann::ordered_json;

constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr std::size_t longest_id = 1024;
constexpr std::size_t longest_batch = 256;
constexpr unsigned deepest = 64;

/// Of a value that was parsed: how deep arrays and objects stand in one another.
unsigned depth_of(const json& value) {
  if (!value.is_structured()) return 0;
  unsigned below = 0;
  for (const auto& one : value) below = std::max(below, depth_of(one));
  return below + 1;
}

std::optional<std::string> id_of(const json& message) {
  const auto at = message.find("id");
  if (at == message.end()) return std::nullopt;
  if (at->is_string() && at->get<std::string>().size() <= longest_id) return at->dump();
  if (at->is_number_unsigned() && at->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (at->is_number_integer()) return at->dump();
  return std::nullopt;
}

bool has(const json& message, const char* name) { return message.find(name) != message.end(); }

/// The session as far as the messages decide it.
class reader {
 public:
  std::optional<awaited_line> answers_to(std::string_view line) {
    const auto value = json::parse(line, nullptr, false);
    if (value.is_discarded() || depth_of(value) > deepest) return one({"null", parse_error});
    if (!value.is_array()) {
      auto answer = answer_to(value, false);
      return answer ? std::optional{one(std::move(*answer))} : std::nullopt;
    }
    if (!has_batches_ || value.empty() || value.size() > longest_batch) {
      return one({"null", invalid_request});
    }
    awaited_line batch{{}, true};
    for (const auto& message : value) {
      if (auto answer = answer_to(message, true)) batch.answers.push_back(std::move(*answer));
    }
    return batch.answers.empty() ? std::nullopt : std::optional{std::move(batch)};
  }

 private:
  static awaited_line one(awaited answer) { return {{std::move(answer)}, false}; }

  std::optional<awaited> answer_to(const json& message, bool is_in_batch) {
    if (!message.is_object()) return awaited{"null", invalid_request};
    const auto id = id_of(message);
    const auto shown = id.value_or("null");
    const awaited malformed{shown, invalid_request};
    if (has(message, "id") && !id) return malformed;
    if (!has(message, "jsonrpc") || message["jsonrpc"] != "2.0") return malformed;
    if (!has(message, "method")) {
      const bool is_answer = id && has(message, "result") != has(message, "error");
      return is_answer ? std::nullopt : std::optional{malformed};
    }
    if (!message["method"].is_string()) return malformed;
    if (has(message, "params") && !message["params"].is_object()) return malformed;
    if (!id) return std::nullopt;
    return awaited{shown, code_for(message, is_in_batch)};
  }

  std::optional<int> code_for(const json& message, bool is_in_batch) {
    const auto method = message["method"].get<std::string>();
    if (method == "initialize") return initialize(message, is_in_batch);
    if (!is_initialized_ && method != "ping") return invalid_request;
    return std::nullopt;
  }

  std::optional<int> initialize(const json& message, bool is_in_batch) {
    if (is_in_batch || is_initialized_) return invalid_request;
    const auto params = message.find("params");
    if (params == message.end() || !has(*params, "protocolVersion")) return std::nullopt;
    const auto& version = (*params)["protocolVersion"];
    if (!version.is_string()) return std::nullopt;
    is_initialized_ = true;
    has_batches_ = version == "2024-11-05" || version == "2025-03-26";
    return std::nullopt;
  }

  bool is_initialized_{false};
  bool has_batches_{false};
};

}  // namespace

std::vector<awaited_line> answers_to(std::string_view stream) {
  std::vector<awaited_line> all;
  reader session;
  for (auto end = stream.find('\n'); end != std::string_view::npos; end = stream.find('\n')) {
    const auto line = stream.substr(0, end);
    stream.remove_prefix(end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto answers = session.answers_to(line)) all.push_back(std::move(*answers));
  }
  return all;
}

}  // namespace pinfold_fuzz
