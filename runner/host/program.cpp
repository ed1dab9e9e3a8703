// A few stat calls; links are resolved, and the directories of both spellings are asked.
#include "host/program.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include <pinfold/path.hpp>

namespace pinfold {
namespace {

std::string canonical_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> resolved{::realpath(path.c_str(), nullptr),
                                                          &::free};
  return resolved ? std::string{resolved.get()} : std::string{};
}

owner_and_mode stat_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {path, ~0U, 07777};  // trusted by nobody
  return {path, found.st_uid, found.st_mode & 07777U};
}

void add_directories_above(std::vector<owner_and_mode>& list, std::string_view path) {
  while (path.size() > 1) {
    path = parent_of(path);
    const bool known = std::ranges::find(list, path, &owner_and_mode::path) != list.end();
    if (!known) list.push_back(stat_of(std::string{path}));
  }
}

file_capabilities capabilities_of(const std::string& path) {
  const auto size = ::getxattr(path.c_str(), "security.capability", nullptr, 0);
  const bool none = size < 0 && (errno == ENODATA || errno == ENOTSUP);
  return none ? file_capabilities::none : file_capabilities::some;
}

bool is_roots_alone(const owner_and_mode& one) noexcept {
  return one.owner == 0 && (one.mode & 0022) == 0;
}

}  // namespace

program_facts look_at_program(const std::string& path) {
  program_facts facts{.asked = path};
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    facts.kind = missing ? program_kind::missing : program_kind::unreadable;
    facts.error = std::strerror(errno);
    return facts;
  }
  const auto canonical = canonical_of(path);
  if (canonical.empty() || ::lstat(canonical.c_str(), &found) != 0) {
    facts.kind = program_kind::unreadable;
    facts.error = std::strerror(errno);
    return facts;
  }
  facts.kind = S_ISREG(found.st_mode) ? program_kind::file : program_kind::other;
  facts.file = {canonical, found.st_uid, found.st_mode & 07777U};
  facts.capabilities = capabilities_of(canonical);
  add_directories_above(facts.directories, canonical);
  add_directories_above(facts.directories, path);
  return facts;
}

std::string why_distrusted(const program_facts& facts) {
  switch (facts.kind) {
    case program_kind::missing:
      return "there is none";
    case program_kind::unreadable:
      return facts.error;
    case program_kind::other:
      return "it is not a regular file";
    case program_kind::file:
      break;
  }
  if ((facts.file.mode & 0111) != 0111) return "not everybody may execute it";
  if (!is_roots_alone(facts.file)) return "it is not root's alone";
  const auto odd = std::ranges::find_if_not(facts.directories, is_roots_alone);
  return odd == facts.directories.end() ? "" : odd->path + " is not root's alone";
}

}  // namespace pinfold
