// What the guard's tests share: one grant, one guard for each mode, and the rows about paths.
#pragma once

#include <array>
#include <string_view>

#include <pinfold/guard.hpp>

namespace guard_ground {

using namespace pinfold;

inline constexpr std::array<extra_root, 3> roots{{
    {"/opt/tool", root_access::read},
    {"/cache", root_access::write},
    {"/cache/kept/ro", root_access::read},
}};
inline constexpr grant policy{"/work/app", default_carve_outs, roots};

constexpr guard make(mode present, enforcement boundary = enforcement::enforced) {
  return {policy, present, gate::untainted, taint{}, boundary};
}
inline constexpr guard asking = make(mode::ask);
inline constexpr guard alone = make(mode::autonomous);
inline constexpr guard planning = make(mode::plan);

struct path_row {
  call asked;
  verdict::answer in_plan, in_ask, in_autonomous;
  code reason;
  std::string_view why;
};

inline constexpr auto no = verdict::refuse;
inline constexpr auto as = verdict::ask;
inline constexpr auto go = verdict::allow;

inline constexpr std::array path_rows{
    path_row{call::read("/work/app/x"), go, go, go, {}, "the workspace is read"},
    path_row{call::write("/work/app/x"), no, go, go, code::mode_forbids_writing,
             "and written, but for plan"},
    path_row{call::list("/work/app"), go, go, go, {}, "and listed"},
    path_row{call::remove("/work/app/x"), no, go, go, code::mode_forbids_writing, "a file"},
    path_row{call::make_directory("/work/app/d"), no, go, go, code::mode_forbids_writing, ""},
    path_row{call::read("/work/app-old/x"), no, as, no, code::outside_workspace, "a sibling"},
    path_row{call::write("/etc/passwd"), no, as, no, code::outside_workspace, "elsewhere"},
    path_row{call::list("/"), no, as, no, code::outside_workspace, "the root"},
    path_row{call::read("/work/app/.efferent/x"), no, no, no, code::harness_state,
             "harness state is never asked about"},
    path_row{call::write("/work/app/.foundry"), no, no, no, code::harness_state, ""},
    path_row{call::list("/work/app/.efferent"), no, no, no, code::harness_state, ""},
    path_row{call::read("/work/app/.git/config"), go, go, go, {}, "readable"},
    path_row{call::write("/work/app/.git/config"), no, no, no, code::host_run_file,
             "never writable, never asked about"},
    path_row{call::make_directory("/work/app/.git/hooks/d"), no, no, no, code::host_run_file, ""},
    path_row{call::read("/opt/tool/cc"), go, go, go, {}, "a read root"},
    path_row{call::write("/opt/tool/cc"), no, no, no, code::read_only_root, "is for reading"},
    path_row{call::write("/cache/x"), no, go, go, code::mode_forbids_writing, "a write root"},
    path_row{call::write("/cache/kept/ro/x"), no, no, no, code::read_only_root,
             "a read root inside a write root"},
    // What would take something along.
    path_row{call::remove("/work/app/.git"), no, no, no, code::host_run_file, "hooks lie in it"},
    path_row{call::write("/work/app/.git"), no, no, no, code::host_run_file,
             "a file named .git points git elsewhere"},
    path_row{call::rename("/work/app/.git", "/work/app/g"), no, no, no, code::host_run_file,
             "and a new .git could be made"},
    path_row{call::rename("/work/app/x", "/work/app/.git"), no, no, no, code::host_run_file,
             "x may hold hooks of its own"},
    path_row{call::make_directory("/work/app/.git"), no, go, go, code::mode_forbids_writing,
             "an empty directory runs nothing"},
    path_row{call::remove("/work/app"), no, no, no, code::permission_denied,
             "the workspace itself"},
    path_row{call::remove("/work"), no, no, no, code::outside_workspace,
             "what holds the workspace is never asked about"},
    path_row{call::rename("/", "/x"), no, no, no, code::outside_workspace, "what holds everything"},
    path_row{call::remove("/cache"), no, no, no, code::permission_denied, "a whole root"},
    path_row{call::remove("/cache/kept"), no, no, no, code::read_only_root, "here too"},
    path_row{call::remove("/opt/tool"), no, no, no, code::permission_denied, "a whole root"},
    path_row{call::remove("/opt"), no, no, no, code::read_only_root, "a read root lies in it"},
    // The worse end of a rename decides.
    path_row{call::rename("/work/app/x", "/work/app/y"), no, go, go, code::mode_forbids_writing,
             ""},
    path_row{call::rename("/work/app/x", "/tmp/y"), no, as, no, code::outside_workspace, "out"},
    path_row{call::rename("/tmp/y", "/work/app/x"), no, as, no, code::outside_workspace, "in"},
    path_row{call::rename("/tmp/y", "/work/app/.efferent/x"), no, no, no, code::harness_state,
             "one end is never asked about"},
    path_row{call::rename("/work/app/.efferent/x", "/tmp/y"), no, no, no, code::harness_state, ""},
    // Not a canonical path: never asked about, whoever is there.
    path_row{call::read("x"), no, no, no, code::invalid_path, "relative"},
    path_row{call::read(""), no, no, no, code::invalid_path, "empty"},
    path_row{call::read("/work/app/../x"), no, no, no, code::invalid_path, "not resolved"},
    path_row{call::write("/work/app/x/"), no, no, no, code::invalid_path, "a trailing slash"},
    path_row{call::rename("/work/app/x", ""), no, no, no, code::invalid_path, "no target"},
};

}  // namespace guard_ground
