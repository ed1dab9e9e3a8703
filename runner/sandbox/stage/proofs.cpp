// The proofs about the workspace: seen from inside, it, its carve-outs and its pinned directories are
// the objects that the runner saw, and what must be read-only is.
#include "stage.hpp"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace pinfold::stage {
namespace {

void check_one(const proof& wanted, const char* path, step identity_step) {
  struct stat about {};
  if (::lstat(path, &about) != 0) fail(step::find_workspace, errno, path);
  const bool same = about.st_dev == wanted.device && about.st_ino == wanted.inode;
  if (wanted.by_identity != 0 && !same) fail(identity_step, 0, path);
  if (wanted.read_only == 0) return;
  struct statvfs where {};
  if (::statvfs(path, &where) != 0) fail(step::carve_out_is_read_only, errno, path);
  if ((where.f_flag & ST_RDONLY) == 0) fail(step::carve_out_is_read_only, 0, path);
}

}  // namespace

/// The first proof is the workspace; the others are its carve-outs and pinned directories.
void check_proofs(const specification& spec, text_reader& reader) {
  for (std::uint32_t i = 0; i < spec.counts.proofs; ++i) {
    proof wanted{};
    reader.bytes(&wanted, sizeof wanted);
    const char* path = reader.text();
    check_one(wanted, path, i == 0 ? step::same_workspace : step::compare_carve_out);
    if (i == 0 && (spec.counts.flags & flag_must_write) != 0 && ::access(path, W_OK | X_OK) != 0) {
      fail(step::write_workspace, errno, path);
    }
  }
}

}  // namespace pinfold::stage
