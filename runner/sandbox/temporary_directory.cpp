// mkdtemp(3) and its opposite.
#include "sandbox/temporary_directory.hpp"

#include <boost/filesystem/operations.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pinfold {

std::expected<temporary_directory, refusal> temporary_directory::make(
    std::string_view purpose) {
  auto path = "/tmp/pinfold-" + std::string{purpose} + "-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return std::unexpected{refusal{.error = code::resource_exhausted,
                                   .op = operation::execute,
                                   .path = path,
                                   .resolved = {},
                                   .boundary = {},
                                   .detail = std::strerror(errno)}};
  }
  return temporary_directory{std::move(path)};
}

temporary_directory::temporary_directory(temporary_directory&& other) noexcept
    : path_{std::exchange(other.path_, std::string{})} {}

temporary_directory::~temporary_directory() {
  if (path_.empty()) return;
  boost::system::error_code ignored;  // a directory without permissions may stay; nothing else can
  boost::filesystem::remove_all(path_, ignored);
}

}  // namespace pinfold
