// The program: subcommands, help, and nothing else. Words after the first "--" are the command's
// own and are set aside before any option is looked at.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/interruption.hpp"
#include "cli/program.hpp"

extern char** environ;

namespace pinfold {
namespace {

std::vector<std::string> environment_entries() {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) all.emplace_back(*at);
  return all;
}

struct parsed_line {
  std::vector<std::string> options;  ///< in reverse, as CLI11 wants them
  invocation call;
};

parsed_line split_at_dashes(std::span<char*> words) {
  parsed_line line{{}, {caller_environment{environment_entries()}, {}, false}};
  for (char* word : words) {
    if (line.call.has_dashes) {
      line.call.after_dashes.emplace_back(word);
    } else if (std::string_view{word} == "--") {
      line.call.has_dashes = true;
    } else {
      line.options.emplace_back(word);
    }
  }
  std::ranges::reverse(line.options);
  return line;
}

/// Where one of the first three is closed, it is opened on nothing: else a file of our own would get
/// its number, and be read or written in its place.
bool standard_descriptors_are_open() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

/// What is wrong with a line whose first word is neither a subcommand nor an option.
std::string no_subcommand(std::string_view word) {
  const std::string what =
      word.empty() ? "no subcommand" : "no subcommand is called \"" + std::string{word} + "\"";
  return what + "; there are " + subcommand_names() + " (pinfold --help says more)";
}

/// What CLI11 says of words too many, in the order in which they were given.
std::string spare_words(const CLI::App& app, bool runs_a_command) {
  std::string text = "not expected:";
  for (const auto& word : app.remaining(true)) text += " " + word;
  return text + (runs_a_command ? " (a command goes after --)" : "");
}

int parse_and_run(std::span<char*> words) {
  auto line = split_at_dashes(words);
  const std::string first = line.options.empty() ? "" : line.options.back();
  if (!first.starts_with('-') && !is_subcommand(first)) {
    complain("usage", no_subcommand(first));
    return usage_error;
  }
  // As long as the process: taking it apart would be a part of what a short run costs.
  static program& all = *new program{first};
  const int usage_code = usage_code_of(first);
  try {
    all.app.parse(std::move(line.options));
  } catch (const CLI::Success& asked_for_help) {
    return all.app.exit(asked_for_help);
  } catch (const CLI::ParseError& wrong) {
    const bool has_spare_word = dynamic_cast<const CLI::ExtrasError*>(&wrong) != nullptr;
    complain("usage", has_spare_word ? spare_words(all.app, usage_code == usage_error_of_runs)
                                     : wrong.what());
    return usage_code;
  }
  for (auto& one : all.subcommands) {
    if (!one.app->parsed()) continue;
    if (one.signals == interruptions::end_it) let_interruptions_in();
    return one.act->run(line.call);
  }
  return usage_error;
}

}  // namespace
}  // namespace pinfold

int main(int argc, char** argv) {
  pinfold::hold_interruptions();
  if (!pinfold::standard_descriptors_are_open()) return pinfold::usage_error_of_runs;
  try {
    return pinfold::parse_and_run({argv + std::min(argc, 1), argv + argc});
  } catch (const std::exception& lost) {
    pinfold::complain("failed", lost.what());
    return pinfold::usage_error_of_runs;
  }
}
