// Locked for the time of one line: see audit_file.hpp.
#include "mcp/audit_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

namespace pinfold::mcp {
namespace {

using outcome = std::expected<void, std::string>;

outcome failed(int number) {
  return std::unexpected{std::generic_category().message(number)};
}

/// A lock of the open file description (fcntl(2)): it goes with the descriptor, however the process
/// ends. Whoever may read the file can hold it, so it is waited for and not for ever.
outcome lock(int file) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const auto until = std::chrono::steady_clock::now() + audit_file::longest_wait;
  while (::fcntl(file, F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return failed(errno);
    if (std::chrono::steady_clock::now() > until) {
      return std::unexpected<std::string>{"another process holds a lock on it"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return {};
}

void unlock(int file) {
  struct flock whole{};
  whole.l_type = F_UNLCK;
  whole.l_whence = SEEK_SET;
  (void)::fcntl(file, F_OFD_SETLK, &whole);
}

/// Whether whoever looks for the log finds this file, and nobody else can have it by another name.
outcome check_name(const struct stat& opened, const std::string& path) {
  const auto no = [](const char* why) { return std::unexpected<std::string>{why}; };
  if (opened.st_nlink == 0) return no("it was removed");
  if (opened.st_nlink > 1) return no("it has a second name (a hard link)");
  struct stat named{};
  if (::lstat(path.c_str(), &named) != 0) return errno == ENOENT ? no("it was moved away") : failed(errno);
  const bool is_the_same = named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
  return is_the_same ? outcome{} : no("it was moved away, and something else has its name");
}

outcome write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed(errno);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

/// Whether the file ends inside a line.
std::expected<bool, std::string> is_line_open(int file, off_t size) {
  if (size == 0) return false;
  char last = 0;
  const auto got = ::pread(file, &last, 1, size - 1);
  if (got < 0) return std::unexpected{std::generic_category().message(errno)};
  return got == 1 && last != '\n';
}

}  // namespace

std::expected<void, std::string> audit_file::append(std::string_view line) {
  if (line.size() > longest_line) return std::unexpected<std::string>{"the entry is too long"};
  if (auto held = lock(file_.get()); !held) return held;
  auto written = append_locked(line);
  unlock(file_.get());
  if (!written) end_ = -1;
  return written;
}

std::expected<void, std::string> audit_file::append_locked(std::string_view line) {
  struct stat about{};
  if (::fstat(file_.get(), &about) != 0) return failed(errno);
  if (auto found = check_name(about, path_); !found) return found;
  bool is_open = false;
  if (about.st_size != end_) {
    const auto found = is_line_open(file_.get(), about.st_size);
    if (!found) return std::unexpected{found.error()};
    is_open = *found;
  }
  std::string bytes;
  bytes.reserve(line.size() + 2);
  if (is_open) bytes += '\n';
  bytes += line;
  bytes += '\n';
  if (auto written = write_whole(file_.get(), bytes); !written) return written;
  end_ = about.st_size + static_cast<off_t>(bytes.size());
  return {};
}

std::expected<void, std::string> audit_file::sync(durability when) {
  const auto now = std::chrono::steady_clock::now();
  if (when == durability::later && now - synced_ < longest_unsynced) return {};
  if (::fdatasync(file_.get()) != 0) return failed(errno);
  synced_ = now;
  return {};
}

}  // namespace pinfold::mcp
