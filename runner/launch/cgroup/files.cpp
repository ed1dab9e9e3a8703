#include "launch/cgroup/files.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include <pinfold/disk/kernel.hpp>

namespace pinfold {

bool cgroup_files::is_cgroup2(int directory) const noexcept {
  struct statfs about {};
  return ::fstatfs(directory, &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC;
}

bool cgroup_files::is_marked_delegated(int directory) const noexcept {
  for (const auto* name : {"trusted.delegate", "user.delegate"}) {
    char value = 0;
    if (::fgetxattr(directory, name, &value, sizeof value) == 1 && value == '1') return true;
  }
  return false;
}

int cgroup_files::make(int parent, const char* name) const noexcept {
  return ::mkdirat(parent, name, 0755) == 0 ? 0 : errno;
}

int cgroup_files::remove(int parent, const char* name) const noexcept {
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

int cgroup_files::write(int cgroup, const char* file, std::string_view word) const noexcept {
  const int opened = beneath::open_name(cgroup, file, O_WRONLY);
  if (opened < 0) return -opened;
  const descriptor to{opened};
  for (;;) {
    const auto done = ::write(to.get(), word.data(), word.size());
    if (done == static_cast<ssize_t>(word.size())) return 0;
    if (done >= 0) return EIO;
    if (errno != EINTR) return errno;
  }
}

const cgroup_files& kernel_cgroup_files() noexcept {
  static const cgroup_files kernel;
  return kernel;
}

std::optional<std::string> read_control(int cgroup, const char* file) {
  const descriptor from{beneath::open_name(cgroup, file, O_RDONLY)};
  if (!from) return std::nullopt;
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const auto got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

unsigned long long number_in(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      unsigned long long number = 0;
      std::from_chars(line.data() + key.size() + 1, line.data() + line.size(), number);
      return number;
    }
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  }
  return 0;
}

}  // namespace pinfold
