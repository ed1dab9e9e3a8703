// Starts a trusted bwrap with the fewest options that ask for one thing, so that a failure names
// its layer. The sandbox of `run` is asked for last, as a whole.
#include <algorithm>
#include <charconv>
#include <utility>

#include "launch/stage_protocol.hpp"
#include "sandbox/probe/bounded_start.hpp"

namespace pinfold {

namespace {

constexpr std::string_view apparmor_fix =
    "give bwrap a profile that allows user namespaces. Put this into /etc/apparmor.d/bwrap:\n"
    "  abi <abi/4.0>,\n"
    "  include <tunables/global>\n"
    "  profile bwrap /usr/bin/bwrap flags=(unconfined) {\n"
    "    userns,\n"
    "    include if exists <local/bwrap>\n"
    "  }\n"
    "then load it: sudo apparmor_parser -r /etc/apparmor.d/bwrap";
constexpr std::string_view switched_off_fix =
    "whoever runs this machine has turned user namespaces off for you (user.max_user_namespaces or "
    "kernel.unprivileged_userns_clone is 0); use a machine or a virtual machine where they are on";
constexpr std::string_view container_fix =
    "this container's seccomp filter forbids it; start the container with a seccomp profile that "
    "allows clone and unshare with namespaces, mount, umount2 and pivot_root, or run pinfold "
    "outside";
constexpr std::string_view proc_fix =
    "the kernel allows a new /proc only where the present one is whole; a container covers parts "
    "of "
    "it. Run pinfold outside of the container, or in a virtual machine";
constexpr std::string_view unmapped_root_fix =
    "uid 0 is mapped into a user namespace only for who has the capability SETFCAP (Linux 5.12); "
    "run pinfold as an ordinary user, or leave that one capability to the container";
constexpr std::string_view kernel_fix =
    "this kernel lacks the namespace, a security module forbids it (see: sudo dmesg | tail), or "
    "the root directory was changed (chroot); use a kernel with CONFIG_USER_NS, CONFIG_PID_NS and "
    "CONFIG_NET_NS";
constexpr std::string_view hang_fix =
    "bwrap did not end in time, so nothing more was tried; put the distribution's own file back "
    "(Debian and Ubuntu: sudo apt-get install --reinstall bubblewrap)";
constexpr std::string_view version_fix =
    "install bubblewrap 0.8 or newer (Debian 12, Ubuntu 24.04 and later have it)";

struct layer {
  std::string_view id;
  std::string_view name;
  std::vector<std::string> options;
};

std::vector<layer> layers() {
  return {{"sandbox-user", "a user namespace", {"--unshare-user"}},
          {"sandbox-pid", "a PID namespace", {"--unshare-user", "--unshare-pid"}},
          {"sandbox-network", "a network namespace", {"--unshare-user", "--unshare-net"}},
          {"sandbox-proc", "a new /proc", {"--unshare-user", "--unshare-pid", "--proc", "/proc"}}};
}

std::string first_line(std::string_view text) {
  return std::string{text.substr(0, text.find('\n'))};
}

/// What happened, in words, for a run that is not the success hoped for.
std::string story_of(const run_record& record) {
  if (record.ended == ending::timed_out) return "did not end in time";
  if (record.error) return record.error->message();
  if (!record.err.text.empty()) return first_line(record.err.text);
  if (record.signal) return "was killed by signal " + std::to_string(*record.signal);
  return "ended with exit code " + std::to_string(record.exit_code.value_or(-1));
}

/// The fix for a layer, the most certain cause first:
///  1. it hung                                              -> the file itself is suspect
///  2. AppArmor restricts user namespaces                   -> a profile for bwrap
///  3. user namespaces are switched off                     -> another machine
///  4. bwrap's own words: the mapping of uids               -> root without its capabilities
///  5. only /proc fails                                     -> it is covered, as in a container
///  6. a seccomp filter is on this process                  -> the container's profile
///  7. anything else                                        -> the kernel
std::string_view fix_for(const layer& failed, const run_record& record,
                         const kernel_facts& kernel) {
  if (record.ended == ending::timed_out) return hang_fix;
  if (kernel.apparmor_restricts.value_or(0) != 0) return apparmor_fix;
  if (kernel.most_user_namespaces == 0 || kernel.userns_clone == 0) return switched_off_fix;
  if (record.err.text.contains("setting up uid map")) return unmapped_root_fix;
  if (failed.id == "sandbox-proc") return proc_fix;
  return kernel.own_seccomp_mode == 2 ? container_fix : kernel_fix;
}

struct version {
  int major{0};
  int minor{0};
  friend auto operator<=>(const version&, const version&) = default;
};

/// Of "bubblewrap 0.8.0".
std::optional<version> version_in(std::string_view text) {
  constexpr std::string_view name = "bubblewrap ";
  if (!text.starts_with(name)) return std::nullopt;
  text.remove_prefix(name.size());
  version read;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, read.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, read.minor);
  if (minor.ec != std::errc{}) return std::nullopt;
  return read;
}

probe_line version_line(const run_record& record) {
  if (!has_succeeded(record)) {
    const bool hung = record.ended == ending::timed_out;
    return {"bwrap-version", probe_status::failed, "bwrap --version: " + story_of(record),
            std::string{hung ? hang_fix : version_fix}};
  }
  const auto text = first_line(record.out.text);
  const auto read = version_in(text);
  if (read && *read >= version{0, 8}) return {"bwrap-version", probe_status::ok, text, {}};
  return {"bwrap-version", probe_status::failed,
          read ? text + " is too old" : "\"" + text + "\" names no version",
          std::string{version_fix}};
}

probe_line layer_line(const layer& asked, const run_record& record, const kernel_facts& kernel) {
  if (has_succeeded(record)) {
    return {std::string{asked.id}, probe_status::ok, "bwrap makes " + std::string{asked.name}, {}};
  }
  return {std::string{asked.id}, probe_status::failed, story_of(record),
          std::string{fix_for(asked, record, kernel)}};
}

std::vector<std::string> command_for(const bubblewrap_facts& bwrap, const layer& asked) {
  std::vector<std::string> command{bwrap.program};
  command.insert(command.end(), asked.options.begin(), asked.options.end());
  for (auto word : {"--ro-bind", "/", "/", "--die-with-parent", "--", "/bin/true"}) {
    command.emplace_back(word);
  }
  return command;
}

/// The last line: the sandbox of `run` itself.
probe_line whole_line(const run_record& record) {
  if (has_succeeded(record) && record.backend == backend_name::bubblewrap) {
    const auto setup = std::chrono::round<std::chrono::milliseconds>(record.setup);
    return {"sandbox-whole",
            probe_status::ok,
            "the sandbox of pinfold run starts, in " + std::to_string(setup.count()) + " ms",
            {}};
  }
  const auto story = story_of(record);
  const bool is_attaching = story.contains(name_of(stage::step::attach_mount)) ||
                            story.contains(name_of(stage::step::enter_boundary));
  return {"sandbox-whole", probe_status::failed, story,
          is_attaching ? "mounts are made by descriptor: that takes Linux 5.12, and in a container a "
                         "seccomp profile that allows setns, open_tree, move_mount, mount_setattr, "
                         "fsopen, fsconfig and fsmount"
                       : "mend the lines above that failed; where none did, the message names the step"};
}

}  // namespace

std::vector<probe_line> probe_layers(const bubblewrap_facts& bwrap, const kernel_facts& kernel,
                                     const plan_starter& start, std::chrono::milliseconds limit) {
  auto record = start_bounded(start, {bwrap.program, "--version"}, limit);
  std::vector<probe_line> lines{version_line(record)};
  for (const auto& asked : layers()) {
    if (record.ended == ending::timed_out) break;
    record = start_bounded(start, command_for(bwrap, asked), limit);
    lines.push_back(layer_line(asked, record, kernel));
  }
  return lines;
}

bool probe_report::is_usable() const noexcept {
  return std::ranges::none_of(
      lines, [](const probe_line& line) { return line.status == probe_status::failed; });
}

probe_report probe_sandbox(const probe_request& request) {
  const auto facts = find_bubblewrap(request.search);
  const auto kernel = read_kernel_facts();
  probe_report report{.lines = judge_bubblewrap(facts, request.search), .program = facts.file.path};
  const auto add = [&report](std::vector<probe_line> more) {
    std::ranges::move(more, std::back_inserter(report.lines));
  };
  const auto not_tried = [&add] {
    add({{"sandbox-whole", probe_status::failed, "not tried",
          "mend the lines above that failed, then ask again"}});
  };
  if (!report.is_usable()) {
    not_tried();
  } else {
    const bubblewrap_facts bwrap{facts.file.path};
    const plan_starter by_default = [](const launch_plan& plan, const limits& bounds) {
      return run(plan, bounds);
    };
    const auto& start = request.start ? request.start : by_default;
    add(probe_layers(bwrap, kernel, start));
    if (report.is_usable()) {
      add(probe_holes(bwrap, start));
      add({whole_line(request.whole(bwrap))});
    } else {
      not_tried();
    }
  }
  add({probe_cgroup(request.cgroups)});
  add(kernel_lines(kernel));
  return report;
}

}  // namespace pinfold
