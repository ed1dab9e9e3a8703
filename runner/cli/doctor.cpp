// `pinfold doctor`: probes what `run` needs, layer by layer, then makes the very sandbox of `run`.
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <boost/filesystem/operations.hpp>
#include <nlohmann/json.hpp>
#include <pinfold/path.hpp>

#include "cli/commands.hpp"
#include "cli/doctor_report.hpp"
#include "launch/cgroup/leaf.hpp"
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

/// The directories of a cache that were not there, taken away again: the cache with all in it (only
/// `true` ran there), those above it where they are empty still.
class passing_cache {
 public:
  explicit passing_cache(std::string directory) : directory_{std::move(directory)} {
    for (auto at = directory_; at.size() > 1; at = std::string{parent_of(at)}) {
      struct stat about {};
      if (::lstat(at.c_str(), &about) == 0) break;
      missing_.push_back(at);
    }
  }
  passing_cache(const passing_cache&) = delete;
  passing_cache& operator=(const passing_cache&) = delete;
  ~passing_cache() {
    if (missing_.empty()) return;
    boost::system::error_code ignored;  // what stays is empty, and of no other use
    boost::filesystem::remove_all(directory_, ignored);
    for (const auto& at : missing_) ::rmdir(at.c_str());
  }

 private:
  std::string directory_;
  std::vector<std::string> missing_;  ///< innermost first
};

/// The sandbox that `run` would make, around an empty folder of our own. The state directories are
/// there already, so the folder's file system need not keep marks. The folder's own cache, made as
/// for any workspace, goes with it.
run_record run_true_confined(const caller_environment& environment, const bubblewrap_facts& bwrap) {
  auto folder = temporary_directory::make("doctor");
  if (!folder) return refused_record(std::move(folder.error()));
  // A place for each kind of mount that a run makes; where this fails, preparing says so.
  for (const auto* name : {"/.efferent", "/.foundry", "/.git"}) {
    ::mkdir((folder->path() + name).c_str(), 0700);
  }
  auto who = look_at_caller(environment);
  if (!who) return refused_record(std::move(who.error()));
  run_request request;
  request.workspace = folder->path();
  request.command = {"true"};
  const bubblewrap backend{.program = bwrap.program};
  auto planned = plan_confined(request, *who, backend);
  if (!planned) return refused_record(std::move(planned.error()));
  const passing_cache cache{std::move(planned->decided.cache_directory)};
  auto ready = prepare_confined(request, *who, backend);
  if (!ready) return refused_record(std::move(ready.error()));
  return run_prepared(std::move(*ready), {.time = probe_time}, {});
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
    const auto leaf = cgroup_leaf::enter(request.cgroups, {.memory = true, .pids = true});
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
