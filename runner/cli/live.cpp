// One function for each way of showing a run; each sets the sinks that it needs.
#include "cli/live.hpp"

#include <unistd.h>

#include <utility>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/events.hpp"
#include "cli/line.hpp"
#include "cli/status_line.hpp"
#include "cli/terminal.hpp"

namespace pinfold {
namespace {

class live_run {
 public:
  live_run(const manner& how, const interruption& interrupted)
      : how_{how}, interrupted_{interrupted} {
    events_.cancel_descriptor = interrupted.readable_descriptor();
    if (how.attached == attachment::input) events_.input_descriptor = STDIN_FILENO;
  }

  run_record in_text(prepared_run ready, const limits& bounds) {
    status_line status{how_.term, how_.no_color};
    events_.on_output = [&](stream which, std::string_view piece) {
      status.erase();
      put(descriptor_of(which), piece);
      if (::isatty(descriptor_of(which)) == 1) status.after(piece);
    };
    if (status.is_wanted()) {
      events_.on_progress = [&](const progress& so_far) { status.show(so_far); };
    }
    return run_prepared(std::move(ready), bounds, events_);
  }

  /// All that the command shows goes to the terminal, not only what the record keeps.
  run_record at_a_terminal(prepared_run ready, const limits& bounds) {
    const raw_terminal raw;
    events_.input_descriptor = STDIN_FILENO;
    events_.terminal = {.size_of = STDIN_FILENO, .resized = raw.resized_descriptor()};
    events_.on_piece = [&](stream which, std::string_view piece) {
      put(descriptor_of(which), piece);
    };
    return run_prepared(std::move(ready), bounds, events_);
  }

  run_record as_events(prepared_run ready, const limits& bounds) {
    event_writer writer{[&](const json& event) {
      if (!write_line(STDOUT_FILENO, event)) interrupted_.raise();
    }};
    events_.on_started = [&](const run_record& so_far) { writer.started(so_far); };
    events_.on_output = [&](stream which, std::string_view piece) { writer.output(which, piece); };
    events_.on_progress = [&](const progress& so_far) { writer.heartbeat(so_far); };
    events_.on_egress = [&](const egress_attempt& one) { writer.egress(one); };
    auto record = run_prepared(std::move(ready), bounds, events_);
    writer.ended(record, how_.role);
    return record;
  }

  run_record in_silence(prepared_run ready, const limits& bounds) {
    return run_prepared(std::move(ready), bounds, events_);
  }

 private:
  void put(int fd, std::string_view bytes) const {
    if (!write_all(fd, bytes)) interrupted_.raise();
  }

  const manner& how_;
  const interruption& interrupted_;
  sinks events_;
};

}  // namespace

int descriptor_of(stream which) noexcept {
  return which == stream::out ? STDOUT_FILENO : STDERR_FILENO;
}

run_record run_live(prepared_run ready, const limits& bounds, const manner& how,
                    const interruption& interrupted) {
  live_run live{how, interrupted};
  switch (how.form) {
    case report_form::as_json:
      return live.in_silence(std::move(ready), bounds);
    case report_form::as_events:
      return live.as_events(std::move(ready), bounds);
    case report_form::in_text:
    case report_form::in_text_with_enforced:
      break;
  }
  return how.attached == attachment::terminal ? live.at_a_terminal(std::move(ready), bounds)
                                              : live.in_text(std::move(ready), bounds);
}

}  // namespace pinfold
