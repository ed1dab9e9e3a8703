// What a stream of bytes has to be answered with, by a second reading of JSON-RPC 2.0 and MCP that shares
// no code with the server but the JSON library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold_fuzz {

/// One answer that has to come.
struct awaited {
  std::string id;           ///< as JSON text; "null" where the request gave none that counts
  std::optional<int> code;  ///< of the error, where the stream alone decides it

  friend bool operator==(const awaited&, const awaited&) = default;
};

/// The answers to one line; those of a batch come as one array.
struct awaited_line {
  std::vector<awaited> answers;
  bool is_batch{false};
};

/// In the order of the lines; a line that is not answered has no entry.
[[nodiscard]] std::vector<awaited_line> answers_to(std::string_view stream);

}  // namespace pinfold_fuzz
