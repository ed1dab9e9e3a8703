// Can the sandbox be made here, and what stands in the way, layer by layer. Every answer is data
// with its fix. It never looks in $PATH, never starts a bwrap that it does not trust, and never
// advises turning a protection of the machine off.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>

#include "host/program.hpp"
#include "launch/run.hpp"

namespace pinfold {

enum class probe_status : std::uint8_t {
  ok,
  failed,  ///< `pinfold run` does not work here; `fix` says what to do
  info,    ///< a fact that decides nothing by itself
};

[[nodiscard]] constexpr std::string_view name_of(probe_status value) noexcept {
  switch (value) {
    case probe_status::ok:
      return "ok";
    case probe_status::failed:
      return "failed";
    case probe_status::info:
      return "info";
  }
  return "failed";
}

/// One answer. `found` and `fix` may hold foreign bytes (a path, a line that bwrap printed).
struct probe_line {
  std::string id{};  ///< stable, lower case, part of the interface
  probe_status status{probe_status::failed};
  std::string found{};
  std::string fix{};  ///< never empty where `status` is failed

  friend bool operator==(const probe_line&, const probe_line&) = default;
};

/// Where bwrap is looked for, in this order; the first that is there is judged. /usr/bin comes
/// first, because AppArmor profiles are bound to a path and distributions write theirs for it.
inline constexpr std::array<std::string_view, 3> bubblewrap_places{
    "/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"};

struct bubblewrap_search {
  std::vector<std::string> places{bubblewrap_places.begin(), bubblewrap_places.end()};
  std::string workspace{};  ///< canonical, or empty when there is none yet
};

struct bubblewrap_facts {
  std::string program{};  ///< canonical path
};

// --- what the disk says of bwrap -----------------------------------------------------------------

/// The first place of a search at which something is; `missing` when nothing is anywhere.
[[nodiscard]] program_facts find_bubblewrap(const bubblewrap_search& search);

/// The judgement, one line for each question; pure. It stops at the first question without which
/// the next makes no sense.
[[nodiscard]] std::vector<probe_line> judge_bubblewrap(const program_facts& facts,
                                                       const bubblewrap_search& search);

/// What `run` asks each time: the bwrap to start, or `sandbox_unavailable` with the probe that
/// failed and its fix in `detail`. Some twenty stat calls; bwrap is not started.
[[nodiscard]] std::expected<bubblewrap_facts, refusal> usable_bubblewrap(
    const bubblewrap_search& search = {});

// --- what the kernel says ------------------------------------------------------------------------

/// Facts of the running kernel; a fact that this kernel does not have is empty.
struct kernel_facts {
  std::string release{};
  std::optional<int> landlock_abi{};
  std::string seccomp_actions{};               ///< empty: no seccomp filters
  std::optional<int> own_seccomp_mode{};       ///< 2: a filter is on us already, as in a container
  std::optional<int> apparmor_restricts{};     ///< apparmor_restrict_unprivileged_userns
  std::optional<int> userns_clone{};           ///< unprivileged_userns_clone (Debian's own)
  std::optional<long> most_user_namespaces{};  ///< user.max_user_namespaces
};

/// Reads them; `proc` is another tree than /proc in tests only.
[[nodiscard]] kernel_facts read_kernel_facts(const std::string& proc = "/proc");

[[nodiscard]] std::vector<probe_line> kernel_lines(const kernel_facts& facts);

// --- what bwrap can do ---------------------------------------------------------------------------

/// Starts a plan; `run` itself but in tests.
using plan_starter = std::function<run_record(const launch_plan&, const limits&)>;

/// Each probe that starts something ends after this time.
inline constexpr std::chrono::milliseconds probe_time{5000};

/// `bwrap --version`, then user namespace, PID namespace, network namespace and /proc mount, each
/// on its own. After a probe that ran into its time limit no further one is started.
[[nodiscard]] std::vector<probe_line> probe_layers(const bubblewrap_facts& bwrap,
                                                   const kernel_facts& kernel,
                                                   const plan_starter& start,
                                                   std::chrono::milliseconds limit = probe_time);

/// Known faults, told by behaviour: whether a mount point below a link is made on the host, and
/// whether long plans are taken. Facts only: neither stops a run.
[[nodiscard]] std::vector<probe_line> probe_holes(const bubblewrap_facts& bwrap,
                                                  const plan_starter& start);

/// Whether a cgroup can be made here that bounds memory and tasks: one is made and removed. Info only:
/// without one the limits are watched over.
[[nodiscard]] probe_line probe_cgroup(const cgroup_search& search);

// --- all of it -----------------------------------------------------------------------------------

struct probe_request {
  bubblewrap_search search{};
  plan_starter start{};  ///< empty: `run`
  cgroup_search cgroups{};
  /// Makes the very sandbox of `pinfold run` with a bwrap that was found to be trusted, and runs
  /// `true` in it.
  std::function<run_record(const bubblewrap_facts&)> whole{};
};

struct probe_report {
  std::vector<probe_line> lines{};
  std::string program{};  ///< the bwrap judged; empty when none is there

  /// True when `pinfold run` works: no line failed.
  [[nodiscard]] bool is_usable() const noexcept;
};

/// Everything above, in order. A bwrap that is not trusted is not started, and the lines that would
/// need it are one failed line.
[[nodiscard]] probe_report probe_sandbox(const probe_request& request);

}  // namespace pinfold
