// The program's subcommands and options, put together in one place: main.cpp parses with them, and
// the manual and the completions are made from them when pinfold is built (pages/), so none of these
// can differ.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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

struct subcommand {
  CLI::App* app;  ///< lives as long as the program
  std::unique_ptr<command> act;
  tail after_dashes;
};

/// Neither copied nor moved: CLI11 keeps pointers into it.
struct program {
  program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  CLI::App app;
  std::vector<subcommand> subcommands;
};

/// What a usage error exits with where `name` is the subcommand that was asked for.
[[nodiscard]] int usage_code_of(std::string_view name) noexcept;

/// As the usage line says it: "-- COMMAND [ARG...]", "[-- PATH...]", or nothing.
[[nodiscard]] std::string_view usage_of(tail words) noexcept;

}  // namespace pinfold
