// The tool for commands: one call is one run of the runner. What it may do is what the server was
// started with; the network is decided afresh for each call, by the labels of that moment.
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include <pinfold/describe.hpp>
#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

#include "json/utf8.hpp"
#include "mcp/arguments.hpp"
#include "mcp/network_words.hpp"
#include "mcp/tool.hpp"

namespace pinfold::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto input_schema = R"json({
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "Text for bash -c"},
    "cwd": {"type": "string", "description": "Where it starts: a directory of the workspace (default: its top)"},
    "timeout": {"type": "integer", "minimum": 1, "description": "End it after this many seconds; never more than the server's own limit"},
    "network": {"type": "boolean", "description": "true: it needs the network, so a person is asked where that is needed, and it is refused where the network is closed; false: without the network; left out: as the network is decided now"}
  },
  "required": ["command"],
  "additionalProperties": false
})json";

/// The run record of `pinfold run --json`: what every client may count on is required.
constexpr auto output_schema = R"json({
  "type": "object",
  "properties": {
    "ended": {"type": "string", "description": "exited, signaled, timed_out, limited or cancelled"},
    "exit_code": {"type": ["integer", "null"]},
    "signal": {"type": ["integer", "null"]},
    "limit": {"type": ["string", "null"]},
    "duration_ms": {"type": "integer"},
    "stdout": {"$ref": "#/$defs/stream"},
    "stderr": {"$ref": "#/$defs/stream"},
    "network": {"type": "string", "description": "off, list or on"},
    "killed": {"type": "integer", "description": "Processes left behind and killed"},
    "host_run": {"type": ["object", "null"], "description": "What a program of the host may run or obey later"},
    "taint_after": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["ended", "exit_code", "signal", "stdout", "stderr", "network"],
  "$defs": {
    "stream": {
      "type": "object",
      "properties": {
        "text": {"type": "string"},
        "bytes": {"type": "integer"},
        "dropped": {"type": "integer"},
        "clipped": {"type": "boolean"}
      },
      "required": ["text", "bytes", "dropped", "clipped"]
    }
  }
})json";

/// Makes a descriptor readable when the call is cancelled.
class cancel_event {
 public:
  explicit cancel_event(std::stop_token cancelled)
      : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
        raise_{std::move(cancelled), raiser{event_.get()}} {}
  [[nodiscard]] int descriptor_to_watch() const noexcept { return event_.get(); }
  [[nodiscard]] bool is_there() const noexcept { return event_.is_open(); }

 private:
  struct raiser {
    int event;
    void operator()() const noexcept {
      const std::uint64_t one = 1;
      const auto wrote = ::write(event, &one, sizeof one);
      (void)wrote;  // full only after 2^64-2 of them
    }
  };
  descriptor event_;
  std::stop_callback<raiser> raise_;
};

refusal refused_command(code why, std::string_view command, std::string detail) {
  return refusal{.error = why,
                 .op = operation::execute,
                 .path = std::string{command},
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(detail)};
}

/// What was asked for, checked.
struct asked_command {
  std::string command;
  std::string cwd;
  std::optional<seconds> timeout;
  std::optional<bool> network;
};

std::expected<asked_command, refusal> read_arguments(const tool_call& call) {
  argument_reader given{call.arguments, operation::execute};
  asked_command asked;
  asked.command = given.text("command");
  asked.cwd = given.text_if_given("cwd").value_or(".");
  constexpr std::uint64_t longest = 30ULL * 24 * 60 * 60;
  if (const auto timeout = given.number("timeout", 1, longest, 0); timeout > 0) {
    asked.timeout = seconds{static_cast<std::int64_t>(timeout)};
  }
  asked.network = given.flag_if_given("network");
  if (auto wrong = given.wrong()) return std::unexpected{std::move(*wrong)};
  if (asked.command.find_first_not_of(" \t\n") == std::string::npos) {
    return std::unexpected{refused_command(code::invalid_argument, "command", "it is empty")};
  }
  if (asked.command.contains('\0')) {
    return std::unexpected{refused_command(code::invalid_argument, "command", "it has a NUL byte")};
  }
  return asked;
}

/// One call on its way to a run. Each step may refuse; `effects` says what was decided so far.
class bash_call {
 public:
  explicit bash_call(const tool_call& call) : call_{call} {}

  tool_result answer() {
    auto asked = read_arguments(call_);
    if (!asked) return not_done(std::move(asked.error()));
    const auto held = call_.now.held();
    if (!held) return not_done(held.error());
    auto request = call_.now.settings().defaults;
    request.labels = call_.now.labels();
    request.command = {"bash", "-c", asked->command};
    if (auto why = decide_place(request, *asked, **held)) return refuse(std::move(*why));
    if (auto why = decide_network_for(request, *asked)) return refuse(std::move(*why));
    return run(request, *asked);
  }

 private:
  tool_result refuse(refusal why) {
    effects_.push_back({.op = operation::execute,
                        .asked = why.path,
                        .canonical = why.resolved,
                        .says = verdict::refuse,
                        .why = why.error});
    return not_done(std::move(why), std::move(effects_));
  }

  /// Where it starts, and whether it may run at all.
  std::optional<refusal> decide_place(run_request& request, const asked_command& asked,
                                      const workspace& ws) {
    const auto place = ws.resolve(operation::list, asked.cwd);
    if (!place) {
      auto why = place.error();
      why.op = operation::execute;
      return why;
    }
    const auto below = tail_below(ws.path(), place->canonical);
    if (!below) {
      auto why = refused_command(code::outside_workspace, asked.cwd, "a command starts inside");
      why.resolved = place->canonical;
      why.boundary = ws.path();
      return why;
    }
    request.directory = std::string{*below};
    place_ = place->canonical;
    const auto says = call_.now.guard_for(ws).check(call::execute(asked.command, place->canonical));
    if (says == verdict::allow) return std::nullopt;
    const auto granted = approval(call_.person, says, asked.command);
    if (!granted) return granted.error();
    // The approval is of this run without a sandbox: nobody else is asked further down.
    request.present = mode::autonomous;
    effects_.push_back({.op = operation::execute,
                        .asked = asked.command,
                        .canonical = place_,
                        .says = verdict::ask,
                        .why = says.reason()});
    return std::nullopt;
  }

  /// The network of this call. Decided in this order:
  ///  1. it needs none -> closed
  ///  2. it does not say -> as the engine decides; what would be asked about counts as no
  ///  3. it needs it and the engine allows -> open
  ///  4. it needs it and the engine asks -> open when a person says yes, else refused
  ///  5. it needs it and the engine denies -> refused
  std::optional<refusal> decide_network_for(run_request& request, const asked_command& asked) {
    const auto decided = decide_network(request.open, call_.now.present(), request.labels);
    if (!asked.network) return std::nullopt;
    if (!*asked.network) {
      request.open = gate::off;
      return std::nullopt;
    }
    if (decided == decision::allow) return std::nullopt;
    if (decided == decision::deny) {
      return refused_command(code::network_denied, asked.command,
                             why_closed(request.open, call_.now.present(), request.labels));
    }
    if (auto why = call_.person.refuses(question_about_network(asked.command, request.labels))) {
      return refused_command(code::needs_approval, asked.command, std::move(*why));
    }
    request.open = gate::on;
    effects_.push_back({.op = operation::connect,
                        .asked = asked.command,
                        .canonical = {},
                        .says = verdict::ask,
                        .why = code::network_denied});
    return std::nullopt;
  }

  tool_result run(const run_request& request, const asked_command& asked) {
    const cancel_event cancelled{call_.cancelled};
    if (!cancelled.is_there()) {
      return refuse(refused_command(code::resource_exhausted, asked.command, "no descriptor left"));
    }
    auto bounds = call_.now.settings().bounds;
    if (asked.timeout && (!bounds.time || milliseconds{*asked.timeout} < *bounds.time)) {
      bounds.time = milliseconds{*asked.timeout};
    }
    sinks events;
    events.cancel_descriptor = cancelled.descriptor_to_watch();
    if (call_.progress) {
      events.on_progress = [this](const progress& so_far) { tell(so_far); };
    }
    auto record = call_.now.settings().boundary == commands::confined
                      ? call_.now.launcher().run(request, bounds, events)
                      : call_.now.launcher().run(request, bounds, unconfined{}, events);
    return after(std::move(record), asked);
  }

  void tell(const progress& so_far) const {
    const auto elapsed = std::chrono::duration<double>(so_far.elapsed).count();
    std::optional<double> total;
    if (so_far.left) total = elapsed + std::chrono::duration<double>(*so_far.left).count();
    call_.progress(elapsed, total,
                   std::to_string(so_far.elapsed.count() / 1000) + " s, " +
                       std::to_string(so_far.out_bytes + so_far.err_bytes) + " bytes of output");
  }

  tool_result after(run_record record, const asked_command& asked) {
    take_in(record);
    record.decided.present = call_.now.present();
    record.decided.open = call_.now.settings().defaults.open;
    if (record.ended == ending::refused) {
      auto why = record.error.value_or(refused_command(code::run_lost, asked.command, {}));
      if (why.error == code::not_enforceable && is_closed_by_labels(record)) {
        why.detail += "; " + why_closed_to(record);
      }
      return refuse(std::move(why));
    }
    effects_.push_back({.op = operation::execute,
                        .asked = asked.command,
                        .canonical = place_,
                        .says = verdict::allow});
    auto text = text_of(record);
    if (!asked.network && is_closed_by_labels(record)) {
      text += "\n[without the network: " + why_closed_to(record) + "]";
    }
    auto result = done(std::move(text), to_json(record), std::move(effects_));
    result.refused = record.error;
    result.record = std::make_shared<const run_record>(std::move(record));
    return result;
  }

  /// What the command took in: the server's own word for the network, the engine's for a command
  /// that nothing held.
  void take_in(run_record& record) {
    if (record.ended == ending::refused) return;
    taint taken;
    if (record.network == network_access::on || record.egress) {
      taken |= call_.now.settings().on_network;
    }
    if (record.backend == backend_name::none) taken |= record.decided.after;
    record.decided.after = record.decided.before | taken;
    call_.now.take_in(taken);
  }

  static bool is_closed_by_labels(const run_record& record) {
    const auto& decided = record.decided;
    return record.network == network_access::off && !record.egress && decided.open != gate::off &&
           decide_network(decided.open, decided.present, decided.before) != decision::allow;
  }

  static std::string why_closed_to(const run_record& record) {
    const auto& decided = record.decided;
    return why_closed(decided.open, decided.present, decided.before);
  }

  /// Both streams and how it ended, as a person at a terminal would see it.
  static std::string text_of(const run_record& record) {
    auto text = shown(record.out);
    const auto add = [&text](std::string_view more) {
      if (!text.empty() && !text.ends_with('\n')) text += '\n';
      text += more;
    };
    if (!record.err.text.empty()) add("[stderr]\n" + shown(record.err));
    add(ending_of(record));
    return text;
  }

  static std::string shown(const captured_output& output) {
    const std::string_view kept = output.text;
    const auto cut = std::min(output.head, kept.size());
    return legible(kept.substr(0, cut), kept.substr(cut), output.dropped).text;
  }

  static std::string ending_of(const run_record& record) {
    std::string text = "[";
    text += name_of(record.ended);
    if (record.exit_code) text += ", exit code " + std::to_string(*record.exit_code);
    if (record.signal) text += ", signal " + std::to_string(*record.signal);
    if (record.limit) text.append(", limit: ").append(name_of(*record.limit));
    if (record.killed > 0) {
      text += ", " + std::to_string(record.killed) + " left behind and killed";
    }
    return text + "]";
  }

  const tool_call& call_;
  std::string place_;  ///< where it starts, canonical
  std::vector<effect> effects_;
};

}  // namespace

tool bash_tool(const session& now) {
  const auto& defaults = now.settings().defaults;
  std::string description = "Runs a command with bash. ";
  const grant plain{defaults.workspace};
  description += rule_for_commands(plain, now.present(), now.boundary());
  description += ' ';
  description += network_in_words(now);
  if (const auto& time = now.settings().bounds.time) {
    description += " A command is ended after " + std::to_string(time->count() / 1000) + " seconds.";
  }
  return {.name = "bash",
          .title = "Run a command",
          .description = std::move(description),
          .input = input_schema,
          .output = output_schema,
          .hints = {.read_only = false,
                    .destructive = true,
                    .idempotent = false,
                    .open_world = defaults.open != gate::off},
          .runs = pace::command,
          .act = [](const tool_call& call) { return bash_call{call}.answer(); }};
}

}  // namespace pinfold::mcp
