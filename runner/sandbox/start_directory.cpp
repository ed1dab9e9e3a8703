// See start_directory.hpp.
#include "sandbox/start_directory.hpp"

#include <sys/stat.h>

#include <utility>

#include <pinfold/disk/resolve.hpp>

namespace pinfold {

std::expected<std::string, refusal> start_directory(const run_request& request,
                                                    const std::string& workspace) {
  if (request.directory.empty()) return workspace;
  const grant rules{workspace};
  auto found = resolve_read(rules, request.directory);
  if (!found) {
    found.error().op = operation::execute;
    return std::unexpected{std::move(found.error())};
  }
  struct stat about {};
  if (::stat(found->canonical.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
    return std::move(found->canonical);
  }
  return std::unexpected{refusal{.error = code::not_a_directory,
                                 .op = operation::execute,
                                 .path = request.directory,
                                 .resolved = {},
                                 .boundary = {},
                                 .detail = {}}};
}

}  // namespace pinfold
