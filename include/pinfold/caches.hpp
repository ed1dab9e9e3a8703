// Where tools keep what they fetched and built: which of these places a command finds, and which it
// must never get. Lists and nothing else; what is there, and whose it is, the runner asks the disk.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinfold/grant.hpp>
#include <pinfold/path.hpp>

namespace pinfold {

/// Which caches a command finds in its home.
enum class cache_choice : std::uint8_t {
  none,    ///< empty ones, gone with the run
  own,     ///< the workspace's own, kept from run to run
  shared,  ///< the user's, where they are data
};

[[nodiscard]] constexpr std::string_view name_of(cache_choice value) noexcept {
  switch (value) {
    case cache_choice::none:
      return "none";
    case cache_choice::own:
      return "own";
    case cache_choice::shared:
      return "shared";
  }
  return "none";
}

/// Whose a cache is: one workspace's, or the user's and so everybody's.
enum class cache_owner : std::uint8_t { workspace, user };

/// A part of the user's caches that `shared` shows. `read` where the tool works with that and a
/// program of the host obeys what lies there.
struct shared_cache {
  std::string_view path;
  root_access access;
};

// In all lists "~" is the home: the sandbox's own for `kept_caches`, the user's for the others.

/// What a workspace keeps, each bound from a directory of its own (Linux).
inline constexpr std::array<std::string_view, 5> kept_caches{"~/.cache", "~/.npm", "~/.cargo",
                                                             "~/.local/share", "~/.local/state"};

/// What is data in a user's caches on Linux. A tool checks it against a lock file or a checksum, or
/// builds from it; nothing of it is started or obeyed as it lies there. What is left out on
/// purpose: sources unpacked from an archive (.cargo/registry/src, go/pkg/mod) are built without a
/// second look, so only the archives are shared; repositories hold settings that git obeys and
/// go-build holds programs that go starts (since 1.24), so they are for reading; stores whose files
/// are linked into projects (uv, pnpm) are not shared at all.
inline constexpr std::array<shared_cache, 9> shared_caches_on_linux{{
    {"~/.cache/ccache", root_access::write},
    {"~/.cache/go-build", root_access::read},
    {"~/.cache/pip", root_access::write},
    {"~/.cargo/git/db", root_access::read},
    {"~/.cargo/registry/cache", root_access::write},
    {"~/.cargo/registry/index", root_access::read},
    {"~/.ccache", root_access::write},
    {"~/.npm/_cacache", root_access::write},
    {"~/go/pkg/mod/cache/download", root_access::write},
}};

/// The same on macOS, where tools keep their caches elsewhere.
inline constexpr std::array<shared_cache, 8> shared_caches_on_macos{{
    {"~/.cargo/git/db", root_access::read},
    {"~/.cargo/registry/cache", root_access::write},
    {"~/.cargo/registry/index", root_access::read},
    {"~/.npm/_cacache", root_access::write},
    {"~/Library/Caches/ccache", root_access::write},
    {"~/Library/Caches/go-build", root_access::read},
    {"~/Library/Caches/pip", root_access::write},
    {"~/go/pkg/mod/cache/download", root_access::write},
}};

/// Write roots on macOS, where nothing can be shown under another name: as the kernel names them.
inline constexpr std::array<std::string_view, 3> write_roots_on_macos{
    "~/Library/Caches", "/private/tmp", "/private/var/tmp"};

/// What a login or a tool of the host runs, obeys or trusts: never part of a shared cache, nor
/// reached through one that is a link.
inline constexpr std::array<std::string_view, 45> never_shared{
    "~/.aws",
    "~/.azure",
    "~/.bash_profile",
    "~/.bashrc",
    "~/.bin",
    "~/.cache/uv",
    "~/.cargo/bin",
    "~/.cargo/config",
    "~/.cargo/config.toml",
    "~/.cargo/credentials",
    "~/.cargo/credentials.toml",
    "~/.cargo/env",
    "~/.cargo/git/checkouts",
    "~/.cargo/registry/src",
    "~/.config",
    "~/.docker",
    "~/.gitconfig",
    "~/.gnupg",
    "~/.kube",
    "~/.local/bin",
    "~/.local/lib",
    "~/.local/share/applications",
    "~/.local/share/bash-completion",
    "~/.local/share/dbus-1",
    "~/.local/share/keyrings",
    "~/.local/share/pnpm",
    "~/.local/share/systemd",
    "~/.local/share/uv",
    "~/.netrc",
    "~/.npm/_npx",
    "~/.npmrc",
    "~/.nvm",
    "~/.profile",
    "~/.pypirc",
    "~/.rustup",
    "~/.ssh",
    "~/.zprofile",
    "~/.zshenv",
    "~/.zshrc",
    "~/Library/Keychains",
    "~/Library/LaunchAgents",
    "~/Library/Preferences",
    "~/bin",
    "~/go/bin",
    "~/go/pkg/mod/cache/vcs",
};

/// An entry of these lists with "~" as `home`, which is absolute. Owns its text. Links on the way
/// are the caller's to resolve.
[[nodiscard]] constexpr std::string below_home(std::string_view entry, std::string_view home) {
  if (!entry.starts_with("~/")) return std::string{entry};
  if (home.ends_with('/')) home.remove_suffix(1);
  return std::string{home}.append(entry.substr(1));
}

namespace detail {

/// True when one of two paths of these lists holds the other.
[[nodiscard]] constexpr bool overlap(std::string_view a, std::string_view b) noexcept {
  const auto is_above = [](std::string_view outer, std::string_view inner) {
    return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
  };
  return is_above(a, b) || is_above(b, a);
}

/// No part overlaps another one, and none what is never shared.
template <class List>
[[nodiscard]] constexpr bool is_data_alone(const List& parts) noexcept {
  for (const auto& part : parts) {
    for (const auto& other : parts) {
      if (&part != &other && overlap(part.path, other.path)) return false;
    }
    if (std::ranges::any_of(never_shared,
                            [&part](auto never) { return overlap(never, part.path); })) {
      return false;
    }
  }
  return true;
}

static_assert(is_data_alone(shared_caches_on_linux) && is_data_alone(shared_caches_on_macos));

}  // namespace detail

}  // namespace pinfold
