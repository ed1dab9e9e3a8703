// Is there a bwrap that can be trusted? Who could have put other code there is asked of the file
// and of every directory above it, because a directory's writer can replace what is in it.
#include <algorithm>
#include <utility>

#include <pinfold/path.hpp>

#include "sandbox/probe.hpp"

namespace pinfold {

namespace {

constexpr std::string_view install_fix =
    "install bubblewrap 0.8 or newer (Debian and Ubuntu: sudo apt-get install bubblewrap)";
constexpr std::string_view reinstall_fix =
    "put the distribution's own file back (Debian and Ubuntu: sudo apt-get install --reinstall "
    "bubblewrap)";

bool is_foreign(const owner_and_mode& one) noexcept {
  return one.owner != 0;
}
bool is_writable_by_others(const owner_and_mode& one) noexcept {
  return (one.mode & 0022) != 0;
}

std::string octal(std::uint32_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + ((mode >> shift) & 7U));
  }
  return digits;
}

probe_line passed(std::string id, std::string found) {
  return {std::move(id), probe_status::ok, std::move(found), {}};
}

probe_line failed(std::string id, std::string found, std::string fix) {
  return {std::move(id), probe_status::failed, std::move(found), std::move(fix)};
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

probe_line found_line(const program_facts& facts, const bubblewrap_search& search) {
  switch (facts.kind) {
    case program_kind::missing:
      return failed("bwrap-found", "there is none at " + joined(search.places),
                    std::string{install_fix});
    case program_kind::unreadable:
      return failed("bwrap-found", facts.asked + ": " + facts.error, std::string{reinstall_fix});
    case program_kind::file:
    case program_kind::other:
      break;
  }
  const bool led = facts.asked != facts.file.path;
  return passed("bwrap-found", facts.asked + (led ? " -> " + facts.file.path : ""));
}

probe_line file_line(const program_facts& facts) {
  if (facts.kind != program_kind::file) {
    return failed("bwrap-file", facts.file.path + " is not a regular file",
                  std::string{reinstall_fix});
  }
  if ((facts.file.mode & 0111) != 0111) {
    return failed("bwrap-file", facts.file.path + " has mode " + octal(facts.file.mode),
                  "let everybody execute it: sudo chmod 0755 " + facts.file.path);
  }
  return passed("bwrap-file", "a regular file, mode " + octal(facts.file.mode));
}

probe_line owner_line(const program_facts& facts) {
  if (is_foreign(facts.file)) {
    return failed("bwrap-owner",
                  facts.file.path + " belongs to uid " + std::to_string(facts.file.owner),
                  std::string{reinstall_fix});
  }
  if (is_writable_by_others(facts.file)) {
    return failed(
        "bwrap-owner",
        facts.file.path + " is writable by group or others: mode " + octal(facts.file.mode),
        std::string{reinstall_fix} + ", then: sudo chmod 0755 " + facts.file.path);
  }
  return passed("bwrap-owner", "root, writable by nobody else");
}

probe_line directories_line(const program_facts& facts) {
  for (const auto& one : facts.directories) {
    if (is_foreign(one)) {
      return failed(
          "bwrap-directories",
          one.path + " belongs to uid " + std::to_string(one.owner) +
              ", who could replace what is in it",
          "give it to root: sudo chown root " + one.path + ", then " + std::string{reinstall_fix});
    }
    if (is_writable_by_others(one)) {
      return failed(
          "bwrap-directories",
          one.path + " is writable by group or others: mode " + octal(one.mode),
          "close it: sudo chmod go-w " + one.path + ", then " + std::string{reinstall_fix});
    }
  }
  return passed("bwrap-directories", "all above it belong to root and are writable by nobody else");
}

probe_line privileges_line(const program_facts& facts) {
  if ((facts.file.mode & 06000) != 0) {
    return failed("bwrap-privileges",
                  facts.file.path + " is set-uid or set-gid: mode " + octal(facts.file.mode),
                  "take it off: sudo chmod ug-s " + facts.file.path +
                      " (bwrap then needs user namespaces; see the lines below)");
  }
  if (facts.capabilities != file_capabilities::none) {
    return failed("bwrap-privileges", facts.file.path + " has file capabilities",
                  "take them off: sudo setcap -r " + facts.file.path);
  }
  return passed("bwrap-privileges", "no set-uid, no set-gid, no file capabilities");
}

probe_line place_line(const program_facts& facts, const bubblewrap_search& search) {
  if (contains(search.workspace, facts.file.path)) {
    return failed("bwrap-place", facts.file.path + " lies inside the workspace " + search.workspace,
                  "choose a smaller workspace, or " + std::string{install_fix});
  }
  return passed("bwrap-place", "outside the workspace");
}

}  // namespace

program_facts find_bubblewrap(const bubblewrap_search& search) {
  for (const auto& place : search.places) {
    auto facts = look_at_program(place);
    if (facts.kind != program_kind::missing) return facts;
  }
  return {.asked = search.places.empty() ? "bwrap" : search.places.front()};
}

/// In this order; whoever fails the first two is not asked further:
///  1. it is there and can be looked at
///  2. it is a regular file that everybody may execute
///  3. root owns it, and nobody else may write it
///  4. the same for every directory above it
///  5. it has no privilege of its own: set-uid bwrap has had holes, and its rules differ
///  6. it lies outside the workspace, when there is one
///  7. anything else about it -> the probes that start it
std::vector<probe_line> judge_bubblewrap(const program_facts& facts,
                                         const bubblewrap_search& search) {
  std::vector<probe_line> lines{found_line(facts, search)};
  if (lines.back().status == probe_status::failed) return lines;
  lines.push_back(file_line(facts));
  if (lines.back().status == probe_status::failed) return lines;
  lines.push_back(owner_line(facts));
  lines.push_back(directories_line(facts));
  lines.push_back(privileges_line(facts));
  if (!search.workspace.empty()) lines.push_back(place_line(facts, search));
  return lines;
}

std::expected<bubblewrap_facts, refusal> usable_bubblewrap(const bubblewrap_search& search) {
  const auto facts = find_bubblewrap(search);
  const auto lines = judge_bubblewrap(facts, search);
  const auto wrong = std::ranges::find(lines, probe_status::failed, &probe_line::status);
  if (wrong == lines.end()) return bubblewrap_facts{facts.file.path};
  return std::unexpected{refusal{.error = code::sandbox_unavailable,
                                 .op = operation::execute,
                                 .path = facts.asked,
                                 .resolved = facts.file.path,
                                 .boundary = {},
                                 .detail = wrong->id + ": " + wrong->found + "; " + wrong->fix}};
}

}  // namespace pinfold
