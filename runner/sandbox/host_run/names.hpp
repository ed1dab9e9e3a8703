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
enum class room : std::uint8_t {
  plain,
  git,
  hooks,
  remotes,   ///< a repository's "remotes" and "branches": where it fetches from, in git's old form
  sequence,  ///< what a rebase, a cherry-pick or a revert goes on with
  programs,
  environment,
  editor,
  agent,
  hook_runner,
  tool,
};

/// What every file in such a directory is.
[[nodiscard]] constexpr std::optional<host_run_kind> kind_in(room kind) noexcept {
  switch (kind) {
    case room::hooks:
      return host_run_kind::git_hook;
    case room::remotes:
      return host_run_kind::git_config;
    case room::programs:
      return host_run_kind::program;
    case room::environment:
      return host_run_kind::environment;
    case room::editor:
      return host_run_kind::editor;
    case room::agent:
      return host_run_kind::agent;
    case room::hook_runner:
      return host_run_kind::hook_runner;
    case room::tool:
      return host_run_kind::tool;
    case room::plain:
    case room::git:
    case room::sequence:  // named as a whole
      return std::nullopt;
  }
  return std::nullopt;
}

struct known_name {
  std::string_view name;
  host_run_kind kind;
};

/// Files that a program of the host takes up by their name alone, when it is started here: what
/// people run on purpose (a Makefile, package.json, a test) is ordinary source and is not among them.
inline constexpr std::array files_by_name{
    known_name{".envrc", host_run_kind::environment},
    known_name{".tool-versions", host_run_kind::environment},
    known_name{".mise.toml", host_run_kind::environment},
    known_name{"mise.toml", host_run_kind::environment},
    known_name{"mise.local.toml", host_run_kind::environment},
    known_name{".mise.local.toml", host_run_kind::environment},
    known_name{".rtx.toml", host_run_kind::environment},
    known_name{".devcontainer.json", host_run_kind::editor},
    known_name{"devcontainer.json", host_run_kind::editor},
    known_name{".exrc", host_run_kind::editor},
    known_name{".nvimrc", host_run_kind::editor},
    known_name{".nvim.lua", host_run_kind::editor},
    known_name{".vimrc", host_run_kind::editor},
    known_name{".dir-locals.el", host_run_kind::editor},
    known_name{".dir-locals-2.el", host_run_kind::editor},
    known_name{"lefthook.yml", host_run_kind::hook_runner},
    known_name{"lefthook.yaml", host_run_kind::hook_runner},
    known_name{"lefthook.toml", host_run_kind::hook_runner},
    known_name{"lefthook.json", host_run_kind::hook_runner},
    known_name{"lefthook.jsonc", host_run_kind::hook_runner},
    known_name{"lefthook-local.yml", host_run_kind::hook_runner},
    known_name{"lefthook-local.yaml", host_run_kind::hook_runner},
    known_name{"lefthook-local.toml", host_run_kind::hook_runner},
    known_name{"lefthook-local.json", host_run_kind::hook_runner},
    known_name{"lefthook-local.jsonc", host_run_kind::hook_runner},
    known_name{".lefthook.yml", host_run_kind::hook_runner},
    known_name{".lefthook.yaml", host_run_kind::hook_runner},
    known_name{".lefthook.toml", host_run_kind::hook_runner},
    known_name{".lefthook.json", host_run_kind::hook_runner},
    known_name{".lefthook.jsonc", host_run_kind::hook_runner},
    known_name{".lefthook-local.yml", host_run_kind::hook_runner},
    known_name{".lefthook-local.yaml", host_run_kind::hook_runner},
    known_name{".lefthook-local.toml", host_run_kind::hook_runner},
    known_name{".lefthook-local.json", host_run_kind::hook_runner},
    known_name{".lefthook-local.jsonc", host_run_kind::hook_runner},
    known_name{".pre-commit-config.yaml", host_run_kind::hook_runner},
    known_name{".pre-commit-config.yml", host_run_kind::hook_runner},
    known_name{".overcommit.yml", host_run_kind::hook_runner},
    known_name{".npmrc", host_run_kind::tool},
    known_name{".yarnrc", host_run_kind::tool},
    known_name{".yarnrc.yml", host_run_kind::tool},
    known_name{".pnpmfile.cjs", host_run_kind::tool},
    known_name{".bazelrc", host_run_kind::tool},
    known_name{".gdbinit", host_run_kind::tool},
    known_name{".lldbinit", host_run_kind::tool},
    known_name{".mcp.json", host_run_kind::agent},
    known_name{".cursorrules", host_run_kind::agent},
    known_name{".windsurfrules", host_run_kind::agent},
    known_name{".clinerules", host_run_kind::agent},
    known_name{".roorules", host_run_kind::agent},
    known_name{".roomodes", host_run_kind::agent},
    known_name{".goosehints", host_run_kind::agent},
    known_name{".aider.conf.yml", host_run_kind::agent},
    known_name{".rules", host_run_kind::agent},
    known_name{"opencode.json", host_run_kind::agent},
    known_name{"opencode.jsonc", host_run_kind::agent},
    known_name{"copilot-instructions.md", host_run_kind::agent},
    known_name{"AGENTS.md", host_run_kind::agent},
    known_name{"AGENTS.override.md", host_run_kind::agent},
    known_name{"AGENT.md", host_run_kind::agent},
    known_name{"CLAUDE.md", host_run_kind::agent},
    known_name{"CLAUDE.local.md", host_run_kind::agent},
    known_name{"GEMINI.md", host_run_kind::agent},
    known_name{"QWEN.md", host_run_kind::agent},
};

/// The same for names of which only the end is known.
inline constexpr std::array files_by_ending{
    known_name{".code-workspace", host_run_kind::editor},
    known_name{".instructions.md", host_run_kind::agent},
};

[[nodiscard]] inline std::optional<host_run_kind> kind_of_file(std::string_view name) {
  const auto whole = std::ranges::find(files_by_name, name, &known_name::name);
  if (whole != files_by_name.end()) return whole->kind;
  const auto has_ending = [name](const known_name& one) { return name.ends_with(one.name); };
  const auto ending = std::ranges::find_if(files_by_ending, has_ending);
  return ending == files_by_ending.end() ? std::nullopt : std::optional{ending->kind};
}

struct known_directory {
  std::string_view name;
  room kind;
};

inline constexpr std::array directories_by_name{
    known_directory{".git", room::git},
    known_directory{".devcontainer", room::editor},
    known_directory{".idea", room::editor},
    known_directory{".vscode", room::editor},
    known_directory{".zed", room::editor},
    known_directory{".claude", room::agent},
    known_directory{".clinerules", room::agent},
    known_directory{".codex", room::agent},
    known_directory{".continue", room::agent},
    known_directory{".cursor", room::agent},
    known_directory{".gemini", room::agent},
    known_directory{".junie", room::agent},
    known_directory{".kiro", room::agent},
    known_directory{".opencode", room::agent},
    known_directory{".qwen", room::agent},
    known_directory{".roo", room::agent},
    known_directory{".windsurf", room::agent},
    known_directory{".cargo", room::tool},
    known_directory{".mvn", room::tool},
    known_directory{".direnv", room::environment},
    known_directory{".mise", room::environment},
    known_directory{".husky", room::hook_runner},
    known_directory{".lefthook", room::hook_runner}};

/// Files of a repository that bring a configuration, or say where one lies.
inline constexpr std::array<std::string_view, 6> git_deciders{"config",  "config.worktree", "commondir",
                                                       "gitdir", "attributes",      "alternates"};

[[nodiscard]] inline bool is_known_directory(std::string_view name) {
  return name == ".local" || std::ranges::find(directories_by_name, name, &known_directory::name) !=
                                 directories_by_name.end();
}

/// Places that count by two names, the second in a directory of the first. Others in that directory
/// do not: what is kept beside them is data.
[[nodiscard]] constexpr std::optional<room> room_of_place(std::string_view above,
                                                          std::string_view name) noexcept {
  if (above == ".local" && name == "bin") return room::programs;
  if (above == ".yarn" && (name == "releases" || name == "plugins")) return room::tool;
  return std::nullopt;
}

/// Whether the walk goes on from a directory that counts as a whole. Where a tool keeps what it has
/// built or fetched, only its programs are looked at: those are thousands of files.
[[nodiscard]] constexpr bool is_entered_from(room kind, std::string_view above,
                                             std::string_view name) noexcept {
  if (kind == room::environment) return name == "bin" || above == ".direnv" || above == ".mise";
  return kind != room::tool || above != ".cargo" || name == "bin";
}

/// Two hexadecimal digits: where loose objects lie. git reads them by name and writes new ones by
/// rename.
[[nodiscard]] inline bool is_object_directory(std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  return name.size() == 2 && digits.contains(name[0]) && digits.contains(name[1]);
}

/// Directories of a repository that a rebase, a patch series, a cherry-pick or a revert leaves when
/// it stops, and goes on with: a line of a rebase's list may start a program.
[[nodiscard]] constexpr bool is_sequence_directory(std::string_view name) noexcept {
  return name == "rebase-merge" || name == "rebase-apply" || name == "sequencer";
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
  if (const auto kind = kind_of_file(name)) return kind;
  const auto directory = std::ranges::find(directories_by_name, name, &known_directory::name);
  return directory == directories_by_name.end() ? std::nullopt : kind_in(directory->kind);
}

/// Whether a regular file in such a directory counts for its name, so that its times have to be
/// asked for. (A checkout has thousands of which nothing but the name need be seen.)
[[nodiscard]] inline bool counts_by_name(room kind, std::string_view name) {
  if (kind_in(kind) || kind == room::sequence) return true;
  if (is_of_a_repository(name)) return true;
  if (kind == room::git) return std::ranges::find(git_deciders, name) != git_deciders.end();
  return name == ".git" || name == ".gitattributes" || kind_of_file(name).has_value();
}

}  // namespace pinfold
