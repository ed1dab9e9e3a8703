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
  /// To parse `words` with: a subcommand that they do not name cannot be entered, so it gets its
  /// name and description alone. A start without a sandbox spent half of its own work on the others.
  explicit program(std::span<const std::string> words);
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  CLI::App app;
  std::vector<subcommand> subcommands;  ///< those that have their options

 private:
  void add_subcommands(const std::function<bool(std::string_view)>& is_wanted);
};

/// What a usage error exits with where `name` is the subcommand that was asked for.
[[nodiscard]] int usage_code_of(std::string_view name) noexcept;

/// As the usage line says it: "-- COMMAND [ARG...]", "[-- PATH...]", or nothing.
[[nodiscard]] std::string_view usage_of(tail words) noexcept;

}  // namespace pinfold
