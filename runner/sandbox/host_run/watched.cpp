#include "sandbox/host_run/watched.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

#include "sandbox/look_below.hpp"

namespace pinfold {
namespace {

bool is_new(const struct stat& about, const timespec& since) {
  return std::pair{about.st_ctim.tv_sec, about.st_ctim.tv_nsec} >=
         std::pair{since.tv_sec, since.tv_nsec};
}

std::string target_of(int directory, const std::string& path) {
  std::array<char, path_max> text;
  const auto size = ::readlinkat(directory, path.c_str(), text.data(), text.size());
  return size < 0 ? std::string{} : std::string{text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::vector<watched_file> watched(std::vector<std::string> paths, int directory) {
  std::vector<watched_file> files;
  for (auto& path : paths) {
    struct stat about{};
    const bool is_there = look_below(directory, path, about) == 0;
    files.push_back(
        {std::move(path), is_there ? std::optional{beneath::identity_of(about)} : std::nullopt});
  }
  return files;
}

std::optional<replaced_file> look_again(const watched_file& file, int directory,
                                        const timespec& since) {
  for (auto slash = file.path.find('/');; slash = file.path.find('/', slash + 1)) {
    auto at = file.path.substr(0, slash);
    struct stat about{};
    if (look_below(directory, at, about) != 0) return std::nullopt;
    const bool is_last = slash == std::string::npos;
    const bool is_other = is_last && file.before != beneath::identity_of(about);
    if (S_ISLNK(about.st_mode)) {
      if (!is_other && !is_new(about, since)) return std::nullopt;
      auto target = target_of(directory, at);
      return replaced_file{std::move(at), std::move(target)};
    }
    if (!is_last) continue;
    if (S_ISDIR(about.st_mode) || (!is_other && !is_new(about, since))) return std::nullopt;
    return replaced_file{std::move(at), {}};
  }
}

}  // namespace pinfold
