// The proof that no command changes what bounds it: whatever is seen of a cgroup file system, of
// either version, is mounted read-only. Uid 0 inside owns those files where it is uid 0 outside.
#include "stage.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace pinfold::stage {
namespace {

/// The text behind `count` blanks; nullptr where there are fewer.
char* after_blanks(char* text, int count) {
  for (; text != nullptr && count > 0; --count) {
    text = ::strchr(text, ' ');
    if (text != nullptr) ++text;
  }
  return text;
}

/// A mount that lies under another is listed and not seen: what counts is what stands at its place.
bool is_open_at(const char* place) {
  if (::strchr(place, '\\') != nullptr) return true;  // a name that is escaped; nobody has looked
  struct statfs about {};
  if (::statfs(place, &about) != 0) return false;
  const bool is_cgroup = about.f_type == CGROUP_SUPER_MAGIC || about.f_type == CGROUP2_SUPER_MAGIC;
  return is_cgroup && (about.f_flags & ST_RDONLY) == 0;
}

/// One line of mountinfo (proc(5)): its fifth field is the place, the sixth says how this mount may be
/// used, the one behind " - " is the type of its file system. No blank stands in a field.
void check_line(char* line) {
  if (::strstr(line, " - cgroup") == nullptr) return;
  char* place = after_blanks(line, 4);
  char* options = after_blanks(place, 1);
  if (options == nullptr) fail(step::cgroups_are_closed, EPROTO);
  options[-1] = '\0';
  const bool is_read_only = ::strncmp(options, "ro,", 3) == 0 || ::strncmp(options, "ro ", 3) == 0;
  if (!is_read_only && is_open_at(place)) fail(step::cgroups_are_closed, 0, place);
}

}  // namespace

/// Read piece by piece: of the table there may be much, of a line no more than a few paths.
void prove_cgroups_are_closed() {
  const int table = ::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (table < 0) fail(step::cgroups_are_closed, errno);
  char text[4 * 4096];
  std::size_t used = 0;
  for (;;) {
    const auto got = ::read(table, text + used, sizeof text - 1 - used);
    if (got < 0) fail(step::cgroups_are_closed, errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    text[used] = '\0';
    char* line = text;
    for (char* end = nullptr; (end = ::strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = '\0';
      check_line(line);
    }
    used -= static_cast<std::size_t>(line - text);
    if (used == sizeof text - 1) fail(step::cgroups_are_closed, E2BIG);
    ::memmove(text, line, used);
  }
  ::close(table);
}

}  // namespace pinfold::stage
