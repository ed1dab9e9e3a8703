#include "mcp/tools/acting.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace pinfold::mcp {

namespace {

call call_for(operation op, std::string_view canonical) noexcept {
  switch (op) {
    case operation::write:
      return call::write(canonical);
    case operation::make_directory:
      return call::make_directory(canonical);
    case operation::list:
      return call::list(canonical);
    case operation::remove:
      return call::remove(canonical);
    case operation::read:
    case operation::rename:
    case operation::execute:
    case operation::connect:
      break;
  }
  return call::read(canonical);
}

/// Where a path leads if no link is on the way: what a person is asked about when nothing is there.
std::string spelled_place(const workspace& ws, std::string_view path) {
  const auto whole = is_absolute(path) ? std::string{path} : ws.path() + '/' + std::string{path};
  char buffer[path_max];
  const auto normal = lexically_normal(whole, buffer);
  return normal ? std::string{*normal} : std::string{};
}

/// Of what is removed or moved. No name is left of a relative path to the workspace, so that the resolver
/// says that it is misspelled; an absolute one is refused by the guard.
void name_the_workspace(refusal& why, const workspace& ws, std::string_view path) {
  if (why.error != code::invalid_path && why.error != code::permission_denied) return;
  const auto place = ws.resolve(operation::list, path);
  if (!place || place->canonical != ws.path()) return;
  why.error = code::invalid_argument;
  why.detail = "it is the workspace itself, which stays where it is";
}

/// Nobody can approve it: the log is what tells a person later what was approved.
refusal of_the_log(refusal why) {
  why.error = code::harness_state;
  why.detail = "the audit log of this session, or where it lies: no tool may change it";
  return why;
}

refusal refused_at(operation op, std::string_view path) {
  return {.error = code::harness_state,
          .op = op,
          .path = std::string{path},
          .resolved = {},
          .boundary = {},
          .detail = {}};
}

}  // namespace

std::expected<acting, refusal> acting::begin(const tool_call& call) {
  auto held = call.now.held();
  if (!held) return std::unexpected{std::move(held.error())};
  return acting{call, std::move(*held)};
}

std::expected<std::string, refusal> acting::perform(operation op, std::string_view path,
                                                    const act_at_place& act,
                                                    leading_out elsewhere,
                                                    std::string_view manner) {
  auto done = inside(op, path, act);
  if (!done && elsewhere == leading_out::asked_about && may_ask_about(done.error())) {
    done = once_approved(op, path, act, std::move(done.error()), manner);
  } else if (done) {
    effects_.push_back({op, std::string{path}, *done, verdict::allow});
  }
  if (!done) {
    if (op == operation::remove) name_the_workspace(done.error(), *ws_, path);
    note_refused(op, path, done.error());
  }
  return done;
}

std::expected<std::string, refusal> acting::inside(operation op, std::string_view path,
                                                   const act_at_place& act) {
  const auto& root = ws_->root().held();
  const disk::question asked{root.rules(), op, path};
  std::string canonical;
  std::optional<refusal> said;
  auto done =
      beneath::attempt(root, asked, [&](const resolved& place) -> std::expected<void, code> {
        canonical = place.canonical;
        if (is_kept(op, canonical)) {
          said = of_the_log(refused_at(op, path));
          return std::unexpected{code::permission_denied};
        }
        const auto about = call_for(op, canonical);
        const auto answer = now_.check(about);
        if (answer == verdict::allow) return act(root, place);
        said = answer.to_refusal(path);
        return std::unexpected{code::permission_denied};
      });
  if (done) return canonical;
  return std::unexpected{said ? std::move(*said) : std::move(done.error())};
}

std::expected<opened_file, refusal> acting::open_read(std::string_view path,
                                                      leading_out elsewhere) {
  opened_file opened;
  const auto permits = [&](std::string_view canonical) {
    if (!(now_.check(call::read(canonical)) == verdict::allow)) return false;
    opened.canonical = canonical;
    return true;
  };
  if (auto file = beneath::open_read_straight(ws_->root().held(), path, permits)) {
    opened.file = std::move(*file);
    effects_.push_back({operation::read, std::string{path}, opened.canonical, verdict::allow});
    return opened;
  }
  auto done = perform(
      operation::read, path,
      [&](const beneath::held_root& root, const resolved& place) -> std::expected<void, code> {
        auto file = beneath::open_read_at(root, place);
        if (!file) return std::unexpected{file.error()};
        opened.file = std::move(*file);
        return {};
      },
      elsewhere);
  if (!done) return std::unexpected{std::move(done.error())};
  opened.canonical = std::move(*done);
  return opened;
}

bool acting::is_kept(operation op, const std::string& canonical) const {
  return disk::changes_something(op) && call_.now.is_kept(canonical);
}

bool acting::may_ask_about(const refusal& why) const noexcept {
  return now_.present() == mode::ask && why.error == code::outside_workspace;
}

/// The place that the path leads to; where that cannot be told, what its spelling says: the person is
/// asked all the same, so that the answer does not tell what is there.
std::string acting::place_to_ask_about(operation op, std::string_view path) const {
  auto place = ws_->place_for_approval(op, path);
  return place ? std::move(*place) : spelled_place(*ws_, path);
}

/// The person's grant for `made`. The refusal names no more of the place than `first` did.
std::expected<one_call_grant, refusal> acting::ask(const call& made, std::string_view path,
                                                   const refusal& first,
                                                   std::string_view manner) {
  const auto answer = now_.check(made);
  if (!(answer == verdict::ask)) return std::unexpected{first};
  auto approved = approval(call_.person, answer, path, manner);
  if (approved) return approved;
  auto why = first;
  why.error = code::needs_approval;
  why.detail = std::move(approved.error().detail);
  return std::unexpected{std::move(why)};
}

std::expected<std::string, refusal> acting::once_approved(operation op, std::string_view path,
                                                          const act_at_place& act, refusal first,
                                                          std::string_view manner) {
  const auto place = place_to_ask_about(op, path);
  if (is_kept(op, place)) return std::unexpected{of_the_log(std::move(first))};
  const auto made = call_for(op, place);
  auto approved = ask(made, path, first, manner);
  if (!approved) return std::unexpected{std::move(approved.error())};
  std::string canonical;
  bool is_log = false;  // by now: a person takes their time
  auto done =
      beneath::act_once(ws_->root(), {ws_->grant(), op, path}, made, std::move(*approved),
                        [&](const beneath::held_root& root) {
                          return beneath::attempt(root, disk::question{root.rules(), op, place},
                                                  [&](const resolved& at) -> std::expected<void, code> {
                                                    canonical = at.canonical;
                                                    is_log = is_kept(op, canonical);
                                                    if (is_log) return std::unexpected{code::permission_denied};
                                                    return act(root, at);
                                                  });
                        });
  if (is_log) return std::unexpected{of_the_log(std::move(first))};
  if (!done) return std::unexpected{std::move(done.error())};
  effects_.push_back({op, std::string{path}, canonical, verdict::ask, first.error});
  return canonical;
}

std::expected<moved_file, refusal> acting::rename(std::string_view from, std::string_view to,
                                                  overwrite existing) {
  auto done = rename_inside(from, to, existing);
  if (!done && may_ask_about(done.error())) {
    done = rename_approved(from, to, existing, std::move(done.error()));
  } else if (done) {
    effects_.push_back(
        {operation::rename, std::string{from}, done->from, verdict::allow, std::nullopt, done->to});
  }
  if (!done) {
    name_the_workspace(done.error(), *ws_, done.error().path);
    note_refused(operation::rename, from, done.error());
  }
  return done;
}

std::expected<moved_file, refusal> acting::rename_inside(std::string_view from, std::string_view to,
                                                         overwrite existing) {
  moved_file ends;
  std::optional<refusal> said;
  const auto permits = [&](const resolved& source, const resolved& target) {
    ends = {source.canonical, target.canonical};
    if (is_kept(operation::rename, ends.from) || is_kept(operation::rename, ends.to)) {
      said = of_the_log(refused_at(operation::rename, from));
      return false;
    }
    const auto about = call::rename(ends.from, ends.to);
    const auto answer = now_.check(about);
    if (answer == verdict::allow) return true;
    said = answer.to_refusal(answer.at() == ends.from ? from : to);
    return false;
  };
  auto done = beneath::rename_within(ws_->root().held(), from, to, existing, permits);
  if (done) return ends;
  return std::unexpected{said ? std::move(*said) : std::move(done.error())};
}

std::expected<moved_file, refusal> acting::rename_approved(std::string_view from,
                                                           std::string_view to, overwrite existing,
                                                           refusal first) {
  moved_file ends{place_to_ask_about(operation::rename, from),
                  place_to_ask_about(operation::rename, to)};
  const auto is_log = [&] {
    return is_kept(operation::rename, ends.from) || is_kept(operation::rename, ends.to);
  };
  if (is_log()) return std::unexpected{of_the_log(std::move(first))};
  auto approved = ask(call::rename(ends.from, ends.to), first.path, first,
                      existing == overwrite::allowed ? ", replacing what is there" : "");
  if (!approved) return std::unexpected{std::move(approved.error())};
  if (is_log()) return std::unexpected{of_the_log(std::move(first))};  // by now
  auto done = ws_->rename_within(from, to, existing, std::move(*approved));
  if (!done) return std::unexpected{std::move(done.error())};
  effects_.push_back(
      {operation::rename, std::string{from}, ends.from, verdict::ask, first.error, ends.to});
  return ends;
}

void acting::after_list(std::string_view canonical) {
  const auto where = ws_->grant().region_of(canonical);
  if (where != region::workspace && where != region::host_run) after_read(canonical);
}

void acting::note_read(std::string_view canonical) {
  effects_.push_back(
      {operation::read, std::string{canonical}, std::string{canonical}, verdict::allow});
}

void acting::note_refused(operation op, std::string_view path, const refusal& why) {
  effects_.push_back({op, std::string{path}, why.resolved, verdict::refuse, why.error});
}

tool_result acting::finish(tool_result result) {
  std::ranges::move(effects_, std::back_inserter(result.effects));
  effects_.clear();
  return result;
}

}  // namespace pinfold::mcp
