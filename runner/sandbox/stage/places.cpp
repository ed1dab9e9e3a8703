// The proofs about what is outside the workspace: closed places are read-only and refuse a new file,
// covered ones hold only the names that the plan gives, secrets have /dev/null over them, and no
// sysctl can be opened for writing.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stage.hpp"

namespace pinfold::stage {
namespace {

bool is_read_only(const char* path) {
  struct statvfs where {};
  return ::statvfs(path, &where) == 0 && (where.f_flag & ST_RDONLY) != 0;
}

/// A file without a name: where it can be made, nothing is left of it. Whatever errno says no is a
/// no.
bool can_be_made_in(const char* path) {
  const int fd = ::open(path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

bool is_covered(const char* path) {
  struct stat about {};
  if (::lstat(path, &about) != 0) return is_out_of_reach(errno);
  return S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3);
}

bool is_one_of(const char* name, text_reader known, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (::strcmp(name, known.text()) == 0) return true;
  }
  return false;
}

/// Only names that are known; a missing one is no harm, since bwrap would have failed.
bool holds_only(const char* path, const text_reader& known, std::uint32_t count) {
  DIR* list = ::opendir(path);
  if (list == nullptr) return false;
  bool is_known = true;
  while (const dirent* entry = ::readdir(list)) {
    const bool is_dots = ::strcmp(entry->d_name, ".") == 0 || ::strcmp(entry->d_name, "..") == 0;
    if (!is_dots && !is_one_of(entry->d_name, known, count)) is_known = false;
  }
  ::closedir(list);
  return is_known;
}

}  // namespace

bool is_out_of_reach(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES;
}

void prove_sysctls_are_closed() {
  const int fd = ::open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 || !is_read_only("/proc/sys")) fail(step::sysctls_are_closed, 0, "/proc/sys");
}

void prove_places(specification& spec, text_reader& reader) {
  spec.open = static_cast<const char**>(::calloc(spec.counts.places + 1UL, sizeof(char*)));
  if (spec.open == nullptr) fail(step::read_specification, ENOMEM);
  for (std::uint32_t i = 0; i < spec.counts.places; ++i) {
    place wanted{};
    reader.bytes(&wanted, sizeof wanted);
    const char* path = reader.text();
    const bool is_outside = (wanted.kind & place_outside) != 0;
    const auto name = is_outside ? step::outside_is_closed : step::hidden_place_is_closed;
    if ((wanted.kind & place_closed) != 0 && (!is_read_only(path) || can_be_made_in(path))) {
      fail(name, 0, path);
    }
    if ((wanted.kind & place_scratch) != 0) {
      if (spec.scratch_count == spec.most_scratch) fail(step::read_specification, E2BIG, path);
      spec.scratch[spec.scratch_count++] = path;
    }
    if ((wanted.kind & place_open) != 0) spec.open[spec.open_count++] = path;
    if ((wanted.kind & place_covered) != 0 && !is_covered(path)) {
      fail(step::secret_is_covered, 0, path);
    }
    if ((wanted.kind & place_listed) != 0 && !holds_only(path, reader, wanted.entries)) {
      fail(name, 0, path);
    }
    for (std::uint32_t entry = 0; entry < wanted.entries; ++entry) reader.text();
  }
}

}  // namespace pinfold::stage
