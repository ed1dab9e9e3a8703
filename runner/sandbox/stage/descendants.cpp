// Finding every descendant without a PID namespace: stage two is their subreaper, so whatever lives
// of the command's tree has stage two among its ancestors. Read from /proc, killed until none is
// left.
#include "stage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace pinfold::stage {
namespace {

struct process {
  pid_t pid;
  pid_t parent;
  bool is_ours;
};

constexpr int most_processes = 1 << 16;
process table[most_processes];

/// The parent of a process from /proc/PID/stat; the name in parentheses may hold anything, so the
/// fields are counted from the last closing one. 0 when it is gone.
pid_t parent_of(const char* pid) {
  char path[64] = "/proc/";
  ::strncat(path, pid, 16);
  ::strcat(path, "/stat");
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[512];
  const auto got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* after = ::strrchr(text, ')');
  if (after == nullptr || ::strlen(after) < 5) return 0;
  return static_cast<pid_t>(::atoi(after + 4));  // ") S PPID"
}

int read_table() {
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return 0;
  int count = 0;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || count == most_processes) continue;
    table[count++] = {static_cast<pid_t>(::atoi(entry->d_name)), parent_of(entry->d_name), false};
  }
  ::closedir(directory);
  return count;
}

bool is_ours(int count, pid_t parent, pid_t self) {
  if (parent == self) return true;
  for (int i = 0; i < count; ++i) {
    if (table[i].pid == parent) return table[i].is_ours;
  }
  return false;
}

/// Marks until a pass over the table finds nothing new.
void mark_descendants(int count) {
  const pid_t self = ::getpid();
  for (bool found = true; found;) {
    found = false;
    for (int i = 0; i < count; ++i) {
      if (table[i].is_ours || !is_ours(count, table[i].parent, self)) continue;
      table[i].is_ours = true;
      found = true;
    }
  }
}

}  // namespace

void kill_descendants() {
  const int count = read_table();
  mark_descendants(count);
  for (int i = 0; i < count; ++i) {
    if (table[i].is_ours) ::kill(table[i].pid, SIGSTOP);  // a stopped process forks no more
  }
  for (int i = 0; i < count; ++i) {
    if (table[i].is_ours) ::kill(table[i].pid, SIGKILL);
  }
}

}  // namespace pinfold::stage
