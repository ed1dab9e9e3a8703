#include "worktree/unseen.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

#include "git/run_git.hpp"
#include "launch/memory_file.hpp"

namespace pinfold {
namespace {

bool is_called(std::string_view name, std::string_view wanted) {
  const auto same = [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one + ('a' - 'A')) : one) == other;
  };
  return std::ranges::equal(name, wanted, same);
}

bool is_directory(int parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat about {};
  return ::fstatat(parent, entry.d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(about.st_mode);
}

class looking {
 public:
  explicit looking(const walk_bounds& most) : left_{most} {}

  unseen_names run(int top) {
    struct stat about {};
    if (::fstat(top, &about) != 0) {
      found_.not_seen = cannot_be_looked_at(".");
    } else {
      device_ = about.st_dev;
      look_below(::openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), {});
    }
    return std::move(found_);
  }

 private:
  static std::string cannot_be_looked_at(const std::string& path) {
    return "this cannot be looked at: " + path + " (" + std::strerror(errno) + ")";
  }

  /// Takes the descriptor. Depth is bounded by the descriptors that a process may have.
  void look_below(int directory, const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> list{directory < 0 ? nullptr : ::fdopendir(directory),
                                                   &::closedir};
    if (!list) {
      found_.not_seen = cannot_be_looked_at(path.empty() ? "." : path);
      return;
    }
    struct stat about {};
    if (::fstat(directory, &about) != 0 || about.st_dev != device_) {
      found_.not_seen = "something is mounted on " + path;
      return;
    }
    while (const dirent* entry = ::readdir(list.get())) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..") continue;
      take(directory, *entry, path.empty() ? std::string{name} : path + "/" + entry->d_name);
      if (!found_.not_seen.empty()) return;
    }
  }

  void take(int directory, const dirent& entry, std::string path) {
    constexpr std::size_t most_of_a_path = PATH_MAX / 2;  // the place of the tree comes before it
    if (left_.names == 0) {
      found_.not_seen = "it holds too many files to be looked through";
      return;
    }
    --left_.names;
    if (path.size() > most_of_a_path) {
      found_.not_seen = "it is too deep to be looked through: " + path.substr(0, path.find('/'));
      return;
    }
    if (is_called(entry.d_name, ".git")) return take_repository(std::move(path));
    if (is_directory(directory, entry)) {
      look_below(::openat(directory, entry.d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                 path);
    } else if (is_called(entry.d_name, ".gitignore")) {
      take_ignore_file(std::move(path));
    }
  }

  void take_repository(std::string path) {
    if (path == ".git") return;
    if (found_.repositories.size() == left_.repositories) {
      found_.not_seen = "it holds too many repositories to be looked through";
      return;
    }
    found_.repositories.push_back(std::move(path));
  }

  void take_ignore_file(std::string path) {
    if (path.size() > left_.ignore_bytes) {
      found_.not_seen = "it holds too many ignore files to be looked through";
      return;
    }
    left_.ignore_bytes -= path.size();
    found_.ignore_files.push_back(std::move(path));
  }

  walk_bounds left_;
  dev_t device_{};
  unseen_names found_;
};

/// The answers of git that end in a zero byte, one by one.
class zero_ended {
 public:
  explicit zero_ended(std::function<void(std::string)> each) : each_{std::move(each)} {}

  void take(std::string_view piece) {
    for (auto end = piece.find('\0'); end != piece.npos; end = piece.find('\0')) {
      begun_.append(piece.substr(0, end));
      each_(std::exchange(begun_, {}));
      piece.remove_prefix(end + 1);
    }
    begun_.append(piece);
  }

 private:
  std::function<void(std::string)> each_;
  std::string begun_;
};

git_call call_in(const worktree_files& files, const worktree_record& record,
                 std::vector<std::string> words) {
  git_call call;
  call.git_dir = files.view();
  call.work_tree = record.about.path;
  call.directory = record.about.path;
  call.words = std::move(words);
  return call;
}

std::unexpected<refusal> could_not_say(const worktree_record& record, std::string why) {
  git_answer nothing;
  nothing.err = std::move(why);
  return std::unexpected{git_refusal(record.about.path, "asking what is ignored", nothing)};
}

/// Of the paths those that the view's index does not hold.
std::expected<std::vector<std::string>, refusal> not_in_tip(const std::string& git,
                                                            const worktree_files& files,
                                                            const worktree_record& record,
                                                            const std::vector<std::string>& paths) {
  std::set<std::string> left{paths.begin(), paths.end()};
  zero_ended names{[&left](const std::string& name) { left.erase(name); }};
  auto call = call_in(files, record, {"ls-files", "-z", "--cached"});
  call.on_output = [&names](std::string_view piece) { names.take(piece); };
  const auto done = run_git(git, call);
  if (!done) return std::unexpected{done.error()};
  if (!done->has_succeeded()) return could_not_say(record, done->err);
  return std::vector<std::string>{left.begin(), left.end()};
}

/// "./" keeps git from reading a name that begins with ':' as more than a name.
std::string asked_as(const std::string& directory) {
  return "./" + directory;
}

/// The ignored ones of these directories, as they are asked for, whatever they hold. A rule of an ignore
/// file that the tip does not have may be among those that count; but then the directory of that file
/// is asked for as well, and is not ignored: git reads no ignore file in one that is.
std::expected<std::set<std::string>, refusal> ignored_of(const std::string& git,
                                                         const worktree_files& files,
                                                         const worktree_record& record,
                                                         const std::set<std::string>& directories) {
  std::string text;
  for (const auto& one : directories) text.append(asked_as(one)).push_back('\0');
  const auto input = make_memory_file("pinfold-directories", text, memory_file_use::data);
  if (!input) return could_not_say(record, std::strerror(input.error()));
  std::set<std::string> ignored;
  zero_ended names{[&ignored](std::string name) { ignored.insert(std::move(name)); }};
  auto call = call_in(files, record, {"check-ignore", "-z", "--stdin", "--no-index"});
  call.environment = {"GIT_LITERAL_PATHSPECS=0"};  // check-ignore takes no other
  call.input = input->get();
  call.on_output = [&names](std::string_view piece) { names.take(piece); };
  const auto done = run_git(git, call);
  if (!done) return std::unexpected{done.error()};
  constexpr int none_is_ignored = 1;  // git-check-ignore(1), "EXIT STATUS"
  if (done->exit_code != none_is_ignored && !done->has_succeeded()) {
    return could_not_say(record, done->err);
  }
  return ignored;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? std::string{} : path.substr(0, slash);
}

std::expected<std::vector<std::string>, refusal> hiding_files(const std::string& git,
                                                              const worktree_files& files,
                                                              const worktree_record& record,
                                                              const std::vector<std::string>& all) {
  if (all.empty()) return all;
  auto news = not_in_tip(git, files, record, all);
  if (!news) return news;
  std::set<std::string> directories;
  for (const auto& one : *news) directories.insert(directory_of(one));
  directories.erase("");  // the top is never ignored
  if (directories.empty()) return news;
  const auto ignored = ignored_of(git, files, record, directories);
  if (!ignored) return std::unexpected{ignored.error()};
  std::erase_if(*news, [&](const auto& one) { return ignored->contains(asked_as(directory_of(one))); });
  return news;
}

}  // namespace

unseen_names find_unseen(int top, const walk_bounds& most) {
  return looking{most}.run(top);
}

std::expected<std::vector<std::string>, refusal> unseen_by_git(const std::string& git,
                                                               const worktree_files& files,
                                                               const worktree_record& record) {
  const descriptor top{
      ::open(record.about.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  auto found = find_unseen(top.get());
  std::vector<std::string> reasons;
  if (!found.not_seen.empty()) reasons.push_back(std::move(found.not_seen));
  for (const auto& one : found.repositories) {
    reasons.push_back("git does not show what is in " + one);
  }
  const auto hiding = hiding_files(git, files, record, found.ignore_files);
  if (!hiding) return std::unexpected{hiding.error()};
  for (const auto& one : *hiding) {
    reasons.push_back("an ignore file that its branch does not have may hide work: " + one);
  }
  return reasons;
}

}  // namespace pinfold
