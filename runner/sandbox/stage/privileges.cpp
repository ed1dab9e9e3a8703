// The proofs about this process itself: no capability in any set, none to be gained, namespaces of
// its own, no descriptor but the ones that were meant.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.hpp"

namespace pinfold::stage {
namespace {

constexpr step namespace_steps[] = {step::own_user_namespace,  step::own_pid_namespace,
                                    step::own_mount_namespace, step::own_network_namespace,
                                    step::own_ipc_namespace,   step::own_uts_namespace,
                                    step::own_cgroup_namespace};
static_assert(sizeof namespace_steps / sizeof *namespace_steps == namespace_count);

/// True when the line of /proc/self/status with this name ("\nCapEff:\t") is all zeros.
bool is_zero(const char* status, const char* name) {
  const char* at = ::strstr(status, name);
  if (at == nullptr) return false;
  at += ::strlen(name);
  const auto zeros = ::strspn(at, "0");
  return zeros > 0 && at[zeros] == '\n';
}

}  // namespace

void prove_no_privileges() {
  char status[4096];
  if (read_file("/proc/self/status", status, sizeof status) <= 0) {
    fail(step::capabilities_are_empty, errno);
  }
  for (const char* set : {"\nCapInh:\t", "\nCapPrm:\t", "\nCapEff:\t", "\nCapBnd:\t",
                          "\nCapAmb:\t"}) {
    if (!is_zero(status, set)) fail(step::capabilities_are_empty);
  }
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) fail(step::no_new_privileges);
}

void prove_namespaces(const specification& spec) {
  for (std::size_t i = 0; i < namespace_count; ++i) {
    const auto host = spec.counts.host_namespaces[i];
    if (host == 0) continue;
    char path[64] = "/proc/self/ns/";
    ::strcat(path, namespace_names[i].data());
    struct stat about {};
    const int wrong = ::stat(path, &about) == 0 ? 0 : errno;
    if (host == unknown_namespace && wrong == ENOENT) continue;  // the kernel has no such thing
    if (wrong != 0) fail(namespace_steps[i], wrong);
    if (host == unknown_namespace || about.st_ino == host) fail(namespace_steps[i]);
  }
}

/// Meant are: the first three, the specification, the channel, the image, and what only has to stay
/// open. Asked before anything is closed.
void prove_descriptors(unsigned held) {
  DIR* list = ::opendir("/proc/self/fd");
  if (list == nullptr) fail(step::no_descriptor_left, errno);
  while (const dirent* entry = ::readdir(list)) {
    if (entry->d_name[0] == '.') continue;
    const int fd = ::atoi(entry->d_name);
    const bool is_held = fd >= held_fd && fd < held_fd + static_cast<int>(held);
    const bool is_meant = fd <= image_fd || is_held || fd == ::dirfd(list);
    if (!is_meant) fail(step::no_descriptor_left, 0, entry->d_name);
  }
  ::closedir(list);
}

}  // namespace pinfold::stage
