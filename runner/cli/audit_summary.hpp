// What the entries of audit logs come to: the answer to "what did it do?". Bounded in memory: of each
// list the first `most_kept` different rows are kept, and the others counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/audit_lines.hpp"
#include "cli/bad_lines.hpp"
#include "cli/record_lines.hpp"
#include "json/json.hpp"

namespace pinfold {

/// Whether a place lies in the workspace of its session.
enum class whereabouts : std::uint8_t { inside, outside };

/// Rows that are told once, however often the same thing happened.
class audit_list {
 public:
  struct row {
    std::string what;
    std::string name;
    std::string detail;
    whereabouts lies{whereabouts::inside};
    std::uint64_t count{0};
    std::string first;  ///< when
    std::uint64_t sent{0};
    std::uint64_t received{0};
  };

  /// Of equal rows (`what`, `name`, `detail`, `lies`) the time of the first stays.
  void add(std::string what, std::string name, std::string detail, const std::string& at,
           whereabouts lies = whereabouts::inside, std::uint64_t sent = 0, std::uint64_t received = 0);
  void add_uncounted(std::uint64_t more) noexcept { more_ = saturating_sum(more_, more); }

  [[nodiscard]] const std::vector<row>& rows() const noexcept { return rows_; }
  /// Happenings in all, and those that have no row.
  [[nodiscard]] std::uint64_t total() const noexcept { return saturating_sum(total_, more_); }
  [[nodiscard]] std::uint64_t more() const noexcept { return more_; }

  static constexpr std::size_t most_kept = 10000;

 private:
  std::vector<row> rows_;
  std::map<std::tuple<std::string, std::string, std::string, whereabouts>, std::size_t> places_;
  std::uint64_t total_{0};
  std::uint64_t more_{0};
};

class audit_summary {
 public:
  void add(const audit_line& line, record_place where);
  void add_bad(record_place where, std::string why) { bad_.add(where, std::move(why)); }
  /// After the last line: calls that began and did not end.
  void finish();

  [[nodiscard]] std::uint64_t bad() const noexcept { return bad_.count(); }

  /// For a person, refusals first; foreign bytes are shown as text. At most `most` rows of each list.
  [[nodiscard]] std::string table(std::size_t most) const;
  /// `refused` (`error`, `path`, `detail`), `asked` (`answer`, `about`, `detail`, `outside`), `unfinished`
  /// (`tool`, `about`, `detail`), `unsure` (`operation`, `path`, `detail`), `written` and `removed`
  /// (`operation`, `path`, `outside`), `moved` (`operation`, `path`, `to`, `outside`), `commands` (`ended`,
  /// `command`, `detail`), `reached` (`protocol`, `host`, `detail`, `sent`, `received`), `denied` (`error`,
  /// `host`, `detail`, `sent`, `received`), `tainted` (`label`, `call`, `detail`), `host_run` (`kind`,
  /// `path`, `detail`), `errors` (`error`, `path`, `detail`): each with `total`, `more` and `rows`, each
  /// row also with `count` and `first`. `calls` (tool: count),
  /// `sessions` (`session`, `workspace`, `mode`, `gate`, `commands`, `calls`, `first`, `last`, `ended`),
  /// `more_sessions`, `bad` (`count` and `lines` with `file`, `line`, `why`).
  [[nodiscard]] json object() const;

  enum class part : std::uint8_t {
    refused,
    asked,
    unfinished,
    unsure,
    written,
    moved,
    removed,
    commands,
    reached,
    denied,
    tainted,
    host_run,
    errors,
  };
  static constexpr std::size_t parts = 13;
  static constexpr std::size_t most_sessions = 10000;
  static constexpr std::size_t most_tools = 1000;

 private:
  struct session {
    std::string id;
    std::string workspace;
    std::string mode;
    std::string gate;
    std::string commands;
    std::string first;
    std::string last;
    std::uint64_t calls{0};
    bool has_ended{false};
  };
  struct begun {
    std::string tool;
    std::string about;
    std::string at;
    bool is_recursive{false};
  };

  audit_list& list(part which) { return lists_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const audit_list& list(part which) const {
    return lists_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] static std::string told(const session& one);
  [[nodiscard]] std::uint64_t call_count() const;
  void begin_session(const audit_line& line);
  void begin_call(session& of, const audit_line& line);
  void end_call(const session& of, const audit_line& line);
  void add_refused(const audit_line& line, const std::string& error, const std::string& operation,
                   const std::string& path, const std::string& led_to);
  void add_refusals(const audit_line& line);
  void add_questions(const session& of, const audit_line& line);
  void add_effect(const session& of, const audit_line& line, const audited_effect& one,
                  bool is_recursive);
  void add_host_run(const session& of, const audit_line& line, const audited_effect& one);
  void add_run(const audit_line& line, const audited_run& run, const std::string& command);
  void add_taint(const audit_line& line);

  std::array<audit_list, parts> lists_;
  std::vector<session> sessions_;
  std::uint64_t more_sessions_{0};
  std::map<std::string, std::size_t> session_places_;
  std::map<std::pair<std::string, std::uint64_t>, begun> open_;
  std::map<std::string, std::uint64_t> calls_;
  bad_lines bad_;
};

}  // namespace pinfold
