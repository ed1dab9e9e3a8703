// The program's subcommands and options, put together in one place: main.cpp parses with them, and
// the manual and the completions are made from them when pinfold is built (pages/), so none of these
// can differ.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "cli/commands.hpp"

namespace pinfold {

/// What a subcommand does with the words after the first "--".
enum class tail : std::uint8_t {
  none,
  paths,    ///< more of its own words, which may then begin with "-"
  command,  ///< the command that it runs; a usage error then exits with 125
};

/// What SIGINT, SIGTERM and SIGHUP do to a subcommand: end it at once, or go into what it tells.
enum class interruptions : bool { end_it, are_told };

struct subcommand {
  CLI::App* app;  ///< lives as long as the program
  std::unique_ptr<command> act;
  tail after_dashes;
  interruptions signals;
};

/// Neither copied nor moved: CLI11 keeps pointers into it.
struct program {
  /// With the options of every subcommand.
  program();
  /// To parse a line with whose first word this is. The others of a subcommand cannot be entered and
  /// are left out: a start without a sandbox spent half of its own work on them. Any other word leaves
  /// every subcommand its name and description alone, which is what help shows.
  explicit program(std::string_view word);
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  CLI::App app;
  std::vector<subcommand> subcommands;  ///< those that have their options

 private:
  void add_subcommands(const std::function<bool(std::string_view)>& is_wanted);
};

[[nodiscard]] bool is_subcommand(std::string_view word) noexcept;

/// "run, check, ...", as help lists them.
[[nodiscard]] std::string subcommand_names();

/// What a usage error exits with where `name` is the subcommand that was asked for.
[[nodiscard]] int usage_code_of(std::string_view name) noexcept;

/// As the usage line says it: "-- COMMAND [ARG...]", "[-- PATH...]", or nothing.
[[nodiscard]] std::string_view usage_of(tail words) noexcept;

}  // namespace pinfold
