// The watch: where no cgroup holds a limit, stage two looks at /proc of its own PID namespace, which
// holds the command's whole tree and nothing else, and says which limit is passed. It sees what lives
// at the moment it looks.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "stage.hpp"

namespace pinfold::stage {
namespace {

struct usage {
  std::uint64_t tasks;
  std::uint64_t resident;      ///< bytes; pages that are shared count for each process
  std::uint64_t milliseconds;  ///< of the processor, of what lives and of what it has waited for
};

/// The field of /proc/PID/stat with this number (proc(5) counts from 1), of the text behind the
/// name, which starts at field 3.
std::uint64_t field(const char* behind_name, int number) {
  for (int at = 3; at < number; ++at) {
    behind_name = ::strchr(behind_name, ' ');
    if (behind_name == nullptr) return 0;
    ++behind_name;
  }
  return ::strtoull(behind_name, nullptr, 10);
}

/// A process that is gone by now adds nothing; one that cannot be looked at ends the run, since what is
/// not counted is not bounded.
void add_process(usage& sum, const char* pid) {
  char path[64] = "/proc/";
  ::strncat(path, pid, 16);
  ::strcat(path, "/stat");
  char text[1024];
  errno = 0;
  if (read_file(path, text, sizeof text) <= 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) fail(step::watch_limits, errno);
    return;
  }
  const char* behind_name = ::strrchr(text, ')');
  if (behind_name == nullptr || behind_name[1] != ' ') return;
  behind_name += 2;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  static const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  sum.tasks += field(behind_name, 20);
  sum.resident += field(behind_name, 24) * page;
  for (int one = 14; one <= 17; ++one) sum.milliseconds += field(behind_name, one) * 1000 / ticks;
}

template <class Visit>
void for_each_process(const Visit& visit) {
  DIR* list = ::opendir("/proc");
  if (list == nullptr) fail(step::watch_limits, errno);
  while (const dirent* entry = ::readdir(list)) {
    const bool is_process = ::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0;
    if (is_process && ::strcmp(entry->d_name, "1") != 0) visit(entry->d_name);
  }
  ::closedir(list);
}

/// Names alone, no further than needed: while processes multiply there is no time to read of each.
bool are_more_than(std::uint64_t most) {
  std::uint64_t count = 0;
  DIR* list = ::opendir("/proc");
  if (list == nullptr) fail(step::watch_limits, errno);
  const dirent* entry = nullptr;
  while (count <= most && (entry = ::readdir(list)) != nullptr) {
    if (::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0) ++count;
  }
  ::closedir(list);
  return count > most;
}

usage look() {
  usage sum{};
  for_each_process([&sum](const char* pid) { add_process(sum, pid); });
  rusage waited_for{};
  ::getrusage(RUSAGE_CHILDREN, &waited_for);
  for (const auto& time : {waited_for.ru_utime, waited_for.ru_stime}) {
    sum.milliseconds += static_cast<std::uint64_t>(time.tv_sec) * 1000 +
                        static_cast<std::uint64_t>(time.tv_usec) / 1000;
  }
  return sum;
}

std::uint64_t kibibytes_of(const char* text, const char* name) {
  const char* at = ::strstr(text, name);
  return at == nullptr ? 0 : ::strtoull(at + ::strlen(name), nullptr, 10);
}

/// Resident memory with shared pages shared out: dearer than `look`, so asked for only when that one
/// says too much. A process that does not let itself be looked at keeps its plain size.
std::uint64_t fair_resident() {
  std::uint64_t bytes = 0;
  for_each_process([&bytes](const char* pid) {
    char path[64] = "/proc/";
    ::strncat(path, pid, 16);
    ::strcat(path, "/smaps_rollup");
    char text[2048];
    if (read_file(path, text, sizeof text) > 0) {
      bytes += (kibibytes_of(text, "\nPss_Anon:") + kibibytes_of(text, "\nPss_Shmem:")) * 1024;
    } else {
      usage one{};
      add_process(one, pid);
      bytes += one.resident;
    }
  });
  return bytes;
}

/// What lies in the scratch places lies in memory too.
std::uint64_t scratch_bytes(const specification& spec) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < spec.scratch_count; ++i) {
    struct statvfs about {};
    if (::statvfs(spec.scratch[i], &about) == 0) {
      bytes += (about.f_blocks - about.f_bfree) * about.f_frsize;
    }
  }
  return bytes;
}

/// The last number given to a task of this PID namespace: unchanged, nothing was started.
std::uint64_t last_task() {
  char text[128];
  if (read_file("/proc/loadavg", text, sizeof text) <= 0) fail(step::watch_limits, errno);
  const char* last = ::strrchr(text, ' ');
  return last == nullptr ? 0 : ::strtoull(last, nullptr, 10);
}

/// A process limit counts in the user namespace of its own since Linux 5.14; before, it would count
/// everything that this user runs.
bool has_limits_by_namespace() {
  utsname kernel{};
  if (::uname(&kernel) != 0) return false;
  char* end = nullptr;
  const auto major = ::strtol(kernel.release, &end, 10);
  const auto minor = *end == '.' ? ::strtol(end + 1, nullptr, 10) : 0;
  return major > 5 || (major == 5 && minor >= 14);
}

/// Kept for processor time: the kernel kills whoever passes the hard limit, stage two too. A command
/// that ignores the signal of the soft one is left to the watch.
enum class hard_limit : bool { set, keep };

void set_limit(decltype(RLIMIT_CPU) what, std::uint64_t most, hard_limit hard) {
  rlimit wanted{};
  if (::getrlimit(what, &wanted) != 0) fail(step::set_limits, errno);
  if (wanted.rlim_max < most) return;  // the caller's own is lower
  wanted.rlim_cur = most;
  if (hard == hard_limit::set) wanted.rlim_max = most;
  if (::setrlimit(what, &wanted) != 0) fail(step::set_limits, errno);
}

}  // namespace

/// What the kernel counts by itself. A wall for tasks stands a little above the limit, so that the
/// watch still sees it passed; it does not bind uid 0 of the host.
void set_limits(const specification& spec) {
  constexpr std::uint64_t above_the_limit = 64;
  const auto& wanted = spec.counts.limits;
  if (wanted.file_bytes != 0) set_limit(RLIMIT_FSIZE, wanted.file_bytes, hard_limit::set);
  if (wanted.cpu_milliseconds != 0) {
    set_limit(RLIMIT_CPU, (wanted.cpu_milliseconds + 999) / 1000, hard_limit::keep);
  }
  if (wanted.tasks != 0 && has_limits_by_namespace()) {
    set_limit(RLIMIT_NPROC, wanted.tasks + above_the_limit, hard_limit::set);
  }
}

bool limit_watch::is_needed() const {
  const auto& wanted = spec_.counts.limits;
  return wanted.memory_bytes != 0 || wanted.tasks != 0 || wanted.cpu_milliseconds != 0;
}

limited limit_watch::passed() {
  const auto& wanted = spec_.counts.limits;
  const bool counts_tasks_alone = wanted.memory_bytes == 0 && wanted.cpu_milliseconds == 0;
  const auto last = last_task();
  if (counts_tasks_alone && last == last_task_) return limited::nothing;
  last_task_ = last;
  const auto with_stage_two = wanted.tasks + 1;
  if (wanted.tasks != 0 && are_more_than(with_stage_two)) return limited::processes;
  const auto now = look();
  if (wanted.tasks != 0 && now.tasks > wanted.tasks) return limited::processes;
  if (wanted.cpu_milliseconds != 0 && now.milliseconds > wanted.cpu_milliseconds) {
    return limited::cpu_time;
  }
  if (wanted.memory_bytes == 0) return limited::nothing;
  const auto scratch = scratch_bytes(spec_);
  if (now.resident + scratch <= wanted.memory_bytes) return limited::nothing;
  return fair_resident() + scratch > wanted.memory_bytes ? limited::memory : limited::nothing;
}

void report_usage() {
  const auto now = look();
  send({report::measured, static_cast<std::int32_t>(now.tasks), now.resident, {}});
}

/// Asked at the end, of a command that failed.
bool is_a_scratch_place_full(const specification& spec) {
  for (std::uint32_t i = 0; i < spec.scratch_count; ++i) {
    struct statvfs about {};
    if (::statvfs(spec.scratch[i], &about) == 0 && about.f_blocks > 0 && about.f_bfree == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace pinfold::stage
