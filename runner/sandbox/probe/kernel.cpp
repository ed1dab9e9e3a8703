// What the running kernel offers and restricts, from /proc/sys and two harmless system calls
// (landlock_create_ruleset(2) with the version flag makes nothing).
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "sandbox/probe.hpp"

namespace pinfold {

namespace {

/// The text of a small file without the white space at its end; empty when it cannot be read.
std::string text_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The number after `key` in a file of "Key:\tvalue" lines.
std::optional<int> status_number(std::string_view text, std::string_view key) {
  const auto at = ("\n" + std::string{text}).find("\n" + std::string{key} + ":");
  if (at == std::string::npos) return std::nullopt;
  auto rest = text.substr(at + key.size() + 1);
  rest = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return number_in<int>(rest);
}

std::optional<int> landlock_abi() {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 0) return std::nullopt;
  return static_cast<int>(abi);
}

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "unknown";
}

probe_line info(std::string id, std::string found) {
  return {std::move(id), probe_status::info, std::move(found), {}};
}

probe_line landlock_line(const kernel_facts& facts) {
  if (!facts.landlock_abi) return info("landlock", "not in this kernel, or not turned on");
  return info("landlock", "ABI " + std::to_string(*facts.landlock_abi));
}

probe_line seccomp_line(const kernel_facts& facts) {
  if (facts.seccomp_actions.empty()) return info("seccomp", "this kernel takes no filters");
  return info("seccomp", "filters are taken: " + facts.seccomp_actions);
}

probe_line apparmor_line(const kernel_facts& facts) {
  if (facts.apparmor_restricts.value_or(0) == 0) {
    return info("apparmor", "does not restrict user namespaces");
  }
  return info("apparmor",
              "allows user namespaces only to programs with a profile that says so; the "
              "line sandbox-user tells whether bwrap has one");
}

probe_line user_namespaces_line(const kernel_facts& facts) {
  std::string found = facts.most_user_namespaces
                          ? "at most " + std::to_string(*facts.most_user_namespaces)
                          : std::string{"not in this kernel"};
  if (facts.userns_clone) {
    found += *facts.userns_clone == 0 ? "; only root may make them" : "; everybody may make them";
  }
  return info("user-namespaces", std::move(found));
}

probe_line container_line(const kernel_facts& facts) {
  if (facts.own_seccomp_mode != 2) return info("container", "no seccomp filter is on this process");
  return info("container",
              "a seccomp filter is on this process already, as in a container; it may "
              "forbid namespaces");
}

}  // namespace

kernel_facts read_kernel_facts(const std::string& proc) {
  const auto kernel = proc + "/sys/kernel/";
  return {.release = kernel_release(),
          .landlock_abi = landlock_abi(),
          .seccomp_actions = text_of(kernel + "seccomp/actions_avail"),
          .own_seccomp_mode = status_number(text_of(proc + "/self/status"), "Seccomp"),
          .apparmor_restricts =
              number_in<int>(text_of(kernel + "apparmor_restrict_unprivileged_userns")),
          .userns_clone = number_in<int>(text_of(kernel + "unprivileged_userns_clone")),
          .most_user_namespaces = number_in<long>(text_of(proc + "/sys/user/max_user_namespaces"))};
}

std::vector<probe_line> kernel_lines(const kernel_facts& facts) {
  return {info("kernel", facts.release), landlock_line(facts),        seccomp_line(facts),
          apparmor_line(facts),          user_namespaces_line(facts), container_line(facts)};
}

}  // namespace pinfold
