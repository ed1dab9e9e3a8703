// The table is read from its start each time; the kernel then says again when it changes.
#include "launch/mount_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <pinfold/path.hpp>

#include "launch/mountinfo.hpp"

namespace pinfold {
namespace {

std::optional<std::string> whole_table(int fd) {
  if (::lseek(fd, 0, SEEK_SET) != 0) return std::nullopt;
  std::string text;
  std::array<char, 16 * 1024> piece;
  for (;;) {
    const auto got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::vector<std::string> mount_points_in(std::string_view mountinfo) {
  std::vector<std::string> points;
  for_each_mount(mountinfo, [&points](const mount_fields& one) {
    if (!one.point.empty()) points.push_back(unescaped(one.point));
  });
  return points;
}

std::optional<mount_watch> mount_watch::of(pid_t process, std::vector<std::string> places,
                                           std::string_view host_tree) {
  const auto path = "/proc/" + std::to_string(process) + "/mountinfo";
  descriptor table{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!table) return std::nullopt;
  std::vector<seen_place> seen;
  for (const auto& place : places) {
    struct stat about {};
    if (!contains(host_tree, place) || ::lstat(place.c_str(), &about) != 0) continue;
    seen.push_back({place, beneath::identity_of(about)});
  }
  return mount_watch{std::move(table), std::move(places), std::move(seen)};
}

bool mount_watch::is_due() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < interval / 4) return false;
  looked_ = now;
  return true;
}

bool mount_watch::has_moved() const noexcept {
  return std::ranges::any_of(seen_, [](const seen_place& place) {
    struct stat about {};
    return ::lstat(place.path.c_str(), &about) != 0 || beneath::identity_of(about) != place.id;
  });
}

std::optional<std::string> mount_watch::lost() const {
  const auto table = whole_table(table_.get());
  if (!table) return "the mount table";
  auto points = mount_points_in(*table);
  std::ranges::sort(points);
  for (const auto& place : places_) {
    if (!std::ranges::binary_search(points, place)) return place;
  }
  return std::nullopt;
}

}  // namespace pinfold
