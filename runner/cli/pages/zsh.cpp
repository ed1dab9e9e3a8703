// Completion for zsh, by _arguments; what a command after -- takes is left to that command's own.
#include <string>
#include <string_view>

#include "cli/pages/described.hpp"

namespace pinfold::pages {
namespace {

constexpr std::string_view beginning = R"zsh(#compdef pinfold
# Completion of pinfold for zsh. Made from the program's own options when it is built.

# The words after --: another command line, or files.
_pinfold_after_dashes() {
  local dashes=$1
  shift dashes words
  (( CURRENT -= dashes ))
  case $2 in
    command) _normal ;;
    paths) _files ;;
  esac
}

_pinfold() {
  local curcontext=$curcontext context state state_descr line
  typeset -A opt_args
)zsh";

constexpr std::string_view middle = R"zsh(
  _arguments -C $options '1:subcommand:->subcommand' '*::argument:->argument' && return
  if [[ $state == subcommand ]]; then
    _describe -t commands subcommand subcommands
    return
  fi
  local dashes=${words[(ie)--]} after=
  options=()
  case $line[1] in
)zsh";

constexpr std::string_view ending = R"zsh(    *) return 1 ;;
  esac
  if (( dashes < CURRENT )); then
    _pinfold_after_dashes $dashes $after
    return
  fi
  _arguments -S $options
}

_pinfold "$@"
)zsh";

std::string in_quotes(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

/// Inside a spec of _arguments, where ':' and brackets have a meaning.
std::string spec_text(std::string text) {
  text = replaced(std::move(text), "\\", "\\\\");
  for (const auto* mark : {":", "[", "]"}) {
    text = replaced(std::move(text), mark, std::string{"\\"} + mark);
  }
  return text;
}

std::string action_of(const described_option& option) {
  switch (option.kind) {
    case value_kind::none:
    case value_kind::text:
      return " ";
    case value_kind::choice:
      return "(" + joined(option.choices) + ")";
    case value_kind::directory:
      return "_files -/";
    case value_kind::file:
      return "_files";
  }
  return " ";
}

std::string specs_of(const std::vector<described_option>& options, const std::string& indent) {
  std::string lines;
  for (const auto& option : options) {
    for (const auto& name : option.names) {
      auto spec = (option.is_repeatable ? "*" : "") + name + "[" + spec_text(option.text) + "]";
      if (option.kind != value_kind::none) {
        spec += ":" + spec_text(option.value) + ":" + action_of(option);
      }
      lines += indent + in_quotes(spec) + "\n";
    }
  }
  return lines;
}

std::string words_of(const std::vector<described_option>& words, const std::string& indent) {
  std::string lines;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto place = words[i].is_repeatable ? "*" : std::to_string(i + 1);
    lines += indent +
             in_quotes(place + ":" + spec_text(words[i].value) + ":" + action_of(words[i])) + "\n";
  }
  return lines;
}

std::string tail_word(tail words) {
  switch (words) {
    case tail::none:
      return "none";
    case tail::paths:
      return "paths";
    case tail::command:
      return "command";
  }
  return "none";
}

}  // namespace

page zsh_completion(const described_program& all) {
  std::string text{beginning};
  text += "  local -a subcommands=(\n";
  for (const auto& one : all.subcommands) {
    text += "    " + in_quotes(spec_text(one.name) + ":" + spec_text(one.text)) + "\n";
  }
  text += "  )\n  local -a options=(\n" + specs_of(all.top.options, "    ") + "  )";
  text += middle;
  for (const auto& one : all.subcommands) {
    text += "    " + one.name + ")\n      after=" + tail_word(one.after_dashes) +
            "\n      options=(\n" + specs_of(one.options, "        ") +
            words_of(one.words, "        ") + "      )\n      ;;\n";
  }
  return {"_pinfold", text + std::string{ending}};
}

}  // namespace pinfold::pages
