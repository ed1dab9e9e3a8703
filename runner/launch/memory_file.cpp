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

}  // namespace

std::expected<descriptor, int> make_memory_file(const char* name, std::string_view bytes,
                                                memory_file_use use) {
  descriptor file{create(name, use)};
  if (!file) return std::unexpected{errno};
  for (std::size_t done = 0; done < bytes.size();) {
    const auto wrote = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return std::unexpected{wrote < 0 ? errno : EIO};
    done += static_cast<std::size_t>(wrote);
  }
  constexpr int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::lseek(file.get(), 0, SEEK_SET) != 0 || ::fcntl(file.get(), F_ADD_SEALS, seals) != 0) {
    return std::unexpected{errno};
  }
  return file;
}

std::expected<descriptor, int> make_mailbox(const char* name) {
  descriptor file{create(name, memory_file_use::data)};
  if (!file) return std::unexpected{errno};
  return file;
}

}  // namespace pinfold
