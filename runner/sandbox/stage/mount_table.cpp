// proc_pid_mountinfo(5): the fifth field is the mount point, with space, tab, newline and backslash as
// three octal digits.
#include "mount_table.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.hpp"

namespace pinfold::attach {
namespace {

constexpr std::size_t most_bytes = 16UL << 20;

bool is_octal(char one) {
  return one >= '0' && one <= '7';
}

/// In place: the result is never longer.
void unescape(char* text) {
  char* to = text;
  while (*text != '\0') {
    if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) && is_octal(text[3])) {
      *to++ = static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
      text += 4;
    } else {
      *to++ = *text++;
    }
  }
  *to = '\0';
}

/// statx(2) as of Linux 5.8; the C library's own may be older.
struct with_mount {
  char before[144];
  std::uint64_t mount;
  char behind[104];
};
static_assert(sizeof(with_mount) == 256);
constexpr unsigned want_mount = 0x1000;

}  // namespace

mount_table::mount_table(int fd) {
  std::size_t room = 64UL << 10;
  std::size_t used = 0;
  text_ = static_cast<char*>(::malloc(room));
  if (text_ == nullptr || ::lseek(fd, 0, SEEK_SET) != 0) stage::fail(stage::step::attach_mount, errno);
  for (;;) {
    const auto got = ::read(fd, text_ + used, room - used - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) stage::fail(stage::step::attach_mount, errno, "the mount table");
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (room - used > 1) continue;
    room *= 2;
    auto* more = room <= most_bytes ? static_cast<char*>(::realloc(text_, room)) : nullptr;
    if (more == nullptr) stage::fail(stage::step::attach_mount, ENOMEM, "the mount table");
    text_ = more;
  }
  text_[used] = '\0';
  at_ = text_;
}

mount_table::~mount_table() {
  ::free(text_);
}

const mount_line* mount_table::next() {
  while (*at_ != '\0') {
    char* field = at_;
    char* end = ::strchrnul(field, '\n');
    at_ = *end == '\0' ? end : end + 1;
    *end = '\0';
    char* fields[7]{};
    for (char*& one : fields) {
      one = field;
      field = field == nullptr ? nullptr : ::strchr(field, ' ');
      if (field != nullptr) *field++ = '\0';
    }
    if (fields[6] == nullptr) stage::fail(stage::step::attach_mount, EINVAL, "the mount table");
    unescape(fields[4]);
    line_ = {::strtoull(fields[0], nullptr, 10), fields[4], fields[5], fields[6]};
    return &line_;
  }
  return nullptr;
}

bool is_at_or_below(const char* path, const char* place) {
  const auto length = ::strlen(place);
  return ::strncmp(path, place, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

bool mount_line::is_as_meant(const char* const* open, std::uint32_t count) const {
  if (::strncmp(options, "ro", 2) == 0) return true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (is_at_or_below(point, open[i])) return true;
  }
  return false;
}

std::uint64_t mount_at(int fd, const char* path) {
  with_mount about{};
  const auto done = ::syscall(SYS_statx, fd, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                              want_mount, &about);
  return done == 0 ? about.mount : 0;
}

}  // namespace pinfold::attach
