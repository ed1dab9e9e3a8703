// The facts a backend gets about one command: what it is, where it starts, what it may touch.
// Every decision is already taken when a confinement exists; a backend adds none and drops none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinfold/grant.hpp>
#include <pinfold/settings.hpp>

namespace pinfold {

/// The answer of the network decision, as a backend gets it: a plain yes or no.
enum class network_access : std::uint8_t { off, on };

/// `read_only` is what mode `plan` needs.
enum class workspace_access : std::uint8_t { read_only, read_write };

enum class nested_namespaces : std::uint8_t { forbidden, allowed };

enum class file_kind : std::uint8_t { file, directory, link };

/// A carve-out as it lies on the disk: canonical, there when the sandbox is made.
struct carved_path {
  std::string path;
  carve_kind kind{carve_kind::harness_state};
  file_kind type{file_kind::directory};
  /// Harness state only: `visible` lets the shell read it (it stays read-only).
  enum class shown : std::uint8_t { hidden, visible } shell{shown::hidden};
};

/// A place outside the workspace that is shown inside, canonical on both sides.
struct shared_path {
  std::string source;
  std::string target;
  root_access access{root_access::read};
  /// A `socket` is one socket, never a directory: whoever listens on it is reached from inside.
  enum class use : std::uint8_t { files, socket } purpose{use::files};
};

/// A place that shows what lies at another one: both below something that is shared under its own
/// name, and there. Over a source that is written to lies a cover (`confinement::covered`): it is
/// reached at its target alone. For a source that is its own target, the place as it is then.
struct replaced_path {
  std::string source;
  std::string target;
  root_access access{root_access::read};
};

/// A place of the host that is covered. `scratch` ones are empty and writable, the others empty and
/// read-only. `size` bounds what can be written there, in bytes.
struct hidden_path {
  std::string path;
  enum class use : std::uint8_t { closed, scratch } contents{use::closed};
};

/// One entry of the visible tree under the root profile `minimal`. For a `link`, `target` is its
/// text.
struct visible_path {
  std::string path;
  file_kind type{file_kind::directory};
  std::string target;
};

/// What a backend is told about one call: facts, decided before. It owns all of its text.
struct confinement {
  std::string workspace;  ///< canonical
  workspace_access access{workspace_access::read_write};
  std::string directory;  ///< where the command starts: canonical, at or below a visible place
  std::vector<std::string> command;      ///< argv; the first is looked up in PATH inside
  std::vector<std::string> environment;  ///< NAME=VALUE, the whole of it

  root_profile root{root_profile::host};
  network_access network{network_access::off};
  nested_namespaces nesting{nested_namespaces::forbidden};

  std::vector<carved_path> carve_outs;
  std::vector<std::string> pinned;  ///< directories below the workspace that must not be renamed
  std::vector<shared_path> shared;  ///< read roots, write roots, the blob directory, sockets
  std::vector<replaced_path> replaced;  ///< made last, in this order
  std::vector<std::string> covered;  ///< directories, empty and closed once the replaced ones are there
  std::vector<hidden_path> hidden;  ///< directories
  std::vector<std::string> hidden_files;    ///< single files, like /etc/shadow
  std::vector<visible_path> visible;        ///< for `minimal` only
  std::uint64_t scratch_bytes{1ULL << 30};  ///< the size of each writable scratch directory
  /// HOST:PORT entries that narrow an open network; a backend that cannot hold to them refuses.
  std::vector<std::string> egress;
};

}  // namespace pinfold
