// The subcommands, one file each. They print, exit with a code and read the environment, so that
// nothing below them has to.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/caller.hpp"

namespace CLI {
class App;
}

namespace pinfold {

/// What every subcommand gets: the caller's environment, and the words after the first "--", which
/// are never looked at for options.
struct invocation {
  caller_environment environment;
  std::vector<std::string> after_dashes;
  bool has_dashes{false};
};

/// A subcommand: its options are added to `app`, and running it gives the program's exit code.
class command {
 public:
  virtual ~command() = default;
  [[nodiscard]] virtual int run(const invocation& call) = 0;
};

/// What a usage error exits with: 125 where a command's own codes have to be told apart, else 2.
inline constexpr int usage_error_of_runs = 125;
inline constexpr int usage_error = 2;

[[nodiscard]] std::unique_ptr<command> make_run(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_check(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_explain(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_doctor(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_gate(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_mcp(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_records(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_worktree(CLI::App& app);
[[nodiscard]] std::unique_ptr<command> make_audit(CLI::App& app);

/// Prints "pinfold: what: why" on stderr, on one line and safe for a terminal.
void complain(std::string_view what, std::string_view why);

/// Prints a refusal in that form, with its code.
void complain(std::string_view what, const refusal& refused);

/// Writes all of it; false when nobody reads any more.
[[nodiscard]] bool write_all(int fd, std::string_view bytes);

}  // namespace pinfold
