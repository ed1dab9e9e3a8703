// A cgroup that this process made and holds: it is locked, so that nobody takes it for one that was
// left behind, and removed at the end.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include <pinfold/disk/descriptor.hpp>

#include "launch/cgroup/find.hpp"

namespace pinfold {

class held_cgroup {
 public:
  /// A new one in `place`, with a name of ours. Error: a clause.
  [[nodiscard]] static std::expected<held_cgroup, std::string> make_in(const cgroup_place& place,
                                                                       const cgroup_files& files);
  held_cgroup(held_cgroup&&) noexcept = default;
  held_cgroup& operator=(held_cgroup&&) = delete;
  ~held_cgroup();

  [[nodiscard]] int get() const noexcept { return held_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  held_cgroup(const cgroup_files& files, descriptor parent, std::string name, std::string path,
              descriptor held)
      : files_{&files},
        parent_{std::move(parent)},
        name_{std::move(name)},
        path_{std::move(path)},
        held_{std::move(held)} {}

  const cgroup_files* files_;
  descriptor parent_;
  std::string name_;
  std::string path_;
  descriptor held_;
};

/// The cgroup inside a run's own: the limits stand on the outer one, the processes sit in this one,
/// so that not even a cgroup namespace of their own shows them the files of their limits.
inline constexpr const char* inner_cgroup = "inside";

/// Writes a word to a control file of an open cgroup. Error: a clause that names the file.
[[nodiscard]] std::expected<void, std::string> write_control(const cgroup_files& files, int cgroup,
                                                             const char* file,
                                                             const std::string& word);

/// Lets the children of `place` have what it offers. Error: a clause; where a process sits in it the
/// kernel says EBUSY.
[[nodiscard]] std::expected<void, std::string> enable_controllers(const cgroup_place& place,
                                                                  const cgroup_files& files);

/// Removes the cgroups of ours in `place` that nobody holds any more: their runner was killed. Only
/// what the caller owns and what holds no process: the kernel refuses the rest.
void remove_left_behind(const cgroup_place& place, const cgroup_files& files) noexcept;

}  // namespace pinfold
