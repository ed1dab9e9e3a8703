// Homes come from three places, since each can be wrong alone: $HOME may be set to anything, the
// password database may not know the user, and /root and /home hold other people's.
#include "sandbox/caller.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <pinfold/path.hpp>

#include "launch/run.hpp"

namespace pinfold {
namespace {

struct close_file {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// The home of a user in /etc/passwd, read as a file: a static program must not load NSS modules.
std::optional<std::string> home_in_passwd_file(uid_t user) {
  const std::unique_ptr<std::FILE, close_file> file{std::fopen("/etc/passwd", "re")};
  if (!file) return std::nullopt;
  std::vector<char> room(4096);
  for (;;) {
    passwd entry{};
    passwd* found = nullptr;
    const int wrong = ::fgetpwent_r(file.get(), &entry, room.data(), room.size(), &found);
    if (wrong == ERANGE) {
      room.resize(room.size() * 2);  // the same line is read again
    } else if (wrong != 0) {
      return std::nullopt;
    } else if (entry.pw_uid == user) {
      return std::string{entry.pw_dir};
    }
  }
}

/// For users that only a directory service knows: getent(1) asks NSS in a process of its own. The
/// sixth field is the home.
std::optional<std::string> home_by_getent(uid_t user) {
  launch_plan plan;
  plan.command = {"/usr/bin/getent", "passwd", std::to_string(user)};
  plan.directory = "/";
  const auto record = run(plan, {.time = std::chrono::seconds{5}, .output = 8192});
  if (record.exit_code != 0) return std::nullopt;
  std::string_view line = record.out.text;
  for (int field = 0; field < 5; ++field) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    line.remove_prefix(colon + 1);
  }
  return std::string{line.substr(0, line.find_first_of(":\n"))};
}

/// The canonical path of a directory that is there; nothing otherwise.
std::optional<std::string> canonical_directory(const std::string& path) {
  if (!is_absolute(path)) return std::nullopt;
  const std::unique_ptr<char, decltype(&std::free)> found{::realpath(path.c_str(), nullptr),
                                                          &std::free};
  struct stat about {};
  if (!found || ::stat(found.get(), &about) != 0 || !S_ISDIR(about.st_mode)) return std::nullopt;
  return std::string{found.get()};
}

/// Homes of system users may be places that every program needs (/usr/sbin, /bin, /).
bool is_part_of_the_system(std::string_view home) {
  constexpr std::array<std::string_view, 9> trees{"/usr", "/bin", "/sbin", "/lib", "/lib64",
                                                  "/etc", "/dev", "/proc", "/sys"};
  return home == "/" ||
         std::ranges::any_of(trees, [home](auto tree) { return contains(tree, home); });
}

refusal home_cannot_be_hidden(const std::string& home) {
  return refusal{.error = code::sandbox_unavailable,
                 .op = operation::execute,
                 .path = home,
                 .resolved = {},
                 .boundary = {},
                 .detail =
                     "your home directory is part of the system tree and cannot be hidden; run "
                     "as a user with a home of its own"};
}

std::string whole_file(const std::string& path) {
  const std::unique_ptr<std::FILE, close_file> file{std::fopen(path.c_str(), "re")};
  if (!file) return {};
  constexpr std::size_t most = 1 << 20;
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < most) {
    const auto got = std::fread(piece.data(), 1, piece.size(), file.get());
    if (got == 0) break;
    text.append(piece.data(), got);
  }
  return text;
}

}  // namespace

std::optional<std::string_view> caller_environment::find(std::string_view name) const {
  for (const std::string_view entry : entries_) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// A later git may have another environment, so what that puts in place of a file comes beside it.
git_sources git_settings_of(const caller_environment& environment) {
  const auto named_home = environment.find("HOME");
  const auto home =
      named_home ? canonical_directory(std::string{*named_home}).value_or("") : std::string{};
  git_sources found{.files = {}, .home = home};
  const auto add = [&found](std::string path) {
    auto text = whole_file(path);
    if (!text.empty()) found.files.push_back({std::move(path), std::move(text)});
  };
  const auto add_named = [&](std::string_view name) {
    const auto path = environment.find(name);
    if (path && is_absolute(*path)) add(std::string{*path});
  };
  add("/etc/gitconfig");
  add_named("GIT_CONFIG_SYSTEM");
  if (!home.empty()) {
    const auto config = environment.find("XDG_CONFIG_HOME");
    const auto base = config && is_absolute(*config) ? std::string{*config} : home + "/.config";
    add(base + "/git/config");
    add(home + "/.gitconfig");
  }
  add_named("GIT_CONFIG_GLOBAL");
  return found;
}

std::expected<caller, refusal> look_at_caller(caller_environment environment) {
  caller who{.environment = std::move(environment), .home = {}, .homes = {}, .git = {},
             .git_settings = {}};
  std::vector<std::string> candidates{"/root", "/home"};
  if (const auto home = who.environment.find("HOME")) {
    who.home = canonical_directory(std::string{*home}).value_or(std::string{});
    candidates.emplace_back(*home);
  }
  const auto user = ::getuid();
  auto home = home_in_passwd_file(user);
  if (!home) home = home_by_getent(user);
  if (home) candidates.push_back(std::move(*home));

  for (const auto& candidate : candidates) {
    auto found = canonical_directory(candidate);
    if (!found) continue;
    if (is_part_of_the_system(*found)) return std::unexpected{home_cannot_be_hidden(*found)};
    if (std::ranges::find(who.homes, *found) == who.homes.end()) {
      who.homes.push_back(std::move(*found));
    }
  }
  who.git_settings = git_settings_of(who.environment);
  std::string own;
  for (const auto& file : who.git_settings.files) {
    own += file.text + "\n";  // of two settings the later one counts
  }
  who.git = parse_git_identity(own);
  return who;
}

}  // namespace pinfold
