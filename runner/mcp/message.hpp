// The message layer: one line of input becomes messages of JSON-RPC 2.0, or the error that the line
// is answered with. No input, no output, no state: whatever the bytes are, it answers and never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/json.hpp"

namespace pinfold::mcp {

/// A message with more bytes, without its newline, is not parsed.
inline constexpr std::size_t most_message = std::size_t{4} << 20;
/// A message with arrays and objects nested deeper is not parsed.
inline constexpr unsigned most_depth = 64;
/// A message with more values (elements, members, and the arrays and objects themselves) is not parsed:
/// a value of three bytes becomes a hundred in memory.
inline constexpr std::size_t most_values = 16'384;
/// What one value takes in memory, at most, beside its text.
inline constexpr std::size_t value_bytes = 128;
/// A batch with more messages is not taken.
inline constexpr std::size_t most_batch = 256;
/// A text id or progress token with more bytes is refused: it is kept and sent back.
inline constexpr std::size_t most_id = 1024;

/// The numbers of JSON-RPC 2.0, and the one that MCP adds for resources.
enum class error_number : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  resource_not_found = -32002,
};

/// MCP: a string or a whole number, never null.
using request_id = std::variant<std::int64_t, std::string>;

struct request {
  request_id id;
  std::string method;
  /// An object; null when there were none. Shared, since a call outlives the line that it came in.
  std::shared_ptr<json> params;
};

struct notification {
  std::string method;
  std::shared_ptr<json> params;
};

/// The client's answer to a request of ours.
struct response {
  request_id id;
  bool is_error{false};
  std::shared_ptr<json> body;  ///< the result or the error object
};

/// What is no message, and the error that says so. Without an id it is answered with a null one.
struct malformed {
  std::optional<request_id> id;
  error_number error{error_number::invalid_request};
  std::string why;  ///< one sentence without foreign bytes
};

using message = std::variant<request, notification, response, malformed>;

/// Revisions before 2025-06-18 know batches (2025-03-26 asks for them), those from it on do not.
enum class batches : std::uint8_t { refused, taken };

struct parsed_line {
  std::vector<message> messages;  ///< at least one
  bool is_batch{false};           ///< the answers belong in one array
  std::size_t bytes{0};           ///< what they take in memory, at most: the line's and `value_bytes` each
};

/// What one line says; `line` is without its newline. Never throws. What comes of bad bytes:
/// no JSON, nested too deep, or no UTF-8 -> parse_error; an array where batches are refused, an empty
/// one, one that is too long, more than `most_values`, and whatever is JSON but no message ->
/// invalid_request.
[[nodiscard]] parsed_line parse_line(std::string_view line, batches allowed);

/// The error for a line that was longer than `most_message` and was not kept.
[[nodiscard]] malformed oversized();

/// Lines to send, without their newline. `result` is JSON text, put in as it stands.
[[nodiscard]] std::string result_line(const request_id& id, std::string_view result);
[[nodiscard]] std::string error_line(const std::optional<request_id>& id, error_number error,
                                     std::string_view why);

/// For a progress token or an id in an object: the string or number itself.
[[nodiscard]] json to_json(const request_id& id);
/// The id that stands in a value; nothing for anything but a whole number or a short string.
[[nodiscard]] std::optional<request_id> read_id(const json& value);

}  // namespace pinfold::mcp
