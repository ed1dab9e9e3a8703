// Completion for bash 4 and newer. The tables are functions of `case`, so that loading it costs
// nothing; what a command after -- takes is left to that command's own completion.
#include <string>
#include <string_view>

#include "cli/pages/described.hpp"

namespace pinfold::pages {
namespace {

constexpr std::string_view logic = R"bash(
# Offers what fits kind $1 for the word $2.
_pinfold_offer() {
  case $1 in
    @text | '') ;;
    @directories)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$2")
      ;;
    @files)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$2")
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
}

# The words after --, which is word $2, of subcommand $1.
_pinfold_after_dashes() {
  local first=$(($2 + 1)) word=${COMP_WORDS[COMP_CWORD]}
  case $(_pinfold_tail "$1") in
    command)
      if declare -F _command_offset >/dev/null; then
        _command_offset "$first"
      elif ((COMP_CWORD == first)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
      else
        _pinfold_offer @files "$word"
      fi
      ;;
    paths) _pinfold_offer @files "$word" ;;
  esac
}

_pinfold() {
  local word=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[1]} option='' place=1 at
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _pinfold_offer "$(_pinfold_options '')" "$word"
    return
  fi
  for ((at = 2; at < COMP_CWORD; at++)); do
    case ${COMP_WORDS[at]} in
      --)
        _pinfold_after_dashes "$name" "$at"
        return
        ;;
      =) ;; # "--name=value" comes as three words
      *)
        if [[ $option ]]; then
          option=''
        elif [[ ${COMP_WORDS[at]} != -* ]]; then
          ((place += 1))
        elif [[ $(_pinfold_value "$name" "${COMP_WORDS[at]}") ]]; then
          option=${COMP_WORDS[at]}
        fi
        ;;
    esac
  done
  [[ $word != = ]] || word=''
  if [[ $option ]]; then
    _pinfold_offer "$(_pinfold_value "$name" "$option")" "$word"
  elif [[ $word == -* || ! $(_pinfold_word "$name" "$place") ]]; then
    _pinfold_offer "$(_pinfold_options "$name")" "$word"
  else
    _pinfold_offer "$(_pinfold_word "$name" "$place")" "$word"
  fi
}

complete -F _pinfold pinfold
)bash";

std::string kind_word(const described_option& option) {
  switch (option.kind) {
    case value_kind::none:
      return "";
    case value_kind::text:
      return "@text";
    case value_kind::choice:
      return joined(option.choices);
    case value_kind::directory:
      return "@directories";
    case value_kind::file:
      return "@files";
  }
  return "";
}

std::string line(const std::string& pattern, const std::string& answer) {
  return "    " + pattern + ") echo '" + answer + "' ;;\n";
}

std::string function(const std::string& name, const std::string& comment,
                     const std::string& subject, const std::string& lines) {
  return "\n# " + comment + "\n" + name + "() {\n  case " + subject + " in\n" + lines +
         "  esac\n}\n";
}

std::vector<std::string> option_names(const described_command& one) {
  std::vector<std::string> names;
  for (const auto& option : one.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  if (one.after_dashes != tail::none) names.emplace_back("--");
  return names;
}

/// A subcommand's words by their place; the last one that repeats stands for all that follow.
std::string words_of(const described_command& one) {
  std::string lines;
  for (std::size_t i = 0; i < one.words.size(); ++i) {
    const auto& word = one.words[i];
    const auto place = word.is_repeatable ? "*" : std::to_string(i + 1);
    lines += line(one.name + ":" + place, kind_word(word));
  }
  return lines;
}

std::string values_of(const described_command& one) {
  std::string lines;
  for (const auto& option : one.options) {
    if (option.kind == value_kind::none) continue;
    for (const auto& name : option.names) lines += line(one.name + ":" + name, kind_word(option));
  }
  return lines;
}

std::string tail_of(const described_command& one) {
  if (one.after_dashes == tail::none) return {};
  return line(one.name, one.after_dashes == tail::command ? "command" : "paths");
}

}  // namespace

page bash_completion(const described_program& all) {
  auto first = option_names(all.top);
  std::string options;
  std::string values;
  std::string words;
  std::string tails;
  for (const auto& one : all.subcommands) {
    first.push_back(one.name);
    options += line(one.name, joined(option_names(one)));
    values += values_of(one);
    words += words_of(one);
    tails += tail_of(one);
  }
  std::string text =
      "# Completion of pinfold for bash. Made from the program's own options when it is built.\n";
  text +=
      function("_pinfold_options", "The options of subcommand $1; without one, what comes first.",
               "$1", line("''", joined(first)) + options);
  text += function("_pinfold_value",
                   "What option $2 of subcommand $1 takes: words, @directories, @files or @text.",
                   "$1:$2", values);
  text += function("_pinfold_word", "The same for the word at place $2 of subcommand $1.", "$1:$2",
                   words);
  text += function("_pinfold_tail", "What follows -- in subcommand $1.", "$1", tails);
  return {"pinfold", text + std::string{logic}};
}

}  // namespace pinfold::pages
