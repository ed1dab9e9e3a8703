// From descriptor to descriptor: what was looked at is what is opened. See audit_place.hpp.
#include "cli/audit_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <pinfold/caches.hpp>
#include <pinfold/path.hpp>

#include "sandbox/caches.hpp"
#include "host/owned_way.hpp"

namespace pinfold {
namespace {

constexpr mode_t anything_for_others = S_IRWXG | S_IRWXO;

refusal refused(code error, const std::string& path, std::string why) {
  return refusal{.error = error,
                 .op = operation::write,
                 .path = path,
                 .resolved = {},
                 .boundary = {},
                 .detail = "--audit: " + std::move(why)};
}

/// What is wrong with a directory, told of the log that would lie there.
refusal refused_there(const std::string& path, refusal why) {
  auto told = refused(why.error, path,
                      std::move(why.detail) + "; choose a file in a directory of your own (mode 0700)");
  told.boundary = std::move(why.path);
  return told;
}

refusal failed(const std::string& path, int number) {
  const auto error = number == ENOENT ? code::not_found : code::permission_denied;
  return refused(error, path, std::generic_category().message(number));
}

struct split_path {
  std::string there;    ///< its directory as far as it is there, canonical
  std::string missing;  ///< the rest of its directory, below that
  std::string name;
};

/// Takes the last name off `directory` and puts it before `missing`. False for what is no name.
bool take_last(std::string& directory, std::string& missing) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  const auto slash = directory.rfind('/');
  const auto last = directory.substr(slash == std::string::npos ? 0 : slash + 1);
  if (last.empty() || last == "." || last == "..") return false;
  missing = missing.empty() ? last : last + '/' + missing;
  directory = slash == std::string::npos ? "." : directory.substr(0, slash + 1);
  return true;
}

std::expected<split_path, refusal> split(const std::string& path) {
  const auto slash = path.rfind('/');
  const auto name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (name.empty() || name == "." || name == ".." || path.contains('\0')) {
    return std::unexpected{refused(code::invalid_path, path, "an audit log is a file")};
  }
  auto directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  std::string missing;
  for (;;) {
    const std::unique_ptr<char, void (*)(void*)> real{::realpath(directory.c_str(), nullptr),
                                                      std::free};
    if (real != nullptr) return split_path{real.get(), missing, name};
    const int why = errno;
    if (why != ENOENT || !take_last(directory, missing)) return std::unexpected{failed(path, why)};
  }
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

refusal within_reach(const std::string& path) {
  return refused(code::invalid_argument, path,
                 "a command could change an audit log that lies there: choose a place outside of the "
                 "workspace and of the caches");
}

/// Goes up from the directory to the root, and compares by identity: a name may be another one's.
std::expected<void, refusal> check_apart(int directory, const std::string& path,
                                         std::span<const std::string> writable) {
  std::vector<struct stat> places;
  for (const auto& place : writable) {
    struct stat about{};
    if (::stat(place.c_str(), &about) == 0) places.push_back(about);
  }
  descriptor at{::fcntl(directory, F_DUPFD_CLOEXEC, 0)};
  struct stat below{};
  for (bool is_first = true;; is_first = false) {
    struct stat here{};
    if (!at || ::fstat(at.get(), &here) != 0) return std::unexpected{failed(path, errno)};
    if (std::ranges::any_of(places, [&](const auto& one) { return is_same(one, here); })) {
      return std::unexpected{within_reach(path)};
    }
    if (!is_first && is_same(here, below)) return {};
    below = here;
    at.reset(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
}

/// The way there belongs to the caller, and no command reaches it.
std::expected<descriptor, refusal> open_way(const std::string& directory, missing_part missing,
                                            const std::string& path,
                                            std::span<const std::string> writable) {
  auto at = open_owned_way(directory, missing);
  if (!at) return std::unexpected{refused_there(path, std::move(at.error()))};
  if (!*at) return std::unexpected{failed(path, ENOENT)};
  if (auto apart = check_apart(at->get(), path, writable); !apart) {
    return std::unexpected{std::move(apart.error())};
  }
  return at;
}

/// Nothing is made before what is there was looked at, nor where a command could write: a place of
/// caches may not be there yet, so that its name has to do.
std::expected<descriptor, refusal> open_directory(const split_path& where, const std::string& path,
                                                  std::span<const std::string> writable) {
  auto whole = where.there;
  auto at = open_way(whole, missing_part::left_out, path, writable);
  if (at && !where.missing.empty()) {
    whole += (whole == "/" ? "" : "/") + where.missing;
    if (std::ranges::any_of(writable, [&](const auto& one) { return contains(one, whole); })) {
      return std::unexpected{within_reach(path)};
    }
    at = open_way(whole, missing_part::made, path, writable);
  }
  if (!at) return at;
  if (auto ours = check_unshared(at->get(), whole); !ours) {
    return std::unexpected{refused_there(path, std::move(ours.error()))};
  }
  return at;
}

std::expected<void, refusal> check_file(int file, const std::string& path) {
  struct stat about{};
  if (::fstat(file, &about) != 0) return std::unexpected{failed(path, errno)};
  if (!S_ISREG(about.st_mode)) {
    return std::unexpected{refused(code::invalid_argument, path, "an audit log is a plain file")};
  }
  if (about.st_nlink != 1) {
    return std::unexpected{refused(code::invalid_argument, path, "it has a second name (a hard link)")};
  }
  if (about.st_uid != ::geteuid()) {
    return std::unexpected{refused(code::permission_denied, path, "another user owns it")};
  }
  if ((about.st_mode & anything_for_others) != 0) {
    return std::unexpected{
        refused(code::permission_denied, path, "it must be yours alone (chmod 0600)")};
  }
  return {};
}

/// O_NONBLOCK, so that a FIFO is not waited for.
std::expected<descriptor, refusal> open_file(int directory, const std::string& name,
                                             const std::string& path) {
  descriptor file{::openat(
      directory, name.c_str(),
      O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, S_IRUSR | S_IWUSR)};
  if (!file && errno == ELOOP) {
    return std::unexpected{refused(code::invalid_argument, path, "it is a link")};
  }
  if (!file && (errno == EISDIR || errno == ENXIO)) {
    return std::unexpected{refused(code::invalid_argument, path, "an audit log is a plain file")};
  }
  if (!file) return std::unexpected{failed(path, errno)};
  return file;
}

}  // namespace

std::expected<std::vector<std::string>, refusal> writable_places(const std::string& workspace,
                                                                 cache_choice caches,
                                                                 const caller& who) {
  std::vector<std::string> places{workspace};
  auto root = cache_root_of(who);
  if (!root) return std::unexpected{std::move(root.error())};
  if (*root) places.push_back(std::move(**root));
  if (caches != cache_choice::shared || who.home.empty()) return places;
  for (const auto& one : shared_caches_on_linux) {
    if (one.access == root_access::write) places.push_back(below_home(one.path, who.home));
  }
  return places;
}

std::expected<descriptor, refusal> open_audit_file(const std::string& path,
                                                   std::span<const std::string> writable) {
  const auto where = split(path);
  if (!where) return std::unexpected{where.error()};
  const auto directory = open_directory(*where, path, writable);
  if (!directory) return std::unexpected{directory.error()};
  auto file = open_file(directory->get(), where->name, path);
  if (!file) return file;
  if (auto fit = check_file(file->get(), path); !fit) return std::unexpected{std::move(fit.error())};
  return file;
}

std::expected<std::unique_ptr<mcp::audit_log>, refusal> begin_audit_log(const std::string& path,
                                                                        const mcp::session& now,
                                                                        const caller& who) {
  const auto& asked = now.settings().defaults;
  const auto writable = writable_places(asked.workspace, asked.caches, who);
  if (!writable) return std::unexpected{writable.error()};
  auto file = open_audit_file(path, *writable);
  if (!file) return std::unexpected{std::move(file.error())};
  mcp::audit_opening facts{.workspace = asked.workspace,
                           .present = asked.present,
                           .open = asked.open,
                           .labels = asked.labels,
                           .boundary = now.boundary()};
  for (const auto& entry : egress_list_of(asked.egress)) facts.egress.push_back(entry.text());
  return mcp::audit_log::begin(std::move(*file), path, std::move(facts));
}

}  // namespace pinfold
