// Directories are taken from a list, each opened from the workspace down through no link, so that
// nothing that still moves can lead the walk out.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <unordered_set>
#include <utility>

#include <pinfold/disk/kernel.hpp>
#include <pinfold/path.hpp>

#include "sandbox/host_run/content.hpp"
#include "sandbox/host_run/step.hpp"

namespace pinfold {
namespace {

class walk {
 public:
  walk(const host_run_search& search, int directory)
      : search_{search}, top_{directory}, pending_{beginnings(search)} {}

  host_run_report run() {
    for (const auto& file : search_.obeyed) look_again_at(file);
    for (const auto& place : search_.indexes) go_into_gitlinks(place);
    while (!pending_.empty()) {
      auto next = std::move(pending_.back());
      pending_.pop_back();
      if (!visit(next)) break;
    }
    std::ranges::sort(report_.found, {}, &host_run_file_found::path);
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_new(const struct stat& about) const {
    return std::pair{about.st_ctim.tv_sec, about.st_ctim.tv_nsec} >=
           std::pair{search_.since.tv_sec, search_.since.tv_nsec};
  }

  void add(std::string path, host_run_kind kind, std::string detail = {}) {
    if (report_.found.size() == host_run_report::most_found) {
      ++report_.more;
      return;
    }
    report_.found.push_back({std::move(path), kind, std::move(detail)});
  }

  /// A mount below the workspace is not ours, and what is gone is gone; anything else that cannot be
  /// opened is missed.
  [[nodiscard]] int open(const std::string& path, int flags) {
    const int fd = open_in(top_, path, flags);
    if (fd < 0 && fd != -EXDEV && fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP) miss();
    return fd;
  }

  void miss() { report_.ended = walk_end_reason::unreadable; }

  void look_again_at(const watched_file& file) {
    auto now = look_again(file, top_, search_.since);
    if (!now || !told_.insert(now->path).second) return;
    auto detail = std::string{"git's configuration names it"};
    if (!now->target.empty()) detail += "; it leads to " + now->target;
    add(std::move(now->path), host_run_kind::program, std::move(detail));
  }

  /// git goes into these whatever its ignore files say. What the index has only now, and had not when
  /// the run began, is news as a whole: it may have lain there unseen.
  void go_into_gitlinks(const git_index_place& place) {
    if (search_.ignored.empty() || !indexes_.insert(place.index).second) return;
    if (is_known_index(search_, top_, place)) return go_into_known(place);
    auto found = hidden_gitlinks_of(search_, top_, place);
    if (!found.is_whole) miss();
    for (auto& path : found.paths) {
      if (!gone_into_.insert(path).second) continue;
      const bool is_known = search_.gitlinks.contains(path);
      pending_.push_back({std::move(path), room::plain, !is_known});
    }
  }

  void go_into_known(const git_index_place& place) {
    for (const auto& path : search_.gitlinks) {
      const bool is_in = place.tree.empty() || path.starts_with(place.tree + "/");
      if (is_in && is_passed_over(search_, path) && gone_into_.insert(path).second) {
        pending_.push_back({path, room::plain});
      }
    }
  }

  /// False when the budget is spent.
  bool visit(to_visit& at) {
    const descriptor directory{open(at.path, O_RDONLY | O_DIRECTORY)};
    if (!directory) return true;
    const auto* listed = listed_before(at, directory.get());
    std::optional<listed_directory> fresh;
    if (listed == nullptr) {
      const int copy = ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0);
      fresh = list(copy, choice_for(search_, at.kind, search_.budget - report_.entries));
      listed = fresh ? &*fresh : nullptr;
    }
    if (listed == nullptr || report_.entries + listed->count > search_.budget) {
      report_.ended = walk_end_reason::budget;
      return false;
    }
    report_.entries += listed->count;
    if (!listed->is_whole) miss();
    if (listed->is_repository()) at.has_users_names = false;
    if (const auto place = index_of(at)) go_into_gitlinks(*place);
    look_at_all(at, directory.get(), *listed);
    return true;
  }

  /// What was listed ahead still holds when this is the same directory and no name has come, gone or
  /// moved since then. One that has come to this place with all that is in it keeps the times of what
  /// is in it, so those say nothing.
  [[nodiscard]] const listed_directory* listed_before(to_visit& at, int directory) const {
    const auto seen = search_.ahead.find(at.path);
    struct stat about{};
    if (::fstat(directory, &about) != 0) return nullptr;
    const bool is_same =
        seen != search_.ahead.end() && seen->second.id == beneath::identity_of(about);
    const bool has_changed = is_new(about);
    // Where not all was listed ahead, an unknown one that has not changed was there before.
    at.has_arrived = at.has_arrived || (!is_same && (has_changed || seen != search_.ahead.end()));
    if (!is_same || has_changed || search_.set_id != set_id_files::barred) return nullptr;
    return &seen->second;
  }

  void look_at_all(const to_visit& at, int directory, const listed_directory& listed) {
    bool is_changed = false;
    bool is_repository_changed = false;
    for (const auto& entry : listed.entries) {
      if (entry.is_directory) {
        auto next = entered(search_, at, listed.is_repository(), entry.name);
        if (!next) continue;
        next->has_arrived = at.has_arrived;
        pending_.push_back(std::move(*next));
        continue;
      }
      struct stat about{};
      if (::fstatat(directory, entry.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!at.has_arrived && !is_new(about)) continue;
      is_changed = true;
      is_repository_changed |= is_of_a_repository(entry.name);
      look_at(at, entry.name, about);
    }
    const bool is_news = is_repository_changed && !is_known_repository(search_, at.path);
    if (at.kind == room::plain && listed.is_repository() && is_news) {
      add(at.path.empty() ? "." : at.path, host_run_kind::git_repository);
    }
    if (at.kind == room::sequence && is_changed) look_at_sequence(at.path);
  }

  /// Something that is no directory and has changed.
  void look_at(const to_visit& at, std::string_view name, const struct stat& about) {
    auto path = below(at.path, name);
    if (search_.carved.contains(path) || told_.contains(path)) return;
    if (S_ISLNK(about.st_mode)) return look_at_link(at, std::move(path));
    if (S_ISSOCK(about.st_mode)) return add(std::move(path), host_run_kind::socket);
    if (S_ISFIFO(about.st_mode)) return add(std::move(path), host_run_kind::fifo);
    if (!S_ISREG(about.st_mode)) return add(std::move(path), host_run_kind::device);
    if ((about.st_mode & (S_ISUID | S_ISGID)) != 0) add(path, host_run_kind::set_id);
    // git ships these with every new repository and runs none of them (githooks(5)).
    if (at.kind == room::hooks && name.ends_with(".sample")) return;
    if (const auto kind = kind_in(at.kind)) return add(std::move(path), *kind);
    if (at.kind == room::sequence) return;
    if (at.kind == room::git) return look_at_git_file(at, std::move(path), name);
    if (name == "commondir" || name == "gitdir") {
      return add(std::move(path), host_run_kind::git_config);
    }
    if (name == ".git") return add(std::move(path), host_run_kind::git_file);
    if (name == ".gitattributes") return look_at_attributes(std::move(path));
    if (const auto kind = kind_of_file(name)) add(std::move(path), *kind);
  }

  void look_at_link(const to_visit& at, std::string path) {
    std::array<char, path_max> text;
    const descriptor directory{open_in(top_, at.path, O_PATH | O_DIRECTORY)};
    const std::string name{last_name(path)};
    const auto size = directory.is_open()
                          ? ::readlinkat(directory.get(), name.c_str(), text.data(), text.size())
                          : -1;
    std::string target = size < 0 ? std::string{} : std::string{text.data(), std::size_t(size)};
    const bool is_git = at.kind == room::git || at.kind == room::sequence;
    if (is_git || at.kind == room::hooks) {
      return add(std::move(path), host_run_kind::git_link, std::move(target));
    }
    if (const auto kind = kind_in(at.kind)) return add(std::move(path), *kind, std::move(target));
    if (const auto kind = kind_of_link(name)) return add(std::move(path), *kind, std::move(target));
    const auto leads_to_hooks = [&path](const std::string& hooks) {
      return hooks == path || hooks.starts_with(path + "/");
    };
    if (std::ranges::any_of(search_.hooks_paths, leads_to_hooks)) {
      return add(std::move(path), host_run_kind::git_hook, std::move(target));
    }
    if (leads_out(at.path, target)) {
      add(std::move(path), host_run_kind::link_out, std::move(target));
    }
  }

  /// Whether a link's text leads out of the workspace, taken word by word. (Where it passes another
  /// link that leads out, that one is reported.)
  [[nodiscard]] bool leads_out(const std::string& directory, std::string_view target) const {
    if (target.starts_with('/')) return !contains(search_.workspace, target) || climbs(target);
    std::ptrdiff_t depth = std::ranges::distance(components{directory});
    for (auto name : components{target}) {
      depth += name == ".." ? -1 : 1;
      if (depth < 0) return true;
    }
    return false;
  }

  [[nodiscard]] static bool climbs(std::string_view target) {
    return std::ranges::any_of(components{target}, [](auto name) { return name == ".."; });
  }

  [[nodiscard]] file_text content_of(const std::string& path) const {
    const descriptor file{open_in(top_, path, O_RDONLY | O_NONBLOCK)};
    return file.is_open() ? text_of_file(file.get()) : file_text{};
  }

  void look_at_git_file(const to_visit& at, std::string path, std::string_view name) {
    const bool decides = std::ranges::find(git_deciders, name) != git_deciders.end();
    if (at.has_users_names || !decides) return;
    auto detail =
        name.starts_with("config") ? obeyed_settings(content_of(path).text) : std::string{};
    add(std::move(path), host_run_kind::git_config, std::move(detail));
  }

  void look_at_attributes(std::string path) {
    const auto content = content_of(path);
    if (names_a_driver(content.text)) return add(std::move(path), host_run_kind::git_attributes);
    if (!content.is_whole) {
      add(std::move(path), host_run_kind::git_attributes,
          "longer than a mebibyte: not read to its end");
    }
  }

  void look_at_sequence(const std::string& path) {
    const auto todo = content_of(path + "/git-rebase-todo");
    const bool starts = !todo.is_whole || starts_a_program(todo.text);
    add(path, host_run_kind::git_sequence, starts ? "going on with it starts a program" : "");
  }

  const host_run_search& search_;
  int top_;
  std::vector<to_visit> pending_;
  std::unordered_set<std::string> told_;
  std::unordered_set<std::string> indexes_;
  std::unordered_set<std::string> gone_into_;
  host_run_report report_;
};

}  // namespace

host_run_report walk_all(const host_run_search& search, int directory) {
  return walk{search, directory}.run();
}

}  // namespace pinfold
