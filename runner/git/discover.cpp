// rev-parse is asked for paths alone. Objects are looked at later, in a view, since a repository that
// lacks some on purpose (a partial clone) would have git start a transport to fetch them.
#include "git/discover.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "git/run_git.hpp"

namespace pinfold {
namespace {

using namespace std::chrono_literals;

constexpr auto short_time = 60s;

refusal refused(code error, const std::string& path, std::string why) {
  return {.error = error,
          .op = operation::execute,
          .path = path,
          .resolved = {},
          .boundary = {},
          .detail = std::move(why)};
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

bool says_yes(std::string_view value) {
  return value == "true" || value == "yes" || value == "on" || value == "1" || value.empty();
}

/// One "key\nvalue" of `git config --null`; keys are in lower case but for a subsection.
std::expected<void, refusal> take_setting(std::string_view setting, const std::string& config,
                                          git_format& format) {
  const auto end = setting.find('\n');
  const auto key = setting.substr(0, end);
  const auto value = end == setting.npos ? std::string_view{} : setting.substr(end + 1);
  if (key == "core.filemode") format.has_modes = says_yes(value);
  if (key == "core.symlinks") format.has_links = says_yes(value);
  if (key == "core.ignorecase") format.ignores_case = says_yes(value);
  if (key == "extensions.objectformat") {
    if (value != "sha1" && value != "sha256") {
      return std::unexpected{refused(code::not_enforceable, config, "extensions.objectFormat is " + std::string{value})};
    }
    format.object_format = value;
  }
  if (key == "extensions.refstorage" && value != "files") {
    return std::unexpected{refused(code::not_enforceable, config,
                                   "its branches are stored as " + std::string{value} +
                                       "; only files are supported")};
  }
  return {};
}

/// Of the configuration of the repository alone: nothing is included, nothing else is read.
std::expected<git_format, refusal> format_of(const std::string& git, const std::string& common) {
  const auto config = common + "/config";
  git_format format;
  struct stat about {};
  if (::lstat(config.c_str(), &about) != 0 && errno == ENOENT) return format;
  if (!S_ISREG(about.st_mode)) {
    return std::unexpected{refused(code::not_enforceable, config, "it is no regular file")};
  }
  git_call call;
  call.words = {"config", "--file", config, "--no-includes", "--null", "--list"};
  call.time = short_time;
  call.output = std::size_t{4} << 20;
  const auto answer = run_git_or_refuse(git, call, config, "reading how it stores things");
  if (!answer) return std::unexpected{answer.error()};
  if (answer->out.clipped()) {
    return std::unexpected{refused(code::not_enforceable, config, "it is too long")};
  }
  for (const auto& setting : parts_of(answer->out.text, '\0')) {
    if (auto taken = take_setting(setting, config, format); !taken) {
      return std::unexpected{std::move(taken.error())};
    }
  }
  return format;
}

}  // namespace

std::string line_of_file(const std::string& path) {
  const descriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  std::array<char, 4096> room{};
  if (about.st_size > static_cast<off_t>(room.size())) return {};
  const auto got = ::read(file.get(), room.data(), room.size());
  if (got < 0) return {};
  std::string_view text{room.data(), static_cast<std::size_t>(got)};
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string{text};
}

std::string branch_in_head(std::string_view head) {
  constexpr std::string_view prefix = "ref: ";
  if (!head.starts_with(prefix)) return {};
  head.remove_prefix(prefix.size());
  return std::string{head};
}

std::expected<discovered_repository, refusal> discover_repository(const std::string& git,
                                                                  const std::string& folder) {
  git_call call;
  call.directory = folder;
  call.words = {"rev-parse",     "--path-format=absolute", "--is-bare-repository", "--git-common-dir",
                "--absolute-git-dir", "--show-toplevel"};
  call.time = short_time;
  const auto answer = run_git(git, call);
  if (!answer) return std::unexpected{answer.error()};
  const auto lines = parts_of(answer->line(), '\n');
  if (!answer->has_succeeded()) {
    const bool is_bare = !lines.empty() && lines.front() == "true";
    auto why = git_refusal(folder, is_bare ? "it is bare" : "asking for its repository", *answer);
    why.error = code::no_repository;
    return std::unexpected{std::move(why)};
  }
  if (lines.size() != 4) {
    return std::unexpected{refused(code::no_repository, folder, "a path of it holds a newline")};
  }
  discovered_repository found{lines[3], lines[2], lines[1], line_of_file(lines[2] + "/HEAD"), {}};
  auto format = format_of(git, found.common_dir);
  if (!format) return std::unexpected{std::move(format.error())};
  found.format = std::move(*format);
  return found;
}

}  // namespace pinfold
