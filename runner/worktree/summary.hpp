// The end of a worktree in words: one text, for a model or a person.
#pragma once

#include <cstddef>
#include <string>

#include "worktree/record.hpp"

namespace pinfold {

/// What a person types to delete a worktree that was kept, its branch and its record: a line for a
/// shell in which nothing of the worktree is run.
[[nodiscard]] std::string deleting_line(const worktree_files& files, const worktree_record& record);

/// `more` is the number of reasons that are not listed.
[[nodiscard]] std::string summary_of(const finished_worktree& finished, std::size_t more);

}  // namespace pinfold
