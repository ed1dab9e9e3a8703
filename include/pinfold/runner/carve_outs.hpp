// The carve-outs of a workspace as they are found on the disk: what mounts hold a command to, for tools.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/grant.hpp>

namespace pinfold {

/// Carve-outs with the texts that they view. It can be moved and not copied; what was made of its
/// list (a `grant`) must not outlive it. `workspace::open` copies.
class found_carve_outs {
 public:
  found_carve_outs() = default;
  found_carve_outs(found_carve_outs&&) noexcept = default;
  found_carve_outs& operator=(found_carve_outs&&) noexcept = default;
  found_carve_outs(const found_carve_outs&) = delete;
  found_carve_outs& operator=(const found_carve_outs&) = delete;

  /// `path` is relative to the workspace, in normal form; one that is here already is not added.
  void add(std::string path, carve_kind kind) {
    for (const auto& known : list_) {
      if (known.path == path) return;
    }
    list_.push_back({texts_.emplace_back(std::move(path)), kind});
  }

  [[nodiscard]] std::span<const carve_out> list() const noexcept { return list_; }

 private:
  std::deque<std::string> texts_;  // a deque keeps each text where it is
  std::vector<carve_out> list_;
};

}  // namespace pinfold
