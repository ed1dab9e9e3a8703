// The filter maker: a program of the build. It has libseccomp compile the table into BPF for the
// architecture it runs on, puts a check for calls that are newer than the table in front, and
// writes one file for each choice of nesting. Stage two holds the bytes, so a start compiles
// nothing. Beside each file goes the same filter in libseccomp's readable form (.pfc).
//   pinfold-make-filter CLOSED NESTING
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "sandbox/stage/filter/rules.hpp"

namespace pinfold::filter {
namespace {

using program = std::vector<sock_filter>;
using context = std::unique_ptr<void, decltype(&::seccomp_release)>;

/// The architectures whose argument order the table was written for.
unsigned audit_architecture() {
  switch (::seccomp_arch_native()) {
    case SCMP_ARCH_X86_64:
      return AUDIT_ARCH_X86_64;
    case SCMP_ARCH_AARCH64:
      return AUDIT_ARCH_AARCH64;
    default:
      throw std::runtime_error{"the table was not written for this architecture"};
  }
}

void must(int result, const std::string& what) {
  if (result < 0) throw std::system_error{-result, std::generic_category(), what};
}

/// A call of another architecture (32-bit, x32) has no rule here and kills its process.
context compile(nesting choice) {
  context made{::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release};
  if (!made) throw std::runtime_error{"seccomp_init"};
  must(::seccomp_attr_set(made.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad arch");
  constexpr unsigned binary_tree = 2;
  must(::seccomp_attr_set(made.get(), SCMP_FLTATR_CTL_OPTIMIZE, binary_tree), "optimize");
  for (const auto& one : rules_for(choice)) {
    if (one.call < 0) continue;
    must(::seccomp_rule_add_exact_array(
             made.get(), SCMP_ACT_ERRNO(static_cast<unsigned>(one.error)), one.call,
             static_cast<unsigned>(one.arguments.size()), one.arguments.data()),
         "rule for call " + std::to_string(one.call));
  }
  return made;
}

/// In front of libseccomp's program: a call above the table's last does not exist (ENOSYS), so what
/// a newer kernel brings is closed until somebody has looked at it. Other architectures and x32
/// numbers go on to the program, which kills.
program closed_above_the_table(program compiled) {
  constexpr unsigned x32_bit = 0x40000000U;
  const auto load = [](std::size_t field) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(field));
  };
  const program front{
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, audit_architecture(), 0, 4),
      load(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, static_cast<unsigned>(last_known_call), 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x32_bit, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
  compiled.insert(compiled.begin(), front.begin(), front.end());
  if (compiled.size() > BPF_MAXINSNS) throw std::runtime_error{"the filter is too long"};
  return compiled;
}

/// What libseccomp writes through a descriptor, read back.
program exported(const context& from) {
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> file{std::tmpfile(), &std::fclose};
  if (!file) throw std::system_error{errno, std::generic_category(), "temporary file"};
  const int descriptor = ::fileno(file.get());
  must(::seccomp_export_bpf(from.get(), descriptor), "export");
  const auto size = ::lseek(descriptor, 0, SEEK_END);
  program read(static_cast<std::size_t>(size) / sizeof(sock_filter));
  if (size <= 0 || ::pread(descriptor, read.data(), static_cast<std::size_t>(size), 0) != size) {
    throw std::runtime_error{"the filter cannot be read back"};
  }
  return read;
}

void write_readable(const context& from, const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw std::system_error{errno, std::generic_category(), path};
  const int result = ::seccomp_export_pfc(from.get(), descriptor);
  ::close(descriptor);
  must(result, path);
}

void make(nesting choice, const std::string& path) {
  const auto compiled = compile(choice);
  const auto whole = closed_above_the_table(exported(compiled));
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.write(reinterpret_cast<const char*>(whole.data()),
             static_cast<std::streamsize>(whole.size() * sizeof(sock_filter)));
  write_readable(compiled, path + ".pfc");
}

}  // namespace
}  // namespace pinfold::filter

int main(int argc, char** argv) {
  using pinfold::filter::nesting;
  if (argc != 3) {
    std::fputs("usage: pinfold-make-filter CLOSED NESTING\n", stderr);
    return 2;
  }
  try {
    pinfold::filter::make(nesting::forbidden, argv[1]);
    pinfold::filter::make(nesting::allowed, argv[2]);
    return 0;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "pinfold-make-filter: %s\n", wrong.what());
    return 1;
  }
}
