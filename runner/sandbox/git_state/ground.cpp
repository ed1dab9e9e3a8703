// Paths are walked name by name: inside no link is ever believed, since a command can replace it;
// outside they lead where they lead.
#include "sandbox/git_state/ground.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/disk/kernel.hpp>
#include <pinfold/path.hpp>

namespace pinfold {
namespace {

refusal too_much(std::string_view place, std::string what) {
  return refusal{.error = code::not_enforceable,
                 .op = operation::execute,
                 .path = std::string{place},
                 .resolved = {},
                 .boundary = {},
                 .detail = "finding what git obeys there takes " + std::move(what)};
}

file_kind kind_from(mode_t mode) {
  if (S_ISDIR(mode)) return file_kind::directory;
  return S_ISREG(mode) ? file_kind::file : file_kind::link;
}

/// The names still to be walked, the next one last.
class walk_through {
 public:
  walk_through(const git_ground& ground, std::string_view named, const std::string& start)
      : ground_{ground} {
    way_.path = start;
    if (is_absolute(named)) way_.path = "/";
    // Nearly always so: no name above the workspace need be looked at.
    if (const auto rest = tail_below(ground.workspace, named)) {
      way_.path = ground.workspace;
      named = *rest;
    }
    push(named);
  }

  std::expected<git_way, refusal> run() {
    while (!names_.empty()) {
      if (auto left = ground_.budget.take_entry(way_.path); !left) {
        return std::unexpected{std::move(left.error())};
      }
      const auto name = std::move(names_.back());
      names_.pop_back();
      if (name == ".") continue;
      if (name == "..") {
        turn_back();
      } else if (!enter(name)) {
        break;
      }
    }
    const auto tail = tail_below(ground_.workspace, way_.path);
    if (tail && tail->empty()) way_.where = git_way::place::top;
    if (tail && !tail->empty()) {
      way_.where = git_way::place::inside;
      way_.tail = *tail;
    }
    return std::move(way_);
  }

 private:
  void push(std::string_view path) {
    std::vector<std::string> names;
    for (auto name : components{path}) names.emplace_back(name);
    while (!names.empty()) {
      names_.push_back(std::move(names.back()));
      names.pop_back();
    }
  }

  void turn_back() {
    way_.turns_back |= has_entered_;
    way_.kind = file_kind::directory;
    way_.path = std::string{parent_of(way_.path)};
    if (way_.path.empty()) way_.path = "/";
  }

  /// False at the end of the way: nothing is there, or no directory.
  bool enter(const std::string& name) {
    const bool is_inside = contains(ground_.workspace, way_.path);
    const auto next = way_.path == "/" ? "/" + name : way_.path + "/" + name;
    struct stat about{};
    const auto tail = is_inside ? next.substr(ground_.workspace.size() + 1) : std::string{};
    const int found = is_inside
                          ? ::fstatat(ground_.directory, tail.c_str(), &about, AT_SYMLINK_NOFOLLOW)
                          : ::lstat(next.c_str(), &about);
    if (found != 0) return end_at(next, std::nullopt);
    if (S_ISLNK(about.st_mode)) return follow(next, tail, is_inside);
    has_entered_ |= is_inside;
    way_.path = next;
    way_.kind = kind_from(about.st_mode);
    if (way_.kind == file_kind::directory || names_.empty()) return true;
    return end_at(next, std::nullopt);
  }

  bool follow(const std::string& link, const std::string& tail, bool is_inside) {
    if (is_inside && way_.link.empty()) way_.link = tail;
    std::array<char, path_max> text;
    const auto size = is_inside
                          ? ::readlinkat(ground_.directory, tail.c_str(), text.data(), text.size())
                          : ::readlink(link.c_str(), text.data(), text.size());
    constexpr int most = 40;
    if (size <= 0 || ++links_ > most) return end_at(link, std::nullopt);
    const std::string_view target{text.data(), static_cast<std::size_t>(size)};
    if (is_absolute(target)) way_.path = "/";
    push(target);
    return true;
  }

  /// What is missing is named as it would lie there; one that turns back in it cannot be told.
  bool end_at(std::string path, std::optional<file_kind> kind) {
    for (; !names_.empty(); names_.pop_back()) {
      if (names_.back() == ".") continue;
      if (names_.back() == "..") {
        way_.turns_back = true;
        break;
      }
      path += "/" + names_.back();
    }
    way_.path = std::move(path);
    way_.kind = kind;
    return false;
  }

  const git_ground& ground_;
  git_way way_{.where = {}, .path = {}, .tail = {}, .kind = file_kind::directory, .link = {}};
  std::vector<std::string> names_;
  bool has_entered_{false};
  int links_{0};
};

/// The whole of an open file, or an errno.
std::expected<std::string, int> read_all(int file, std::size_t size) {
  std::string text(size + 1, '\0');  // one more, to see the end in one read
  std::size_t have = 0;
  for (;;) {
    const auto got = ::read(file, text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected{errno};
    have += static_cast<std::size_t>(got);
    if (have > size) return std::unexpected{EAGAIN};  // somebody writes it at this moment
    if (got == 0 || have == size) break;
  }
  text.resize(have);
  return text;
}

}  // namespace

refusal unusable(std::string path, std::string why) {
  return refusal{.error = code::carve_out_unusable,
                 .op = operation::execute,
                 .path = std::move(path),
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(why)};
}

git_step git_budget::take_entry(std::string_view place) {
  if (left_.entries == 0) {
    return std::unexpected{
        too_much(place,
                 "more looks than are allowed before a run; remove directories from it that are no "
                 "submodules, or settings that name files, or run in a folder of the checkout")};
  }
  constexpr std::size_t seldom = 64;
  if (--left_.entries % seldom == 0 && std::chrono::steady_clock::now() > until_) {
    return std::unexpected{too_much(
        place,
        "more time than is allowed before a run; see whether its disk answers, or run in a "
        "folder of the checkout")};
  }
  return {};
}

git_step git_budget::take_bytes(std::string_view place, std::size_t count) {
  if (count > left_.bytes) {
    return std::unexpected{
        too_much(place,
                 "more than the bytes of configuration that are read before a run; shorten it, or "
                 "include less")};
  }
  left_.bytes -= count;
  return {};
}

git_step git_budget::take_carve_out(std::string_view place) {
  if (left_.carve_outs == 0) {
    return std::unexpected{too_much(
        place,
        "more mounts than are made before a run; let git's configuration name fewer files of the "
        "workspace, or run in a folder of the checkout")};
  }
  --left_.carve_outs;
  return {};
}

std::string tail_of(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string{name};
  return std::string{directory} + "/" + std::string{name};
}

std::string_view path_in(std::string_view text) {
  const auto last = text.find_last_not_of("\r\n");
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

std::optional<file_kind> kind_of(int parent, const char* name) {
  struct stat about{};
  if (::fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return kind_from(about.st_mode);
}

int open_through_no_link(int directory, std::string_view tail, int flags) {
  const std::string whole{tail.empty() ? std::string_view{"."} : tail};
  const int fast = beneath::open_below(beneath::lookup::openat2, directory, whole.c_str(),
                                       {.flags = flags, .mode = 0, .resolve = beneath::no_links});
  if (fast != -ENOSYS && fast != -EPERM) return fast;
  descriptor held;
  int at = directory;
  for (auto slash = tail.find('/'); slash != tail.npos; slash = tail.find('/')) {
    const std::string name{tail.substr(0, slash)};
    held = descriptor{::openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!held) return -errno;
    at = held.get();
    tail.remove_prefix(slash + 1);
  }
  const int fd =
      ::openat(at, std::string{tail.empty() ? "." : tail}.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

std::expected<git_way, refusal> find_way(const git_ground& ground, std::string_view named,
                                         const std::string& start) {
  return walk_through{ground, named, start}.run();
}

std::expected<std::optional<std::string>, refusal> text_of(const git_ground& ground,
                                                           const std::string& path) {
  constexpr int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  const auto tail = tail_below(ground.workspace, path);
  struct stat about{};
  // Outside, opening something that is no file may do more than open it.
  if (!tail && (::lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))) return std::nullopt;
  const int opened = tail ? open_through_no_link(ground.directory, *tail, flags)
                          : ::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
  const int error = tail ? -opened : errno;
  const descriptor file{opened};
  if (!file) {
    if (!tail || error == ENOENT || error == ENOTDIR) return std::nullopt;
    return std::unexpected{unusable(path, std::strerror(error))};
  }
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > ground.budget.most_of_a_file()) {
    return std::unexpected{unusable(path, "it is larger than a mebibyte")};
  }
  if (auto left = ground.budget.take_bytes(path, size); !left) {
    return std::unexpected{std::move(left.error())};
  }
  auto text = read_all(file.get(), size);
  if (!text && tail) return std::unexpected{unusable(path, std::strerror(text.error()))};
  if (!text) return std::nullopt;
  return std::move(*text);
}

}  // namespace pinfold
