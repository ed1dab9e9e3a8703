// The compiled filters, run over every call number and over the arguments that matter by an
// interpreter of our own: what is refused is the table and nothing else, on every machine.
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/stage/filter/rules.hpp"
#include "support/catch.hpp"

using namespace pinfold::filter;

namespace {

using program = std::vector<sock_filter>;
using arguments = std::array<std::uint64_t, 6>;

#if defined(__x86_64__)
constexpr unsigned here = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned here = AUDIT_ARCH_AARCH64;
#endif

program read_program(const char* path) {
  std::ifstream file{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  REQUIRE(!bytes.empty());
  REQUIRE(bytes.size() % sizeof(sock_filter) == 0);
  program read(bytes.size() / sizeof(sock_filter));
  std::memcpy(read.data(), bytes.data(), bytes.size());
  return read;
}

/// Classic BPF as seccomp allows it, as far as libseccomp uses it (seccomp(2)).
unsigned verdict(const program& code, const seccomp_data& data) {
  unsigned a = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const auto& [op, yes, no, k] = code[at];
    const auto jump = [&](bool taken) { at += taken ? yes : no; };
    switch (op) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + k, sizeof a);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= k;
        break;
      case BPF_JMP | BPF_JA:
        at += k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        jump(a == k);
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        jump(a > k);
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        jump(a >= k);
        break;
      case BPF_RET | BPF_K:
        return k;
      default:
        FAIL("an instruction that this test does not know: " << op);
    }
  }
  FAIL("the program ends without a verdict");
  return 0;
}

unsigned verdict(const program& code, int call, const arguments& given = {}, unsigned arch = here) {
  seccomp_data data{call, arch, 0, {}};
  std::ranges::copy(given, data.args);
  return verdict(code, data);
}

constexpr unsigned refused(int error) {
  return SECCOMP_RET_ERRNO | static_cast<unsigned>(error);
}

const program& closed() {
  static const program read = read_program(PINFOLD_FILTER_CLOSED);
  return read;
}

const program& nesting_allowed() {
  static const program read = read_program(PINFOLD_FILTER_NESTING);
  return read;
}

}  // namespace

TEST_CASE("what is refused whatever its arguments is this list and nothing else") {
  std::map<int, int> wanted;
  for (const auto& one : rules_for(nesting::forbidden)) {
    if (one.call >= 0 && one.arguments.empty()) wanted[one.call] = one.error;
  }
  CHECK(wanted.size() > 30);
  const arguments unix_family{AF_UNIX, 0, 0, 0, 0, 0};
  for (int call = 0; call < 2000; ++call) {
    const auto row = wanted.find(call);
    const unsigned expected = call > last_known_call ? refused(ENOSYS)
                              : row != wanted.end()  ? refused(row->second)
                                                     : SECCOMP_RET_ALLOW;
    INFO(call);
    const bool is_socket = call == SCMP_SYS(socket) || call == SCMP_SYS(socketpair);
    CHECK(verdict(closed(), call, is_socket ? unix_family : arguments{}) == expected);
  }
}

TEST_CASE("another architecture and the x32 numbers are killed, in both filters") {
  for (const auto* code : {&closed(), &nesting_allowed()}) {
    for (const unsigned arch : {unsigned{AUDIT_ARCH_I386}, unsigned{AUDIT_ARCH_ARM},
                                unsigned{AUDIT_ARCH_S390X}}) {
      for (const int call : {0, 1, 20, 102, 165, 434, 1000}) {
        CHECK(verdict(*code, call, {}, arch) == SECCOMP_RET_KILL_PROCESS);
      }
    }
#if defined(__x86_64__)
    for (const int call : {0, 1, 16, 512, 547, 0x3fffffff}) {
      CHECK(verdict(*code, call | 0x40000000) == SECCOMP_RET_KILL_PROCESS);
    }
#endif
  }
}

TEST_CASE("a command of ioctl counts in its lower 32 bits") {
  constexpr std::uint64_t high = 1ULL << 32;
  for (const auto* code : {&closed(), &nesting_allowed()}) {
    for (const std::uint64_t command : {std::uint64_t{TIOCSTI}, std::uint64_t{0x541c}}) {
      for (const std::uint64_t above : {std::uint64_t{0}, high, high << 31, ~std::uint64_t{0} << 32}) {
        CHECK(verdict(*code, SCMP_SYS(ioctl), {0, command | above}) == refused(EPERM));
      }
    }
    CHECK(verdict(*code, SCMP_SYS(ioctl), {0, TCGETS}) == SECCOMP_RET_ALLOW);
    CHECK(verdict(*code, SCMP_SYS(ioctl), {0, TIOCSTI + 1}) == SECCOMP_RET_ALLOW);
  }
}

TEST_CASE("every family but four is refused, and of netlink all but the list of addresses") {
  for (std::uint64_t family = 0; family < 100; ++family) {
    const bool usual = family == AF_UNIX || family == AF_INET || family == AF_INET6;
    for (std::uint64_t protocol : {0, 1, 4, 12, 16}) {
      const bool routes = family == AF_NETLINK && protocol == 0;
      INFO(family << " " << protocol);
      CHECK(verdict(closed(), SCMP_SYS(socket), {family, SOCK_STREAM, protocol}) ==
            (usual || routes ? SECCOMP_RET_ALLOW : refused(EPERM)));
    }
    CHECK(verdict(closed(), SCMP_SYS(socketpair), {family}) ==
          (family == AF_UNIX ? SECCOMP_RET_ALLOW : refused(EPERM)));
  }
  CHECK(verdict(closed(), SCMP_SYS(socket), {(1ULL << 32) + AF_INET}) == refused(EPERM));
}

TEST_CASE("no mode with a set-id bit passes, whatever else is in the word") {
  struct row {
    int call;
    std::size_t mode;
  };
  for (const auto& [call, mode] :
       {row{SCMP_SYS(chmod), 1}, row{SCMP_SYS(fchmod), 1}, row{SCMP_SYS(fchmodat), 2},
        row{452, 2}, row{SCMP_SYS(mknod), 1}, row{SCMP_SYS(mknodat), 2}, row{SCMP_SYS(creat), 1}}) {
    if (call < 0) continue;  // not on this architecture
    for (const auto* code : {&closed(), &nesting_allowed()}) {
      for (std::uint64_t bits = 0; bits < 010000; ++bits) {
        for (const std::uint64_t above : {0ULL, 1ULL << 16, 1ULL << 40}) {
          arguments given{};
          given[mode] = bits | above;
          INFO(call << " " << bits);
          CHECK(verdict(*code, call, given) ==
                ((bits & 06000) != 0 ? refused(EPERM) : SECCOMP_RET_ALLOW));
        }
      }
    }
  }
}

TEST_CASE("nothing about the first process can be set, whatever the upper bits say") {
  for (const auto* code : {&closed(), &nesting_allowed()}) {
    for (const std::uint64_t above : {std::uint64_t{0}, std::uint64_t{1} << 32, ~std::uint64_t{0} << 32}) {
      for (const int call : {SCMP_SYS(prlimit64), SCMP_SYS(sched_setscheduler),
                             SCMP_SYS(sched_setparam), SCMP_SYS(sched_setattr),
                             SCMP_SYS(sched_setaffinity)}) {
        CHECK(verdict(*code, call, {1 | above}) == refused(EPERM));
        for (const std::uint64_t other : {0, 2, 257}) {
          CHECK(verdict(*code, call, {other | above}) == SECCOMP_RET_ALLOW);
        }
      }
      constexpr std::uint64_t process = 0, group = 1, user = 2;  // setpriority; ioprio_set: one more
      for (const auto& [call, first] : {std::pair{SCMP_SYS(setpriority), process},
                                        std::pair{SCMP_SYS(ioprio_set), process + 1}}) {
        CHECK(verdict(*code, call, {first | above, 1 | above}) == refused(EPERM));
        CHECK(verdict(*code, call, {first | above, 0 | above}) == SECCOMP_RET_ALLOW);
        for (const std::uint64_t which : {0, 1, 2}) {  // 0: one's own, which may be that of PID 1
          CHECK(verdict(*code, call, {first + group | above, which}) == refused(EPERM));
        }
        CHECK(verdict(*code, call, {first + user | above, 0}) == refused(EPERM));
      }
    }
  }
}

TEST_CASE("no lease is taken on a file, whatever the upper bits say") {
  for (const auto* code : {&closed(), &nesting_allowed()}) {
    for (const std::uint64_t above : {std::uint64_t{0}, ~std::uint64_t{0} << 32}) {
      CHECK(verdict(*code, SCMP_SYS(fcntl), {3, 1024 | above}) == refused(EPERM));
      CHECK(verdict(*code, SCMP_SYS(fcntl), {3, 1030 | above}) == SECCOMP_RET_ALLOW);
    }
  }
}

TEST_CASE("the mode of open counts when a file may be made, and only then") {
  for (const auto& [call, flags_at] : {std::pair{SCMP_SYS(open), 1}, std::pair{SCMP_SYS(openat), 2}}) {
    if (call < 0) continue;
    for (const std::uint64_t flags : {std::uint64_t{O_RDWR}, std::uint64_t{O_WRONLY | O_CREAT},
                                      std::uint64_t{O_TMPFILE | O_RDWR},
                                      std::uint64_t{O_DIRECTORY}, std::uint64_t{O_CREAT | O_EXCL}}) {
      for (const std::uint64_t mode : {0644U, 01777U, 04755U, 02755U, 06000U}) {
        arguments given{};
        const auto at = static_cast<std::size_t>(flags_at);
        given[at] = flags;
        given[at + 1] = mode;
        const bool makes = (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0;
        CHECK(verdict(closed(), call, given) ==
              (makes && (mode & 06000) != 0 ? refused(EPERM) : SECCOMP_RET_ALLOW));
      }
    }
  }
  CHECK(verdict(nesting_allowed(), SCMP_SYS(openat2)) == refused(ENOSYS));
}

TEST_CASE("a run that may nest can mount and make namespaces, and gets nothing else") {
  for (const std::uint64_t flags : {std::uint64_t{CLONE_NEWUSER}, std::uint64_t{CLONE_NEWUSER | CLONE_NEWNS}}) {
    CHECK(verdict(closed(), SCMP_SYS(clone), {flags}) == refused(EPERM));
    CHECK(verdict(closed(), SCMP_SYS(unshare), {flags}) == refused(EPERM));
    CHECK(verdict(nesting_allowed(), SCMP_SYS(clone), {flags}) == SECCOMP_RET_ALLOW);
    CHECK(verdict(nesting_allowed(), SCMP_SYS(unshare), {flags}) == SECCOMP_RET_ALLOW);
  }
  CHECK(verdict(closed(), SCMP_SYS(clone), {CLONE_VM | CLONE_VFORK | SIGCHLD}) == SECCOMP_RET_ALLOW);
  CHECK(verdict(closed(), SCMP_SYS(unshare), {CLONE_FS | CLONE_FILES}) == SECCOMP_RET_ALLOW);
  for (const int call : {SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(setns),
                         SCMP_SYS(clone3), SCMP_SYS(fsopen), 467}) {
    CHECK(verdict(closed(), call) != SECCOMP_RET_ALLOW);
    CHECK(verdict(nesting_allowed(), call) == SECCOMP_RET_ALLOW);
  }
  for (const int call : {SCMP_SYS(bpf), SCMP_SYS(keyctl), SCMP_SYS(io_uring_setup), last_known_call + 1}) {
    CHECK(verdict(nesting_allowed(), call) != SECCOMP_RET_ALLOW);
  }
}
