// `pinfold records`: what many runs came to, from the records that `run --json` and `gate --json`
// printed. It reads, and starts nothing.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <pinfold/disk/descriptor.hpp>

#include "cli/commands.hpp"
#include "json/json.hpp"
#include "cli/record_summary.hpp"

namespace pinfold {
namespace {

class records_subcommand : public command {
 public:
  explicit records_subcommand(CLI::App& app) {
    app.add_option("FILE", files_,
                   "Files of run records, one JSON object a line; - is the standard input")
        ->type_name("FILE");
    app.add_option("--top", top_,
                   "Name this many of the slowest runs, and of those with most output (default: 5)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    app.add_flag("--json", json_, "Print one JSON object");
    app.footer(
        "Example:\n  pinfold records runs/*.jsonl\n\n"
        "Exit code: 0 when every line is a run record, 1 when one is not, 2 for bad usage and "
        "when\n"
        "a file cannot be read (then nothing is summed up).");
  }

  int run(const invocation& call) override {
    auto files = files_;
    files.insert(files.end(), call.after_dashes.begin(), call.after_dashes.end());
    if (files.empty()) {
      complain("records", "no file: name at least one, or - for the standard input");
      return usage_error;
    }
    record_summary sum{static_cast<std::size_t>(top_)};
    for (const auto& file : files) {
      if (const int failed = read(file, sum); failed != 0) {
        complain("records", file + ": " + std::generic_category().message(failed));
        return usage_error;
      }
    }
    const auto text = json_ ? one_line(sum.object(files.size())) : sum.table(files.size());
    if (!write_all(STDOUT_FILENO, text)) return usage_error;
    return sum.bad() == 0 ? 0 : 1;
  }

 private:
  /// 0, or the errno of what failed.
  static int read(const std::string& file, record_summary& to) {
    if (file == "-") return read(STDIN_FILENO, file, to);
    const descriptor opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    return opened.get() < 0 ? errno : read(opened.get(), file, to);
  }

  static int read(int from, const std::string& file, record_summary& to) {
    line_reader lines{from};
    std::string line;
    for (record_place where{file, 1};; ++where.line) {
      switch (lines.next(line)) {
        case line_reader::got::end:
          return 0;
        case line_reader::got::error:
          return errno;
        case line_reader::got::too_long:
          to.add_bad(where, "longer than any record");
          break;
        case line_reader::got::line:
          if (line.empty()) break;
          if (auto facts = read_record(line)) {
            to.add(*facts, where);
          } else {
            to.add_bad(where, std::move(facts.error()));
          }
      }
    }
  }

  std::vector<std::string> files_;
  int top_{5};
  bool json_{false};
};

}  // namespace

std::unique_ptr<command> make_records(CLI::App& app) {
  return std::make_unique<records_subcommand>(app);
}

}  // namespace pinfold
