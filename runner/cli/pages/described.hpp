// What the program's own parser knows of its subcommands and options, as plain data: the one source
// of the manual and of the completions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace pinfold::pages {

/// What may stand in an option's place for a value. A value's name in the help decides: "DIR" is a
/// directory, "FILE" and "PATH" are files, a closed list of words is itself.
enum class value_kind : std::uint8_t { none, text, choice, directory, file };

/// An option, or a word that stands by itself (then `names` is empty).
struct described_option {
  std::vector<std::string> names;  ///< with their dashes: "-h", "--help"
  std::string value;               ///< as the help names it; empty for a flag
  value_kind kind{value_kind::none};
  std::vector<std::string> choices;
  std::string text;
  bool is_repeatable{false};
};

struct described_command {
  std::string name;
  std::string text;  ///< one line, without a full stop
  std::vector<described_option> options;
  std::vector<described_option> words;  ///< in their order
  tail after_dashes{tail::none};
  // The footer, in parts: a block that begins with "Example:", one with "Exit code:", the others.
  std::vector<std::string> notes;
  std::string example;
  std::string exit_code;
};

struct described_program {
  described_command top;  ///< the program's own name, text and options
  std::vector<described_command> subcommands;
};

[[nodiscard]] described_program describe(const program& all);

/// One file to write: a name without a directory, and all of its bytes.
struct page {
  std::string name;
  std::string text;
};

/// pinfold.1, and pinfold-NAME.1 for each subcommand: roff for man(7).
[[nodiscard]] std::vector<page> manual(const described_program& all);

[[nodiscard]] page bash_completion(const described_program& all);
[[nodiscard]] page zsh_completion(const described_program& all);
[[nodiscard]] page fish_completion(const described_program& all);

/// The words with one space between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& words,
                                 const std::string& between = " ");

/// `text` with each `from` made `to`.
[[nodiscard]] std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace pinfold::pages
