// What the system call filter refuses, as a table: class by class, each with the errno that the
// command sees. Everything else is left to the kernel, but for calls that are newer than this table
// (`last_known_call`), which do not exist inside. Used at build time only.
#pragma once

#include <seccomp.h>

#include <vector>

namespace pinfold::filter {

/// The newest system call that was looked at for this table: file_setattr, Linux 6.18. All numbers
/// from 424 on are the same on every architecture.
inline constexpr int last_known_call = 469;

/// The filter for a run that may make user namespaces of its own leaves out what a nested sandbox
/// needs.
enum class nesting : bool { forbidden, allowed };

/// One refusal: all comparisons must be true (none: always). A call that this architecture does not
/// have is negative and is left out.
struct rule {
  int call;
  int error;
  std::vector<scmp_arg_cmp> arguments;
};

[[nodiscard]] std::vector<rule> rules_for(nesting choice);

}  // namespace pinfold::filter
