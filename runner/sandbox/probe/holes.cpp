// Faults of bwrap that are known, told by what it does, since distributions mend old versions.
// pinfold leans on neither; whoever uses this bwrap for something else should know.
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "sandbox/probe/bounded_start.hpp"
#include "sandbox/temporary_directory.hpp"

namespace pinfold {
namespace {

/// While bwrap makes a mount point, the old root lies at /oldroot, so a link to there leads back to
/// the host (CVE-2026-87766; mended in 0.12).
probe_line mount_point_line(const bubblewrap_facts& bwrap, const plan_starter& start) {
  constexpr auto id = "bwrap-mount-points";
  const auto folder = temporary_directory::make("doctor");
  if (!folder) return {id, probe_status::info, "not tried: " + folder.error().message(), {}};
  const auto place = folder->path() + "/place";
  const auto victim = folder->path() + "/victim";
  if (::mkdir(place.c_str(), 0700) != 0 || ::mkdir(victim.c_str(), 0700) != 0 ||
      ::symlink(("/oldroot" + victim).c_str(), (place + "/link").c_str()) != 0) {
    return {id, probe_status::info, "not tried: no folder for it could be made", {}};
  }
  (void)start_bounded(start, {bwrap.program, "--unshare-user", "--ro-bind", "/", "/", "--bind", place,
                              place, "--tmpfs", place + "/link/made", "--", "/bin/true"});
  struct stat made {};
  if (::lstat((victim + "/made").c_str(), &made) != 0) {
    return {id, probe_status::info, "a mount point below a link is made inside, or not at all", {}};
  }
  return {id, probe_status::info,
          "a mount point below a link is made on the host (CVE-2026-87766); pinfold never lets bwrap "
          "make one in the workspace",
          {}};
}

probe_line argument_line(const bubblewrap_facts& bwrap, const plan_starter& start) {
  constexpr int variables = 3'100;  // of three words each: above the 9,000 that old versions take
  std::vector<std::string> command{bwrap.program, "--ro-bind", "/", "/"};
  for (int i = 0; i < variables; ++i) {
    for (const auto* word : {"--setenv", "A", "b"}) command.emplace_back(word);
  }
  for (const auto* word : {"--", "/bin/true"}) command.emplace_back(word);
  return {"bwrap-arguments", probe_status::info,
          has_succeeded(start_bounded(start, std::move(command)))
              ? "takes more than 9000 arguments"
              : "takes 9000 arguments at most; a plan of pinfold has some hundred",
          {}};
}

}  // namespace

std::vector<probe_line> probe_holes(const bubblewrap_facts& bwrap, const plan_starter& start) {
  return {mount_point_line(bwrap, start), argument_line(bwrap, start)};
}

}  // namespace pinfold
