// Which places of the machine a run hides, shows and refuses: computed from the caller and the
// disk, before anything is started. Nothing here changes the disk.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

#include "sandbox/caller.hpp"

namespace pinfold {

/// The directories to cover, outermost only: the homes, /run, /var/run and the runtime directory
/// (closed), /tmp and /var/tmp (scratch). Canonical and there.
[[nodiscard]] std::vector<hidden_path> hidden_places(const caller& who);

/// Files that the caller can read and the command must not: password hashes and host keys.
[[nodiscard]] std::vector<std::string> secret_files();

/// Refuses a workspace (canonical) that is too much of the machine: a system directory, a home or
/// anything above one, a place above something hidden, or a folder of credentials.
[[nodiscard]] std::expected<void, refusal> check_breadth(const std::string& workspace,
                                                         const caller& who,
                                                         const std::vector<hidden_path>& hidden);

/// Refuses (`workspace_not_writable`) a workspace, held open as `directory`, that uid 0 can enter
/// only by privilege: bwrap has none left when it gets there. Stage two proves the rest.
[[nodiscard]] std::expected<void, refusal> check_search(const std::string& workspace,
                                                        int directory);

/// A directory that the caller wants shown read-only, canonical. Refused (`invalid_argument`): a
/// home or anything above something hidden; at, below or above .ssh, .aws, .gnupg of a home;
/// .config as a whole; and /run, where sockets lie.
[[nodiscard]] std::expected<shared_path, refusal> read_root(const std::string& path,
                                                            const caller& who,
                                                            const std::vector<hidden_path>& hidden);

/// What is visible under `--root minimal`, in the order in which it is made.
[[nodiscard]] std::vector<visible_path> minimal_root(network_access network);

/// The file that /etc/resolv.conf leads to, when it is a link: bound back when the network is on, so
/// that names still resolve.
[[nodiscard]] std::vector<shared_path> resolver_files();

}  // namespace pinfold
