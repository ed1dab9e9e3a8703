// The program: subcommands, help, and nothing else. Words after the first "--" are the command's
// own and are set aside before any option is looked at.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

extern char** environ;

namespace pinfold {
namespace {

using maker = std::unique_ptr<command> (*)(CLI::App&);

struct entry {
  const char* name;
  const char* description;
  maker make;
  int usage_code;
};

constexpr std::array entries{
    entry{"run", "Run one command confined to one folder", &make_run, usage_error_of_runs},
    entry{"check", "Say where paths lead, and whether a tool may use them", &make_check,
          usage_error},
    entry{"explain", "Show what `run` would mount, hide and pass on; starts nothing", &make_explain,
          usage_error_of_runs},
    entry{"doctor", "Say whether the kernel holds the boundary here, and what is not promised",
          &make_doctor, usage_error},
    entry{"gate", "Run the repository's own checks outside the sandbox, bounded", &make_gate,
          usage_error_of_runs},
};

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

int usage_code_for(const parsed_line& line) {
  for (const auto& one : entries) {
    if (!line.options.empty() && line.options.back() == one.name) return one.usage_code;
  }
  return usage_error;
}

/// Where one of the first three is closed, it is opened on nothing: else a file of our own would get
/// its number, and be read or written in its place.
bool standard_descriptors_are_open() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

int parse_and_run(std::span<char*> words) {
  CLI::App app{"pinfold: what can this agent do to my machine? One folder.", "pinfold"};
  app.set_version_flag("--version", "pinfold " PINFOLD_VERSION);
  app.require_subcommand(1);
  app.footer("Run `pinfold SUBCOMMAND --help` for its options and an example.");
  std::vector<std::pair<CLI::App*, std::unique_ptr<command>>> commands;
  for (const auto& one : entries) {
    auto* sub = app.add_subcommand(one.name, one.description);
    commands.emplace_back(sub, one.make(*sub));
  }
  auto line = split_at_dashes(words);
  const int usage_code = usage_code_for(line);
  try {
    app.parse(std::move(line.options));
  } catch (const CLI::Success& asked_for_help) {
    return app.exit(asked_for_help);
  } catch (const CLI::ParseError& wrong) {
    const bool runs_a_command = usage_code == usage_error_of_runs;
    const bool has_spare_word = dynamic_cast<const CLI::ExtrasError*>(&wrong) != nullptr;
    const std::string hint = runs_a_command && has_spare_word ? " (a command goes after --)" : "";
    complain("usage", wrong.what() + hint);
    return usage_code;
  }
  for (auto& [sub, one] : commands) {
    if (sub->parsed()) return one->run(line.call);
  }
  return usage_error;
}

}  // namespace
}  // namespace pinfold

int main(int argc, char** argv) {
  if (!pinfold::standard_descriptors_are_open()) return pinfold::usage_error_of_runs;
  try {
    return pinfold::parse_and_run({argv + std::min(argc, 1), argv + argc});
  } catch (const std::exception& lost) {
    pinfold::complain("failed", lost.what());
    return pinfold::usage_error_of_runs;
  }
}
