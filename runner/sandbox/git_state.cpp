#include "sandbox/git_state.hpp"

#include "sandbox/git_state/survey.hpp"

namespace pinfold {

std::expected<git_state, refusal> look_at_git(const std::string& workspace, int directory,
                                              git_files mode, const git_sources& global,
                                              const git_limits& most) {
  git_budget budget{most};
  const git_ground ground{workspace, directory, budget};
  return git_survey{ground, mode, global}.run();
}

}  // namespace pinfold
