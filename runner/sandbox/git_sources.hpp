// Configurations of git that count in every repository of the caller, as they were read.
#pragma once

#include <string>
#include <vector>

namespace pinfold {

struct git_source {
  std::string path;  ///< where it lies: relative names in it begin in that directory
  std::string text;
};

/// The machine's and the caller's own, in git's order, and the home that "~/" stands for.
struct git_sources {
  std::vector<git_source> files;
  std::string home;
};

}  // namespace pinfold
