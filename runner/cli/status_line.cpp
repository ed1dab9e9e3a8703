// Carriage return, erase to the end of the line (ECMA-48 EL), the text.
#include "cli/status_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "cli/commands.hpp"

namespace pinfold {
namespace {

constexpr std::string_view erase_line = "\r\x1b[K";

/// In the unit that keeps it short: "999 B", "1.5 KiB", "12.0 GiB".
std::string short_size(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 4> units{" KiB", " MiB", " GiB", " TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  std::uint64_t tenths = bytes * 10 / 1024;
  std::size_t unit = 0;
  for (; tenths >= 10240 && unit + 1 < units.size(); ++unit) tenths /= 1024;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + std::string{units[unit]};
}

/// "45s", "2m 05s", "1h 02m".
std::string short_time(std::chrono::seconds time) {
  const auto two = [](std::int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  const auto all = time.count();
  if (all < 60) return std::to_string(all) + "s";
  if (all < 3600) return std::to_string(all / 60) + "m " + two(all % 60) + "s";
  return std::to_string(all / 3600) + "h " + two(all / 60 % 60) + "m";
}

std::size_t columns_of(int terminal) {
  winsize size{};
  return ::ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// A job in the background leaves the terminal to others.
bool is_in_front() {
  return ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

}  // namespace

std::string status_text(const progress& so_far, std::size_t columns) {
  const auto seconds = [](std::chrono::milliseconds time) {
    return short_time(std::chrono::duration_cast<std::chrono::seconds>(time));
  };
  auto text = "pinfold: " + seconds(so_far.elapsed) + ", " +
              short_size(so_far.out_bytes + so_far.err_bytes) + " of output";
  if (so_far.left) text += ", " + seconds(*so_far.left) + " left";
  return text.substr(0, columns);
}

status_line::status_line(std::string_view term, std::string_view no_color)
    : is_wanted_{::isatty(STDERR_FILENO) == 1 && term != "dumb" && no_color.empty()} {}

void status_line::show(const progress& so_far) {
  if (!is_wanted_ || so_far.elapsed < first || !is_at_line_start_ || !is_in_front()) return;
  const auto columns = columns_of(STDERR_FILENO);
  (void)write_all(STDERR_FILENO, std::string{erase_line} + status_text(so_far, columns - 1));
  is_shown_ = true;
}

void status_line::erase() {
  if (!is_shown_) return;
  (void)write_all(STDERR_FILENO, erase_line);
  is_shown_ = false;
}

void status_line::after(std::string_view written) {
  if (!written.empty()) is_at_line_start_ = written.back() == '\n';
}

}  // namespace pinfold
