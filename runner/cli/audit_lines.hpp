// Entries of an audit log read back from a file that anybody may have written: a line is an entry only
// when all that is told of it is there and of its kind. README, "The audit log", documents the format.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Texts are the bytes that were written down: where a path is no UTF-8, those of its `_base64` twin.
struct audited_effect {
  std::string operation;
  std::string verdict;
  std::string why;  ///< empty for a plain allow
  std::string asked;
  std::string canonical;
  std::string to;
};

struct audited_question {
  std::string operation;
  std::string why;
  std::string about;  ///< a canonical path or a command
  std::string to;
  std::string answer;
};

struct audited_refusal {
  std::string error;
  std::string operation;
  std::string path;
  std::string resolved;
};

struct audited_attempt {
  std::string host;  ///< host:port
  std::string protocol;
  std::string error;  ///< empty when it was let through
  std::uint64_t sent{0};
  std::uint64_t received{0};
};

struct audited_file {
  std::string path;
  std::string kind;
  std::string detail;
};

struct audited_run {
  std::string ended;
  std::optional<std::int64_t> exit_code;
  std::string network;
  std::optional<audited_refusal> refused;
  std::vector<audited_attempt> attempts;
  std::uint64_t more_attempts{0};
  std::vector<audited_file> host_run;
  std::uint64_t more_host_run{0};
  bool is_host_run_whole{true};
};

enum class audit_event : std::uint8_t {
  other,  ///< of a later minor version: passed over
  session,
  begins,
  ended,
  taint,
  end,
};

/// One entry. What its event does not have is empty.
struct audit_line {
  audit_event event{audit_event::other};
  std::string session;
  std::string at;
  std::uint64_t call{0};
  std::string tool;
  // session
  std::string workspace;
  std::string mode;
  std::string gate;
  std::string commands;
  // begins
  std::string about;  ///< its command, or else its path
  bool is_recursive{false};
  // ended
  std::string how;
  std::vector<audited_effect> effects;
  std::uint64_t more_effects{0};
  std::optional<std::vector<audited_question>> questions;  ///< nothing: written before there were any
  std::uint64_t more_questions{0};
  std::optional<audited_refusal> refused;
  std::optional<audited_run> run;
  // taint
  std::vector<std::string> added;
  std::string network_before;
  std::string network;
};

struct audit_problem {
  /// A session of another format: the whole file is not for this program.
  bool is_other_format{false};
  std::string why;  ///< a clause without foreign bytes
};

[[nodiscard]] std::expected<audit_line, audit_problem> read_audit_line(std::string_view line);

}  // namespace pinfold
