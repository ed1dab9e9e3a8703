// `pinfold doctor`: probes what `run` needs, layer by layer, then makes the very sandbox of `run`.
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/doctor_report.hpp"
#include "sandbox/prepare.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/temporary_directory.hpp"

namespace pinfold {
namespace {

run_record refused_record(refusal why) {
  run_record record;
  record.error = std::move(why);
  return record;
}

/// The sandbox that `run` would make, around an empty folder of our own. The state directories are
/// there already, so the folder's file system need not keep marks.
run_record run_true_confined(const caller_environment& environment, const bubblewrap_facts& bwrap) {
  auto folder = temporary_directory::make("doctor");
  if (!folder) return refused_record(std::move(folder.error()));
  for (const auto* name : {"/.efferent", "/.foundry"}) {
    ::mkdir((folder->path() + name).c_str(), 0700);  // where this fails, preparing says so
  }
  auto who = look_at_caller(environment);
  if (!who) return refused_record(std::move(who.error()));
  run_request request;
  request.workspace = folder->path();
  request.command = {"true"};
  auto ready = prepare_confined(request, *who, bubblewrap{.program = bwrap.program});
  if (!ready) return refused_record(std::move(ready.error()));
  return run(ready->plan, {.time = probe_time}, {}, ready->extras);
}

class doctor_subcommand : public command {
 public:
  explicit doctor_subcommand(CLI::App& app) {
    app.add_flag("--json", json_, "Print one JSON object");
    app.footer(
        "Example:\n  pinfold doctor\n\n"
        "Exit code: 0 only if `pinfold run` would work here, else 1.");
  }

  int run(const invocation& call) override {
    probe_request request;
    request.whole = [&call](const bubblewrap_facts& bwrap) {
      return run_true_confined(call.environment, bwrap);
    };
    const auto report = probe_sandbox(request);
    const auto text = json_ ? one_line(doctor_json(report)) : doctor_table(report);
    (void)write_all(STDOUT_FILENO, text);
    return report.is_usable() ? 0 : 1;
  }

 private:
  bool json_{false};
};

}  // namespace

std::unique_ptr<command> make_doctor(CLI::App& app) {
  return std::make_unique<doctor_subcommand>(app);
}

}  // namespace pinfold
