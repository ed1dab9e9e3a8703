// An allow list, so that a token, a loader variable or a tool's hook variable has to be named to
// get in.
#include "sandbox/command_environment.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

#include <pinfold/path.hpp>

namespace pinfold {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array passed{"LANG"sv, "TERM"sv, "TZ"sv, "USER"sv, "LOGNAME"sv, "SHELL"sv};
constexpr auto default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"sv;

bool is_passed(std::string_view name) {
  return name.starts_with("LC_") || std::ranges::find(passed, name) != passed.end();
}

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
  return std::ranges::all_of(
      text, [](unsigned char c) { return c == '_' || (c < 128 && std::isalnum(c) != 0); });
}

/// As it is spelled, or where it leads: what an agent can have put something in.
bool lies_in(std::string_view workspace, const std::string& entry) {
  if (contains(workspace, entry)) return true;
  const std::unique_ptr<char, decltype(&std::free)> led{::realpath(entry.c_str(), nullptr),
                                                        &std::free};
  return led && contains(workspace, led.get());
}

/// Only absolute entries: "" and "." would be whatever directory the command is in, and so would a
/// PATH without any. A workspace with a colon in its name cannot stand in PATH.
std::string search_path(const caller& who, std::string_view workspace, workspace_tools tools) {
  std::string path;
  const bool has_tools = tools == workspace_tools::first_in_path;
  if (has_tools && !workspace.contains(':')) path = std::string{workspace} + "/.local/bin";
  auto rest = who.environment.find("PATH").value_or(default_path);
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string entry{rest.substr(0, end)};
    if (is_absolute(entry) && (has_tools || !lies_in(workspace, entry))) {
      if (!path.empty()) path += ':';
      path += entry;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return path.empty() ? std::string{default_path} : path;
}

void set(std::vector<std::string>& entries, std::string_view name, std::string_view value) {
  const auto prefix = std::string{name} + "=";
  std::erase_if(entries, [&](const std::string& entry) { return entry.starts_with(prefix); });
  entries.push_back(prefix + std::string{value});
}

refusal bad_name(const std::string& name, std::string why) {
  return refusal{.error = code::invalid_argument,
                 .op = operation::execute,
                 .path = name,
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(why)};
}

}  // namespace

std::expected<std::vector<std::string>, refusal> command_environment(
    const caller& who, std::string_view workspace, std::string_view home,
    const std::vector<environment_request>& asked, const std::vector<std::string>& own,
    workspace_tools tools) {
  std::vector<std::string> entries;
  set(entries, "PATH", search_path(who, workspace, tools));
  set(entries, "HOME", home);
  for (const std::string_view entry : who.environment.entries()) {
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || !is_passed(entry.substr(0, equals))) continue;
    set(entries, entry.substr(0, equals), entry.substr(equals + 1));
  }
  for (const std::string_view entry : own) {
    const auto equals = entry.find('=');
    set(entries, entry.substr(0, equals), entry.substr(equals + 1));
  }
  for (const auto& one : asked) {
    if (!is_name(one.name)) {
      return std::unexpected{bad_name(one.name, "it is not the name of a variable")};
    }
    const auto value =
        one.value ? std::optional<std::string_view>{*one.value} : who.environment.find(one.name);
    if (!value) return std::unexpected{bad_name(one.name, "the caller has no such variable")};
    set(entries, one.name, *value);
  }
  return entries;
}

}  // namespace pinfold
