// The manual in roff, for man(7). Every character that roff would take for its own is escaped, so a
// description can hold anything.
#include <cctype>
#include <string>
#include <utility>

#include <pinfold/version.hpp>

#include "cli/pages/described.hpp"

namespace pinfold::pages {
namespace {

/// Text inside a line. groff_char(7): an unescaped - ' ` ^ ~ is typeset as another character.
std::string inline_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '\\':
        safe += "\\e";
        break;
      case '-':
        safe += "\\-";
        break;
      case '\'':
        safe += "\\(aq";
        break;
      case '`':
        safe += "\\(ga";
        break;
      case '^':
        safe += "\\(ha";
        break;
      case '~':
        safe += "\\(ti";
        break;
      case '"':
        safe += "\\(dq";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

/// Lines of text, none of which can begin a request.
std::string lines_of(const std::string& text) {
  std::string safe = inline_text(text);
  if (safe.starts_with('.')) safe.insert(0, "\\&");
  return replaced(std::move(safe), "\n.", "\n\\&.") + "\n";
}

std::string bold(const std::string& word) {
  return "\\fB" + inline_text(word) + "\\fR";
}
std::string italic(const std::string& word) {
  return "\\fI" + inline_text(word) + "\\fR";
}

/// As a heading: `-c TEXT`, `--mode plan|ask`, with what is typed as it stands in bold.
std::string heading_of(const described_option& option) {
  std::string text;
  for (const auto& name : option.names) {
    if (!text.empty()) text += ", ";
    text += bold(name);
  }
  if (option.value.empty()) return text;
  if (!text.empty()) text += ' ';
  if (option.kind != value_kind::choice) return text + italic(option.value);
  std::vector<std::string> words;
  for (const auto& word : option.choices) words.push_back(bold(word));
  return text + joined(words, "|");
}

std::string list_of(const std::string& title, const std::vector<described_option>& options) {
  if (options.empty()) return {};
  std::string text = ".SH " + title + "\n";
  for (const auto& option : options) {
    text += ".TP\n" + heading_of(option) + "\n" + lines_of(option.text + ".");
  }
  return text;
}

/// The first letter small, as the NAME section has it.
std::string uncapitalized(std::string text) {
  const bool is_word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (is_word) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string begin(const std::string& title, const std::string& what) {
  return ".\\\" Made from the program's own options when it is built.\n.TH " +
         inline_text(upper(title)) + " 1 \"\" \"pinfold " + std::string{version_text} +
         "\" \"User Commands\"\n.SH NAME\n" + inline_text(title) + " \\- " +
         inline_text(uncapitalized(what)) + "\n";
}

std::string synopsis_of(const std::string& program, const described_command& one) {
  auto text = ".SH SYNOPSIS\n" + bold(program + " " + one.name) + " [" + italic("OPTION") + "...]";
  for (const auto& word : one.words) {
    text += " " + heading_of(word) + (word.is_repeatable ? "..." : "");
  }
  const std::string words{usage_of(one.after_dashes)};
  return text + (words.empty() ? "" : " " + inline_text(words)) + "\n";
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? std::string{} : ".SH " + title + "\n" + lines_of(body);
}

page page_of(const described_program& all, const described_command& one) {
  const auto title = all.top.name + "-" + one.name;
  auto text = begin(title, one.text) + synopsis_of(all.top.name, one) + ".SH DESCRIPTION\n" +
              lines_of(one.text + ".");
  for (const auto& note : one.notes) text += ".PP\n" + lines_of(note);
  text += list_of("ARGUMENTS", one.words) + list_of("OPTIONS", one.options) +
          section("EXIT STATUS", one.exit_code);
  if (!one.example.empty()) text += ".SH EXAMPLES\n.nf\n" + lines_of(one.example) + ".fi\n";
  text += ".SH SEE ALSO\n" + bold(all.top.name) + "(1)\n";
  return {title + ".1", std::move(text)};
}

page top_page(const described_program& all) {
  const auto& name = all.top.name;
  const auto what = all.top.text.substr(all.top.text.find(": ") + 2);
  auto text = begin(name, what) + ".SH SYNOPSIS\n" + bold(name) + " " + italic("SUBCOMMAND") +
              " [" + italic("OPTION") + "...] [-- " + italic("WORD") + "...]\n.SH DESCRIPTION\n" +
              lines_of(what);
  for (const auto& note : all.top.notes) text += ".PP\n" + lines_of(note);
  text += ".SH SUBCOMMANDS\n";
  std::vector<std::string> others;
  for (const auto& one : all.subcommands) {
    const auto reference = bold(name + "-" + one.name) + "(1)";
    text += ".TP\n" + reference + "\n" + lines_of(one.text + ".");
    others.push_back(reference);
  }
  text += list_of("OPTIONS", all.top.options);
  text += ".SH SEE ALSO\n" + joined(others, ", ") + ", " + bold("bwrap") + "(1)\n";
  return {name + ".1", std::move(text)};
}

}  // namespace

std::vector<page> manual(const described_program& all) {
  std::vector<page> pages{top_page(all)};
  for (const auto& one : all.subcommands) pages.push_back(page_of(all, one));
  return pages;
}

}  // namespace pinfold::pages
