// The lists are the policy; the code around them only asks whether a place is there.
#include "sandbox/places.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/path.hpp>

namespace pinfold {
namespace {

using std::string_view_literals::operator""sv;

/// System directories that are never a workspace themselves; what lies below them may be.
constexpr std::array too_broad{
    "/"sv,     "/bin"sv,     "/boot"sv,    "/dev"sv,       "/etc"sv,      "/home"sv,
    "/lib"sv,  "/lib64"sv,   "/media"sv,   "/mnt"sv,       "/opt"sv,      "/proc"sv,
    "/root"sv, "/run"sv,     "/sbin"sv,    "/srv"sv,       "/sys"sv,      "/tmp"sv,
    "/usr"sv,  "/usr/bin"sv, "/usr/lib"sv, "/usr/local"sv, "/usr/sbin"sv, "/usr/share"sv,
    "/var"sv,  "/var/lib"sv, "/var/tmp"sv};

/// Trees of the kernel's own: no folder below them is a project.
constexpr std::array kernel_trees{"/proc"sv, "/sys"sv, "/dev"sv};

/// Folders of a home that hold credentials and nothing else.
constexpr std::array credentials{".ssh"sv, ".aws"sv, ".gnupg"sv};

constexpr std::array secrets{"/etc/shadow"sv,
                             "/etc/shadow-"sv,
                             "/etc/gshadow"sv,
                             "/etc/gshadow-"sv,
                             "/etc/security/opasswd"sv,
                             "/etc/ssh/ssh_host_rsa_key"sv,
                             "/etc/ssh/ssh_host_ecdsa_key"sv,
                             "/etc/ssh/ssh_host_ed25519_key"sv};

/// /etc under `--root minimal`: the dynamic loader, users, time zone, certificates, the links that
/// many commands are, and name resolution.
constexpr std::array minimal_etc{
    "/etc/alternatives"sv,   "/etc/bash.bashrc"sv,  "/etc/ca-certificates"sv,
    "/etc/debian_version"sv, "/etc/fonts"sv,        "/etc/group"sv,
    "/etc/inputrc"sv,        "/etc/ld.so.cache"sv,  "/etc/ld.so.conf"sv,
    "/etc/ld.so.conf.d"sv,   "/etc/locale.alias"sv, "/etc/localtime"sv,
    "/etc/magic"sv,          "/etc/mime.types"sv,   "/etc/nsswitch.conf"sv,
    "/etc/os-release"sv,     "/etc/passwd"sv,       "/etc/pki/tls/certs"sv,
    "/etc/profile"sv,        "/etc/protocols"sv,    "/etc/services"sv,
    "/etc/shells"sv,         "/etc/ssl/certs"sv,    "/etc/ssl/openssl.cnf"sv,
    "/etc/terminfo"sv,       "/etc/timezone"sv};
constexpr std::array minimal_etc_network{"/etc/gai.conf"sv, "/etc/host.conf"sv, "/etc/hosts"sv,
                                         "/etc/resolv.conf"sv};

std::optional<std::string> canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found{::realpath(path.c_str(), nullptr),
                                                          &std::free};
  if (!found) return std::nullopt;
  return std::string{found.get()};
}

bool is_directory(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

refusal too_broad_for(const std::string& workspace, std::string boundary, std::string detail) {
  return refusal{.error = code::workspace_too_broad,
                 .op = operation::execute,
                 .path = workspace,
                 .resolved = {},
                 .boundary = std::move(boundary),
                 .detail = std::move(detail)};
}

/// The credentials folder of a home that holds `path`, or that `path` holds; empty when none does.
std::string credentials_at(const std::string& path, const caller& who) {
  for (const auto& home : who.homes) {
    for (auto name : credentials) {
      auto folder = home + "/" + std::string{name};
      if (contains(folder, path) || contains(path, folder)) return folder;
    }
  }
  return {};
}

void add_visible(std::vector<visible_path>& list, const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return;
  visible_path entry{.path = path, .type = file_kind::directory, .target = {}};
  if (S_ISLNK(about.st_mode)) {
    std::array<char, path_max> text{};
    const auto size = ::readlink(path.c_str(), text.data(), text.size());
    if (size <= 0) return;
    entry.type = file_kind::link;
    entry.target.assign(text.data(), static_cast<std::size_t>(size));
  } else if (!S_ISDIR(about.st_mode)) {
    entry.type = file_kind::file;
  }
  list.push_back(std::move(entry));
}

}  // namespace

std::vector<hidden_path> hidden_places(const caller& who) {
  using use = hidden_path::use;
  std::vector<hidden_path> all;
  const auto add = [&all](const std::string& path, use contents) {
    auto found = canonical(path);
    if (found && is_directory(*found)) all.push_back({std::move(*found), contents});
  };
  add("/tmp", use::scratch);
  add("/var/tmp", use::scratch);
  add("/run", use::closed);
  add("/var/run", use::closed);
  for (const auto& home : who.homes) add(home, use::closed);
  if (const auto runtime = who.environment.find("XDG_RUNTIME_DIR");
      runtime && is_absolute(*runtime)) {
    add(std::string{*runtime}, use::closed);
  }
  // Outermost only: what lies below another hidden place is covered with it.
  std::ranges::stable_sort(all, {}, &hidden_path::path);
  std::vector<hidden_path> outermost;
  for (auto& place : all) {
    if (outermost.empty() || !contains(outermost.back().path, place.path)) {
      outermost.push_back(std::move(place));
    }
  }
  return outermost;
}

std::vector<std::string> secret_files() {
  std::vector<std::string> readable;
  for (auto path : secrets) {
    std::string name{path};
    struct stat about {};
    const bool is_file = ::lstat(name.c_str(), &about) == 0 && S_ISREG(about.st_mode);
    if (is_file && ::access(name.c_str(), R_OK) == 0) readable.push_back(std::move(name));
  }
  return readable;
}

/// In order, the last line permits; the sandbox's plan checks again that nothing hidden is
/// uncovered:
///  1. a system directory itself               -> refuse
///  2. anything in a tree of the kernel's      -> refuse, but for folders below /dev/shm
///  3. a home, or anything above a home        -> refuse
///  4. anything above a hidden place           -> refuse
///  5. credentials of a home                   -> refuse
///  6. anything else                           -> a workspace
std::expected<void, refusal> check_breadth(const std::string& workspace, const caller& who,
                                           const std::vector<hidden_path>& hidden) {
  if (std::ranges::find(too_broad, workspace) != too_broad.end()) {
    return std::unexpected{too_broad_for(workspace, workspace, "it is a system directory")};
  }
  const bool in_shared_memory = workspace.starts_with("/dev/shm/");
  for (auto tree : kernel_trees) {
    if (contains(tree, workspace) && !in_shared_memory) {
      return std::unexpected{too_broad_for(workspace, std::string{tree}, "it is the kernel's own")};
    }
  }
  for (const auto& home : who.homes) {
    if (contains(workspace, home)) {
      return std::unexpected{too_broad_for(workspace, home, "it holds a home directory")};
    }
  }
  for (const auto& place : hidden) {
    if (contains(workspace, place.path)) {
      return std::unexpected{too_broad_for(workspace, place.path, "it holds a hidden place")};
    }
  }
  if (auto folder = credentials_at(workspace, who); !folder.empty()) {
    return std::unexpected{too_broad_for(workspace, std::move(folder), "it holds credentials")};
  }
  return {};
}

/// By the mode bits alone. Where an access list may say more, the kernel is left to answer.
std::expected<void, refusal> check_search(const std::string& workspace, int directory) {
  struct stat about {};
  if (::fstat(directory, &about) != 0 || ::geteuid() != 0 || about.st_uid == 0) return {};
  const bool is_member = about.st_gid == ::getegid() || ::group_member(about.st_gid) != 0;
  const auto search = static_cast<mode_t>(is_member ? S_IXGRP : S_IXOTH);
  if ((about.st_mode & search) != 0) return {};
  if (::fgetxattr(directory, "system.posix_acl_access", nullptr, 0) > 0) return {};
  auto why = too_broad_for(workspace, workspace, "another user owns it and does not let you in");
  why.error = code::workspace_not_writable;
  return std::unexpected{std::move(why)};
}

std::expected<shared_path, refusal> read_root(const std::string& path, const caller& who,
                                              const std::vector<hidden_path>& hidden) {
  auto found = canonical_workspace(path);
  if (!found) return std::unexpected{std::move(found.error())};
  const auto refuse = [&](std::string boundary, std::string why) {
    auto broad = too_broad_for(path, std::move(boundary), std::move(why));
    broad.error = code::invalid_argument;
    broad.resolved = *found;
    return std::unexpected{std::move(broad)};
  };
  for (const auto& place : hidden) {
    if (contains(*found, place.path))
      return refuse(place.path, "it would show a hidden place whole");
  }
  for (const auto& home : who.homes) {
    if (contains(*found, home)) return refuse(home, "it would show a home directory whole");
    if (*found == home + "/.config") return refuse(*found, "choose a folder below .config");
  }
  if (auto folder = credentials_at(*found, who); !folder.empty()) {
    return refuse(std::move(folder), "credentials are never shown");
  }
  for (auto tree : {"/run"sv, "/proc"sv, "/sys"sv, "/dev"sv}) {
    if (contains(tree, *found))
      return refuse(std::string{tree}, "sockets and kernel files lie there");
  }
  return shared_path{.source = *found, .target = *found, .access = root_access::read};
}

std::vector<visible_path> minimal_root(network_access network) {
  std::vector<visible_path> list;
  for (auto path : {"/usr"sv, "/bin"sv, "/sbin"sv, "/lib"sv, "/lib32"sv, "/lib64"sv, "/libx32"sv}) {
    add_visible(list, std::string{path});
  }
  for (auto path : minimal_etc) add_visible(list, std::string{path});
  if (network == network_access::on) {
    for (auto path : minimal_etc_network) add_visible(list, std::string{path});
  }
  return list;
}

std::vector<shared_path> resolver_files() {
  auto found = canonical("/etc/resolv.conf");
  if (!found || *found == "/etc/resolv.conf") return {};
  return {shared_path{.source = *found, .target = *found, .access = root_access::read}};
}

}  // namespace pinfold
