#include "sandbox/host_run/listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace pinfold {
namespace {

struct closer {
  void operator()(DIR* open) const noexcept { ::closedir(open); }
};

/// A file system that does not tell kinds in its listing is asked for each.
bool is_directory(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat about {};
  return ::fstatat(directory, entry.d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(about.st_mode);
}

}  // namespace

std::optional<listed_directory> list(int directory, const listing_choice& choice) {
  const std::unique_ptr<DIR, closer> open{::fdopendir(directory)};
  listed_directory found;
  struct stat about {};
  if (::fstat(directory, &about) == 0) found.id = beneath::identity_of(about);
  if (!open) {
    ::close(directory);
    found.is_whole = false;
    return found;
  }
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name{entry->d_name};
    if (name == "." || name == "..") continue;
    if (++found.count > choice.most) return std::nullopt;
    found.has_head |= name == "HEAD";
    found.has_objects |= name == "objects";
    found.has_refs |= name == "refs";
    found.has_common |= name == "commondir";
    const bool counts = choice.wants_all || entry->d_type != DT_REG ||
                        counts_by_name(choice.kind, name);
    if (counts) found.entries.push_back({std::string{name}, is_directory(directory, *entry)});
  }
  found.is_whole = errno == 0;
  return found;
}

}  // namespace pinfold
