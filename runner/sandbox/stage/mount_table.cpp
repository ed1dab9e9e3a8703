// proc_pid_mountinfo(5): the fifth field is the mount point, with space, tab, newline and backslash as
// three octal digits.
#include "mount_table.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

bool is_below(const char* path, const char* above) {
  const auto length = ::strlen(above);
  return ::strncmp(path, above, length) == 0 && path[length] == '/';
}

}  // namespace

mount_table::mount_table(int fd, const char* above) : above_{above} {
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

const char* mount_table::next() {
  while (*at_ != '\0') {
    char* line = at_;
    char* end = ::strchrnul(line, '\n');
    at_ = *end == '\0' ? end : end + 1;
    *end = '\0';
    for (int field = 1; field < 5 && line != nullptr; ++field) {
      line = ::strchr(line, ' ');
      if (line != nullptr) ++line;
    }
    if (line == nullptr) continue;
    *::strchrnul(line, ' ') = '\0';
    unescape(line);
    if (is_below(line, above_)) return line;
  }
  return nullptr;
}

}  // namespace pinfold::attach
