// One line on a terminal that says how far a run is, gone again before anything else is written. It
// never stands in the middle of somebody else's line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <pinfold/runner/sinks.hpp>

namespace pinfold {

/// "12s, 1.5 MiB of output, 48s left": what the line says, no longer than `columns`.
[[nodiscard]] std::string status_text(const progress& so_far, std::size_t columns);

class status_line {
 public:
  /// A run that is over sooner shows none.
  static constexpr std::chrono::milliseconds first{2000};

  /// On stderr, when that is a terminal that can erase (TERM is not "dumb") and `no_color` (the
  /// value of NO_COLOR) is empty; else nothing is ever shown.
  status_line(std::string_view term, std::string_view no_color);
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;
  ~status_line() { erase(); }

  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }

  void show(const progress& so_far);
  void erase();
  /// What has just been written to the terminal by others: where it ends decides whether there is
  /// room for a line.
  void after(std::string_view written);

 private:
  bool is_wanted_;
  bool is_shown_{false};
  bool is_at_line_start_{true};
};

}  // namespace pinfold
