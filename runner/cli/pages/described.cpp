// Asks CLI11 for what it would print as help: see described.hpp.
#include "cli/pages/described.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pinfold::pages {
namespace {

/// The words of "...{a,b,c}", which is how CLI11 names a closed list; none where there is no list.
std::vector<std::string> choices_in(std::string_view type) {
  const auto from = type.find('{');
  if (from == std::string_view::npos || !type.ends_with('}')) return {};
  std::vector<std::string> words;
  auto rest = type.substr(from + 1, type.size() - from - 2);
  while (true) {
    const auto comma = rest.find(',');
    words.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    rest.remove_prefix(comma + 1);
  }
}

value_kind kind_of(std::string_view type) {
  if (type.empty()) return value_kind::none;
  if (type.ends_with('}')) return value_kind::choice;
  if (type == "DIR") return value_kind::directory;
  return type == "FILE" || type == "PATH" ? value_kind::file : value_kind::text;
}

described_option described(const CLI::Option& option) {
  described_option one;
  for (const auto& name : option.get_snames()) one.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) one.names.push_back("--" + name);
  const auto type = option.get_type_size() == 0 ? std::string{} : option.get_type_name();
  one.kind = kind_of(type);
  one.choices = choices_in(type);
  // What follows a colon is a check that no completion knows, such as a range of numbers.
  one.value = one.choices.empty() ? type.substr(0, type.find(':')) : joined(one.choices, "|");
  if (one.names.empty() && one.choices.empty()) one.value = option.get_single_name();
  one.text = option.get_description();
  one.is_repeatable = option.get_items_expected_max() > 1 ||
                      option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return one;
}

std::vector<std::string> blocks_of(const std::string& text) {
  std::vector<std::string> blocks;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find("\n\n", at), text.size());
    if (end > at) blocks.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return blocks;
}

void take_footer(described_command& to, const std::string& footer) {
  constexpr std::string_view example = "Example:\n";
  constexpr std::string_view code = "Exit code: ";
  for (const auto& block : blocks_of(footer)) {
    if (block.starts_with(example)) {
      to.example = block.substr(example.size());
    } else if (block.starts_with(code)) {
      to.exit_code = block.substr(code.size());
    } else {
      to.notes.push_back(block);
    }
  }
}

described_command described(const CLI::App& app, tail after_dashes) {
  described_command one;
  one.name = app.get_name();
  one.text = app.get_description();
  one.after_dashes = after_dashes;
  for (const auto* option : app.get_options()) {
    (option->nonpositional() ? one.options : one.words).push_back(described(*option));
  }
  take_footer(one, app.get_footer());
  return one;
}

}  // namespace

described_program describe(const program& all) {
  described_program whole{described(all.app, tail::none), {}};
  for (const auto& one : all.subcommands) {
    whole.subcommands.push_back(described(*one.app, one.after_dashes));
  }
  return whole;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace pinfold::pages
