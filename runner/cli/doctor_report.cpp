// The table and the object: see doctor_report.hpp.
#include "cli/doctor_report.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/text.hpp"

namespace pinfold {

namespace {

constexpr std::array<std::string_view, 6> promised{
    "a command writes inside its workspace and nowhere else on the disk",
    "the homes, /root, password hashes and the directories that hold sockets are not there inside",
    "the harness's own state in the workspace is out of reach, git hooks and config are read-only",
    "without --network on there is no route out, loopback of the host included",
    "no capability, no set-uid gain, none of the caller's environment or descriptors",
    "nothing of the command is alive when the run has ended, and its output is bounded"};

constexpr std::array<std::string_view, 6> not_promised{
    "ordinary project files have no policy of their own: a command can wreck its workspace",
    "with the root profile host a command reads much of the machine outside the hidden places",
    "a hard link that is in the workspace already shares its content with the other name",
    "with the network open, what the command can read can leave",
    "code that the agent wrote runs unconfined when a gate runs it",
    "the kernel is trusted"};

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

template <class List>
std::string listed(std::string_view title, const List& list) {
  std::string text{title};
  text += '\n';
  for (auto entry : list) text.append("  - ").append(entry) += '\n';
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
  text += listed("promised", promised);
  text += listed("not promised", not_promised);
  return text;
}

json doctor_json(const probe_report& report) {
  json object;
  object["usable"] = report.is_usable();
  object["bwrap"] = nullptr;
  if (!report.program.empty()) put_bytes(object, "bwrap", report.program);
  object["probes"] = json::array();
  for (const auto& line : report.lines) object["probes"].push_back(probe_json(line));
  object["promised"] = promised;
  object["not_promised"] = not_promised;
  return object;
}

}  // namespace pinfold
