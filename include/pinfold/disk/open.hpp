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

#include <pinfold/call.hpp>
#include <pinfold/disk/act.hpp>
#include <pinfold/disk/approved.hpp>
#include <pinfold/disk/change.hpp>
#include <pinfold/disk/entry.hpp>
#include <pinfold/disk/owned_root.hpp>
#include <pinfold/disk/resolve.hpp>
#include <pinfold/one_call.hpp>

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
  ///
  /// No repository is read here. The default list knows a directory `.git` and in it hooks, config,
  /// info, worktrees and commondir, and not: a repository that a file `.git` or a commondir leads to,
  /// a bare one, config.worktree, submodules, files that git's configuration includes, core.hooksPath
  /// and programs that it names. `runner::carve_outs` (runner/runner.hpp) finds those for this list,
  /// as it does for mounts.
  [[nodiscard]] static result<workspace> open(
      std::string_view path, std::span<const carve_out> carve_outs = default_carve_outs,
      std::span<const extra_root> roots = {}, beneath::lookup names = beneath::lookup::openat2) {
    auto canonical = canonical_workspace(path);
    if (!canonical) return std::unexpected{std::move(canonical.error())};
    auto held =
        std::make_unique<beneath::owned_root>(std::move(*canonical), carve_outs, roots, names);
    if (held->rules().workspace().empty()) {
      return std::unexpected{refusal{code::invalid_argument,
                                     operation::list,
                                     std::string{path},
                                     {},
                                     {},
                                     "a carve-out or an extra root is not in normal form"}};
    }
    if (const auto why = held->held().error()) {
      return std::unexpected{
          refusal{*why, operation::list, std::string{path}, held->path(), {}, {}}};
    }
    return workspace{std::move(held)};
  }

  /// The grant, for the guard and for mounts; it views this workspace's texts.
  [[nodiscard]] const pinfold::grant& grant() const noexcept { return own_->rules(); }
  [[nodiscard]] const std::string& path() const noexcept { return own_->path(); }

  /// For an operation that is not among those below, made of what they are made of (act.hpp,
  /// change.hpp): resolved by `beneath::attempt`, then reached from there.
  [[nodiscard]] const beneath::owned_root& root() const noexcept { return *own_; }

  /// Where a path leads, without opening it.
  [[nodiscard]] result<resolved> resolve(operation op, std::string_view path,
                                         std::string_view start = {}) const {
    return beneath::resolve(own_->held(), op, path, start.empty() ? own_->path() : start);
  }
  [[nodiscard]] result<resolved> resolve_read(std::string_view path) const {
    return resolve(operation::read, path);
  }
  [[nodiscard]] result<resolved> resolve_write(std::string_view path) const {
    return resolve(operation::write, path);
  }

  /// Opens a regular file for reading.
  [[nodiscard]] result<descriptor> open_read(std::string_view path) const {
    return beneath::open_read(own_->held(), path);
  }

  /// The same as one act with the guard's verdict on where the path leads. More errors: those of
  /// the verdict, `needs_approval` among them; nothing has then been opened.
  [[nodiscard]] result<descriptor> open_read(std::string_view path, const guard& now) const {
    return beneath::open_read(own_->held(), path, now);
  }

  /// Opens a regular file for writing, made first if `how` says so; its directory must be there.
  /// More errors: `already_exists`, `hard_linked_file`.
  [[nodiscard]] result<descriptor> open_write(std::string_view path, write_options how = {}) const {
    return beneath::open_write(own_->held(), path, how);
  }

  /// Gives a file new content at once: readers see the old content or the new, never a part. The
  /// bytes are on the disk (fsync) before the name changes. An existing file's mode is kept, and
  /// its owner where the process may set it; a file with other names is replaced under this name
  /// only.
  [[nodiscard]] result<void> replace_file(std::string_view path, std::string_view bytes) const {
    return beneath::replace_file(own_->held(), path, bytes);
  }

  /// Makes a directory and those above it that are missing; fine when it is there already.
  [[nodiscard]] result<resolved> make_directories(std::string_view path) const {
    return beneath::make_directories(own_->held(), path);
  }

  /// The names in a directory, in no order, without "." and "..".
  [[nodiscard]] result<std::vector<directory_entry>> list_directory(std::string_view path) const {
    return beneath::list_directory(own_->held(), path);
  }

  /// Removes one name: a file, a link (not what it leads to), a special file or an empty directory.
  /// More errors: `not_empty`.
  [[nodiscard]] result<void> remove(std::string_view path) const {
    return beneath::remove(own_->held(), path);
  }

  /// Gives what is at `from` the name `to`; links in the last place are renamed and replaced, not
  /// followed. More errors: `already_exists`, `not_empty`, `is_a_directory`, `not_a_directory`, and
  /// `invalid_argument` between two file systems or for a directory moved into itself.
  [[nodiscard]] result<void> rename_within(std::string_view from, std::string_view to,
                                           overwrite existing = overwrite::allowed) const {
    return beneath::rename_within(own_->held(), from, to, existing);
  }

  /// What lies at a path, links followed; nothing is opened for reading.
  [[nodiscard]] result<file_facts> stat_of(std::string_view path) const {
    return beneath::stat_of(own_->held(), path);
  }

  /// What a person is asked about when a path leads out in mode `ask`: the canonical place it names,
  /// wherever that is. It goes into a `call`, the guard asks about that, the harness approves, and
  /// the operations below take the approval. For the harness alone: it tells what is there outside.
  /// Errors: those of `resolve` but `outside_workspace`; harness state and host-run files stay
  /// refused.
  [[nodiscard]] result<std::string> place_for_approval(operation op, std::string_view path) const {
    return beneath::place_anywhere(*own_, op, path);
  }

  // The same operations once more, each on the one place outside that was approved. The approval is
  // used up whatever comes of it. More errors: `needs_approval`, when it was spent before or is for
  // another place or operation than this path names now.

  [[nodiscard]] result<descriptor> open_read(std::string_view path,
                                             one_call_grant&& approved) const {
    return once(operation::read, path, std::move(approved), call::read,
                [](auto& root, auto place) { return beneath::open_read(root, place); });
  }
  [[nodiscard]] result<descriptor> open_write(std::string_view path, write_options how,
                                              one_call_grant&& approved) const {
    return once(operation::write, path, std::move(approved), call::write,
                [&](auto& root, auto place) { return beneath::open_write(root, place, how); });
  }
  [[nodiscard]] result<void> replace_file(std::string_view path, std::string_view bytes,
                                          one_call_grant&& approved) const {
    return once(operation::write, path, std::move(approved), call::write,
                [&](auto& root, auto place) { return beneath::replace_file(root, place, bytes); });
  }
  /// The directory above must be there.
  [[nodiscard]] result<resolved> make_directories(std::string_view path,
                                                  one_call_grant&& approved) const {
    return once(operation::make_directory, path, std::move(approved), call::make_directory,
                [](auto& root, auto place) { return beneath::make_directories(root, place); });
  }
  [[nodiscard]] result<std::vector<directory_entry>> list_directory(
      std::string_view path, one_call_grant&& approved) const {
    return once(operation::list, path, std::move(approved), call::list,
                [](auto& root, auto place) { return beneath::list_directory(root, place); });
  }
  [[nodiscard]] result<file_facts> stat_of(std::string_view path,
                                           one_call_grant&& approved) const {
    return once(operation::read, path, std::move(approved), call::read,
                [](auto& root, auto place) { return beneath::stat_of(root, place); });
  }
  [[nodiscard]] result<void> remove(std::string_view path, one_call_grant&& approved) const {
    return once(operation::remove, path, std::move(approved), call::remove,
                [](auto& root, auto place) { return beneath::remove(root, place); });
  }
  /// One end or both may lie outside.
  [[nodiscard]] result<void> rename_within(std::string_view from, std::string_view to,
                                           overwrite existing, one_call_grant&& approved) const {
    auto used = std::move(approved);
    const auto source = place_for_approval(operation::rename, from);
    if (!source) return std::unexpected{source.error()};
    const auto target = place_for_approval(operation::rename, to);
    if (!target) return std::unexpected{target.error()};
    return beneath::act_once(
        *own_, {own_->rules(), operation::rename, from}, call::rename(*source, *target),
        std::move(used), [&](const beneath::held_root& root) {
          return beneath::rename_within(root, *source, *target, existing);
        });
  }

 private:
  explicit workspace(std::unique_ptr<beneath::owned_root> held) noexcept : own_{std::move(held)} {}

  /// `act(root, place)` on the one place that `path` names, if that was approved.
  template <typename Act>
  [[nodiscard]] auto once(operation op, std::string_view path, one_call_grant&& approved,
                          call (*call_for)(std::string_view), Act&& act) const
      -> std::invoke_result_t<Act, const beneath::held_root&, std::string_view> {
    auto used = std::move(approved);
    const auto place = beneath::place_anywhere(*own_, op, path);
    if (!place) return std::unexpected{place.error()};
    return beneath::act_once(
        *own_, {own_->rules(), op, path}, call_for(*place), std::move(used),
        [&](const beneath::held_root& root) { return act(root, std::string_view{*place}); });
  }

  std::unique_ptr<beneath::owned_root> own_;
};

}  // namespace pinfold
