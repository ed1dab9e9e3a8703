// The audit log of one session: what each call asked for before anything is done, and what came of it
// before the client is answered. What cannot be written down is not done.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>

#include "mcp/audit_entries.hpp"
#include "mcp/audit_file.hpp"
#include "mcp/tool.hpp"

namespace pinfold::mcp {

/// On the disk (fdatasync(2)) when it returns: the session's first and last entry; the end of a command, of
/// a call that was refused and of one that failed; a taint. The others follow with the next of these, or
/// with the first end that comes more than a second after the last sync.
class audit_log : public audit_sink {
 public:
  /// Writes the session's first entry. `opened` and `path` as for `audit_file`. Error
  /// `input_output_error`: the entry could not be written.
  [[nodiscard]] static std::expected<std::unique_ptr<audit_log>, refusal> begin(
      descriptor opened, std::string path, audit_opening facts);

  /// Writes the last entry: a session without one was killed.
  ~audit_log() override;
  audit_log(const audit_log&) = delete;
  audit_log& operator=(const audit_log&) = delete;

  /// Refuses (`input_output_error`, with the log's path and the reason) while an entry that is owed, or
  /// this one, cannot be written.
  [[nodiscard]] std::optional<refusal> begins(const call_begun& call) override;
  /// A refusal of the same kind: the entry is owed, and written before the next call begins.
  [[nodiscard]] std::optional<refusal> ended(const call_ended& call) override;

 private:
  audit_log(descriptor opened, std::string path, std::string session, audit_opening facts);

  [[nodiscard]] json entry(std::string_view event, std::chrono::system_clock::time_point at =
                                                       std::chrono::system_clock::now()) const;
  [[nodiscard]] decision network_with(taint labels) const noexcept;
  void owe_taint(std::uint64_t call, taint after);
  [[nodiscard]] bool pay(durability when);

  const std::string path_;
  const std::string session_;
  const audit_opening facts_;
  std::mutex lock_;  ///< of all below
  audit_file file_;
  taint labels_;
  std::uint64_t calls_{0};
  bool has_begun_{false};
  /// Not written yet, and bounded: while one is owed no call begins, so that each call under way adds
  /// its end and a taint.
  std::deque<std::string> owed_;
  bool is_sync_owed_{false};
  std::string why_;  ///< the last thing that went wrong
};

}  // namespace pinfold::mcp
