// The thread that reads: it parses, answers what needs no tool, and hands calls on. It never waits for
// a call.
#include "mcp/server.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include <pinfold/describe.hpp>
#include <pinfold/version.hpp>

#include "json/dumped.hpp"
#include "mcp/input.hpp"
#include "mcp/job.hpp"

namespace pinfold::mcp {
namespace {

constexpr std::string_view grant_uri = "pinfold://grant";

constexpr std::array<std::string_view, 8> level_names{"debug",   "info",  "notice",   "warning",
                                                      "error", "critical", "alert", "emergency"};

std::unexpected<method_error> wrong(error_number number, std::string why) {
  return std::unexpected{method_error{number, std::move(why)}};
}

/// A text among the parameters, or nothing.
std::optional<std::string_view> text_in(const json& params, std::string_view name) {
  const auto at = params.find(name);
  if (at == params.end() || !at->is_string()) return std::nullopt;
  return at->get_ref<const std::string&>();
}

/// Elicitation by form: `{}` means that too (2025-06-18 knows nothing else).
bool has_form(const json& params) {
  const auto capabilities = params.find("capabilities");
  if (capabilities == params.end() || !capabilities->is_object()) return false;
  const auto elicitation = capabilities->find("elicitation");
  if (elicitation == capabilities->end() || !elicitation->is_object()) return false;
  return elicitation->empty() || elicitation->contains("form");
}

std::string instructions_for(const session& now) {
  const grant plain{now.settings().defaults.workspace};
  return rule_for_file_tools(plain, now.present()) + ' ' +
         rule_for_commands(plain, now.present(), now.boundary()) +
         " What is refused comes back as a result with isError and a refusal that says what to do "
         "instead. pinfold://grant shows the grant, what the session has taken in and the last "
         "decisions.";
}

json grant_resource() {
  json entry;
  entry["uri"] = grant_uri;
  entry["name"] = "grant";
  entry["title"] = "The grant of this session";
  entry["description"] = "What may be touched, what was taken in, and the last decisions";
  entry["mimeType"] = "application/json";
  return entry;
}

std::size_t answers_of(const std::vector<message>& all) {
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const message& one) {
    return std::holds_alternative<request>(one) || std::holds_alternative<malformed>(one);
  }));
}

}  // namespace

server::server(session& now, std::function<std::vector<tool>(const session&)> tools,
               client_descriptors client, audit_sink* log)
    : now_{now},
      make_tools_{std::move(tools)},
      tools_{make_tools_(now)},
      client_{client},
      log_{log},
      out_{client.output, {.input = client.input, .ending = client.ending}},
      questions_{out_},
      files_{{.threads = file_threads}},
      commands_{{.threads = command_threads}} {}

void server::serve() {
  line_source lines{client_.input, client_.ending, [this] { out_.flush(); }};
  std::string_view line;
  for (auto got = lines.next(line); got != line_source::got::end && !out_.is_closed();
       got = lines.next(line)) {
    try {
      if (got == line_source::got::line) {
        take_line(line);
      } else {
        const auto why = oversized();
        out_.send(error_line(why.id, why.error, why.why), outlet::when::later);
      }
    } catch (const std::exception& lost) {
      out_.send(error_line(std::nullopt, error_number::internal_error, lost.what()));
    }
  }
  out_.close();
  calls_.cancel_all();
  files_.close();
  commands_.close();
}

void server::take_line(std::string_view line) {
  const bool has_batches = spoken_ && *spoken_ < revision::v2025_06_18;
  auto parsed = parse_line(line, has_batches ? batches::taken : batches::refused);
  answer_place place{out_};
  if (parsed.is_batch) {
    auto batch = batch_answer::begin(out_, held_, answers_of(parsed.messages), line.size());
    if (!batch) {
      return out_.send(error_line(std::nullopt, error_number::internal_error,
                                  "ResourceExhausted: too many answers wait for the rest of their "
                                  "batches: nothing of this one is done"),
                       outlet::when::later);
    }
    place = answer_place{out_, std::move(batch)};
  }
  for (auto& one : parsed.messages) take(one, place, parsed.bytes);
}

void server::take(message& one, const answer_place& place, std::size_t bytes) {
  if (auto* asked = std::get_if<request>(&one)) return take_request(*asked, place, bytes);
  if (const auto* told = std::get_if<notification>(&one)) return take_notification(*told);
  if (const auto* given = std::get_if<response>(&one)) return questions_.answered(*given);
  const auto& bad = std::get<malformed>(one);
  place.send_error(error_line(bad.id, bad.error, bad.why), outlet::when::later);
}

void server::take_request(request& asked, const answer_place& place, std::size_t bytes) {
  const auto refuse = [&](error_number number, std::string_view why) {
    place.send_error(error_line(asked.id, number, why), outlet::when::later);
  };
  if (!spoken_ && asked.method != "initialize" && asked.method != "ping") {
    return refuse(error_number::invalid_request, "the first request is initialize");
  }
  if (calls_.has(asked.id)) {
    return refuse(error_number::invalid_request, "a request with this id is in flight");
  }
  if (asked.method == "tools/call") return call_tool(asked, place, bytes);
  const auto answer = answer_to(asked, place.is_in_batch());
  if (!answer) return refuse(answer.error().number, answer.error().why);
  place.send_result(asked.id, *answer, outlet::when::later);
}

void server::take_notification(const notification& told) {
  if (told.method == "notifications/initialized") {
    questions_.set(has_form_ ? person::present : person::absent);
  } else if (told.method == "notifications/cancelled" && told.params) {
    const auto at = told.params->find("requestId");
    if (at == told.params->end()) return;
    if (const auto id = read_id(*at)) calls_.cancel(*id);
  }
}

method_answer server::answer_to(const request& asked, bool is_in_batch) {
  const auto none = json::object();
  const auto& params = asked.params ? *asked.params : none;
  const auto& method = asked.method;
  const bool is_list = method == "tools/list" || method == "resources/list" ||
                       method == "resources/templates/list";
  if (is_list && params.contains("cursor")) {
    return wrong(error_number::invalid_params, "there is no such page: the list has one");
  }
  if (method == "initialize") return initialize(params, is_in_batch);
  if (method == "ping") return "{}";
  if (method == "tools/list") return listed(make_tools_(now_), *spoken_);
  if (method == "resources/list") return R"({"resources":[)" + dumped(grant_resource()) + "]}";
  if (method == "resources/templates/list") return R"({"resourceTemplates":[]})";
  if (method == "resources/read") return read_resource(params);
  if (method == "resources/subscribe") return subscribe(params, true);
  if (method == "resources/unsubscribe") return subscribe(params, false);
  if (method == "logging/setLevel") return set_level(params);
  return wrong(error_number::method_not_found, "there is no such method");
}

method_answer server::initialize(const json& params, bool is_in_batch) {
  if (is_in_batch) return wrong(error_number::invalid_request, "initialize is not for a batch");
  if (spoken_) return wrong(error_number::invalid_request, "the session is initialized already");
  const auto asked = text_in(params, "protocolVersion");
  if (!asked) return wrong(error_number::invalid_params, "there is no protocolVersion");
  spoken_ = negotiated(*asked);
  has_form_ = *spoken_ >= revision::v2025_06_18 && has_form(params);
  json answer;
  answer["protocolVersion"] = name_of(*spoken_);
  answer["capabilities"]["logging"] = json::object();
  answer["capabilities"]["resources"]["subscribe"] = true;
  answer["capabilities"]["tools"]["listChanged"] = true;
  answer["serverInfo"] = {{"name", "pinfold"}, {"title", "pinfold"}, {"version", version_text}};
  answer["instructions"] = instructions_for(now_);
  return dumped(answer);
}

method_answer server::read_resource(const json& params) {
  if (text_in(params, "uri") != grant_uri) {
    return wrong(error_number::resource_not_found, "there is no such resource");
  }
  json one;
  one["uri"] = grant_uri;
  one["mimeType"] = "application/json";
  one["text"] = grant_text(now_);
  return R"({"contents":[)" + dumped(one) + "]}";
}

method_answer server::subscribe(const json& params, bool is_wanted) {
  if (text_in(params, "uri") != grant_uri) {
    return wrong(error_number::resource_not_found, "there is no such resource");
  }
  is_subscribed_ = is_wanted;
  return "{}";
}

method_answer server::set_level(const json& params) {
  const auto name = text_in(params, "level").value_or("");
  const auto* at = std::ranges::find(level_names, name);
  if (at == level_names.end()) return wrong(error_number::invalid_params, "there is no such level");
  level_ = static_cast<level>(at - level_names.begin());
  return "{}";
}

/// What the descriptions say about the network is not true any more when the labels changed it.
void server::tell_of_taint(taint before, taint after) {
  if (before == after) return;
  log(level::notice, "the session has taken in more: " + dumped(labels_of(after)));
  const auto decided = [this](taint labels) {
    return decide_network(now_.settings().defaults.open, now_.present(), labels);
  };
  if (decided(before) != decided(after)) notify("notifications/tools/list_changed", nullptr);
}

void server::tell_of_change() {
  if (is_subscribed_) notify("notifications/resources/updated", {{"uri", grant_uri}});
}

void server::log(level how, std::string_view text) {
  if (how < level_.load()) return;
  json params;
  params["level"] = level_names[static_cast<std::size_t>(how)];
  params["logger"] = "pinfold";
  params["data"] = text;
  notify("notifications/message", params);
}

void server::notify(std::string_view method, const json& params) {
  json object;
  object["jsonrpc"] = "2.0";
  object["method"] = method;
  if (!params.is_null()) object["params"] = params;
  out_.send(dumped(object));
}

}  // namespace pinfold::mcp
