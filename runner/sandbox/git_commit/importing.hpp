// An import under way (import.hpp): what its steps share. No part of the interface.
//
// Three git directories of the runner's own: `seen` has the command's objects before the repository's,
// and is believed in nothing; `checked` has the new pack beside the repository's; `view` is the
// repository without its configuration (git/view.hpp).
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "git/run_git.hpp"
#include "sandbox/git_commit/import.hpp"

namespace pinfold {

/// `run` once.
class importing {
 public:
  importing(const commit_ground& ground, commit_copies& copies, const import_bounds& most);
  [[nodiscard]] git_commit_report run();

 private:
  using clock = std::chrono::steady_clock;

  /// Why it goes no further.
  struct stop {
    commits_end ended;
    std::string reason;
  };
  using step = std::expected<void, stop>;

  [[nodiscard]] static std::unexpected<stop> refuse(std::string why);
  [[nodiscard]] static std::unexpected<stop> fail(std::string why);
  [[nodiscard]] static std::string words_of(int error);
  [[nodiscard]] static std::string said(std::string_view wanted, const git_answer& answer);

  // What the command left, and what of it is new (importing.cpp).
  [[nodiscard]] step look();
  [[nodiscard]] step look_at_branch();
  [[nodiscard]] step look_at_head();
  [[nodiscard]] step import_all();
  [[nodiscard]] step make_places();
  [[nodiscard]] step take();
  [[nodiscard]] step weigh();
  [[nodiscard]] step pack();

  // Whether it may come in (verdict.cpp).
  [[nodiscard]] step check();
  [[nodiscard]] step check_base();
  [[nodiscard]] step count_files();
  [[nodiscard]] std::expected<bool, stop> contains_commit(const std::string& whole,
                                                          const std::string& part);

  // Into the repository (write.cpp).
  [[nodiscard]] step write();
  [[nodiscard]] step move_branch();
  [[nodiscard]] step move_index();

  /// Why it goes no further, whatever comes next; or nothing.
  [[nodiscard]] std::string stopped() const;
  [[nodiscard]] std::string place(std::string_view name) const;
  [[nodiscard]] git_call call_in(std::string_view repository, std::vector<std::string> words) const;
  [[nodiscard]] std::expected<git_answer, stop> started(git_call call);
  [[nodiscard]] std::expected<git_answer, stop> git(std::string_view repository,
                                                    std::vector<std::string> words);

  const commit_ground& ground_;
  commit_copies& copies_;
  const import_bounds& most_;
  clock::time_point until_;
  git_commit_report report_;
  descriptor own_;
  std::string program_;
  std::string pack_;       ///< without its ending; empty where nothing is new
  std::string keep_file_;  ///< in the repository
};

}  // namespace pinfold
