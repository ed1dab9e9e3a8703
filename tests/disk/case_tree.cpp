#include "disk/case_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <pinfold/path.hpp>

#include "disk/case_table.hpp"

namespace pinfold_test {

namespace {

// A user number that no system hands out; ordinary rows need no entry in the password database.
constexpr uid_t ordinary_uid = 54321;

[[noreturn]] void give_up(const std::string& item) {
  throw std::runtime_error{item + ": " + std::strerror(errno)};
}

void must(bool done, const std::string& item) {
  if (!done) give_up(item);
}

// The last folder of `path` and the last name: trees may be deeper than PATH_MAX, so each folder is
// made and entered by its handle.
struct spot {
  int folder;
  std::string name;
  spot(const std::string& scratch, const std::string& path) : folder{open_folder(scratch)} {
    for (auto part : pinfold::components{path}) {
      if (!name.empty()) enter();
      name = part;
    }
  }
  spot(const spot&) = delete;
  ~spot() { ::close(folder); }
  void enter() {
    ::mkdirat(folder, name.c_str(), 0755);
    const int next = ::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    must(next >= 0, name);
    ::close(folder);
    folder = next;
  }
  static int open_folder(const std::string& path) {
    const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    must(fd >= 0, path);
    return fd;
  }
};

struct item {
  char kind;
  std::string left;   // before "->" or "="
  std::string right;  // after it
};

item parse(const std::string& text) {
  auto separator = std::string{"="};
  if (text[0] == 'l' || text[0] == 'k') separator = "->";
  const bool has_two = std::string_view{"lkhcmnbox"}.find(text[0]) != std::string_view::npos;
  const auto body = text.substr(2);
  const auto at = has_two ? body.find(separator) : std::string::npos;
  if (at == std::string::npos) return {text[0], unescape(body), {}};
  return {text[0], unescape(body.substr(0, at)), unescape(body.substr(at + separator.size()))};
}

void make_link(const std::string& scratch, const std::string& path, const std::string& target) {
  const spot at{scratch, path};
  must(::symlinkat(target.c_str(), at.folder, at.name.c_str()) == 0, path);
}

void make_chain(const std::string& scratch, const item& chain) {
  const auto star = chain.left.rfind('*');
  const auto stem = chain.left.substr(0, star);
  const auto name = stem.substr(stem.rfind('/') + 1);
  const int length = std::stoi(chain.left.substr(star + 1));
  for (int i = 1; i <= length; ++i) {
    const auto next = i == length ? chain.right : name + std::to_string(i + 1);
    make_link(scratch, stem + std::to_string(i), next);
  }
}

void make_socket(const spot& at) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = "/proc/self/fd/" + std::to_string(at.folder) + "/" + at.name;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  must(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, at.name);
  ::close(fd);
}

void make_device(const spot& at, const std::string& numbers) {
  const auto comma = numbers.find(',');
  const auto major = static_cast<unsigned>(std::stoi(numbers.substr(0, comma)));
  const auto minor = static_cast<unsigned>(std::stoi(numbers.substr(comma + 1)));
  must(::mknodat(at.folder, at.name.c_str(), S_IFCHR | 0666, makedev(major, minor)) == 0, at.name);
}

// Everything that lies in the tree, before modes, owners, mounts and descriptors.
void make_entry(const std::string& scratch, const item& what) {
  if (what.kind == 'l') return make_link(scratch, what.left, what.right);
  if (what.kind == 'k') return make_chain(scratch, what);
  if (std::string_view{"dfhpsc"}.find(what.kind) == std::string_view::npos) return;
  spot at{scratch, what.left};
  switch (what.kind) {
    case 'd':
      at.enter();
      break;
    case 'f': {
      const int fd = ::openat(at.folder, at.name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      must(fd >= 0, what.left);
      must(::write(fd, "x", 1) == 1, what.left);
      ::close(fd);
      break;
    }
    case 'h': {
      const spot from{scratch, what.right};
      must(::linkat(from.folder, from.name.c_str(), at.folder, at.name.c_str(), 0) == 0, what.left);
      break;
    }
    case 'p':
      must(::mkfifoat(at.folder, at.name.c_str(), 0644) == 0, what.left);
      break;
    case 's':
      make_socket(at);
      break;
    default:
      make_device(at, what.right);
      break;
  }
}

void chown_all(int folder, uid_t owner) {
  DIR* entries = ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  must(entries != nullptr, "chown");
  while (const auto* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    must(::fchownat(folder, entry->d_name, owner, owner, AT_SYMLINK_NOFOLLOW) == 0, name);
    const int next =
        ::openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) continue;
    chown_all(next, owner);
    ::close(next);
  }
  ::closedir(entries);
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream{file} << text;
}

void open_number(const std::string& scratch, const item& what) {
  const int wanted = std::stoi(what.left);
  int fd = -1;
  if (what.right == "pipe") {
    std::array<int, 2> ends{};
    must(::pipe(ends.data()) == 0, what.right);
    fd = ends[0];
  } else {
    const auto deleted = what.right.starts_with("deleted:");
    const auto path = scratch + "/" + (deleted ? what.right.substr(8) : what.right);
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    must(fd >= 0, path);
    if (deleted) ::unlink(path.c_str());
  }
  must(::dup2(fd, wanted) == wanted, what.right);
}

uid_t uid_for(const std::vector<item>& items, asker who) {
  if (::geteuid() != 0) return ::geteuid();
  uid_t uid = who == asker::ordinary_user ? ordinary_uid : 0;
  for (const auto& what : items) {
    if (what.kind != 'u') continue;
    const auto* entry = ::getpwnam(what.left.c_str());
    uid = entry != nullptr ? entry->pw_uid : ordinary_uid;
  }
  return uid;
}

enum class for_how_long { for_good, until_left };

// The saved ids stay, so that a row's user can be left again.
void become(uid_t uid, for_how_long how) {
  if (uid == ::geteuid()) return;
  const auto saved = how == for_how_long::for_good ? uid : 0;
  must(::setgroups(0, nullptr) == 0, "groups");
  must(::setresgid(saved, uid, saved) == 0, "gid");
  must(::setresuid(saved, uid, saved) == 0, "uid");
}

void finish_entry(const std::string& scratch, const item& what) {
  if (what.kind == 'm') {
    const spot at{scratch, what.left};
    const auto mode = static_cast<mode_t>(std::stoi(what.right, nullptr, 8));
    must(::fchmodat(at.folder, at.name.c_str(), mode, 0) == 0, what.left);
  } else if (what.kind == 'n') {
    const spot at{scratch, what.left};
    const auto owner = static_cast<uid_t>(std::stoul(what.right));
    const bool done = ::fchownat(at.folder, at.name.c_str(), owner, static_cast<gid_t>(-1),
                                 AT_SYMLINK_NOFOLLOW) == 0;
    must(done || ::geteuid() != 0, what.left);
  } else if (what.kind == 'b') {
    bind_mount(scratch + "/" + what.right, scratch + "/" + what.left);
  }
}

}  // namespace

void enter_private_mounts() {
  const auto uid = ::geteuid();
  const auto gid = ::getegid();
  if (uid == 0) {
    must(::unshare(CLONE_NEWNS) == 0, "mount namespace");
  } else {
    must(::unshare(CLONE_NEWNS | CLONE_NEWUSER) == 0, "mount namespace");
    write_text("/proc/self/setgroups", "deny");
    write_text("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1");
    write_text("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1");
  }
  must(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
}

void bind_mount(const std::string& from, const std::string& to) {
  must(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0, to);
}

void become_ordinary_user() {
  if (::geteuid() == 0) become(ordinary_uid, for_how_long::for_good);
}

std::string make_scratch() {
  const char* base = std::getenv("TMPDIR");
  std::string made = std::string{base != nullptr ? base : "/tmp"} + "/pinfold-disk-XXXXXX";
  must(::mkdtemp(made.data()) != nullptr, made);
  char* real = ::realpath(made.c_str(), nullptr);
  must(real != nullptr, made);
  std::string path = real;
  std::free(real);
  ::chmod(path.c_str(), 0755);
  return path;
}

void remove_tree(const std::string& path) {
  // By handle and without recursion in the path, so that depth does not matter.
  struct remover {
    static void empty(int folder) {
      ::fchmodat(folder, ".", 0700, 0);
      DIR* entries = ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (entries == nullptr) return;
      while (const auto* entry = ::readdir(entries)) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (::unlinkat(folder, name.c_str(), 0) == 0) continue;
        ::fchmodat(folder, name.c_str(), 0700, 0);
        const int next =
            ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) continue;
        empty(next);
        ::close(next);
        ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
      }
      ::closedir(entries);
    }
  };
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  remover::empty(folder);
  ::close(folder);
  ::rmdir(path.c_str());
}

prepared enter_case(const std::string& scratch, std::string_view tree, asker who) {
  prepared row{scratch + "/ws", {}, {}, {}};
  std::vector<item> items;
  for (const auto& text : tree_items(tree, scratch)) items.push_back(parse(text));
  std::string folder = scratch + "/cwd";
  must(::mkdir(folder.c_str(), 0755) == 0, folder);
  ::umask(022);
  for (const auto& what : items) make_entry(scratch, what);
  const auto uid = uid_for(items, who);
  if (uid != ::geteuid()) {
    const int top = ::open(scratch.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(::fchown(top, uid, uid) == 0, scratch);
    chown_all(top, uid);
    ::close(top);
  }
  bool mounts = false;
  for (const auto& what : items) mounts = mounts || what.kind == 'b';
  if (mounts) enter_private_mounts();
  for (const auto& what : items) finish_entry(scratch, what);
  become(uid, for_how_long::until_left);
  for (const auto& what : items) {
    if (what.kind == 'w') row.workspace = what.left;
    if (what.kind == 'C') folder = scratch + "/" + what.left;
    if (what.kind == 'S') row.start = scratch + "/" + what.left;
    if (what.kind == 'x') {
      row.root_paths.push_back(scratch + "/" + what.left);
      row.root_accesses.push_back(what.right == "write" ? pinfold::root_access::write
                                                        : pinfold::root_access::read);
    }
    if (what.kind == 'o') open_number(scratch, what);
  }
  must(::chdir(folder.c_str()) == 0, folder);
  return row;
}

bool needs_own_process(std::string_view tree) {
  for (const auto& text : tree_items(tree, "")) {
    if (text.starts_with("b:") || text.starts_with("o:")) return true;
  }
  return false;
}

void leave_case() {
  must(::chdir("/") == 0, "/");
  if (::getuid() != 0) return;
  must(::seteuid(0) == 0 && ::setegid(0) == 0, "root again");
}

}  // namespace pinfold_test
