// Sockets with a path: which ones are shown because the harness asked for them, and which ones of the
// host would still be seen and are covered. The kernel's list is a hint, not a proof: a socket that
// was bound by a relative name, or in another network namespace, is not in it.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

/// The absolute paths in the text of /proc/net/unix (proc(5)), each once. Abstract names, which start
/// with '@', are left out.
[[nodiscard]] std::vector<std::string> socket_paths_in(std::string_view list);

/// One socket to be shown, canonical. Refused (`invalid_argument`): what is not there or no socket (a
/// directory above all), and what lies in the workspace, where nothing is bound back.
[[nodiscard]] std::expected<shared_path, refusal> allowed_socket(const std::string& path,
                                                                 const std::string& workspace);

/// Puts over every other socket that the kernel lists and that the facts would leave visible: the file
/// alone, or its directory where many lie together. What is shown on request, the workspace among
/// it, stays as it is.
void cover_visible_sockets(confinement& facts);

}  // namespace pinfold
