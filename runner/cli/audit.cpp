// `pinfold audit`: what sessions of `pinfold mcp` did, from their audit logs. It reads, and starts
// nothing.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <pinfold/disk/descriptor.hpp>

#include "cli/audit_summary.hpp"
#include "cli/commands.hpp"
#include "cli/line.hpp"
#include "cli/record_lines.hpp"

namespace pinfold {
namespace {

class audit_subcommand : public command {
 public:
  explicit audit_subcommand(CLI::App& app) {
    app.add_option("FILE", files_, "Audit logs of `pinfold mcp`; - is the standard input")
        ->type_name("FILE");
    app.add_option("--top", top_, "Show at most this many rows of each list (default: 50)")
        ->type_name("N")
        ->check(CLI::Range(1, 10000));
    app.add_flag("--json", json_, "Print one JSON object, with all rows");
    app.footer(
        "Example:\n  pinfold audit ~/.local/state/pinfold/app.jsonl\n\n"
        "Refusals come first, then what a person was asked, what was written, moved and removed,\n"
        "commands, hosts, what tainted a session, what a program of the host may run later, and errors\n"
        "that no rule refused.\n"
        "Exit code: 0 when every line is an entry, 1 when one is not, 2 for bad usage, when a file\n"
        "cannot be read, and when it is of another format than this pinfold knows.");
  }

  int run(const invocation& call) override {
    auto files = files_;
    files.insert(files.end(), call.after_dashes.begin(), call.after_dashes.end());
    if (files.empty()) {
      complain("audit", "no file: name at least one, or - for the standard input");
      return usage_error;
    }
    audit_summary sum;
    for (const auto& file : files) {
      if (const auto failed = read(file, sum); failed) {
        complain("audit", file + ": " + *failed);
        return usage_error;
      }
    }
    sum.finish();
    const bool is_read = json_ ? write_line(STDOUT_FILENO, sum.object())
                               : write_all(STDOUT_FILENO, sum.table(static_cast<std::size_t>(top_)));
    if (!is_read) return usage_error;
    return sum.bad() == 0 ? 0 : 1;
  }

 private:
  using failure = std::optional<std::string>;

  static failure error_text() { return std::generic_category().message(errno); }

  static failure read(const std::string& file, audit_summary& to) {
    if (file == "-") return read(STDIN_FILENO, file, to);
    const descriptor opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    return opened.get() < 0 ? error_text() : read(opened.get(), file, to);
  }

  static failure read(int from, const std::string& file, audit_summary& to) {
    line_reader lines{from};
    std::string line;
    for (record_place where{file, 1};; ++where.line) {
      switch (lines.next(line)) {
        case line_reader::got::end:
          return std::nullopt;
        case line_reader::got::error:
          return error_text();
        case line_reader::got::too_long:
          to.add_bad(where, "longer than any entry");
          break;
        case line_reader::got::line:
          if (auto failed = take(line, where, to); failed) return failed;
      }
    }
  }

  static failure take(const std::string& line, record_place where, audit_summary& to) {
    if (line.empty()) return std::nullopt;
    auto entry = read_audit_line(line);
    if (entry) {
      to.add(*entry, where);
    } else if (entry.error().is_other_format) {
      return "line " + std::to_string(where.line) + ": " + entry.error().why;
    } else {
      to.add_bad(where, std::move(entry.error().why));
    }
    return std::nullopt;
  }

  std::vector<std::string> files_;
  int top_{50};
  bool json_{false};
};

}  // namespace

std::unique_ptr<command> make_audit(CLI::App& app) {
  return std::make_unique<audit_subcommand>(app);
}

}  // namespace pinfold
