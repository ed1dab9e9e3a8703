// What a backend answers: data that can be printed, compared and tested on any machine.
// A plan starts nothing; runner/launch/ is the one place that does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

enum class mount_kind : std::uint8_t {
  bind,           ///< source shown at target, writable
  ro_bind,        ///< source shown at target, read-only
  tmpfs,          ///< an empty file system of `size` bytes and `mode`
  proc,           ///< a new /proc
  dev,            ///< a new /dev
  directory,      ///< an empty directory
  symbolic_link,  ///< target is the link, source its text
  remount_ro,     ///< what is mounted at target becomes read-only
};

/// Why a mount is in the plan: what `explain` groups by and what tests reason about.
enum class mount_role : std::uint8_t {
  root,       ///< the machine as the command sees it
  system,     ///< /dev, /proc and what protects them
  scratch,    ///< empty and writable, gone with the run
  hidden,     ///< covered, empty, read-only
  shared,     ///< shown on request
  socket,     ///< a socket that answers, on request
  workspace,  ///< the one folder
  pinned,     ///< a directory that must not be renamed away
  carve_out,  ///< taken out of the workspace
  replaced,   ///< shows what lies elsewhere, or covers it there
};

/// One step in making the file system of a sandbox. The order of the steps counts.
struct mount {
  mount_kind kind{mount_kind::bind};
  mount_role role{mount_role::root};
  std::string source;
  std::string target;
  std::uint64_t size{0};
  unsigned mode{0755};

  friend bool operator==(const mount&, const mount&) = default;
};

/// The plan. `program` and `options` start the backend (both empty for backend `none`); the command
/// follows after them. All texts are owned.
///
/// `attached` is the part of `mounts` that lands where the host's own tree shows: the workspace, what
/// lies in it, single files. Commands of other runs may write there, and bwrap takes a path for the
/// place of a mount, follows the links on its way and makes what is missing, on the host too. So the
/// runner makes these mounts itself when bwrap has made the others: by descriptor, through no link,
/// and nothing is made for them.
struct launch_plan {
  backend_name backend{backend_name::none};
  std::string program;
  std::vector<std::string> options;
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string directory;
  std::string workspace;
  network_access network{network_access::off};
  nested_namespaces nesting{nested_namespaces::forbidden};
  /// What whoever runs the plan lets through from outside; where there is any, the network is off.
  std::vector<std::string> egress;
  std::vector<mount> mounts;    ///< in the order in which they are made
  std::vector<mount> attached;  ///< those of them that are not in `options`, made last

  friend bool operator==(const launch_plan&, const launch_plan&) = default;
};

/// A refusal of a fact that a backend cannot hold to; `path` is the name of the fact.
[[nodiscard]] constexpr refusal not_enforceable(std::string_view fact, backend_name backend) {
  refusal answer;
  answer.error = code::not_enforceable;
  answer.op = operation::execute;
  answer.path = fact;
  answer.detail = "backend ";
  answer.detail += name_of(backend);
  return answer;
}

namespace detail {

constexpr std::string digits(std::uint64_t value, unsigned base) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + value % base));
    value /= base;
  } while (value != 0);
  return text;
}

constexpr void append_mount(std::vector<std::string>& argv, const mount& one) {
  const auto add = [&argv](auto&&... words) { (argv.emplace_back(words), ...); };
  switch (one.kind) {
    case mount_kind::bind:
      add("--bind", one.source, one.target);
      break;
    case mount_kind::ro_bind:
      add("--ro-bind", one.source, one.target);
      break;
    case mount_kind::tmpfs:
      add("--perms", digits(one.mode, 8), "--size", digits(one.size, 10), "--tmpfs", one.target);
      break;
    case mount_kind::proc:
      add("--proc", one.target);
      break;
    case mount_kind::dev:
      add("--dev", one.target);
      break;
    case mount_kind::directory:
      add("--dir", one.target);
      break;
    case mount_kind::symbolic_link:
      add("--symlink", one.source, one.target);
      break;
    case mount_kind::remount_ro:
      add("--remount-ro", one.target);
      break;
  }
}

/// Appends what comes before the command: the backend, and the environment and the directory in the
/// words of each.
constexpr void append_start(std::vector<std::string>& argv, const launch_plan& plan) {
  const auto append = [&argv](const std::vector<std::string>& more) {
    argv.insert(argv.end(), more.begin(), more.end());
  };
  switch (plan.backend) {
    case backend_name::none:
      append({"/usr/bin/env", "-i", "-C", plan.directory});
      append(plan.environment);
      return;
    case backend_name::seatbelt:  // env has no -C there, and sandbox-exec no option for either
      append({"/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", plan.directory, plan.program});
      append(plan.options);
      append({"/usr/bin/env", "-i"});
      append(plan.environment);
      return;
    case backend_name::bubblewrap:
      argv.push_back(plan.program);
      append(plan.options);
      for (const auto& one : plan.attached) append_mount(argv, one);
      if (plan.nesting == nested_namespaces::forbidden) argv.emplace_back("--disable-userns");
      argv.emplace_back("--clearenv");
      for (const auto& entry : plan.environment) {
        const auto equals = entry.find('=');
        argv.emplace_back("--setenv");
        argv.push_back(entry.substr(0, equals));
        argv.push_back(equals == std::string::npos ? std::string{} : entry.substr(equals + 1));
      }
      argv.emplace_back("--");
      return;
  }
}

}  // namespace detail

/// The plan as one argument vector that a person can run as it stands: program, options, the
/// environment as options, the command. For a backend without a program, `env -i` sets the
/// environment. The runner itself starts the command through stage two, inside the same mounts, of
/// which it makes the attached ones by descriptor.
[[nodiscard]] constexpr std::vector<std::string> standalone_argv(const launch_plan& plan) {
  std::vector<std::string> argv;
  detail::append_start(argv, plan);
  argv.insert(argv.end(), plan.command.begin(), plan.command.end());
  return argv;
}

}  // namespace pinfold
