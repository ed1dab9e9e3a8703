// A grant that owns the texts it views, with its workspace held.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinfold/disk/held_root.hpp>
#include <pinfold/grant.hpp>

namespace pinfold::beneath {

/// Copies what it is given; does not move: the grant views the texts, the root views the grant.
/// A list that is not in normal form leaves a grant of nothing, with an empty workspace.
class owned_root {
 public:
  owned_root(std::string workspace, std::span<const carve_out> carves,
             std::span<const extra_root> added, lookup names)
      : canonical_{std::move(workspace)},
        texts_{texts_of(carves, added)},
        carve_outs_{carves.begin(), carves.end()},
        roots_{added.begin(), added.end()},
        rules_{viewing_own_texts()},
        held_{rules_, names} {}
  owned_root(const owned_root&) = delete;
  owned_root& operator=(const owned_root&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return canonical_; }
  [[nodiscard]] const grant& rules() const noexcept { return rules_; }
  [[nodiscard]] const held_root& held() const noexcept { return held_; }

 private:
  static std::vector<std::string> texts_of(std::span<const carve_out> carves,
                                           std::span<const extra_root> added) {
    std::vector<std::string> all;
    for (const auto& carve : carves) all.emplace_back(carve.path);
    for (const auto& one : added) all.emplace_back(one.path);
    return all;
  }
  grant viewing_own_texts() {
    auto text = texts_.begin();
    for (auto& carve : carve_outs_) carve.path = *text++;
    for (auto& one : roots_) one.path = *text++;
    return grant{canonical_, carve_outs_, roots_};
  }

  std::string canonical_;
  std::vector<std::string> texts_;
  std::vector<carve_out> carve_outs_;
  std::vector<extra_root> roots_;
  grant rules_;
  held_root held_;
};

}  // namespace pinfold::beneath
