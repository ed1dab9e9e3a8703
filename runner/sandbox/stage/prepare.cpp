// What stage two does before it says `ready`. Each step that fails ends the run: nothing is
// skipped and nothing is tried another way.
#include "stage.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pinfold::stage {

void send(message what) {
  while (::send(channel_fd, &what, sizeof what, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void send_with(message what, int passed) {
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof passed)]{};
  iovec part{&what, sizeof what};
  msghdr whole{};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  whole.msg_control = room;
  whole.msg_controllen = sizeof room;
  cmsghdr* with = CMSG_FIRSTHDR(&whole);
  with->cmsg_level = SOL_SOCKET;
  with->cmsg_type = SCM_RIGHTS;
  with->cmsg_len = CMSG_LEN(sizeof passed);
  ::memcpy(CMSG_DATA(with), &passed, sizeof passed);
  while (::sendmsg(channel_fd, &whole, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void fail(step where, int error, const char* place) {
  message last{report::failed, error, static_cast<std::uint64_t>(where), {}};
  ::strncpy(last.place, place, sizeof last.place - 1);
  send(last);
  ::_exit(1);
}

ssize_t read_file(const char* path, char* to, std::size_t size) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  std::size_t used = 0;
  ssize_t got = 0;
  while (used < size && (got = ::read(fd, to + used, size - used)) > 0) {
    used += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (got < 0 || used == size) return -1;
  to[used] = '\0';
  return static_cast<ssize_t>(used);
}

const char* text_reader::text(std::uint32_t& length) {
  bytes(&length, sizeof length);
  if (static_cast<std::size_t>(end_ - at_) <= length || at_[length] != '\0') {
    fail(step::read_specification, EINVAL);
  }
  const char* found = at_;
  at_ += length + 1;
  return found;
}

void text_reader::bytes(void* to, std::size_t size) {
  if (static_cast<std::size_t>(end_ - at_) < size) fail(step::read_specification, EINVAL);
  ::memcpy(to, at_, size);
  at_ += size;
}

text_reader open_specification() {
  struct stat about {};
  if (::fstat(spec_fd, &about) != 0) fail(step::read_specification, errno);
  const auto size = static_cast<std::size_t>(about.st_size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, spec_fd, 0);
  if (at == MAP_FAILED) fail(step::read_specification, errno);
  const auto* begin = static_cast<const char*>(at);
  return {begin, begin + size};
}

namespace {

/// No process of the same user may look into this one: not through /proc/1/fd, not by ptrace. Then
/// no descriptor of ours passes on to the command.
void hide_own_descriptors() {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) fail(step::forbid_tracing, errno);
  if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    fail(step::close_descriptors, errno);
  }
  ::close(spec_fd);
  ::close(image_fd);
}

/// Confined: PID 1, which ends with the bwrap above it (a bwrap that is gone already is no harm: the
/// runner's channel is watched too). Unconfined: whoever loses its parent becomes a child of ours.
void find_its_place(const specification& spec) {
  if (spec.is_confined()) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(step::die_with_bwrap, errno);
  } else if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    fail(step::adopt_orphans, errno);
  }
}

char** list(text_reader& reader, std::uint32_t count) {
  auto** all = static_cast<char**>(::calloc(count + 1UL, sizeof(char*)));
  if (all == nullptr) fail(step::read_specification, ENOMEM);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = const_cast<char*>(reader.text());
  return all;
}

specification read_specification() {
  auto reader = open_specification();
  specification spec;
  spec.end = reader.end();
  reader.bytes(&spec.counts, sizeof spec.counts);
  if (spec.counts.magic != magic || spec.counts.arguments == 0 ||
      spec.counts.listeners > most_listeners) {
    fail(step::read_specification, EINVAL);
  }
  spec.directory = reader.text();
  spec.arguments = list(reader, spec.counts.arguments);
  spec.environment = list(reader, spec.counts.environment);
  spec.rest = reader.at();
  return spec;
}

/// Files go only where nothing is yet: O_EXCL follows no link and overwrites nothing.
void make_files(const specification& spec, text_reader& reader) {
  for (std::uint32_t i = 0; i < spec.counts.files; ++i) {
    const char* path = reader.text();
    std::uint32_t size = 0;
    const char* content = reader.text(size);
    const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) fail(step::make_file, errno, path);
    if (::write(fd, content, size) != static_cast<ssize_t>(size)) fail(step::make_file, EIO, path);
    ::close(fd);
  }
}

void bound_core_dumps(const specification& spec) {
  if ((spec.counts.flags & flag_keep_core_dumps) != 0) return;
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) fail(step::limit_core_dumps, errno);
}

/// Only now may anything look into the workspace or stand in it: a directory that is entered too early
/// is the one below the mount that comes over it.
void enter_workspace(specification& spec) {
  if (spec.is_confined()) {
    if (!wait_for(prove, spec)) ::_exit(1);
    lock_mounts(spec);
    send({report::locked, 0, 0, {}});
  }
  if (::chdir(spec.directory) != 0) fail(step::enter_directory, errno, spec.directory);
}

}  // namespace

specification prepare(std::uint64_t& obtained) {
  auto spec = read_specification();
  if (spec.is_confined()) prove_descriptors(spec.counts.held);
  hide_own_descriptors();
  find_its_place(spec);
  if (spec.is_confined()) send({report::present, 0, 0, {}});
  bound_core_dumps(spec);
  text_reader reader{spec.rest, spec.end};
  make_files(spec, reader);
  if (spec.is_confined()) {
    if ((spec.counts.flags & flag_offline) != 0) prove_no_way_out();
    prove_namespaces(spec);
    prove_sysctls_are_closed();
  }
  enter_workspace(spec);
  check_proofs(spec, reader);
  if (!spec.is_confined()) return spec;
  prove_no_privileges();
  prove_places(spec, reader);
  prove_mounts(spec);
  prove_cgroups_are_closed();
  set_limits(spec);
  obtained = restrict_by_landlock(spec);
  filter_system_calls(spec);
  return spec;
}

}  // namespace pinfold::stage
