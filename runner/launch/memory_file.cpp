// memfd_create(2) and its seals.
#include "launch/memory_file.hpp"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Linux 6.3; Debian 12's headers do not have it yet
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace pinfold {
namespace {

/// Before Linux 6.3 the two flags about execution are unknown (EINVAL); every memfd is executable
/// there.
int create(const char* name, memory_file_use use) {
  const unsigned common = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const unsigned wanted = use == memory_file_use::program ? MFD_EXEC : MFD_NOEXEC_SEAL;
  const int fd = ::memfd_create(name, common | wanted);
  if (fd >= 0 || errno != EINVAL) return fd;
  return ::memfd_create(name, common);
}

/// 0 or an errno.
int write_at(int fd, std::string_view bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const auto wrote = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += static_cast<std::size_t>(wrote);
  }
  return 0;
}

}  // namespace

std::expected<descriptor, int> open_memory_file(const char* name, memory_file_use use) {
  descriptor file{create(name, use)};
  if (!file) return std::unexpected{errno};
  return file;
}

int fill_memory_file(const descriptor& file, std::string_view bytes) {
  constexpr std::size_t page = 4096;
  constexpr int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  const auto head = bytes.substr(0, page);
  int wrong = write_at(file.get(), bytes.substr(head.size()), head.size());
  if (wrong == 0) wrong = write_at(file.get(), head, 0);
  if (wrong == 0 && ::fcntl(file.get(), F_ADD_SEALS, seals) != 0) wrong = errno;
  if (wrong != 0 && ::ftruncate(file.get(), 0) != 0) return errno;
  return wrong;
}

std::expected<descriptor, int> make_memory_file(const char* name, std::string_view bytes,
                                                memory_file_use use) {
  auto file = open_memory_file(name, use);
  if (!file) return file;
  if (const int wrong = fill_memory_file(*file, bytes); wrong != 0) return std::unexpected{wrong};
  return file;
}

std::expected<descriptor, int> make_mailbox(const char* name) {
  return open_memory_file(name, memory_file_use::data);
}

}  // namespace pinfold
