// Tried with git 2.39: objects, refs, packed-refs and logs may each be a link; a lock of packed-refs is
// taken beside what the link leads to, so that it holds against git on the repository itself.
#include "git/view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

namespace pinfold {
namespace {

refusal failed(const std::string& path, int error) {
  return {.error = code::git_failed,
          .op = operation::execute,
          .path = path,
          .resolved = {},
          .boundary = {},
          .detail = std::string{"making a view of the repository: "} + std::strerror(error)};
}

std::string configuration_of(const git_format& format) {
  const auto word = [](bool value) { return value ? "true\n" : "false\n"; };
  const bool is_extended = format.object_format != "sha1";
  std::string text = "[core]\n\trepositoryformatversion = ";
  text += is_extended ? "1\n" : "0\n";
  text += "\tbare = false\n\tlogAllRefUpdates = true\n\tcommitGraph = false\n\tfilemode = ";
  text += word(format.has_modes);
  text += std::string{"\tsymlinks = "} + word(format.has_links);
  text += std::string{"\tignorecase = "} + word(format.ignores_case);
  if (is_extended) text += "[extensions]\n\tobjectFormat = " + format.object_format + "\n";
  return text;
}

bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const auto put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// Of a regular file, through no link; empty otherwise.
std::string text_of_regular(const std::string& path, std::size_t most) {
  const descriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > most) return {};
  std::string text(size, '\0');
  const auto got = ::read(file.get(), text.data(), size);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

bool is_there(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}

}  // namespace

std::expected<void, int> replace_file(const std::string& path, std::string_view text) {
  const auto temporary = path + ".new";
  descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                         S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH)};
  if (!file || !write_whole(file.get(), text)) return std::unexpected{errno};
  file.reset();
  if (::rename(temporary.c_str(), path.c_str()) != 0) return std::unexpected{errno};
  return {};
}

std::expected<void, refusal> make_git_view(const std::string& path, const std::string& common_dir,
                                           const git_format& format, std::string_view commit) {
  for (const auto& directory : {path, path + "/info"}) {
    if (::mkdir(directory.c_str(), S_IRWXU) != 0) return std::unexpected{failed(directory, errno)};
  }
  for (const char* name : {"objects", "refs", "packed-refs", "shallow", "logs"}) {
    const auto target = common_dir + "/" + name;
    if (std::string_view{name} == "logs" && !is_there(target)) continue;
    if (::symlink(target.c_str(), (path + "/" + name).c_str()) != 0) {
      return std::unexpected{failed(path + "/" + name, errno)};
    }
  }
  constexpr std::size_t most = std::size_t{1} << 20;
  const std::array<std::pair<const char*, std::string>, 2> files{
      {{"/config", configuration_of(format)},
       {"/info/exclude", text_of_regular(common_dir + "/info/exclude", most)}}};
  for (const auto& [name, text] : files) {
    if (auto put = replace_file(path + name, text); !put) {
      return std::unexpected{failed(path + name, put.error())};
    }
  }
  return set_view_head(path, commit);
}

std::expected<void, refusal> set_view_head(const std::string& path, std::string_view commit) {
  auto put = replace_file(path + "/HEAD", std::string{commit} + "\n");
  if (!put) return std::unexpected{failed(path + "/HEAD", put.error())};
  return {};
}

std::expected<void, refusal> check_no_links(const std::string& common_dir,
                                            std::string_view branch) {
  for (const std::string_view root : {"objects", "refs", "logs", "packed-refs", "worktrees"}) {
    const bool has_branch = root == "refs" || root == "logs";
    std::string at = common_dir;
    const auto tail = root == "logs" ? "logs/" + std::string{branch} : std::string{branch};
    for (const auto name : components{has_branch ? std::string_view{tail} : root}) {
      at.append("/").append(name);
      struct stat about {};
      if (::lstat(at.c_str(), &about) != 0) break;
      if (!S_ISLNK(about.st_mode)) continue;
      return std::unexpected{refusal{.error = code::no_repository,
                                     .op = operation::execute,
                                     .path = common_dir,
                                     .resolved = at,
                                     .boundary = {},
                                     .detail = "this is a link, and git would write through it"}};
    }
  }
  return {};
}

}  // namespace pinfold
