#include "sandbox/git_commit/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "launch/random_digits.hpp"

namespace pinfold {
namespace {

struct closer {
  void operator()(DIR* open) const noexcept { ::closedir(open); }
};

int write_all_of(int file, const char* at, std::size_t size) {
  while (size > 0) {
    const auto put = ::write(file, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return 0;
}

ssize_t read_some(int file, char* to, std::size_t size) {
  for (;;) {
    const auto got = ::read(file, to, size);
    if (got >= 0 || errno != EINTR) return got;
  }
}

/// A regular file, and its size at this moment.
std::expected<descriptor, int> open_regular(int from, const std::string& name, std::uint64_t most) {
  descriptor file{
      ::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0) return std::unexpected{errno};
  if (!S_ISREG(about.st_mode)) return std::unexpected{EINVAL};
  if (static_cast<std::uint64_t>(about.st_size) > most) return std::unexpected{EFBIG};
  return file;
}

constexpr int deepest = 128;  // two descriptors each

/// What was moved up is removed in its turn.
struct moved_up {
  int to;
  std::vector<std::string> names{};

  int take(int parent, const std::string& name) {
    auto fresh = "deep-" + random_digits();
    if (::renameat2(parent, name.c_str(), to, fresh.c_str(), RENAME_NOREPLACE) != 0) return errno;
    names.push_back(std::move(fresh));
    return 0;
  }
};

int remove_all_in(int directory, int depth, moved_up& moved);

int remove_at(int parent, const std::string& name, int depth, moved_up& moved) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM) return errno;
  auto open = open_directory(parent, name, absent_directory::is_an_error);
  if (!open && open.error() == EACCES) {
    const descriptor held{
        ::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    const auto self = "/proc/self/fd/" + std::to_string(held.get());
    if (!held || ::chmod(self.c_str(), S_IRWXU) != 0) return errno;
    open = open_directory(parent, name, absent_directory::is_an_error);
  }
  if (!open) return open.error();
  if (::fchmod(open->get(), S_IRWXU) != 0) return errno;
  if (depth == deepest) return moved.take(parent, name);
  if (const int wrong = remove_all_in(open->get(), depth + 1, moved); wrong != 0) return wrong;
  return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

/// As much as can be; the first error.
int remove_all_in(int directory, int depth, moved_up& moved) {
  int first = 0;
  const int listed = for_each_name(directory, [&](const std::string& name) {
    const int wrong = remove_at(directory, name, depth, moved);
    if (first == 0) first = wrong;
    return 0;
  });
  return first != 0 ? first : listed;
}

}  // namespace

std::expected<std::uint64_t, int> copy_file(int from, const std::string& name, int to,
                                            const std::string& as, std::uint64_t most) {
  const auto source = open_regular(from, name, most);
  if (!source) return std::unexpected{source.error()};
  const descriptor target{::openat(to, as.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                   S_IRUSR | S_IWUSR)};
  if (!target) return std::unexpected{errno};
  std::array<char, std::size_t{64} << 10> room;
  std::uint64_t have = 0;
  for (;;) {
    const auto got = read_some(source->get(), room.data(), room.size());
    if (got < 0) return std::unexpected{errno};
    if (got == 0) return have;
    have += static_cast<std::uint64_t>(got);
    if (have > most) return std::unexpected{EFBIG};  // it grows
    const int wrong = write_all_of(target.get(), room.data(), static_cast<std::size_t>(got));
    if (wrong != 0) return std::unexpected{wrong};
  }
}

std::expected<std::string, int> read_small_file(int from, const std::string& name,
                                                std::size_t most) {
  const auto file = open_regular(from, name, most);
  if (!file) return std::unexpected{file.error()};
  std::string text(most + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const auto got = read_some(file->get(), text.data() + have, text.size() - have);
    if (got < 0) return std::unexpected{errno};
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  if (have > most) return std::unexpected{EFBIG};
  text.resize(have);
  return text;
}

int write_new_file(int to, const std::string& name, std::string_view text) {
  const descriptor file{::openat(to, name.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 S_IRUSR | S_IWUSR)};
  if (!file) return errno;
  return write_all_of(file.get(), text.data(), text.size());
}

std::expected<descriptor, int> open_directory(int parent, const std::string& name,
                                              absent_directory absent) {
  const mode_t mode = absent == absent_directory::is_made ? S_IRWXU : 0777;
  if (absent != absent_directory::is_an_error && ::mkdirat(parent, name.c_str(), mode) != 0 &&
      errno != EEXIST) {
    return std::unexpected{errno};
  }
  descriptor open{
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!open) return std::unexpected{errno};
  return open;
}

int for_each_name(int directory, const std::function<int(const std::string&)>& on_name) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return errno;
  const std::unique_ptr<DIR, closer> list{::fdopendir(copy)};
  if (!list) {
    const int wrong = errno;
    ::close(copy);
    return wrong;
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(list.get());
    if (entry == nullptr) return errno;
    const std::string name{entry->d_name};
    if (name == "." || name == "..") continue;
    if (const int wrong = on_name(name); wrong != 0) return wrong;
  }
}

int remove_whole(int parent, const std::string& name) {
  moved_up moved{parent};
  int first = remove_at(parent, name, 0, moved);
  while (!moved.names.empty()) {
    const auto next = std::move(moved.names.back());
    moved.names.pop_back();
    const int wrong = remove_at(parent, next, 0, moved);
    if (first == 0) first = wrong;
  }
  return first;
}

}  // namespace pinfold
