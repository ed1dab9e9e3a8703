// Questions to the person at the client, by MCP's elicitation.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "mcp/message.hpp"
#include "mcp/output.hpp"
#include "mcp/tool.hpp"

namespace pinfold::mcp {

/// Who can be asked.
enum class person : std::uint8_t {
  not_yet,  ///< the client has not said that it is ready
  absent,   ///< it has no elicitation by form
  present,
};

/// The questions of a session. Every member may be called from several threads at once.
class questions {
 public:
  explicit questions(outlet& to, std::chrono::milliseconds patience = std::chrono::minutes{10})
      : to_{to}, patience_{patience} {}

  /// So many may wait for an answer; each keeps a thread.
  static constexpr std::size_t most_open = 64;

  void set(person now);

  /// What came of a question.
  struct outcome {
    std::optional<reply> given;          ///< nothing: nobody could be asked
    std::optional<std::string> refused;  ///< why it is no yes, as a clause
  };

  /// Asks and waits. Never to be called on the thread that reads: the answer comes there.
  [[nodiscard]] outcome put(std::string_view question, std::stop_token cancelled);

  /// The client answered a request of ours; an answer to none of them is ignored.
  void answered(const response& answer);

 private:
  [[nodiscard]] static reply read(const response& given);
  void ask(const std::string& id, std::string_view question);
  void withdraw(const std::string& id);

  outlet& to_;
  const std::chrono::milliseconds patience_;
  std::mutex lock_;
  std::condition_variable_any changed_;
  person person_{person::not_yet};
  std::uint64_t asked_{0};
  std::map<std::string, std::optional<reply>> open_;
};

}  // namespace pinfold::mcp
