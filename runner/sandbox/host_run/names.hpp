// The names that make a file something that a program of the host runs, obeys or writes through.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <pinfold/runner/host_run.hpp>

namespace pinfold {

/// What a directory is, for what lies in it.
enum class room : std::uint8_t { plain, git, hooks, programs, editor, agent, hook_runner };

/// What every file in such a directory is.
[[nodiscard]] constexpr std::optional<host_run_kind> kind_in(room kind) noexcept {
  switch (kind) {
    case room::hooks:
      return host_run_kind::git_hook;
    case room::programs:
      return host_run_kind::program;
    case room::editor:
      return host_run_kind::editor;
    case room::agent:
      return host_run_kind::agent;
    case room::hook_runner:
      return host_run_kind::hook_runner;
    case room::plain:
    case room::git:
      return std::nullopt;
  }
  return std::nullopt;
}

struct known_name {
  std::string_view name;
  host_run_kind kind;
};

inline constexpr std::array files_by_name{
    known_name{".envrc", host_run_kind::environment},
    known_name{".mcp.json", host_run_kind::agent},
    known_name{".cursorrules", host_run_kind::agent},
    known_name{"AGENTS.md", host_run_kind::agent},
    known_name{"CLAUDE.md", host_run_kind::agent},
    known_name{"GEMINI.md", host_run_kind::agent},
};

struct known_directory {
  std::string_view name;
  room kind;
};

inline constexpr std::array directories_by_name{
    known_directory{".git", room::git},         known_directory{".vscode", room::editor},
    known_directory{".idea", room::editor},     known_directory{".zed", room::editor},
    known_directory{".claude", room::agent},    known_directory{".codex", room::agent},
    known_directory{".cursor", room::agent},    known_directory{".gemini", room::agent},
    known_directory{".husky", room::hook_runner}};

/// Files of a repository that bring a configuration, or say where one lies.
inline constexpr std::array<std::string_view, 6> git_deciders{"config",  "config.worktree", "commondir",
                                                       "gitdir", "attributes",      "alternates"};

[[nodiscard]] inline bool is_known_directory(std::string_view name) {
  return name == ".local" || std::ranges::find(directories_by_name, name, &known_directory::name) !=
                                 directories_by_name.end();
}

/// Two hexadecimal digits: where loose objects lie. git reads them by name and writes new ones by
/// rename.
[[nodiscard]] inline bool is_object_directory(std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  return name.size() == 2 && digits.contains(name[0]) && digits.contains(name[1]);
}

/// Files of a repository that is not called ".git" by which it is found, or by which git gets to
/// another configuration.
[[nodiscard]] constexpr bool is_of_a_repository(std::string_view name) noexcept {
  return name == "HEAD" || name == "config" || name == "commondir" || name == "gitdir";
}

/// What a link of this name brings, wherever it leads: git and other programs follow it. Nothing for
/// other names.
[[nodiscard]] inline std::optional<host_run_kind> kind_of_link(std::string_view name) {
  if (name == ".git") return host_run_kind::git_file;
  if (name == ".gitattributes") return host_run_kind::git_attributes;
  if (name == ".local") return host_run_kind::program;
  const auto file = std::ranges::find(files_by_name, name, &known_name::name);
  if (file != files_by_name.end()) return file->kind;
  const auto directory = std::ranges::find(directories_by_name, name, &known_directory::name);
  return directory == directories_by_name.end() ? std::nullopt : kind_in(directory->kind);
}

/// Whether a regular file in such a directory counts for its name, so that its times have to be
/// asked for. (A checkout has thousands of which nothing but the name need be seen.)
[[nodiscard]] inline bool counts_by_name(room kind, std::string_view name) {
  if (kind_in(kind)) return true;
  if (is_of_a_repository(name)) return true;
  if (kind == room::git) return std::ranges::find(git_deciders, name) != git_deciders.end();
  return name == ".git" || name == ".gitattributes" ||
         std::ranges::find(files_by_name, name, &known_name::name) != files_by_name.end();
}

}  // namespace pinfold
