#include "sandbox/git_state/modules.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

namespace pinfold {
namespace {

struct closer {
  void operator()(DIR* open) const noexcept { ::closedir(open); }
};

struct listing {
  std::vector<std::string> directories;
  bool has_head{false};
  bool has_config{false};
  bool has_objects{false};
  bool has_refs{false};

  [[nodiscard]] bool may_be_one() const { return has_head || has_config; }
  /// What git takes for a repository that stands for itself (is_git_directory in its setup.c).
  [[nodiscard]] bool is_whole() const { return has_head && has_objects && has_refs; }
};

std::expected<listing, refusal> list(const git_ground& ground, int fd, std::string_view tail) {
  listing found;
  const std::unique_ptr<DIR, closer> open{fd < 0 ? nullptr : ::fdopendir(fd)};
  if (!open) {
    if (fd >= 0) ::close(fd);
    return found;
  }
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string_view name{entry->d_name};
    if (name == "." || name == "..") continue;
    if (auto left = ground.budget.take_entry(ground.path_of(tail)); !left) {
      return std::unexpected{std::move(left.error())};
    }
    found.has_head |= name == "HEAD";
    found.has_config |= name == "config";
    found.has_objects |= name == "objects";
    found.has_refs |= name == "refs";
    const bool is_directory = entry->d_type == DT_UNKNOWN
                                  ? kind_of(fd, entry->d_name) == file_kind::directory
                                  : entry->d_type == DT_DIR;
    if (is_directory) found.directories.emplace_back(name);
  }
  return found;
}

constexpr std::array<std::string_view, 8> gits_own{"branches", "hooks",   "info", "lfs",
                                                   "logs",     "objects", "refs", "rr-cache"};

}  // namespace

std::expected<std::vector<repository_below>, refusal> repositories_in(const git_ground& ground,
                                                                      int modules,
                                                                      std::string_view tail) {
  std::vector<repository_below> found;
  std::vector<std::string> pending{""};
  while (!pending.empty()) {
    const auto at = std::move(pending.back());
    pending.pop_back();
    auto in = list(ground, open_through_no_link(modules, at, O_RDONLY | O_DIRECTORY),
                   at.empty() ? std::string{tail} : tail_of(tail, at));
    if (!in) return std::unexpected{std::move(in.error())};
    if (!at.empty() && in->may_be_one()) found.push_back({tail_of(tail, at), in->is_whole()});
    for (const auto& name : in->directories) {
      const bool is_gits = in->is_whole() && std::ranges::find(gits_own, name) != gits_own.end();
      if (!is_gits) pending.push_back(tail_of(at, name));
    }
  }
  return found;
}

std::expected<std::vector<std::string>, refusal> directories_in(const git_ground& ground,
                                                                int directory,
                                                                std::string_view tail) {
  auto in = list(ground, ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), tail);
  if (!in) return std::unexpected{std::move(in.error())};
  return std::move(in->directories);
}

}  // namespace pinfold
