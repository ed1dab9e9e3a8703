// The system call filter: bytes that the build's filter maker wrote (filter/), loaded as they are.
// It binds stage two and everything below it, and it is tried once before anything is started.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.hpp"

extern "C" const sock_filter pinfold_filter_closed_begin[];
extern "C" const sock_filter pinfold_filter_closed_end[];
extern "C" const sock_filter pinfold_filter_nesting_begin[];
extern "C" const sock_filter pinfold_filter_nesting_end[];

namespace pinfold::stage {
namespace {

sock_fprog program_for(const specification& spec) {
  const bool nests = (spec.counts.flags & flag_may_nest) != 0;
  const auto* begin = nests ? pinfold_filter_nesting_begin : pinfold_filter_closed_begin;
  const auto* end = nests ? pinfold_filter_nesting_end : pinfold_filter_closed_end;
  return {static_cast<unsigned short>(end - begin), const_cast<sock_filter*>(begin)};
}

/// Without a filter this call reads its first argument and says EFAULT (or ENOSYS on a kernel
/// without keyrings); EPERM comes from the filter alone.
bool is_filtered() {
  return ::syscall(SYS_add_key, nullptr, nullptr, nullptr, 0, 0) == -1 && errno == EPERM;
}

}  // namespace

void filter_system_calls(const specification& spec) {
  const auto program = program_for(spec);
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0U, &program) != 0) {
    fail(step::filter_system_calls, errno);
  }
  if (!is_filtered()) fail(step::system_calls_are_filtered);
}

}  // namespace pinfold::stage
