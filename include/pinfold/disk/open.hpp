// What file tools use: a workspace, held by a descriptor, and operations that resolve, check and
// act in one. No operation ever acts on a path by name after checking it. Linux only; elsewhere
// there is resolve.hpp, which opens nothing.
#pragma once

#if !defined(__linux__)
#error "pinfold/disk/open.hpp needs Linux; pinfold/disk/resolve.hpp works everywhere"
#endif

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/act.hpp>
#include <pinfold/disk/change.hpp>
#include <pinfold/disk/entry.hpp>
#include <pinfold/disk/resolve.hpp>

namespace pinfold {

template <typename T>
using result = std::expected<T, refusal>;

/// The workspace and all that a tool does in it. Owns its texts and the directory's descriptor;
/// cheap to move. Every operation may be called from several threads at once.
///
/// Paths are what a model said: relative ones begin at the workspace. Every operation answers a
/// refusal with one of the codes of `resolve`, and of its own: `is_a_directory`, `special_file`
/// (a FIFO, socket or device; nothing ever waits on one), `permission_denied`,
/// `resource_exhausted`, `workspace_gone`, and `try_again` when the tree changed under it eight
/// times.
///
/// Not covered: a FIFO or device that a path reaches without a link is opened once by `open_read`,
/// without waiting, before it is refused: a writer that waits for a reader is let go, and a driver
/// sees an open and a close. Looking before opening would cost three times the call. A hard link to
/// a file elsewhere is an ordinary file for reading. A directory that another process moves out of
/// the workspace during a call may still receive what the call was about to write there.
class workspace {
 public:
  /// Holds the directory at `path` (links in it are followed). The lists are copied. Errors: those
  /// of `canonical_workspace`; `invalid_argument` for a carve-out or root that is not in normal
  /// form.
  [[nodiscard]] static result<workspace> open(
      std::string_view path, std::span<const carve_out> carve_outs = default_carve_outs,
      std::span<const extra_root> roots = {}, beneath::lookup names = beneath::lookup::openat2) {
    auto canonical = canonical_workspace(path);
    if (!canonical) return std::unexpected{std::move(canonical.error())};
    auto held = std::make_unique<state>(std::move(*canonical), carve_outs, roots, names);
    if (held->rules.workspace().empty()) {
      return std::unexpected{refusal{code::invalid_argument,
                                     operation::list,
                                     std::string{path},
                                     {},
                                     {},
                                     "a carve-out or an extra root is not in normal form"}};
    }
    if (const auto why = held->root.error()) {
      return std::unexpected{
          refusal{*why, operation::list, std::string{path}, held->canonical, {}, {}}};
    }
    return workspace{std::move(held)};
  }

  /// The grant, for the guard and for mounts; it views this workspace's texts.
  [[nodiscard]] const pinfold::grant& grant() const noexcept { return state_->rules; }
  [[nodiscard]] const std::string& path() const noexcept { return state_->canonical; }

  /// Where a path leads, without opening it.
  [[nodiscard]] result<resolved> resolve(operation op, std::string_view path,
                                         std::string_view start = {}) const {
    return beneath::resolve(state_->root, op, path, start.empty() ? state_->canonical : start);
  }
  [[nodiscard]] result<resolved> resolve_read(std::string_view path) const {
    return resolve(operation::read, path);
  }
  [[nodiscard]] result<resolved> resolve_write(std::string_view path) const {
    return resolve(operation::write, path);
  }

  /// Opens a regular file for reading.
  [[nodiscard]] result<descriptor> open_read(std::string_view path) const {
    return beneath::open_read(state_->root, path);
  }

  /// The same as one act with the guard's verdict on where the path leads. More errors: those of
  /// the verdict, `needs_approval` among them; nothing has then been opened.
  [[nodiscard]] result<descriptor> open_read(std::string_view path, const guard& now) const {
    return beneath::open_read(state_->root, path, now);
  }

  /// Opens a regular file for writing, made first if `how` says so; its directory must be there.
  /// More errors: `already_exists`, `hard_linked_file`.
  [[nodiscard]] result<descriptor> open_write(std::string_view path, write_options how = {}) const {
    return beneath::open_write(state_->root, path, how);
  }

  /// Gives a file new content at once: readers see the old content or the new, never a part. The
  /// bytes are on the disk (fsync) before the name changes. An existing file's mode is kept, and
  /// its owner where the process may set it; a file with other names is replaced under this name
  /// only.
  [[nodiscard]] result<void> replace_file(std::string_view path, std::string_view bytes) const {
    return beneath::replace_file(state_->root, path, bytes);
  }

  /// Makes a directory and those above it that are missing; fine when it is there already.
  [[nodiscard]] result<resolved> make_directories(std::string_view path) const {
    return beneath::make_directories(state_->root, path);
  }

  /// The names in a directory, in no order, without "." and "..".
  [[nodiscard]] result<std::vector<directory_entry>> list_directory(std::string_view path) const {
    return beneath::list_directory(state_->root, path);
  }

  /// Removes one name: a file, a link (not what it leads to), a special file or an empty directory.
  /// More errors: `not_empty`.
  [[nodiscard]] result<void> remove(std::string_view path) const {
    return beneath::remove(state_->root, path);
  }

  /// Gives what is at `from` the name `to`; links in the last place are renamed and replaced, not
  /// followed. More errors: `already_exists`, `not_empty`, `is_a_directory`, `not_a_directory`, and
  /// `invalid_argument` between two file systems or for a directory moved into itself.
  [[nodiscard]] result<void> rename_within(std::string_view from, std::string_view to,
                                           overwrite existing = overwrite::allowed) const {
    return beneath::rename_within(state_->root, from, to, existing);
  }

  /// What lies at a path, links followed; nothing is opened for reading.
  [[nodiscard]] result<file_facts> stat_of(std::string_view path) const {
    return beneath::stat_of(state_->root, path);
  }

 private:
  /// Does not move: the grant views the texts, the root views the grant.
  struct state {
    state(std::string path, std::span<const carve_out> carves, std::span<const extra_root> added,
          beneath::lookup names)
        : canonical{std::move(path)},
          texts{texts_of(carves, added)},
          carve_outs{carves.begin(), carves.end()},
          roots{added.begin(), added.end()},
          rules{viewing_own_texts()},
          root{rules, names} {}

    static std::vector<std::string> texts_of(std::span<const carve_out> carves,
                                             std::span<const extra_root> added) {
      std::vector<std::string> all;
      for (const auto& carve : carves) all.emplace_back(carve.path);
      for (const auto& one : added) all.emplace_back(one.path);
      return all;
    }
    pinfold::grant viewing_own_texts() {
      auto text = texts.begin();
      for (auto& carve : carve_outs) carve.path = *text++;
      for (auto& one : roots) one.path = *text++;
      return pinfold::grant{canonical, carve_outs, roots};
    }

    std::string canonical;
    std::vector<std::string> texts;
    std::vector<carve_out> carve_outs;
    std::vector<extra_root> roots;
    pinfold::grant rules;
    beneath::held_root root;
  };

  explicit workspace(std::unique_ptr<state> held) noexcept : state_{std::move(held)} {}

  std::unique_ptr<state> state_;
};

}  // namespace pinfold
