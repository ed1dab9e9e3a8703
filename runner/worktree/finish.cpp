// Finishing a worktree: it is kept unless everything says that nothing would be lost.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>
#include <pinfold/runner/worktree.hpp>

#include "worktree/inspect.hpp"
#include "worktree/own_cache.hpp"
#include "worktree/place.hpp"
#include "worktree/record.hpp"
#include "worktree/remove.hpp"
#include "worktree/summary.hpp"
#include "worktree/tree.hpp"

namespace pinfold {
namespace {

std::unexpected<refusal> refused(code error, std::string path, std::string why) {
  return std::unexpected{
      worktree_refusal(error, operation::remove, std::move(path), std::move(why))};
}

std::string canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> found{::realpath(path.c_str(), nullptr), &::free};
  return found ? std::string{found.get()} : std::string{};
}

/// The folder of the worktree at `path`, which may be gone itself: two below the place.
std::expected<worktree_files, refusal> files_of(std::string path, const std::string& place) {
  const auto asked = path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto slash = path.rfind('/');
  const auto above = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  worktree_files files{canonical(above)};
  const auto repository = parent_of(files.folder);
  if (!files.folder.empty() && parent_of(repository) == place) return files;
  return refused(code::not_found, asked, "no worktree of pinfold lies there; those are in " + place);
}

/// The tree's lock where there is a tree: the one that runs in it hold.
std::expected<descriptor, refusal> lock_tree(const std::string& path) {
  auto lock = lock_directory(path);
  if (lock) return std::move(*lock);
  if (lock.error() == ENOENT) return descriptor{};
  if (lock.error() == EWOULDBLOCK) {
    return refused(code::try_again, path, "a run is under way in it");
  }
  return refused(code::permission_denied, path, std::strerror(lock.error()));
}

class finishing {
 public:
  /// `lock` is that of the folder.
  finishing(const std::string& git, const std::string& caches, worktree_files files,
            known_worktree known, descriptor lock)
      : git_{git},
        caches_{caches},
        files_{std::move(files)},
        record_{std::move(known.record)},
        lock_{std::move(lock)} {
    answer_.about = record_.about;
    answer_.deletes = deleting_line(files_, record_);
  }

  std::expected<finished_worktree, refusal> run() {
    if (auto back = put_back(files_, record_); !back) return std::unexpected{std::move(back.error())};
    auto lock = lock_tree(record_.about.path);
    if (!lock) return std::unexpected{std::move(lock.error())};
    const descriptor own{::open(files_.own().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const auto moment = moment_of(own.get());
    if (!moment) return refused(code::input_output_error, files_.own(), std::strerror(moment.error()));

    if (*lock) cache_ = cache_name_in(caches_, lock->get());
    inspect(*lock ? tree::is_there : tree::is_gone);
    if (auto counted = count(); !counted) return std::unexpected{std::move(counted.error())};
    if (!answer_.reasons.empty()) return kept();
    auto change = remove_working_tree(files_, record_, *moment);
    if (!change) return std::unexpected{std::move(change.error())};
    if (*change) {
      answer_.reasons.push_back("this changed while it was looked at, or cannot be looked at: " + **change);
      return kept();
    }
    return removed();
  }

 private:
  enum class tree : bool { is_gone, is_there };

  /// Where the tree is gone there is nothing to lose but the branch.
  void inspect(tree state) {
    auto found = inspect_worktree(git_, files_, record_, state == tree::is_there
                                                             ? inspected_part::all
                                                             : inspected_part::branch);
    tip_ = std::move(found.tip);
    has_repository_ = found.has_repository;
    more_ = found.more;
    answer_.reasons = std::move(found.reasons);
  }

  /// Without a base the create was killed before it could make a branch.
  [[nodiscard]] bool has_branch() const { return has_repository_ && !tip_.empty(); }

  std::expected<void, refusal> count() {
    if (!has_branch()) return {};
    const auto commits = commits_beyond_parent(git_, files_, record_, tip_);
    if (!commits) return std::unexpected{commits.error()};
    answer_.commits = *commits;
    return {};
  }

  finished_worktree kept() {
    mark_admin(record_, own_mark::absent);
    answer_.summary = summary_of(answer_, more_);
    return std::move(answer_);
  }

  std::expected<finished_worktree, refusal> removed() {
    answer_.end = worktree_end::removed;
    answer_.deletes.clear();
    if (has_repository_) {
      if (auto done = remove_admin(record_); !done) return std::unexpected{std::move(done.error())};
      if (answer_.commits == 0 && has_branch()) {
        if (auto done = remove_branch(git_, files_, record_, tip_, lock_.get()); !done) {
          return std::unexpected{std::move(done.error())};
        }
        answer_.branch = branch_end::removed;
      }
    }
    if (auto done = remove_folder(files_); !done) return std::unexpected{std::move(done.error())};
    answer_.summary = summary_of(answer_, more_);
    if (const auto left = remove_cache(caches_, cache_)) answer_.summary += *left + "\n";
    return std::move(answer_);
  }

  const std::string& git_;
  const std::string& caches_;
  std::string cache_;
  worktree_files files_;
  worktree_record record_;
  descriptor lock_;
  finished_worktree answer_;
  std::string tip_;
  std::size_t more_{0};
  bool has_repository_{true};
};

}  // namespace

std::expected<finished_worktree, refusal> worktrees::finish(const std::string& path) const {
  auto files = files_of(path, place_);
  if (!files) return std::unexpected{std::move(files.error())};
  auto lock = lock_directory(files->folder);
  if (!lock && lock.error() == EWOULDBLOCK) {
    return refused(code::try_again, path, "it is being made or finished");
  }
  if (!lock) return refused(code::not_found, path, std::strerror(lock.error()));
  auto known = read_worktree_record(*files);
  if (!known) return refused(code::not_found, path, "pinfold has no record of a worktree there");
  const bool is_its_own = known->record.about.path == files->folder + "/" +
                                                          tree_name_of(known->record.about.path);
  const auto last = [](std::string_view text) {
    while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
    return text.substr(text.rfind('/') + 1);
  };
  if (!is_its_own || last(path) != last(known->record.about.path)) {
    return refused(code::not_found, path, "the worktree there is " + known->record.about.path);
  }
  return finishing{git_, caches_, std::move(*files), std::move(*known), std::move(*lock)}.run();
}

finished_worktree worktrees::finish_or_keep(const worktree& made) const {
  constexpr auto most_wait = std::chrono::seconds{10};  // a list, or a sandbox that is ending still
  const auto last_try = std::chrono::steady_clock::now() + most_wait;
  auto done = finish(made.path);
  while (!done && done.error().error == code::try_again &&
         std::chrono::steady_clock::now() < last_try) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    done = finish(made.path);
  }
  if (done) return std::move(*done);
  finished_worktree kept;
  kept.about = made;
  kept.reasons.push_back("it could not be finished: " + done.error().message());
  kept.deletes = "pinfold worktree finish " + quoted_for_a_shell(made.path);
  kept.summary = summary_of(kept, 0);
  return kept;
}

}  // namespace pinfold
