// Paths are made canonical before they are compared: a name below /var/run lies in /run.
#include "sandbox/sockets.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <pinfold/path.hpp>

namespace pinfold {
namespace {

/// So many sockets in one directory make it a directory of sockets, like a mail server's: one cover
/// for all of them. Each cover costs about a millisecond.
constexpr std::size_t many = 3;

std::string canonical_or_empty(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found{::realpath(path.c_str(), nullptr),
                                                          &std::free};
  return found ? std::string{found.get()} : std::string{};
}

bool is_socket(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode);
}

bool is_hidden(const confinement& facts, std::string_view path) {
  return std::ranges::any_of(facts.hidden,
                             [path](const auto& place) { return contains(place.path, path); });
}

/// In the workspace or in something that was asked for, or in what bwrap makes anew.
bool is_left_alone(const confinement& facts, std::string_view path) {
  const auto holds = [path](std::string_view place) { return contains(place, path); };
  return holds(facts.workspace) || holds("/dev") || holds("/proc") ||
         std::ranges::any_of(facts.shared, [&](const auto& one) { return holds(one.target); });
}

/// True when a cover over the directory would take along something that is to be seen.
bool holds_something_shown(const confinement& facts, std::string_view directory) {
  const auto is_below = [directory](std::string_view path) { return contains(directory, path); };
  return is_below(facts.workspace) ||
         std::ranges::any_of(facts.shared, [&](const auto& one) { return is_below(one.target); });
}

/// A directory of a service's own: not one of the few that hold the rest of the machine.
bool is_deep(std::string_view directory) {
  return std::ranges::count(directory, '/') >= 3;
}

refusal not_allowed(const std::string& path, std::string why) {
  return refusal{.error = code::invalid_argument,
                 .op = operation::execute,
                 .path = path,
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(why)};
}

}  // namespace

std::vector<std::string> socket_paths_in(std::string_view list) {
  std::vector<std::string> paths;
  constexpr int fields_before_the_path = 7;
  while (!list.empty()) {
    auto line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    for (int i = 0; i < fields_before_the_path && !line.empty(); ++i) {
      line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
      line.remove_prefix(std::min(line.size(), line.find(' ')));
    }
    if (!line.starts_with(" /")) continue;
    line.remove_prefix(1);
    if (std::ranges::find(paths, line) == paths.end()) paths.emplace_back(line);
  }
  return paths;
}

std::expected<shared_path, refusal> allowed_socket(const std::string& path,
                                                   const std::string& workspace) {
  const auto found = canonical_or_empty(path);
  if (found.empty()) return std::unexpected{not_allowed(path, std::strerror(errno))};
  if (!is_socket(found)) return std::unexpected{not_allowed(path, "it is not a socket")};
  if (contains(workspace, found)) {
    return std::unexpected{
        not_allowed(path, "it lies in the workspace, where nothing is bound back")};
  }
  return shared_path{.source = found,
                     .target = found,
                     .access = root_access::read,
                     .purpose = shared_path::use::socket};
}

void cover_visible_sockets(confinement& facts) {
  if (facts.root == root_profile::minimal) return;
  std::ifstream file{"/proc/net/unix", std::ios::binary};
  const std::string list{std::istreambuf_iterator<char>{file}, {}};
  std::map<std::string, std::vector<std::string>> by_directory;
  for (const auto& listed : socket_paths_in(list)) {
    if (is_hidden(facts, listed)) continue;
    auto path = canonical_or_empty(listed);
    if (path.empty() || is_hidden(facts, path) || is_left_alone(facts, path) || !is_socket(path)) {
      continue;
    }
    auto& found = by_directory[path.substr(0, path.rfind('/'))];
    if (std::ranges::find(found, path) == found.end()) found.push_back(std::move(path));
  }
  for (auto& [directory, paths] : by_directory) {
    if (paths.size() > many && is_deep(directory) && !holds_something_shown(facts, directory)) {
      facts.hidden.push_back({directory, hidden_path::use::closed});
    } else {
      std::ranges::move(paths, std::back_inserter(facts.hidden_files));
    }
  }
}

}  // namespace pinfold
