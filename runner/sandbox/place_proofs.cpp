// Everything is looked at without following a link: one that somebody puts on the way at this moment would
// make a proof agree with the wrong object.
#include "sandbox/place_proofs.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <pinfold/path.hpp>

#include "sandbox/look_below.hpp"

namespace pinfold {
namespace {

/// What is shown on request under its own name: another run may have the folder around it for its
/// workspace, and put something else in its place before bwrap comes to it.
step add_shown(std::vector<place_proof>& proofs, const preparation& now) {
  const descriptor root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  for (const auto& one : now.facts.shared) {
    if (one.source != one.target || one.access != root_access::read) continue;
    if (now.blobs && one.target == now.blobs->path) continue;  // held, and proven by itself
    struct stat about {};
    if (const int wrong = look_below(root.get(), one.target.substr(1), about); wrong != 0) {
      return std::unexpected{refused(code::try_again, one.target, std::strerror(wrong))};
    }
    proofs.push_back({one.target, about.st_dev, about.st_ino, place_proof::identity::same,
                      place_proof::mount::read_only, one.purpose != shared_path::use::socket});
  }
  return {};
}

/// Where a place of `replaced` lies on the host, seen after the entries before it.
std::string source_on_host(const std::vector<replaced_path>& all, const replaced_path& one) {
  if (one.source != one.target) return one.source;
  for (const auto& other : all) {
    if (&other == &one) break;
    const auto tail = tail_below(other.target, one.target);
    if (tail && !tail->empty()) return other.source + "/" + std::string{*tail};
  }
  return one.source;
}

/// git on the host may take the directory of a branch away while a run lasts, with the mount on it:
/// what shows then is read-only, so nothing is lost with that.
step add_replaced(std::vector<place_proof>& proofs, const preparation& now) {
  const descriptor root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  for (const auto& one : now.facts.replaced) {
    const auto source = source_on_host(now.facts.replaced, one);
    struct stat about {};
    if (const int wrong = look_below(root.get(), source.substr(1), about); wrong != 0) {
      return std::unexpected{refused(code::try_again, source, std::strerror(wrong))};
    }
    const bool is_read = one.access == root_access::read;
    proofs.push_back({one.target, about.st_dev, about.st_ino, place_proof::identity::same,
                      is_read ? place_proof::mount::read_only : place_proof::mount::any, false});
  }
  return {};
}

}  // namespace

std::expected<std::vector<place_proof>, refusal> place_proofs_for(const preparation& now) {
  std::vector<place_proof> proofs;
  const auto add = [&](const std::string& path, place_proof::mount state,
                       place_proof::identity object) -> step {
    struct stat about {};
    const auto tail = tail_below(now.workspace, path).value_or("");
    if (const int wrong = look_below(now.directory(), tail, about); wrong != 0) {
      return std::unexpected{refused(code::workspace_gone, path, std::strerror(wrong))};
    }
    proofs.push_back({path, about.st_dev, about.st_ino, object, state});
    return {};
  };
  using mounted = place_proof::mount;
  using identity = place_proof::identity;
  const bool is_plan = now.facts.access == workspace_access::read_only;
  step done = add(now.workspace, is_plan ? mounted::read_only : mounted::any, identity::same);
  for (const auto& path : now.facts.pinned) {
    if (done) done = add(path, mounted::any, identity::same);
  }
  for (const auto& carve : now.facts.carve_outs) {
    const bool covered = carve.shell == carved_path::shown::hidden;
    if (done) done = add(carve.path, mounted::read_only, covered ? identity::any : identity::same);
  }
  if (done) done = add_shown(proofs, now);
  if (done) done = add_replaced(proofs, now);
  if (!done) return std::unexpected{std::move(done.error())};
  for (const auto& cache : now.caches) {
    proofs.push_back({cache.target, cache.device, cache.inode, identity::same, mounted::any});
  }
  if (now.blobs) {
    struct stat about {};
    if (::fstat(now.blobs->held.get(), &about) != 0) {
      return std::unexpected{refused(code::try_again, now.blobs->path, std::strerror(errno))};
    }
    proofs.push_back({now.blobs->path, about.st_dev, about.st_ino, identity::same, mounted::read_only});
  }
  return proofs;
}

}  // namespace pinfold
