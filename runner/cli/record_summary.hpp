// What many run records come to. The counts are exact; of the lines only the few that are shown are
// kept, so memory does not grow with the files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/bad_lines.hpp"
#include "cli/record_lines.hpp"
#include "json/json.hpp"

namespace pinfold {

class record_summary {
 public:
  /// `most` is how many of the slowest runs, and of those with most output, are kept.
  explicit record_summary(std::size_t most) : most_{most} {}

  void add(const record_facts& facts, record_place where);
  void add_bad(record_place where, std::string why) { bad_.add(where, std::move(why)); }

  [[nodiscard]] std::uint64_t bad() const noexcept { return bad_.count(); }

  /// For a person; foreign bytes are shown as text.
  [[nodiscard]] std::string table(std::size_t files) const;
  /// `files`, `records`, `ended`, `exit_codes`, `limits`, `refusals` (name: count), `duration_ms` and
  /// `output_bytes` (sums), `slowest` and `most_output` (`file`, `line`, `ended`, `duration_ms`,
  /// `output_bytes`, `workspace`), `bad` (`count` and `lines` with `file`, `line`, `why`).
  [[nodiscard]] json object(std::size_t files) const;

 private:
  struct kept {
    std::string file;
    std::uint64_t line;
    record_facts facts;
  };

  void keep(std::vector<kept>& best, std::uint64_t record_facts::* by, const record_facts& facts,
            record_place where) const;

  std::size_t most_;
  std::uint64_t records_{0};
  bad_lines bad_;
  std::uint64_t duration_ms_{0};
  std::uint64_t output_bytes_{0};
  std::array<std::uint64_t, 16> ended_{};
  std::array<std::uint64_t, 16> limits_{};
  std::array<std::uint64_t, 256> exit_codes_{};
  std::array<std::uint64_t, static_cast<std::size_t>(last_code) + 1> refusals_{};
  std::vector<kept> slowest_;
  std::vector<kept> loudest_;
};

}  // namespace pinfold
