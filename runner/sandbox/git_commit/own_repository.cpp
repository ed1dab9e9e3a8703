#include "sandbox/git_commit/own_repository.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

#include "sandbox/git_commit/files.hpp"

namespace pinfold {
namespace {

/// Large files are streamed, and no more memory is taken for deltas than is said here.
constexpr std::string_view bounds =
    "[core]\n\tbare = true\n\tcommitGraph = false\n\tmultiPackIndex = false\n"
    "\tbigFileThreshold = 16m\n\tdeltaBaseCacheLimit = 32m\n"
    "[pack]\n\tthreads = 1\n\twindowMemory = 64m\n\twriteReverseIndex = false\n";

std::string configuration_for(const commit_ground& ground) {
  if (ground.format == "sha1") {
    return std::string{bounds} + "[core]\n\trepositoryformatversion = 0\n";
  }
  return std::string{bounds} + "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = " +
         ground.format + "\n";
}

int copy_shallow(const std::string& common, int to) {
  const descriptor from{::open(common.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!from) return errno;
  constexpr std::uint64_t most = std::uint64_t{16} << 20;
  const auto copied = copy_file(from.get(), "shallow", to, "shallow", most);
  return copied || copied.error() == ENOENT ? 0 : copied.error();
}

}  // namespace

int make_own_repository(const std::string& path, const commit_ground& ground) {
  for (const char* part : {"", "/refs", "/objects", "/objects/info", "/objects/pack"}) {
    if (::mkdir((path + part).c_str(), S_IRWXU) != 0) return errno;
  }
  const descriptor open{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!open) return errno;
  int wrong = write_new_file(open.get(), "HEAD", "ref: refs/heads/none\n");
  if (wrong == 0) wrong = write_new_file(open.get(), "config", configuration_for(ground));
  return wrong == 0 ? copy_shallow(ground.worktree.common, open.get()) : wrong;
}

int borrow_objects(const std::string& path, const commit_ground& ground) {
  const descriptor info{
      ::open((path + "/objects/info").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!info) return errno;
  return write_new_file(info.get(), "alternates", ground.worktree.common + "/objects\n");
}

}  // namespace pinfold
