// The table and the object: see doctor_report.hpp.
#include "cli/doctor_report.hpp"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>
#include <pinfold/describe.hpp>

#include "cli/claims.hpp"
#include "cli/text.hpp"

namespace pinfold {

namespace {

/// A run with the options that `run` has by default.
constexpr situation confined{backend_name::bubblewrap, root_profile::host, reach::offline,
                             cache_choice::own};

/// What is not promised to it, and what is not once the network is opened and caches are shared.
bool is_left_open(const claim& one) {
  auto opened = confined;
  opened.network = reach::network;
  opened.caches = cache_choice::shared;
  return is_true_in(one, confined) || is_true_in(one, opened);
}

std::string padded(std::string_view word, std::size_t width) {
  std::string text{word};
  text.append(width - std::min(width, text.size()), ' ');
  return text;
}

/// Each line of `text` made safe and set below the probe it belongs to.
std::string indented(std::string_view text, std::string_view first, std::string_view rest) {
  std::string all;
  for (auto lead = first; !text.empty(); lead = rest) {
    const auto line = text.substr(0, text.find('\n'));
    all.append(lead).append(terminal_safe(line)) += '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return all;
}

constexpr std::string_view label_of(probe_status status) noexcept {
  switch (status) {
    case probe_status::ok:
      return "ok";
    case probe_status::failed:
      return "FAILED";
    case probe_status::info:
      return "info";
  }
  return "FAILED";
}

std::string table_lines(const probe_line& line) {
  auto text = "  " + padded(label_of(line.status), 8) + padded(line.id, 19) +
              terminal_safe(line.found) + '\n';
  if (line.status == probe_status::failed)
    text += indented(line.fix, "          fix: ", "            ");
  return text;
}

json probe_json(const probe_line& line) {
  json object;
  object["id"] = line.id;
  object["status"] = name_of(line.status);
  put_bytes(object, "found", line.found);
  object["fix"] = line.fix.empty() ? json(nullptr) : json(line.fix);
  return object;
}

}  // namespace

std::string doctor_table(const probe_report& report) {
  std::string text = report.is_usable()
                         ? "pinfold run works here\n"
                         : "pinfold run does not work here: nothing would be started\n";
  for (const auto& line : report.lines) text += table_lines(line);
  text += listed("promised", promised_in(confined));
  text += listed("not promised", not_promised | std::views::filter(is_left_open));
  return text;
}

json doctor_json(const probe_report& report) {
  json object;
  object["usable"] = report.is_usable();
  object["bwrap"] = nullptr;
  if (!report.program.empty()) put_bytes(object, "bwrap", report.program);
  object["probes"] = json::array();
  for (const auto& line : report.lines) object["probes"].push_back(probe_json(line));
  object["promised"] = listed_json(promised_in(confined));
  object["not_promised"] = listed_json(not_promised | std::views::filter(is_left_open));
  return object;
}

}  // namespace pinfold
