// Calls of tools: where they run, what is told of them, and how they are answered.
#include <algorithm>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "mcp/job.hpp"

namespace pinfold::mcp {
namespace {

using std::chrono::steady_clock;

const json no_arguments = json::object();

/// The person at the client, for one call. Every question that was put is kept, whatever tool put it.
class person_for_call : public asker {
 public:
  person_for_call(questions& all, std::stop_token cancelled, workers* waits_on,
                  std::vector<answered_question>& put)
      : all_{all}, cancelled_{std::move(cancelled)}, waits_on_{waits_on}, put_{put} {}

  std::optional<std::string> refuses(const question& asked) override {
    std::optional<workers::aside> others_run;
    if (waits_on_ != nullptr) others_run.emplace(*waits_on_);
    auto came = all_.put(asked.text, cancelled_);
    if (came.given) put_.push_back({asked, *came.given});
    return std::move(came.refused);
  }

 private:
  questions& all_;
  std::stop_token cancelled_;
  workers* waits_on_;
  std::vector<answered_question>& put_;
};

refusal exhausted(std::string_view tool) {
  return refusal{.error = code::resource_exhausted,
                 .op = operation::execute,
                 .path = std::string{tool},
                 .resolved = {},
                 .boundary = {},
                 .detail = "too many calls are waiting: call again when some are answered"};
}

std::optional<request_id> token_in(const json& params) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return std::nullopt;
  const auto token = meta->find("progressToken");
  return token == meta->end() ? std::nullopt : read_id(*token);
}

call_end end_of(const std::optional<tool_result>& result, bool is_cancelled) {
  if (!result) return call_end::failed;
  if (is_cancelled) return call_end::cancelled;
  return result->refused ? call_end::refused : call_end::done;
}

bool changes_git(const effect& one) {
  if (one.says == verdict::refuse || one.op == operation::read || one.op == operation::list) {
    return false;
  }
  return one.canonical.contains("/.git") || one.to.contains("/.git");
}

}  // namespace

std::expected<server::job, method_error> server::job_for(request& asked,
                                                         const answer_place& place) {
  const auto wrong = [](std::string why) {
    return std::unexpected{method_error{error_number::invalid_params, std::move(why)}};
  };
  if (!asked.params) return wrong("there are no parameters");
  const auto name = asked.params->find("name");
  if (name == asked.params->end() || !name->is_string()) return wrong("there is no tool's name");
  const auto& text = name->get_ref<const std::string&>();
  const auto called = std::ranges::find(tools_, text, &tool::name);
  if (called == tools_.end()) return wrong("there is no such tool");
  const auto given = asked.params->find("arguments");
  const bool has_arguments = given != asked.params->end();
  if (has_arguments && !given->is_object()) return wrong("the arguments are not an object");
  // Whatever else stands in the parameters is not kept while the call waits.
  const auto kept = has_arguments ? std::make_shared<const json>(std::move(*given)) : nullptr;
  return job{.number = ++numbered_,
             .id = std::move(asked.id),
             .called = &*called,
             .held = kept,
             .arguments = kept ? kept.get() : &no_arguments,
             .progress_token = token_in(*asked.params),
             .place = place};
}

void server::call_tool(request& asked, const answer_place& place, std::size_t bytes) {
  auto made = job_for(asked, place);
  if (!made) {
    const auto& why = made.error();
    return place.send_error(error_line(asked.id, why.number, why.why), outlet::when::later);
  }
  // A question to a person is answered through this thread, so in mode ask it runs no call.
  const bool is_quick = made->called->runs == pace::quick && now_.present() != mode::ask;
  if (is_quick) return run_now(*made, outlet::when::later);
  begin(std::make_shared<job>(std::move(*made)), bytes);
}

void server::begin(std::shared_ptr<job> made, std::size_t bytes) {
  made->stop = std::stop_source{};
  (void)calls_.begin(made->id, made->stop);  // it is not in flight: that was asked on this thread
  auto& where = made->called->runs == pace::command ? commands_ : files_;
  made->runs_on = &where;
  if (where.offer([this, made] { run_now(*made, outlet::when::now); }, bytes)) return;
  calls_.end(made->id);
  const auto refused = not_done(exhausted(made->called->name));
  made->place.send_result(made->id, result_of(refused, *spoken_), outlet::when::later);
}

void server::run_now(job& made, outlet::when written) noexcept try {
  if (made.stop.stop_requested()) {
    calls_.end(made.id);
    return made.place.drop();
  }
  const auto begun = steady_clock::now();
  const auto before = now_.labels();
  if (log_ != nullptr) {
    auto why = log_->begins({.number = made.number,
                             .tool = made.called->name,
                             .arguments = *made.arguments,
                             .before = before,
                             .at = std::chrono::system_clock::now()});
    tell_of_log(why);
    if (why) {
      calls_.end(made.id);
      const auto refused = not_done(std::move(*why));
      return made.place.send_result(made.id, result_of(refused, *spoken_), written);
    }
  }
  finish(made, act(made), before, begun, written);
} catch (const std::exception&) {  // no memory for the answer itself
  calls_.end(made.id);
  out_.close();
}

std::optional<tool_result> server::act(job& made) {
  person_for_call person{questions_, made.stop.get_token(), made.runs_on, made.asked};
  const tool_call call{.arguments = *made.arguments,
                       .now = now_,
                       .cancelled = made.stop.get_token(),
                       .progress = progress_for(made),
                       .person = person};
  try {
    return made.called->act(call);
  } catch (const std::exception& lost) {
    log(level::error, made.called->name + ": " + lost.what());
    return std::nullopt;
  }
}

void server::finish(job& made, const std::optional<tool_result>& result, taint before,
                    steady_clock::time_point begun, outlet::when written) {
  if (result) {
    note(made, *result);
    look_again_after(made, *result);
  }
  write_down(made, result, std::chrono::duration_cast<std::chrono::microseconds>(
                               steady_clock::now() - begun));
  calls_.end(made.id);
  const auto after = now_.labels();
  tell_of_taint(before, after);
  if (before != after || (result && result->refused)) tell_of_change();
  if (result && made.stop.stop_requested()) return made.place.drop();
  if (result) return made.place.send_result(made.id, result_of(*result, *spoken_), written);
  made.place.send_error(error_line(made.id, error_number::internal_error, "the tool failed"), written);
}

void server::write_down(const job& made, const std::optional<tool_result>& result,
                        std::chrono::microseconds took) {
  if (log_ == nullptr) return;
  const auto why = log_->ended({.number = made.number,
                                .tool = made.called->name,
                                .how = end_of(result, made.stop.stop_requested()),
                                .result = result ? &*result : nullptr,
                                .after = now_.labels(),
                                .took = took,
                                .questions = made.asked});
  if (why) tell_of_log(why);
}

/// A log that takes the begin of a call takes everything that was owed to it.
void server::tell_of_log(const std::optional<refusal>& why) {
  if (is_log_lost_.exchange(why.has_value()) || !why) return;
  log(level::error, why->message());
}

void server::note(const job& made, const tool_result& result) {
  std::vector<decision_taken> decisions;
  for (const auto& one : result.effects) {
    decisions.push_back({.call = made.number,
                         .tool = made.called->name,
                         .op = one.op,
                         .asked = one.asked,
                         .canonical = one.canonical,
                         .says = one.says,
                         .why = one.why});
  }
  now_.note(std::move(decisions));
  if (result.refused) log(level::info, result.refused->message());
}

/// A command may have changed anything in the workspace, a file tool what its effects name.
void server::look_again_after(const job& made, const tool_result& result) {
  const bool has_run = made.called->runs == pace::command && result.record;
  if (!has_run && std::ranges::none_of(result.effects, changes_git)) return;
  now_.look_again();
  if (const auto held = now_.held(); !held) log(level::error, held.error().message());
}

progress_sink server::progress_for(const job& made) {
  if (!made.progress_token) return {};
  return [this, token = *made.progress_token](double done, std::optional<double> total,
                                              std::string_view line) {
    json params;
    params["progressToken"] = to_json(token);
    params["progress"] = done;
    if (total) params["total"] = *total;
    if (*spoken_ >= revision::v2025_03_26 && !line.empty()) params["message"] = line;
    notify("notifications/progress", params);
  };
}

}  // namespace pinfold::mcp
