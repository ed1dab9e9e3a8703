// Completion for fish 3 and newer; what a command after -- takes is left to that command's own.
#include <string>
#include <string_view>

#include "cli/pages/described.hpp"

namespace pinfold::pages {
namespace {

constexpr std::string_view beginning =
    R"fish(# Completion of pinfold for fish. Made from the program's own options when it is built.

# Whether the line is at the options of one of these subcommands.
function __pinfold_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv; and not contains -- -- $words
end

# Whether it is at word $argv[2] of subcommand $argv[1] ("2+": at that one or a later one). The
# others are its options that take a value.
function __pinfold_at
    __pinfold_in $argv[1]; or return 1
    set -l words (commandline -opc)
    set -l place 1
    set -l is_value 0
    for word in $words[3..]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word $argv[3..]
            set is_value 1
        else if not string match -q -- '-*' $word
            set place (math $place + 1)
        end
    end
    if string match -q '*+' $argv[2]
        test $place -ge (string trim -c + $argv[2])
    else
        test $place = $argv[2]
    end
end

# Whether it is past the -- of one of these subcommands.
function __pinfold_after_dashes_of
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv; and contains -- -- $words
end

# How the line after -- goes on, as fish itself would complete it.
function __pinfold_other_command
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join -- ' ' (string escape -- $words) (commandline -ct))
end

complete -c pinfold -f
)fish";

std::string in_quotes(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string where(const std::string& name) {
  return name.empty() ? "'__fish_use_subcommand'" : "'__pinfold_in " + name + "'";
}

/// How a value is completed; nothing for a flag.
std::string value_of(const described_option& option) {
  switch (option.kind) {
    case value_kind::none:
      return "";
    case value_kind::text:
      return " -x";
    case value_kind::choice:
      return " -x -a " + in_quotes(joined(option.choices));
    case value_kind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case value_kind::file:
      return " -r -F";
  }
  return "";
}

std::string line(const std::string& name, const std::string& what, const std::string& text) {
  return "complete -c pinfold -n " + where(name) + what +
         (text.empty() ? "" : " -d " + in_quotes(text)) + "\n";
}

std::string options_of(const std::string& name, const described_command& one) {
  std::string lines;
  for (const auto& option : one.options) {
    std::string names;
    for (const auto& as_typed : option.names) {
      names +=
          as_typed.starts_with("--") ? " -l " + as_typed.substr(2) : " -s " + as_typed.substr(1);
    }
    lines += line(name, names + value_of(option), option.text);
  }
  return lines;
}

/// The words of a subcommand, each at its place.
std::string words_of(const described_command& one) {
  std::string with_value;
  for (const auto& option : one.options) {
    if (option.kind != value_kind::none) with_value += " " + joined(option.names);
  }
  std::string lines;
  for (std::size_t i = 0; i < one.words.size(); ++i) {
    const auto& word = one.words[i];
    const auto place = std::to_string(i + 1) + (word.is_repeatable ? "+" : "");
    const auto begin =
        "complete -c pinfold -n '__pinfold_at " + one.name + " " + place + with_value + "'";
    if (word.kind == value_kind::choice) {
      lines +=
          begin + " -a " + in_quotes(joined(word.choices)) + " -d " + in_quotes(word.text) + "\n";
    } else if (word.kind == value_kind::file || word.kind == value_kind::directory) {
      lines += begin + " -F\n";
    }
  }
  return lines;
}

std::string tail_of(const described_command& one) {
  const auto begin = "complete -c pinfold -n '__pinfold_after_dashes_of " + one.name + "'";
  switch (one.after_dashes) {
    case tail::none:
      return {};
    case tail::paths:
      return begin + " -F\n";
    case tail::command:
      return begin + " -a '(__pinfold_other_command)'\n";
  }
  return {};
}

}  // namespace

page fish_completion(const described_program& all) {
  std::string text{beginning};
  text += options_of("", all.top);
  for (const auto& one : all.subcommands) text += line("", " -a " + one.name, one.text);
  for (const auto& one : all.subcommands) {
    text += "\n" + options_of(one.name, one) + words_of(one) + tail_of(one);
  }
  return {"pinfold.fish", text};
}

}  // namespace pinfold::pages
