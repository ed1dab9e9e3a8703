// In place of the runner where it is not built: the message layer starts no command.
#include <pinfold/runner/runner.hpp>

namespace pinfold {

std::expected<runner, refusal> runner::for_caller(std::vector<std::string> /*environment*/) {
  return runner{nullptr};
}

std::expected<found_carve_outs, refusal> runner::carve_outs(std::string_view /*workspace*/) const {
  return found_carve_outs{};
}

}  // namespace pinfold
