// The Model Context Protocol over a pair of descriptors: messages in, messages out, and the calls in
// between. It decides nothing about a call; tools ask the guard. Whatever a client sends, the server
// answers as the specification has it and lives on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"
#include "mcp/calls.hpp"
#include "mcp/message.hpp"
#include "mcp/output.hpp"
#include "mcp/questions.hpp"
#include "mcp/results.hpp"
#include "mcp/tool.hpp"
#include "mcp/workers.hpp"

namespace pinfold::mcp {

/// Where the client is. All are borrowed.
struct client_descriptors {
  int input{0};
  int output{1};
  int ending{-1};  ///< when it becomes readable the server ends as at the end of the input
};

/// How a method is answered: JSON text, or an error.
struct method_error {
  error_number number{error_number::invalid_params};
  std::string why;
};
using method_answer = std::expected<std::string, method_error>;

/// One client's server. `now`, `tools` and `log` must outlive it.
class server {
 public:
  /// So many file calls and commands at a time; more of them wait.
  static constexpr std::size_t file_threads = 4;
  static constexpr std::size_t command_threads = 8;
  /// So many bytes of answers may wait for the rest of their batches, in all.
  static constexpr std::size_t most_held = std::size_t{32} << 20;

  /// `tools` are made anew for each list, so that a description says what holds at that moment.
  server(session& now, std::function<std::vector<tool>(const session&)> tools,
         client_descriptors client, audit_sink* log = nullptr);
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() = default;

  /// Answers until the input ends. At return no call is under way, and nothing of a command is
  /// alive.
  void serve();

 private:
  /// The least level that the client is sent (RFC 5424, 6.2.1), the mildest first.
  enum class level : std::uint8_t {
    debug,
    info,
    notice,
    warning,
    error,
    critical,
    alert,
    emergency,
  };

  struct job;

  void take_line(std::string_view line);
  void take(message& one, const answer_place& place, std::size_t bytes);
  void take_request(request& asked, const answer_place& place, std::size_t bytes);
  void take_notification(const notification& told);

  [[nodiscard]] method_answer answer_to(const request& asked, bool is_in_batch);
  [[nodiscard]] method_answer initialize(const json& params, bool is_in_batch);
  [[nodiscard]] method_answer read_resource(const json& params);
  [[nodiscard]] method_answer subscribe(const json& params, bool is_wanted);
  [[nodiscard]] method_answer set_level(const json& params);

  void call_tool(request& asked, const answer_place& place, std::size_t bytes);
  [[nodiscard]] std::expected<job, method_error> job_for(request& asked, const answer_place& place);
  void begin(std::shared_ptr<job> made, std::size_t bytes);
  void run_now(job& made, outlet::when written) noexcept;
  /// Nothing when the tool threw.
  [[nodiscard]] std::optional<tool_result> act(job& made);
  void finish(job& made, const std::optional<tool_result>& result, taint before,
              std::chrono::steady_clock::time_point begun, outlet::when written);
  void write_down(const job& made, const std::optional<tool_result>& result,
                  std::chrono::microseconds took);
  void note(const job& made, const tool_result& result);
  void look_again_after(const job& made, const tool_result& result);
  [[nodiscard]] progress_sink progress_for(const job& made);

  void tell_of_log(const std::optional<refusal>& why);
  void tell_of_taint(taint before, taint after);
  void tell_of_change();
  void log(level how, std::string_view text);
  void notify(std::string_view method, const json& params);

  session& now_;
  const std::function<std::vector<tool>(const session&)> make_tools_;
  const std::vector<tool> tools_;
  const client_descriptors client_;
  audit_sink* const log_;
  outlet out_;
  answer_room held_{most_held};
  questions questions_;
  call_table calls_;
  std::optional<revision> spoken_;  ///< set by the thread that reads, before any call begins
  bool has_form_{false};
  std::atomic<level> level_{level::warning};
  std::atomic<bool> is_subscribed_{false};
  std::atomic<bool> is_log_lost_{false};
  std::uint64_t numbered_{0};
  workers files_;
  workers commands_;
};

}  // namespace pinfold::mcp
