// The interface for embedding programs: look at the caller, find a bwrap, prepare, run.
#include <pinfold/runner/runner.hpp>

#include <utility>

#include "sandbox/prepare.hpp"

namespace pinfold {
namespace {

run_record run_if_ready(const run_request& request, std::expected<prepared_run, refusal> ready,
                        backend_name asked, const limits& bounds, const sinks& events) {
  if (!ready) return refused_record(request, std::move(ready.error()), asked);
  return run_prepared(std::move(*ready), bounds, events);
}

}  // namespace

std::expected<runner, refusal> runner::for_caller(std::vector<std::string> environment) {
  auto who = look_at_caller(caller_environment{std::move(environment)});
  if (!who) return std::unexpected{std::move(who.error())};
  return runner{std::make_shared<const caller>(std::move(*who))};
}

run_record runner::run(const run_request& request, const limits& bounds,
                       const sinks& events) const {
  const auto backend = backend_for(request, *who_);
  if (!backend) return refused_record(request, backend.error());
  return run_if_ready(request, prepare_confined(request, *who_, *backend), backend_name::bubblewrap,
                      bounds, events);
}

run_record runner::run(const run_request& request, const limits& bounds, unconfined,
                       const sinks& events) const {
  return run_if_ready(request, prepare_unconfined(request, *who_), backend_name::none, bounds,
                      events);
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
