// What a plan lets a command see and do: which object of the host a path inside leads to, and
// whether it can be written there. Worked out from the plan alone, the way the kernel would.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/sandbox/launch_plan.hpp>

#include "sandbox/profile.hpp"

namespace pinfold_fuzz {

/// What a path inside leads to.
struct sight {
  std::optional<std::string> host;  ///< the host's object; none for what is made for the sandbox
  bool is_readable{false};
  bool is_writable{false};
};

/// By the order of the mounts of a plan.
class mounted_view {
 public:
  explicit mounted_view(const pinfold::launch_plan& plan) : mounts_{plan.mounts} {}
  [[nodiscard]] sight at(std::string_view path) const;
  /// The last mount at or above a path; null when none is.
  [[nodiscard]] const pinfold::mount* over(std::string_view path) const;

 private:
  const std::vector<pinfold::mount>& mounts_;
};

/// By the rules of a profile; there every path inside is the host's own.
class profiled_view {
 public:
  explicit profiled_view(const pinfold::launch_plan& plan)
      : rules_{pinfold::profile::rules_of(plan.options.at(1))} {}
  [[nodiscard]] sight at(std::string_view path) const;
  [[nodiscard]] bool allows(std::string_view operation, std::string_view path) const {
    return pinfold::profile::lets_through(rules_, operation, path);
  }

 private:
  std::vector<pinfold::profile::rule> rules_;
};

/// The mounts that an argument vector of bwrap asks for, read as bwrap reads them, and what else it
/// says; nothing when it holds an option that no plan has any business to hold.
struct parsed_options {
  std::vector<pinfold::mount> mounts;
  std::vector<std::string> words;  ///< the options that are no mounts, in order
  std::string directory;
};
std::optional<parsed_options> parse_options(const std::vector<std::string>& argv);

}  // namespace pinfold_fuzz
