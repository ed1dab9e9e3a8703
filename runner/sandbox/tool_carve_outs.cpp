#include "sandbox/tool_carve_outs.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

#include "sandbox/git_state.hpp"

namespace pinfold {

std::expected<found_carve_outs, refusal> carve_outs_for_tools(const std::string& workspace,
                                                              const git_sources& global) {
  const descriptor directory{
      ::open(workspace.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!directory) {
    auto why = unusable(workspace, std::strerror(errno));
    why.error = errno == EACCES ? code::permission_denied : code::workspace_gone;
    return std::unexpected{std::move(why)};
  }
  auto git = look_at_git(workspace, directory.get(), git_files::look_only, global);
  if (!git) return std::unexpected{std::move(git.error())};
  found_carve_outs found;
  for (const auto& carve : default_carve_outs) found.add(std::string{carve.path}, carve.kind);
  for (const auto& carve : git->carve_outs) {
    found.add(std::string{*tail_below(workspace, carve.path)}, carve.kind);
  }
  for (auto& path : git->hooks_paths) found.add(std::move(path), carve_kind::host_run);
  for (auto& path : git->unmade) found.add(std::move(path), carve_kind::host_run);
  return found;
}

}  // namespace pinfold
