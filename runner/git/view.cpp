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

/// What a view links to in the repository.
struct linked_part {
  const char* name;
  mode_t type;
  bool may_lack;

  /// Looked at through no link: a pipe in the place of one would keep git waiting.
  [[nodiscard]] bool is_sound(const std::string& common_dir) const {
    struct stat about {};
    if (::lstat((common_dir + "/" + name).c_str(), &about) != 0) return may_lack && errno == ENOENT;
    return (about.st_mode & S_IFMT) == type;
  }
};
constexpr std::array linked_parts{
    linked_part{"objects", S_IFDIR, false}, linked_part{"refs", S_IFDIR, false},
    linked_part{"packed-refs", S_IFREG, true}, linked_part{"shallow", S_IFREG, true},
    linked_part{"logs", S_IFDIR, true}};

std::string not_what_git_makes(const std::string& common_dir, const linked_part& part) {
  return common_dir + "/" + part.name + " is not what git makes there";
}

bool leads_to(const std::string& link, const std::string& target) {
  std::string room(target.size() + 1, '\0');
  const auto size = ::readlink(link.c_str(), room.data(), room.size());
  if (size < 0) return false;
  room.resize(static_cast<std::size_t>(size));
  return room == target;
}

bool is_configuration_of_any_format(std::string_view text) {
  for (const char* hash : {"sha1", "sha256"}) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const git_format format{hash, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
      if (text == configuration_of(format)) return true;
    }
  }
  return false;
}

}  // namespace

std::string why_view_distrusted(const std::string& path, const std::string& common_dir) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return path + " is no directory";
  constexpr std::size_t most = 4096;
  if (!is_configuration_of_any_format(text_of_regular(path + "/config", most))) {
    return path + "/config is not what was made";
  }
  for (const char* name : {"commondir", "config.worktree"}) {
    if (is_there(path + "/" + name)) return path + "/" + name + " is not what was made";
  }
  for (const auto& part : linked_parts) {
    const auto link = path + "/" + part.name;
    const bool is_left_out = std::string_view{part.name} == "logs" && !is_there(link);
    if (!is_left_out && !leads_to(link, common_dir + "/" + part.name)) {
      return link + " is not what was made";
    }
    if (!part.is_sound(common_dir)) return not_what_git_makes(common_dir, part);
  }
  return {};
}

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
  for (const auto& part : linked_parts) {
    const auto target = common_dir + "/" + part.name;
    const auto link = path + "/" + part.name;
    if (!part.is_sound(common_dir)) {
      auto why = failed(path, 0);
      why.detail = not_what_git_makes(common_dir, part);
      return std::unexpected{std::move(why)};
    }
    if (std::string_view{part.name} == "logs" && !is_there(target)) continue;
    if (::symlink(target.c_str(), link.c_str()) != 0) return std::unexpected{failed(link, errno)};
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
