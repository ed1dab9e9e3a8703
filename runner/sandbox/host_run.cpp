// Directories are taken from a list, each opened from the workspace down through no link, so that
// nothing that still moves can lead the walk out.
#include "sandbox/host_run.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <pinfold/disk/kernel.hpp>
#include <pinfold/path.hpp>

#include "sandbox/git_config.hpp"
#include "sandbox/host_run/listing.hpp"
#include "sandbox/host_run/names.hpp"

namespace pinfold {
namespace {

struct to_visit {
  std::string path;  ///< relative; empty for the workspace
  room kind;
  bool has_arrived{false};  ///< it, or one above it, was not here at the start: all in it is new
};

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string{name} : directory + "/" + std::string{name};
}

bool is_carved(const host_run_search& search, std::string_view path) {
  return std::ranges::find(search.carved, path) != search.carved.end();
}

/// Names below these are git's users' own: a branch may be called "hooks" or "config".
bool holds_refs(const std::string& path) {
  const auto whole = path + "/";
  return whole.contains("/refs/") || whole.contains("/logs/");
}

/// The directory `name` in `at`, when the walk goes there.
std::optional<to_visit> entered(const host_run_search& search, const to_visit& at,
                                std::string_view name) {
  auto path = below(at.path, name);
  if (is_carved(search, path)) return std::nullopt;
  if (path == search.hooks_path) return to_visit{std::move(path), room::hooks, false};
  if (at.kind == room::git) {
    if (is_object_directory(name) && at.path.ends_with("/objects")) return std::nullopt;
    const bool is_hooks = name == "hooks" && !holds_refs(at.path);
    return to_visit{std::move(path), is_hooks ? room::hooks : room::git, false};
  }
  if (at.kind != room::plain) return to_visit{std::move(path), at.kind, false};
  const auto known = std::ranges::find(directories_by_name, name, &known_directory::name);
  if (known != directories_by_name.end()) return to_visit{std::move(path), known->kind, false};
  if (path == ".local/bin") return to_visit{std::move(path), room::programs, false};
  if (std::ranges::binary_search(search.ignored, name)) return std::nullopt;
  return to_visit{std::move(path), room::plain, false};
}

/// Opens what lies below the workspace, through no link and over no mount. A negative errno, when
/// nothing was opened.
int open_in(int top, const std::string& path, int flags) {
  return beneath::open_below(beneath::lookup::openat2, top, path.empty() ? "." : path.c_str(),
                             {.flags = flags});
}

listing_choice choice_for(const host_run_search& search, room kind, std::size_t most) {
  return {kind, search.set_id != set_id_files::barred, search.obeyed, most};
}

class walk {
 public:
  walk(const host_run_search& search, int directory) : search_{search}, top_{directory} {}

  host_run_report run() {
    pending_.push_back({"", room::plain, false});
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

  /// False when the budget is spent.
  bool visit(to_visit& at) {
    descriptor directory{open(at.path, O_RDONLY | O_DIRECTORY)};
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
    look_at_all(at, directory.get(), *listed);
    return true;
  }

  /// What was listed ahead still holds when this is the same directory and no name has come, gone or
  /// moved since then. One that has come to this place with all that is in it keeps the times of what
  /// is in it, so those say nothing.
  [[nodiscard]] const listed_directory* listed_before(to_visit& at, int directory) const {
    const auto seen = search_.ahead.find(at.path);
    struct stat about {};
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
    for (const auto& entry : listed.entries) {
      if (entry.is_directory) {
        auto next = entered(search_, at, entry.name);
        if (!next) continue;
        next->has_arrived = at.has_arrived;
        pending_.push_back(std::move(*next));
        continue;
      }
      struct stat about {};
      if (::fstatat(directory, entry.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!at.has_arrived && !is_new(about)) continue;
      is_changed |= is_of_a_repository(entry.name);
      look_at(at, entry.name, about);
    }
    if (at.kind == room::plain && listed.is_repository() && is_changed) {
      add(at.path.empty() ? "." : at.path, host_run_kind::git_repository);
    }
  }

  /// Something that is no directory and has changed.
  void look_at(const to_visit& at, std::string_view name, const struct stat& about) {
    auto path = below(at.path, name);
    if (is_carved(search_, path)) return;
    if (S_ISLNK(about.st_mode)) return look_at_link(at, std::move(path));
    if (S_ISSOCK(about.st_mode)) return add(std::move(path), host_run_kind::socket);
    if (S_ISFIFO(about.st_mode)) return add(std::move(path), host_run_kind::fifo);
    if (!S_ISREG(about.st_mode)) return add(std::move(path), host_run_kind::device);
    if ((about.st_mode & (S_ISUID | S_ISGID)) != 0) add(path, host_run_kind::set_id);
    if (std::ranges::find(search_.obeyed, path) != search_.obeyed.end()) {
      return add(std::move(path), host_run_kind::program, "git's configuration names it");
    }
    // git ships these with every new repository and runs none of them (githooks(5)).
    if (at.kind == room::hooks && name.ends_with(".sample")) return;
    if (const auto kind = kind_in(at.kind)) return add(std::move(path), *kind);
    if (at.kind == room::git) return look_at_git_file(std::move(path), name);
    if (name == "commondir" || name == "gitdir") {
      return add(std::move(path), host_run_kind::git_config);
    }
    if (name == ".git") return add(std::move(path), host_run_kind::git_file);
    if (name == ".gitattributes") return look_at_attributes(std::move(path));
    const auto known = std::ranges::find(files_by_name, name, &known_name::name);
    if (known != files_by_name.end()) add(std::move(path), known->kind);
  }

  void look_at_link(const to_visit& at, std::string path) {
    std::array<char, 4096> text;
    const int fd = open_in(top_, path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/')),
                        O_PATH | O_DIRECTORY);
    const descriptor directory{fd};
    const std::string name = path.substr(path.rfind('/') + 1);
    const auto size = fd < 0 ? -1 : ::readlinkat(fd, name.c_str(), text.data(), text.size());
    std::string target = size < 0 ? std::string{} : std::string{text.data(), std::size_t(size)};
    if (at.kind == room::git || at.kind == room::hooks) {
      return add(std::move(path), host_run_kind::git_link, std::move(target));
    }
    if (const auto kind = kind_in(at.kind)) return add(std::move(path), *kind, std::move(target));
    if (const auto kind = kind_of_link(name)) return add(std::move(path), *kind, std::move(target));
    if (leads_out(at.path, target)) add(std::move(path), host_run_kind::link_out, std::move(target));
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

  [[nodiscard]] std::string content_of(const std::string& path) const {
    constexpr std::size_t most = 64 * 1024;
    const descriptor file{open_in(top_, path, O_RDONLY | O_NONBLOCK)};
    std::string text(most, '\0');
    const auto got = file.is_open() ? ::read(file.get(), text.data(), text.size()) : 0;
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

  void look_at_git_file(std::string path, std::string_view name) {
    if (holds_refs(path) || std::ranges::find(git_deciders, name) == git_deciders.end()) return;
    std::string detail;
    if (name.starts_with("config")) {
      for (const auto& setting : parse_git_config(content_of(path))) {
        if (!is_obeyed_by_git(setting)) continue;
        if (!detail.empty()) detail += ", ";
        detail += setting.section + "." +
                  (setting.subsection.empty() ? "" : setting.subsection + ".") + setting.key;
      }
    }
    add(std::move(path), host_run_kind::git_config, std::move(detail));
  }

  void look_at_attributes(std::string path) {
    const auto text = content_of(path);
    constexpr std::array<std::string_view, 3> drivers{"filter=", "diff=", "merge="};
    const auto is_there = [&](std::string_view word) { return text.contains(word); };
    if (std::ranges::any_of(drivers, is_there)) {
      add(std::move(path), host_run_kind::git_attributes);
    }
  }

  const host_run_search& search_;
  int top_;
  std::vector<to_visit> pending_;
  host_run_report report_;
};

}  // namespace

std::vector<std::string> ignored_directories(std::string_view gitignore) {
  std::vector<std::string> names;
  while (!gitignore.empty()) {
    const auto end = std::min(gitignore.find('\n'), gitignore.size());
    auto line = gitignore.substr(0, end);
    gitignore.remove_prefix(std::min(end + 1, gitignore.size()));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with('!')) return {};
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.ends_with('/')) line.remove_suffix(1);
    const bool is_plain =
        !line.empty() && !line.starts_with('#') && line.find_first_of("/*?[\\") == line.npos;
    if (is_plain && !is_known_directory(line)) names.emplace_back(line);
  }
  std::ranges::sort(names);
  return names;
}

host_run_search begin_host_run_search(std::string workspace, int directory) {
  host_run_search search;
  search.workspace = std::move(workspace);
  ::clock_gettime(CLOCK_REALTIME_COARSE, &search.since);
  const descriptor file{beneath::open_below(beneath::lookup::openat2, directory, ".gitignore",
                                            {.flags = O_RDONLY | O_NONBLOCK})};
  if (!file.is_open()) return search;
  std::string text(64 * 1024, '\0');
  const auto got = ::read(file.get(), text.data(), text.size());
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  search.ignored = ignored_directories(text);
  return search;
}

void list_ahead(host_run_search& search, int directory) {
  const auto set_id = std::exchange(search.set_id, set_id_files::barred);
  std::vector<to_visit> pending{{"", room::plain, false}};
  std::size_t left = host_run_search::ahead_budget;
  while (!pending.empty()) {
    const auto at = std::move(pending.back());
    pending.pop_back();
    const int fd = open_in(directory, at.path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) continue;
    auto listed = list(fd, choice_for(search, at.kind, left));
    if (!listed) break;
    if (!listed->is_whole) continue;
    left -= listed->count;
    for (const auto& entry : listed->entries) {
      if (!entry.is_directory) continue;
      if (auto next = entered(search, at, entry.name)) pending.push_back(std::move(*next));
    }
    search.ahead.emplace(at.path, std::move(*listed));
  }
  search.set_id = set_id;
}

host_run_report look_for_host_run(const host_run_search& search, int directory) {
  return walk{search, directory}.run();
}

}  // namespace pinfold
