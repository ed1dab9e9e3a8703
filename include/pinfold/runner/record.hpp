// The run record: what came of one command. Plain data; nothing here decides or prints.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/decided.hpp>
#include <pinfold/runner/egress.hpp>
#include <pinfold/runner/enforced.hpp>
#include <pinfold/runner/git_commit.hpp>
#include <pinfold/runner/host_run.hpp>
#include <pinfold/runner/worktree.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold {

/// How a command ended.
enum class ending : std::uint8_t {
  exited,     ///< by itself, with `exit_code`
  signaled,   ///< by `signal`
  timed_out,  ///< stopped at the time limit
  limited,    ///< stopped at another limit: `limit` says which
  cancelled,  ///< stopped because the caller asked (SIGINT, SIGTERM, a cancel descriptor)
  refused,    ///< never started: policy, sandbox or command; `error` says why
  failed,     ///< started, and then lost: `error` says how
};

[[nodiscard]] constexpr std::string_view name_of(ending value) noexcept {
  switch (value) {
    case ending::exited:
      return "exited";
    case ending::signaled:
      return "signaled";
    case ending::timed_out:
      return "timed_out";
    case ending::limited:
      return "limited";
    case ending::cancelled:
      return "cancelled";
    case ending::refused:
      return "refused";
    case ending::failed:
      return "failed";
  }
  return "failed";
}

/// Which limit a run met.
enum class run_limit : std::uint8_t { time, memory, processes, cpu_time, file_size, tmp_size };

[[nodiscard]] constexpr std::string_view name_of(run_limit value) noexcept {
  switch (value) {
    case run_limit::time:
      return "time";
    case run_limit::memory:
      return "memory";
    case run_limit::processes:
      return "processes";
    case run_limit::cpu_time:
      return "cpu_time";
    case run_limit::file_size:
      return "file_size";
    case run_limit::tmp_size:
      return "tmp_size";
  }
  return "time";
}

/// What was kept of one output stream. `text` holds the first and the last part when it was
/// clipped; `head` is the length of the first. `bytes` is all that the command wrote, `dropped`
/// what lies between head and tail. Bytes, not text: nothing is decoded here.
struct captured_output {
  std::string text;
  std::size_t head{0};
  std::uint64_t bytes{0};
  std::uint64_t dropped{0};

  [[nodiscard]] bool clipped() const noexcept { return dropped > 0; }
};

/// The file that holds a whole stream, or as much of it as could be kept.
struct kept_blob {
  std::string path;        ///< absolute; empty when it could not be made
  std::uint64_t bytes{0};  ///< how many are in it
  bool is_whole{false};    ///< it holds all that the command wrote
  std::string error;       ///< what the file system said; empty where only the bound was reached
};

/// All that came of one run. It owns its text.
struct run_record {
  ending ended{ending::refused};
  std::optional<int> exit_code;
  std::optional<int> signal;
  /// The limit that ended the run; with `exited` the one that the command met and gave up at.
  std::optional<run_limit> limit;
  std::chrono::microseconds duration{0};  ///< from the command's start to its end
  std::chrono::microseconds setup{0};     ///< from the call to the command's start
  captured_output out;
  captured_output err;
  std::optional<kept_blob> out_blob;  ///< where there is a place for it, and the stream was clipped
  std::optional<kept_blob> err_blob;
  backend_name backend{backend_name::none};
  std::string reason;  ///< why the backend is not the one asked for; empty when it is
  network_access network{network_access::off};
  std::string workspace;
  decided_run decided;
  std::vector<enforced_property> enforced;  ///< empty when no boundary came up
  std::optional<egress_report> egress;      ///< where an egress list was in force; else nothing
  std::optional<git_commit_report> commits;  ///< where the command could commit; else nothing
  unsigned killed{0};  ///< processes left when the command ended, and killed
  std::optional<host_run_report> host_run;  ///< after a confined run that could write; else nothing
  std::optional<finished_worktree> worktree;  ///< where the run had one of its own
  std::optional<refusal> error;
};

/// The exit code of `pinfold run` for a record: the command's own; 128+N for signal N; 124 for the
/// time limit or another one; 125 when pinfold refused or failed; 126 not executable; 127 not found; 130 when it
/// was cancelled by SIGINT or a descriptor, 143 by SIGTERM (`signal` then holds which).
[[nodiscard]] int exit_code_of(const run_record& record) noexcept;

}  // namespace pinfold
