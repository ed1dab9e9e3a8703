// Durations and sizes: see text.hpp. Numbers are read in integers only: no rounding and no locale.
#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace pinfold {

namespace {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<unit, 5> duration_units{{
    {"", 1000},
    {"ms", 1},
    {"s", 1000},
    {"m", 60 * 1000},
    {"h", 60 * 60 * 1000},
}};

constexpr std::uint64_t kibi = 1024, kilo = 1000;
constexpr std::array<unit, 15> size_units{{
    {"", 1},
    {"B", 1},
    {"K", kibi},
    {"KiB", kibi},
    {"kB", kilo},
    {"KB", kilo},
    {"M", kibi* kibi},
    {"MiB", kibi* kibi},
    {"MB", kilo* kilo},
    {"G", kibi* kibi* kibi},
    {"GiB", kibi* kibi* kibi},
    {"GB", kilo* kilo* kilo},
    {"T", kibi* kibi* kibi* kibi},
    {"TiB", kibi* kibi* kibi* kibi},
    {"TB", kilo* kilo* kilo* kilo},
}};

enum class misread : std::uint8_t { malformed, too_fine, out_of_range };

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) noexcept {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

std::optional<std::uint64_t> number_of(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc{}) return std::nullopt;
  return value;
}

/// The part after the point, times `factor`. Six decimals at most, so that the product of any of
/// them with the largest factor (2^40) fits 64 bits.
std::expected<std::uint64_t, misread> fraction_of(std::string_view digits, std::uint64_t factor) {
  while (digits.ends_with('0')) digits.remove_suffix(1);
  if (digits.empty()) return 0;
  if (digits.size() > 6) return std::unexpected{misread::too_fine};
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
  const auto product = *number_of(digits) * factor;
  if (product % scale != 0) return std::unexpected{misread::too_fine};
  return product / scale;
}

/// Reads "12.5unit" in full; the value in the unit with factor 1.
std::expected<std::uint64_t, misread> read_quantity(std::string_view text,
                                                    std::span<const unit> units) {
  const auto whole = take_digits(text);
  std::string_view decimals;
  if (whole.empty()) return std::unexpected{misread::malformed};
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    decimals = take_digits(text);
    if (decimals.empty()) return std::unexpected{misread::malformed};
  }
  const auto named = std::ranges::find(units, text, &unit::name);
  if (named == units.end()) return std::unexpected{misread::malformed};
  const auto fraction = fraction_of(decimals, named->factor);
  if (!fraction) return fraction;
  const auto number = number_of(whole);
  std::uint64_t value = 0;
  if (!number || __builtin_mul_overflow(*number, named->factor, &value) ||
      __builtin_add_overflow(value, *fraction, &value)) {
    return std::unexpected{misread::out_of_range};
  }
  return value;
}

std::string shown(std::string_view text) {
  return "\"" + terminal_safe(text.substr(0, 60)) + "\"";
}

constexpr std::string_view duration_help =
    "write a number and ms, s, m or h, like 30s; from 1ms to 30 days";

std::string size_help(size_range allowed) {
  return "write a number and a unit, like 256KiB or 10MB; from " + readable_size(allowed.least) +
         " to " + readable_size(allowed.most);
}

constexpr std::string_view words_for(misread why) noexcept {
  switch (why) {
    case misread::malformed:
      return " is not a ";
    case misread::too_fine:
      return " has more decimals than fit a ";
    case misread::out_of_range:
      return " is out of range for a ";
  }
  return " is not a ";
}

std::string complaint(std::string_view text, misread why, std::string_view thing,
                      std::string_view help) {
  return shown(text).append(words_for(why)).append(thing).append(": ").append(help);
}

}  // namespace

std::expected<std::chrono::milliseconds, std::string> parse_duration(std::string_view text) {
  constexpr auto least = static_cast<std::uint64_t>(shortest_duration.count());
  constexpr auto most = static_cast<std::uint64_t>(longest_duration.count());
  const auto value = read_quantity(text, duration_units);
  if (value && *value >= least && *value <= most) {
    return std::chrono::milliseconds{static_cast<std::int64_t>(*value)};
  }
  return std::unexpected{
      complaint(text, value ? misread::out_of_range : value.error(), "duration", duration_help)};
}

std::expected<std::uint64_t, std::string> parse_size(std::string_view text, size_range allowed) {
  const auto value = read_quantity(text, size_units);
  if (value && *value >= allowed.least && *value <= allowed.most) return *value;
  return std::unexpected{
      complaint(text, value ? misread::out_of_range : value.error(), "size", size_help(allowed))};
}

std::string readable_size(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> names{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t step = 0;
  while (step + 1 < names.size() && bytes >= kibi && bytes % kibi == 0) {
    bytes /= kibi;
    ++step;
  }
  if (bytes == 1 && step == 0) return "1 byte";
  return std::to_string(bytes) + " " + std::string{names[step]};
}

}  // namespace pinfold
