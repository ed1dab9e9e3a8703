// The events of a run as JSON lines, for whoever shows how far it is: `started`, `output`,
// `heartbeat`, `ended`.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <pinfold/runner/record.hpp>
#include <pinfold/runner/sinks.hpp>

#include "json/json.hpp"

namespace pinfold {

class event_writer {
 public:
  /// Gets each event, to write it as a line.
  using event_sink = std::function<void(const json&)>;

  explicit event_writer(event_sink to) : to_{std::move(to)} {}

  /// `event: "started"`, `backend`, `network`, `workspace`, `setup_ms`.
  void started(const run_record& so_far);

  /// `event: "output"`, `stream` ("stdout" or "stderr"), `text`. A character that ends in a later
  /// piece comes with that piece; bytes that are not UTF-8 become U+FFFD.
  void output(stream which, std::string_view piece);

  /// `event: "egress"`, `state` ("open": let through; "refused": not, or cut off; "closed"), and the
  /// fields of the record's attempt.
  void egress(const egress_attempt& attempt);

  /// `event: "heartbeat"`, `elapsed_ms`, `left_ms` (null without a time limit), `stdout_bytes`,
  /// `stderr_bytes`, `processes` and `memory` (null where nothing counts them).
  void heartbeat(const progress& so_far);

  /// `event: "ended"`, `record`. The last line.
  void ended(const run_record& record, record_role role);

 private:
  void put_output(stream which, std::string_view text);

  event_sink to_;
  std::string unfinished_[2];  ///< the start of a character, of each stream
};

}  // namespace pinfold
