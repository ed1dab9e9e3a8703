// The resolver as callers use it: where a path leads under a grant, or the refusal that says why it
// may not be used. It opens nothing for the caller: a tool that goes on to open the path must use
// open.hpp, or the tree may change in between.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <pinfold/disk/location.hpp>
#include <pinfold/disk/portable.hpp>
#if defined(__linux__)
#include <pinfold/disk/beneath.hpp>
#endif

namespace pinfold {

/// Which resolver answers. They give the same verdicts and the same canonical paths; all but the
/// first are there for tests, for comparison and for machines where the first cannot work.
enum class resolver : std::uint8_t {
  beneath,       ///< openat2 below a held descriptor, the careful walk where that cannot answer
  beneath_walk,  ///< the careful walk alone, as on a kernel before 5.6
  portable,      ///< by name, on Boost.Filesystem
};

#if defined(__linux__)
inline constexpr resolver default_resolver = resolver::beneath;
#else
inline constexpr resolver default_resolver = resolver::portable;
#endif

/// Where `input` leads. `input` is any text (what a model said); `start` is the canonical absolute
/// directory in which a relative `input` begins, by default the workspace. The answer owns its
/// text. A read resolves as the kernel would; a write or mkdir may name something that is not there
/// yet. Errors: every code under "where a path leads", "what the spelling of a path is" and "what
/// the file system holds or says". Holds the workspace for this one call: who asks often keeps a
/// `workspace` (open.hpp).
[[nodiscard]] inline std::expected<resolved, refusal> resolve(const grant& rules, operation op,
                                                              std::string_view input,
                                                              std::string_view start = {},
                                                              resolver by = default_resolver) {
  if (start.empty()) start = rules.workspace();
#if defined(__linux__)
  if (by != resolver::portable) {
    const auto names =
        by == resolver::beneath ? beneath::lookup::openat2 : beneath::lookup::walk_only;
    const beneath::held_root root{rules, names};
    return beneath::resolve(root, op, input, start);
  }
#endif
  static_cast<void>(by);
  return portable::resolve(rules, op, input, start);
}

[[nodiscard]] inline std::expected<resolved, refusal> resolve_read(const grant& rules,
                                                                   std::string_view input,
                                                                   std::string_view start = {}) {
  return resolve(rules, operation::read, input, start);
}

[[nodiscard]] inline std::expected<resolved, refusal> resolve_write(const grant& rules,
                                                                    std::string_view input,
                                                                    std::string_view start = {}) {
  return resolve(rules, operation::write, input, start);
}

[[nodiscard]] inline std::expected<resolved, refusal> resolve_directory(
    const grant& rules, std::string_view input, std::string_view start = {}) {
  return resolve(rules, operation::make_directory, input, start);
}

/// The canonical path of a directory that is to be a workspace: links followed, nothing refused for
/// where it lies (the runner judges that). A relative `path` begins at `start`, by default the
/// process's working directory. Errors: the spelling, `not_found`, `not_a_directory`,
/// `symlink_loop`, `magic_link`, `permission_denied`, `name_too_long`.
[[nodiscard]] inline std::expected<std::string, refusal> canonical_workspace(
    std::string_view path, std::string_view start = {}) {
  const grant everything{"/", {}};
  const disk::question asked{everything, operation::list, path};
  std::string here{start};
  if (here.empty()) {
    boost::system::error_code failed;
    here = boost::filesystem::current_path(failed).native();
    if (failed) return std::unexpected{disk::refused(asked, portable::code_of(failed))};
  }
  auto found = resolve(everything, operation::list, path, here);
  if (!found) return std::unexpected{std::move(found.error())};
  boost::system::error_code failed;
  const auto status = boost::filesystem::status(found->canonical, failed);
  if (failed) return std::unexpected{disk::refused(asked, portable::code_of(failed))};
  if (!boost::filesystem::is_directory(status)) {
    return std::unexpected{disk::refused(asked, code::not_a_directory, found->canonical)};
  }
  return std::move(found->canonical);
}

}  // namespace pinfold
