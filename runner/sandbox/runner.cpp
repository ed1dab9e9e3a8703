// The interface for embedding programs: look at the caller, find a bwrap, prepare, run.
#include <pinfold/runner/runner.hpp>

#include <functional>
#include <memory>
#include <utility>

#include <pinfold/disk/resolve.hpp>

#include "sandbox/own_places.hpp"
#include "sandbox/prepare.hpp"
#include "sandbox/tool_carve_outs.hpp"

namespace pinfold {
namespace {

/// Negative: no other descriptor than the one in the sinks cancels.
run_record run_if_ready(const run_request& request, std::expected<prepared_run, refusal> ready,
                        backend_name asked, const limits& bounds, const sinks& events,
                        int cancelled) {
  if (!ready) return refused_record(request, std::move(ready.error()), asked);
  ready->extras.cancelled = cancelled;
  return run_prepared(std::move(*ready), bounds, events);
}

run_record run_confined(const caller& who, const run_request& request, const limits& bounds,
                        const sinks& events, int cancelled) {
  const auto backend = backend_for(request, who);
  if (!backend) return refused_record(request, backend.error());
  return run_if_ready(request, prepare_confined(request, who, *backend), backend_name::bubblewrap,
                      bounds, events, cancelled);
}

run_record run_unconfined(const caller& who, const run_request& request, const limits& bounds,
                          const sinks& events, int cancelled) {
  return run_if_ready(request, prepare_unconfined(request, who), backend_name::none, bounds, events,
                      cancelled);
}

using way = run_record (*)(const caller&, const run_request&, const limits&, const sinks&, int);

std::function<run_record(int)> work_of(way how, std::shared_ptr<const caller> who,
                                       run_request request, limits bounds, sinks events) {
  return [how, who = std::move(who), request = std::move(request), bounds,
          events = std::move(events)](int cancelled) {
    return how(*who, request, bounds, events, cancelled);
  };
}

}  // namespace

std::expected<runner, refusal> runner::for_caller(std::vector<std::string> environment) {
  auto who = look_at_caller(caller_environment{std::move(environment)});
  if (!who) return std::unexpected{std::move(who.error())};
  return runner{std::make_shared<const caller>(std::move(*who))};
}

run_record runner::run(const run_request& request, const limits& bounds,
                       const sinks& events) const {
  return run_confined(*who_, request, bounds, events, -1);
}

run_record runner::run(const run_request& request, const limits& bounds, unconfined,
                       const sinks& events) const {
  return run_unconfined(*who_, request, bounds, events, -1);
}

std::expected<running, refusal> runner::start(run_request request, limits bounds,
                                              sinks events) const {
  return running::on_a_thread(
      work_of(&run_confined, who_, std::move(request), bounds, std::move(events)));
}

std::expected<running, refusal> runner::start(run_request request, limits bounds, unconfined,
                                              sinks events) const {
  return running::on_a_thread(
      work_of(&run_unconfined, who_, std::move(request), bounds, std::move(events)));
}

std::expected<found_carve_outs, refusal> runner::carve_outs(std::string_view workspace) const {
  auto canonical = canonical_workspace(workspace);
  if (!canonical) return std::unexpected{std::move(canonical.error())};
  if (auto apart = check_own_places(*canonical, *who_); !apart) {
    return std::unexpected{std::move(apart.error())};
  }
  return carve_outs_for_tools(*canonical, who_->git_settings);
}

std::expected<launch_plan, refusal> runner::plan(const run_request& request) const {
  const auto backend = backend_for(request, *who_);
  if (!backend) return std::unexpected{backend.error()};
  auto planned = plan_confined(request, *who_, *backend);
  if (!planned) return std::unexpected{std::move(planned.error())};
  return std::move(planned->plan);
}

run_record refused_record(const run_request& request, refusal why, backend_name asked) {
  run_record record;
  record.backend = asked;
  record.network = network_of(request);
  record.decided = decided_about(request);
  record.workspace = request.workspace;
  record.error = std::move(why);
  return record;
}

}  // namespace pinfold
