#include "mcp/kept_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <pinfold/disk/kernel.hpp>
#include <pinfold/path.hpp>

namespace pinfold::mcp {

std::expected<kept_file, code> kept_file::at(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr), &std::free};
  if (!real) return std::unexpected{beneath::code_of(errno)};
  kept_file made;
  made.path_ = real.get();
  for (auto place = made.path_;; place.resize(std::max<std::size_t>(place.rfind('/'), 1))) {
    struct stat about{};
    if (::lstat(place.c_str(), &about) != 0) return std::unexpected{beneath::code_of(errno)};
    made.identities_.emplace_back(about.st_dev, about.st_ino);
    if (place == "/") return made;
  }
}

bool kept_file::is_held_by(const std::string& canonical) const {
  if (contains(canonical, path_)) return true;
  struct stat about{};
  return ::lstat(canonical.c_str(), &about) == 0 &&
         std::ranges::find(identities_, std::pair{about.st_dev, about.st_ino}) != identities_.end();
}

}  // namespace pinfold::mcp
