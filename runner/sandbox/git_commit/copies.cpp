// Everything is made below descriptors; the originals are the caller's and nothing has written to them.
#include "sandbox/git_commit/copies.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <pinfold/path.hpp>

#include "git/view.hpp"
#include "launch/random_digits.hpp"
#include "sandbox/git_commit/files.hpp"
#include "sandbox/own_places.hpp"

namespace pinfold {
namespace {

using made = std::expected<void, refusal>;

std::unexpected<refusal> refused(const std::string& path, int error) {
  const bool is_denied = error == EACCES || error == EPERM;
  return std::unexpected{
      refusal{.error = is_denied ? code::permission_denied : code::resource_exhausted,
              .op = operation::execute,
              .path = path,
              .resolved = {},
              .boundary = "--git-commit",
              .detail = std::string{"making private copies: "} + std::strerror(error)}};
}

/// Directories one below the other; the last one, open.
std::expected<descriptor, int> open_each(int from, std::string_view tail, absent_directory absent) {
  descriptor at{::openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!at) return std::unexpected{errno};
  for (const auto name : components{tail}) {
    auto next = open_directory(at.get(), std::string{name}, absent);
    if (!next) return next;
    at = std::move(*next);
  }
  return at;
}

constexpr std::uint64_t most_of_a_copy = std::uint64_t{1} << 30;

/// One that is not there is no error.
int copy_if_there(int from, const std::string& name, int to) {
  const auto copied = copy_file(from, name, to, name, most_of_a_copy);
  return copied || copied.error() == ENOENT ? 0 : copied.error();
}

int copy_shared_indexes(int from, int to) {
  return for_each_name(from, [&](const std::string& name) {
    return name.starts_with("sharedindex.") ? copy_if_there(from, name, to) : 0;
  });
}

int copy_worktree(int from, int to) {
  for (const char* name :
       {"commondir", "gitdir", "index", "config.worktree", "ORIG_HEAD", "COMMIT_EDITMSG"}) {
    if (const int wrong = copy_if_there(from, name, to); wrong != 0) return wrong;
  }
  if (const int wrong = copy_shared_indexes(from, to); wrong != 0) return wrong;
  const auto logs = open_directory(to, "logs", absent_directory::is_made);
  if (!logs) return logs.error();
  const auto old = open_directory(from, "logs", absent_directory::is_an_error);
  if (!old) return old.error() == ENOENT ? 0 : old.error();
  return copy_if_there(old->get(), "HEAD", logs->get());
}

/// What the object directory borrows, as it is called inside.
int make_objects(int objects, const std::string& parent) {
  const auto info = open_directory(objects, "info", absent_directory::is_made);
  if (!info) return info.error();
  const auto pack = open_directory(objects, "pack", absent_directory::is_made);
  if (!pack) return pack.error();
  return write_new_file(info->get(), "alternates", parent + "\n");
}

/// Empty where there is none.
std::string identity_of(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return {};
  std::string text;
  for (const auto number : {static_cast<std::int64_t>(about.st_ino), std::int64_t{about.st_size},
                            std::int64_t{about.st_ctim.tv_sec}, std::int64_t{about.st_ctim.tv_nsec}}) {
    text += std::to_string(number) + " ";
  }
  return text;
}

std::string index_of(const commit_ground& ground) {
  return ground.worktree.gitdir + "/index";
}

class filling {
 public:
  filling(const commit_ground& ground, const std::string& path, int directory)
      : ground_{ground}, path_{path}, directory_{directory} {}

  made run() const {
    const auto common = open_original(ground_.worktree.common);
    const auto gitdir = open_original(ground_.worktree.gitdir);
    if (!common) return refused(ground_.worktree.common, common.error());
    if (!gitdir) return refused(ground_.worktree.gitdir, gitdir.error());
    const auto parent = open_directory(directory_, "parent", absent_directory::is_made);
    const auto own = open_directory(directory_, "private", absent_directory::is_made);
    if (!parent || !own) return refused(path_, parent ? own.error() : parent.error());
    int wrong = fill(own->get(), gitdir->get());
    if (wrong == 0) wrong = fill_branch(own->get(), common->get());
    if (wrong != 0) return refused(path_, wrong);
    return {};
  }

 private:
  static std::expected<descriptor, int> open_original(const std::string& path) {
    descriptor open{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!open) return std::unexpected{errno};
    return open;
  }

  int fill(int own, int gitdir) const {
    const auto objects = open_directory(own, "objects", absent_directory::is_made);
    if (!objects) return objects.error();
    if (const int wrong = make_objects(objects->get(), path_ + "/parent"); wrong != 0) return wrong;
    const auto copy = open_directory(own, "gitdir", absent_directory::is_made);
    if (!copy) return copy.error();
    const int wrong = write_new_file(copy->get(), "HEAD", "ref: " + ground_.branch + "\n");
    return wrong != 0 ? wrong : copy_worktree(gitdir, copy->get());
  }

  /// git takes the directories of a branch away when the branch is packed, so they may have to be made.
  int fill_branch(int own, int common) const {
    const auto refs = open_directory(own, "refs", absent_directory::is_made);
    if (!refs) return refs.error();
    if (const int wrong = write_new_file(refs->get(), "work", ground_.tip + "\n"); wrong != 0) {
      return wrong;
    }
    const auto logs = open_directory(own, "logs", absent_directory::is_made);
    if (!logs) return logs.error();
    const auto old_refs = open_each(common, ground_.refs(), absent_directory::is_made_as_usual);
    if (!old_refs) return old_refs.error();
    const auto old_logs =
        open_each(common, "logs/" + ground_.refs(), absent_directory::is_made_as_usual);
    if (!old_logs) return old_logs.error();
    return copy_if_there(old_logs->get(), "work", logs->get());
  }

  const commit_ground& ground_;
  const std::string& path_;
  int directory_;
};

}  // namespace

std::expected<std::string, refusal> commits_root_of(const caller& who) {
  auto place = state_place_of(who, "/commits");
  if (!place) return std::unexpected{std::move(place.error())};
  if (*place) return std::move(**place);
  return std::unexpected{refusal{.error = code::not_enforceable,
                                 .op = operation::execute,
                                 .path = "--git-commit",
                                 .resolved = {},
                                 .boundary = {},
                                 .detail = "there is no home to keep private copies in: set HOME "
                                           "or XDG_STATE_HOME"}};
}

std::expected<commit_copies, refusal> commit_copies::make(const commit_ground& ground,
                                                          const std::string& root,
                                                          missing_part missing) {
  const auto name = random_digits();
  if (name.empty()) return refused(root, EAGAIN);
  if (missing == missing_part::left_out) return commit_copies{root + "/" + name, {}};
  if (auto safe = check_no_links(ground.worktree.common, ground.branch); !safe) {
    return std::unexpected{std::move(safe.error())};
  }
  auto held = open_owned_way(root, missing_part::made);
  if (!held) return std::unexpected{std::move(held.error())};
  if (auto ours = check_private(held->get(), root); !ours) {
    return std::unexpected{std::move(ours.error())};
  }
  if (::mkdirat(held->get(), name.c_str(), S_IRWXU) != 0) return refused(root, errno);
  commit_copies copies{root + "/" + name, std::move(*held)};
  if (auto done = copies.fill(ground); !done) return std::unexpected{std::move(done.error())};
  return copies;
}

made commit_copies::fill(const commit_ground& ground) {
  const std::string name{path_.substr(path_.rfind('/') + 1)};
  auto open = open_directory(root_.get(), name, absent_directory::is_an_error);
  if (!open) return refused(path_, open.error());
  directory_ = std::move(*open);
  index_ = identity_of(index_of(ground));
  return filling{ground, path_, directory_.get()}.run();
}

commit_copies::commit_copies(commit_copies&& other) noexcept
    : path_{std::exchange(other.path_, std::string{})},
      root_{std::move(other.root_)},
      directory_{std::move(other.directory_)},
      index_{std::move(other.index_)},
      is_kept_{other.is_kept_} {}

commit_copies::~commit_copies() {
  if (!root_ || path_.empty() || is_kept_) return;
  directory_.reset();
  remove_whole(root_.get(), path_.substr(path_.rfind('/') + 1));
}

bool commit_copies::has_same_index(const commit_ground& ground) const {
  return identity_of(index_of(ground)) == index_;
}

std::vector<replaced_path> replaced_by(const commit_copies& copies, const commit_ground& ground) {
  const auto& [gitdir, common, is_worktree] = ground.worktree;
  const auto own = copies.path() + "/private";
  const auto refs = common + "/" + ground.refs();
  const auto logs = common + "/logs/" + ground.refs();
  const auto write = root_access::write;
  return {{common + "/objects", copies.path() + "/parent", root_access::read},
          {own + "/objects", common + "/objects", write},
          {own + "/gitdir", gitdir, write},
          {own + "/refs", refs, write},
          {own + "/logs", logs, write},
          {gitdir + "/commondir", gitdir + "/commondir", root_access::read},
          {gitdir + "/gitdir", gitdir + "/gitdir", root_access::read}};
}

std::string covered_by(const commit_copies& copies) {
  return copies.path() + "/private";
}

}  // namespace pinfold
