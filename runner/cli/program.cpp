// The table of subcommands: see program.hpp. A new one needs a row here and its file, nothing else.
#include "cli/program.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <pinfold/version.hpp>

namespace pinfold {
namespace {

struct entry {
  std::string_view name;
  const char* description;
  std::unique_ptr<command> (*make)(CLI::App&);
  tail after_dashes;
  interruptions signals{interruptions::end_it};
};

constexpr std::array entries{
    entry{"run", "Run one command confined to one folder", &make_run, tail::command,
          interruptions::are_told},
    entry{"check", "Say where paths lead, and whether a tool may use them", &make_check,
          tail::paths},
    entry{"explain", "Show what `run` would mount, hide and pass on; starts nothing", &make_explain,
          tail::command},
    entry{"doctor", "Say whether the kernel holds the boundary here, and what is not promised",
          &make_doctor, tail::none},
    entry{"worktree", "Give an agent a git worktree of its own, and remove it when nothing is in it",
          &make_worktree, tail::none},
    entry{"gate", "Run the repository's own checks outside the sandbox, bounded", &make_gate,
          tail::command, interruptions::are_told},
    entry{"mcp", "Serve file tools and a shell to an agent by MCP, held to one folder", &make_mcp,
          tail::none, interruptions::are_told},
    entry{"records", "Sum up run records: how many ended how, slowest, most output, refusals",
          &make_records, tail::paths},
    entry{"audit", "Say what sessions of `mcp` did, from their audit logs", &make_audit,
          tail::paths},
};

constexpr auto summary = "pinfold: what can this agent do to my machine? One folder.";

/// CLI11 knows nothing of the words after "--": the usage line is where a person looks for them.
class usage_with_tail : public CLI::Formatter {
 public:
  explicit usage_with_tail(std::string_view words) : words_{words} {}

  std::string make_usage(const CLI::App* app, std::string name) const override {
    auto line = CLI::Formatter::make_usage(app, std::move(name));
    const auto end = line.find_last_not_of('\n') + 1;
    return words_.empty() ? line : line.insert(end, " " + words_);
  }

 private:
  std::string words_;
};

}  // namespace

program::program() : app{summary, "pinfold"} {
  add_subcommands([](std::string_view) { return true; });
}

program::program(std::string_view word) : app{summary, "pinfold"} {
  add_subcommands([word](std::string_view name) { return name == word; });
}

/// All are there to be listed, or the only one.
void program::add_subcommands(const std::function<bool(std::string_view)>& is_wanted) {
  app.set_version_flag("--version", "pinfold " + std::string{version_text});
  app.require_subcommand(1);
  app.footer("Run `pinfold SUBCOMMAND --help` for its options and an example.");
  const bool is_any_wanted = std::ranges::any_of(entries, is_wanted, &entry::name);
  for (const auto& one : entries) {
    if (is_any_wanted && !is_wanted(one.name)) continue;
    auto* sub = app.add_subcommand(std::string{one.name}, one.description);
    sub->formatter(std::make_shared<usage_with_tail>(usage_of(one.after_dashes)));
    if (!is_wanted(one.name)) continue;
    subcommands.push_back({sub, one.make(*sub), one.after_dashes, one.signals});
  }
}

bool is_subcommand(std::string_view word) noexcept {
  return std::ranges::find(entries, word, &entry::name) != entries.end();
}

std::string subcommand_names() {
  std::string names;
  for (const auto& one : entries) names.append(names.empty() ? "" : ", ").append(one.name);
  return names;
}

int usage_code_of(std::string_view name) noexcept {
  const auto* found = std::ranges::find(entries, name, &entry::name);
  const bool runs_a_command = found != entries.end() && found->after_dashes == tail::command;
  return runs_a_command ? usage_error_of_runs : usage_error;
}

std::string_view usage_of(tail words) noexcept {
  switch (words) {
    case tail::none:
      return "";
    case tail::paths:
      return "[-- PATH...]";
    case tail::command:
      return "-- COMMAND [ARG...]";
  }
  return "";
}

}  // namespace pinfold
