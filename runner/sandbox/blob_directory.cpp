// The same rules as for a directory that is shown, and those of a place that the runner writes to.
#include "sandbox/blob_directory.hpp"

#include <utility>

#include <pinfold/path.hpp>

#include "host/owned_way.hpp"
#include "sandbox/places.hpp"

namespace pinfold {

std::expected<blob_directory, refusal> open_blob_directory(const std::string& path,
                                                           const std::string& workspace,
                                                           const caller& who,
                                                           const std::vector<hidden_path>& hidden) {
  auto shown = read_root(path, who, hidden);
  if (!shown) return std::unexpected{std::move(shown.error())};
  if (contains(workspace, shown->source) || contains(shown->source, workspace)) {
    return std::unexpected{refusal{.error = code::invalid_argument,
                                   .op = operation::execute,
                                   .path = path,
                                   .resolved = std::move(shown->source),
                                   .boundary = workspace,
                                   .detail = "the command could change what is kept there"}};
  }
  auto held = open_owned_way(shown->source, missing_part::left_out);
  if (held && !*held) {
    held = std::unexpected{refusal{.error = code::not_found,
                                   .op = operation::execute,
                                   .path = path,
                                   .resolved = {},
                                   .boundary = {},
                                   .detail = {}}};
  }
  if (!held) return std::unexpected{std::move(held.error())};
  if (auto ours = check_unshared(held->get(), shown->source); !ours) {
    return std::unexpected{std::move(ours.error())};
  }
  return blob_directory{std::move(shown->source), std::move(*held)};
}

}  // namespace pinfold
