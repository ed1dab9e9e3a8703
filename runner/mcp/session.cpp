// The workspace is held anew where carve-outs may have changed; the labels and the decisions are all
// else that changes.
#include "mcp/session.hpp"

#include <sys/stat.h>

#include <utility>

#include <pinfold/intake.hpp>

namespace pinfold::mcp {
namespace {

refusal gone(const std::string& path) {
  return refusal{.error = code::workspace_gone,
                 .op = operation::list,
                 .path = path,
                 .resolved = {},
                 .boundary = {},
                 .detail = {}};
}

}  // namespace

session::session(session_settings settings, runner launcher) noexcept
    : settings_{std::move(settings)},
      launcher_{std::move(launcher)},
      labels_{settings_.defaults.labels} {}

std::expected<std::unique_ptr<session>, refusal> session::open(session_settings settings,
                                                               runner launcher) {
  auto canonical = canonical_workspace(settings.defaults.workspace);
  if (!canonical) return std::unexpected{std::move(canonical.error())};
  settings.defaults.workspace = std::move(*canonical);
  std::unique_ptr<session> made{new session{std::move(settings), std::move(launcher)}};
  made->look_again();
  if (!made->held_) return std::unexpected{std::move(made->held_.error())};
  return made;
}

/// The directory behind the path, before and after: neither may be another one than at first.
std::expected<std::shared_ptr<const workspace>, refusal> session::hold() {
  const auto& path = settings_.defaults.workspace;
  const auto is_the_first = [&] {
    struct stat now {};
    if (::lstat(path.c_str(), &now) != 0) return false;
    if (!first_) first_ = {now.st_dev, now.st_ino};
    return *first_ == std::pair{now.st_dev, now.st_ino};
  };
  if (!is_the_first()) return std::unexpected{gone(path)};
  const auto carve_outs = launcher_.carve_outs(path);
  if (!carve_outs) return std::unexpected{carve_outs.error()};
  std::vector<extra_root> roots;
  for (const auto& root : settings_.defaults.read_roots) {
    roots.push_back({root, root_access::read});
  }
  auto opened = workspace::open(path, carve_outs->list(), roots);
  if (!opened) return std::unexpected{std::move(opened.error())};
  if (!is_the_first()) return std::unexpected{gone(path)};
  return std::make_shared<const workspace>(std::move(*opened));
}

void session::look_again() {
  const std::lock_guard one_at_a_time{looking_};
  auto found = hold();
  const std::lock_guard locked{lock_};
  held_ = std::move(found);
}

std::expected<std::shared_ptr<const workspace>, refusal> session::held() {
  {
    const std::lock_guard locked{lock_};
    if (held_) return held_;
  }
  look_again();
  const std::lock_guard locked{lock_};
  return held_;
}

enforcement session::boundary() const noexcept {
  return settings_.boundary == commands::confined ? enforcement::enforced
                                                  : enforcement::unconfined;
}

guard session::guard_for(const workspace& ws) const {
  const guard now{ws.grant(), present(), settings_.defaults.open, labels(), boundary()};
  if (settings_.boundary == commands::confined) return now;
  return now.allowing(unconfined{});
}

taint session::labels() const {
  const std::lock_guard locked{lock_};
  return labels_.labels();
}

taint session::take_in(taint more) {
  const std::lock_guard locked{lock_};
  labels_.after_call(more);
  return labels_.labels();
}

taint session::after_read(const workspace& ws, std::string_view canonical) {
  const auto where = ws.grant().region_of(canonical);
  const bool is_inside = where == region::workspace || where == region::host_run;
  if (!is_inside) return take_in(settings_.on_read_outside);
  return take_in(taint_of_read(ws.grant(), canonical, checkout::trusted));
}

void session::note(std::vector<decision_taken> decisions) {
  if (decisions.empty()) return;
  const std::lock_guard locked{lock_};
  for (auto& one : decisions) last_.push_back(std::move(one));
  while (last_.size() > most_decisions) last_.pop_front();
}

std::vector<decision_taken> session::last_decisions() const {
  const std::lock_guard locked{lock_};
  return {last_.begin(), last_.end()};
}

}  // namespace pinfold::mcp
