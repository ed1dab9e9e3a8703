// What stands between the server, its tools and the audit log: a tool, one call of it, what comes of
// the call, and who is told. A tool does no protocol: no id, no message, no output.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <pinfold/one_call.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/runner/record.hpp>
#include <pinfold/taint.hpp>
#include <pinfold/verdict.hpp>

#include "json/json.hpp"
#include "mcp/session.hpp"

namespace pinfold::mcp {

/// Where a call of a tool runs.
enum class pace : std::uint8_t {
  quick,    ///< one look at the disk, bounded in bytes: on the thread that reads, ahead of all others
  file,     ///< on one of a few threads for files
  command,  ///< on one of the threads for commands: a file call never waits for it
};

/// MCP's tool annotations.
struct tool_hints {
  bool read_only{false};
  bool destructive{false};
  bool idempotent{false};
  bool open_world{false};
};

/// What a person is asked about one call.
struct question {
  operation op{operation::read};
  code why{code::needs_approval};  ///< for what it is refused without a yes
  std::string about;               ///< the canonical path or the command
  std::string to{};                ///< of a rename: where it would go, canonical
  std::string text;                ///< for the person
};

/// What came of a question that was put.
enum class reply : std::uint8_t {
  yes,
  declined,
  dismissed,
  unanswered,  ///< in time
  cancelled,   ///< the call, before there was an answer
  failed,      ///< the client answered with an error, or with nothing that is an answer
};

[[nodiscard]] constexpr std::string_view name_of(reply given) noexcept {
  switch (given) {
    case reply::yes:
      return "yes";
    case reply::declined:
      return "declined";
    case reply::dismissed:
      return "dismissed";
    case reply::unanswered:
      return "unanswered";
    case reply::cancelled:
      return "cancelled";
    case reply::failed:
      return "failed";
  }
  return "failed";
}

/// A question and its answer, for the audit log.
struct answered_question {
  question asked;
  reply given{reply::failed};
};

/// A person at the client, who is asked about one call.
class asker {
 public:
  virtual ~asker() = default;

  /// Puts the question and waits for the answer, the call's cancellation or the end of the session.
  /// Nothing: yes. Else a sentence that says why not: the client cannot ask, nobody answered, or no.
  [[nodiscard]] virtual std::optional<std::string> refuses(const question& asked) = 0;
};

/// The grant for what the verdict asks about, from the person. Error: the verdict's refusal (with why
/// nobody said yes as its detail); also for a verdict that refuses. `manner` is what else the person has to
/// know of the call, as a clause: ", replacing what is there".
[[nodiscard]] std::expected<one_call_grant, refusal> approval(asker& person, const verdict& asked,
                                                              std::string_view as_asked,
                                                              std::string_view manner = {});

/// `done` so far, of `total` where that is known, and a line for a person.
using progress_sink =
    std::function<void(double done, std::optional<double> total, std::string_view line)>;

/// One call.
struct tool_call {
  const json& arguments;  ///< an object, {} when none were given; nothing in it was checked
  session& now;
  std::stop_token cancelled;  ///< cancelled by the client, or the session is over
  progress_sink progress;     ///< empty when the client asked for none
  asker& person;
};

[[nodiscard]] constexpr std::string_view name_of(verdict::answer says) noexcept {
  switch (says) {
    case verdict::refuse:
      return "refuse";
    case verdict::ask:
      return "ask";
    case verdict::allow:
      return "allow";
  }
  return "refuse";
}

/// One thing that a call did or was kept from doing: for the audit log and the last decisions.
struct effect {
  operation op{operation::read};
  std::string asked;      ///< as the model spelled it
  std::string canonical;  ///< where it led; empty when that is not known
  verdict::answer says{verdict::refuse};
  std::optional<code> why{};  ///< for `refuse` the reason; for `ask` the one that was approved
  std::string to{};           ///< of a rename: where it went, canonical
};

/// What comes of a call. `structured` is shared, so that this header needs no more than the name of the
/// JSON type.
struct tool_result {
  std::string text;  ///< for the model; not used when it was refused
  /// An object that fits the tool's output schema; null when it was refused.
  std::shared_ptr<const json> structured;
  std::optional<refusal> refused;  ///< then the result is an error that the model can act on
  std::vector<effect> effects;
  std::shared_ptr<const run_record> record;  ///< of a command
};

/// A result, and a refusal: nothing was done, or not all of it.
[[nodiscard]] tool_result done(std::string text, json structured, std::vector<effect> effects = {});
[[nodiscard]] tool_result not_done(refusal why, std::vector<effect> effects = {});

/// A tool as it is listed and called. `act` may be called from several threads at once; what it
/// throws is answered as an internal error.
struct tool {
  std::string name;
  std::string title;
  std::string description;  ///< begins with what it does, then the rule of pinfold/describe.hpp
  std::string input;   ///< JSON Schema as JSON text: an object, additionalProperties false
  std::string output;  ///< the same, of a result that was not refused; the server adds the refusal
  tool_hints hints;
  pace runs{pace::file};
  std::function<tool_result(const tool_call&)> act;
};

/// The tools for files (files/) and the one for commands, described for this session.
[[nodiscard]] std::vector<tool> file_tools(const session& now);
[[nodiscard]] tool bash_tool(const session& now);

/// How a call ended, for the audit log.
enum class call_end : std::uint8_t {
  done,       ///< with a result
  refused,    ///< with a refusal
  cancelled,  ///< by the client, or by the end of the session
  failed,     ///< something was thrown
};

/// A call that begins.
struct call_begun {
  std::uint64_t number;  ///< counts the calls of a session, from 1
  std::string_view tool;
  const json& arguments;
  taint before;
  std::chrono::system_clock::time_point at;
};

/// A call that is over. `result` is null when it failed.
struct call_ended {
  std::uint64_t number;
  std::string_view tool;
  call_end how;
  const tool_result* result;
  taint after;
  std::chrono::microseconds took;
  std::span<const answered_question> questions{};  ///< those that were put to a person
};

/// Who is told of each call. Called from several threads at once.
class audit_sink {
 public:
  virtual ~audit_sink() = default;

  /// Before anything is done. A refusal: it could not be written down, so nothing is done. The client is
  /// told in a log message, once until it works again.
  [[nodiscard]] virtual std::optional<refusal> begins(const call_begun& call) = 0;
  /// Before the client is answered. A refusal: it could not be written down; the client is told in the
  /// same way, and `begins` refuses until it is.
  [[nodiscard]] virtual std::optional<refusal> ended(const call_ended& call) = 0;
};

}  // namespace pinfold::mcp
