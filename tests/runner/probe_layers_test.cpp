// Floor 8, what a trusted bwrap can do here: each layer on its own, the fix for each cause, and
// that nothing hangs or is started that should not be.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sandbox/probe.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

const bubblewrap_facts bwrap{"/usr/bin/bwrap"};

run_record exited(int exit_code, std::string out, std::string err = {}) {
  run_record record;
  record.ended = ending::exited;
  record.exit_code = exit_code;
  record.out.text = std::move(out);
  record.err.text = std::move(err);
  return record;
}

run_record timed_out() {
  run_record record;
  record.ended = ending::timed_out;
  return record;
}

bool has(const launch_plan& plan, std::string_view word) {
  return std::ranges::find(plan.command, word) != plan.command.end();
}

/// A starter that plays a bwrap: `version` for --version, and `broken` for the plans that hold the
/// option `at`.
struct played {
  std::string version{"bubblewrap 0.8.0\n"};
  std::string at{};
  run_record broken = exited(1, "", "bwrap: No permissions\nmore\n");
  std::vector<launch_plan> seen{};

  plan_starter starter() {
    return [this](const launch_plan& plan, const limits& bounds) {
      CHECK(bounds.time.has_value());
      seen.push_back(plan);
      if (!at.empty() && has(plan, at)) return broken;
      return exited(0, has(plan, "--version") ? version : "");
    };
  }
};

std::vector<std::string> failed_ids(const std::vector<probe_line>& lines) {
  std::vector<std::string> ids;
  for (const auto& line : lines) {
    if (line.status == probe_status::failed) ids.push_back(line.id);
  }
  return ids;
}

std::string fix_of(const std::vector<probe_line>& lines, std::string_view id) {
  const auto found = std::ranges::find(lines, id, &probe_line::id);
  REQUIRE(found != lines.end());
  return found->fix;
}

using ids = std::vector<std::string>;

/// A directory whose own path is root's alone when the test runs as root.
class scratch {
 public:
  scratch() {
    std::string name =
        ::geteuid() == 0 ? "/run/pinfold-layers-XXXXXX" : "/tmp/pinfold-layers-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    REQUIRE(::chmod(name.c_str(), 0755) == 0);
    path_ = name;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() { fs::remove_all(path_); }

  /// A program that plays bwrap.
  std::string script(std::string_view body) const {
    const auto path = path_ + "/bwrap";
    std::ofstream{path} << "#!/bin/sh\n" << body;
    REQUIRE(::chmod(path.c_str(), 0755) == 0);
    return path;
  }
  [[nodiscard]] bool holds(std::string_view name) const {
    return fs::exists(path_ + "/" + std::string{name});
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

run_record run_itself(const launch_plan& plan, const limits& bounds) {
  return run(plan, bounds);
}

}  // namespace

TEST_CASE("each_layer_is_asked_for_on_its_own_by_an_absolute_path") {
  played play;
  const auto lines = probe_layers(bwrap, {}, play.starter());
  CHECK(failed_ids(lines).empty());
  CHECK(lines.size() == 5);
  REQUIRE(play.seen.size() == 5);
  for (const auto& plan : play.seen) {
    CHECK(plan.command.front() == "/usr/bin/bwrap");
    CHECK(plan.backend == backend_name::none);
    CHECK(plan.environment.size() == 2);  // nothing of the caller's
  }
  CHECK_FALSE(has(play.seen[1], "--unshare-pid"));
  CHECK_FALSE(has(play.seen[2], "--unshare-net"));
  CHECK_FALSE(has(play.seen[3], "--proc"));
  CHECK_FALSE(has(play.seen[4], "--unshare-net"));
}

TEST_CASE("a_layer_that_fails_is_one_line_with_what_bwrap_said") {
  const std::vector<std::pair<std::string, ids>> rows{
      {"--unshare-user", {"sandbox-user", "sandbox-pid", "sandbox-network", "sandbox-proc"}},
      {"--unshare-net", {"sandbox-network"}},
      {"--proc", {"sandbox-proc"}},
      {"--version", {"bwrap-version"}},
  };
  for (const auto& [option, failed] : rows) {
    INFO(option);
    played play{.at = option};
    const auto lines = probe_layers(bwrap, {}, play.starter());
    CHECK(failed_ids(lines) == failed);
    for (const auto& line : lines) {
      if (line.status != probe_status::failed) continue;
      CHECK_FALSE(line.fix.empty());
      CHECK(line.found.contains("bwrap: No permissions"));
      CHECK_FALSE(line.found.contains("more"));
    }
  }
}

TEST_CASE("the_version_must_be_named_and_new_enough") {
  const std::vector<std::pair<std::string, bool>> rows{
      {"bubblewrap 0.8.0\n", true},  {"bubblewrap 0.11.2\n", true},
      {"bubblewrap 1.0.0\n", true},  {"bubblewrap 0.8\n", true},
      {"bubblewrap 0.7.9\n", false}, {"bubblewrap 0.4.1\n", false},
      {"bubblewrap\n", false},       {"", false},
      {"bubblewrap x.9\n", false},   {"bwrap 0.9.0\n", false},
      {"bubblewrap 9\n", false},     {"bubblewrap 0.-9\n", false},
  };
  for (const auto& [text, good] : rows) {
    INFO(text);
    played play{.version = text};
    CHECK(failed_ids(probe_layers(bwrap, {}, play.starter())) ==
          (good ? ids{} : ids{"bwrap-version"}));
  }
}

TEST_CASE("after_a_probe_that_hung_nothing_more_is_started") {
  played play{.at = "--unshare-user", .broken = timed_out()};
  const auto lines = probe_layers(bwrap, {}, play.starter());
  CHECK(failed_ids(lines) == ids{"sandbox-user"});
  CHECK(play.seen.size() == 2);
  played hung{.at = "--version", .broken = timed_out()};
  CHECK(failed_ids(probe_layers(bwrap, {}, hung.starter())) == ids{"bwrap-version"});
  CHECK(hung.seen.size() == 1);
}

TEST_CASE("the_fix_names_the_cause_and_never_turns_a_protection_off") {
  const auto fixes = [](const kernel_facts& kernel, std::string option) {
    played play{.at = std::move(option)};
    return probe_layers(bwrap, kernel, play.starter());
  };
  const auto apparmor = fix_of(fixes({.apparmor_restricts = 1}, "--unshare-user"), "sandbox-user");
  CHECK(apparmor.contains("profile bwrap /usr/bin/bwrap flags=(unconfined) {\n    userns,"));
  CHECK(apparmor.contains("apparmor_parser -r /etc/apparmor.d/bwrap"));
  const auto none = fix_of(fixes({.most_user_namespaces = 0}, "--unshare-user"), "sandbox-user");
  CHECK(none.contains("turned user namespaces off"));
  const auto debian = fix_of(fixes({.userns_clone = 0}, "--unshare-user"), "sandbox-user");
  CHECK(debian == none);
  const auto container = fix_of(fixes({.own_seccomp_mode = 2}, "--unshare-net"), "sandbox-network");
  CHECK(container.contains("seccomp profile"));
  CHECK(fix_of(fixes({}, "--proc"), "sandbox-proc").contains("outside of the container"));
  CHECK(fix_of(fixes({}, "--unshare-net"), "sandbox-network").contains("CONFIG_NET_NS"));
  played unmapped{.at = "--unshare-user",
                  .broken = exited(1, "", "bwrap: setting up uid map: Operation not permitted\n")};
  const auto lines = probe_layers(bwrap, {}, unmapped.starter());
  CHECK(fix_of(lines, "sandbox-user").contains("SETFCAP"));
  CHECK(fix_of(lines, "sandbox-proc").contains("SETFCAP"));
  for (const auto& fix : {apparmor, none, container}) {
    CHECK_FALSE(fix.contains("sysctl"));
    CHECK_FALSE(fix.contains("echo "));
  }
}

TEST_CASE("a_bwrap_that_hangs_is_ended_and_one_that_fails_at_a_namespace_is_named") {
  const scratch dir;
  const bubblewrap_facts slow{dir.script("exec sleep 100\n")};
  CHECK(failed_ids(probe_layers(slow, {}, run_itself, 200ms)) == ids{"bwrap-version"});
  const bubblewrap_facts partial{
      dir.script("case \"$*\" in\n"
                 "*--version*) echo bubblewrap 0.8.0;;\n"
                 "*--unshare-net*) echo 'bwrap: loopback: Failed RTM_NEWADDR' >&2; exit 1;;\n"
                 "esac\n")};
  const auto lines = probe_layers(partial, {}, run_itself);
  CHECK(failed_ids(lines) == ids{"sandbox-network"});
  CHECK(std::ranges::find(lines, "bwrap: loopback: Failed RTM_NEWADDR", &probe_line::found) !=
        lines.end());
}

TEST_CASE("a_bwrap_that_is_not_trusted_is_never_started") {
  const scratch dir;
  const auto program = dir.script("touch " + dir.path() + "/started\n");
  REQUIRE(::chmod(program.c_str(), 0777) == 0);
  const auto report = probe_sandbox({.search = {.places = {program}, .workspace = {}},
                                     .start = run_itself,
                                     .whole = [](const bubblewrap_facts&) -> run_record {
                                       FAIL("the sandbox was made with it");
                                       return {};
                                     }});
  CHECK_FALSE(report.is_usable());
  CHECK_FALSE(dir.holds("started"));
  CHECK(report.lines.back().id == "container");
  CHECK_FALSE(fix_of(report.lines, "bwrap-owner").empty());
  CHECK_FALSE(fix_of(report.lines, "sandbox-whole").empty());
}

TEST_CASE("a_sandbox_that_fails_as_a_whole_fails_the_report") {
  REQUIRE(usable_bubblewrap());  // the tests need one that is trusted, whether it works or not
  played play;
  auto whole = exited(0, "");
  const probe_request request{.search = {},
                              .start = play.starter(),
                              .whole = [&](const bubblewrap_facts&) { return whole; }};
  const auto unconfined = probe_sandbox(request);  // it ran, but not under bubblewrap
  CHECK(failed_ids(unconfined.lines) == ids{"sandbox-whole"});
  whole.backend = backend_name::bubblewrap;
  CHECK(probe_sandbox(request).is_usable());
  whole.exit_code = 1;
  CHECK_FALSE(probe_sandbox(request).is_usable());
}

TEST_CASE("the_kernel_of_this_machine_is_described") {
  const auto facts = read_kernel_facts();
  CHECK_FALSE(facts.release.empty());
  CHECK(facts.own_seccomp_mode.has_value());
  const auto lines = kernel_lines(facts);
  REQUIRE(lines.size() == 6);
  for (const auto& line : lines) {
    CHECK(line.status == probe_status::info);
    CHECK_FALSE(line.found.empty());
  }
}

TEST_CASE("facts_of_a_kernel_are_read_from_its_files") {
  const scratch dir;
  const auto put = [&](const std::string& name, std::string_view text) {
    fs::create_directories(fs::path{dir.path() + "/" + name}.parent_path());
    std::ofstream{dir.path() + "/" + name} << text;
  };
  put("sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  put("sys/kernel/unprivileged_userns_clone", "0\n");
  put("sys/user/max_user_namespaces", "0\n");
  put("sys/kernel/seccomp/actions_avail", "kill_process errno allow\n");
  put("self/status", "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n");
  const auto facts = read_kernel_facts(dir.path());
  CHECK(facts.apparmor_restricts == 1);
  CHECK(facts.userns_clone == 0);
  CHECK(facts.most_user_namespaces == 0);
  CHECK(facts.seccomp_actions == "kill_process errno allow");
  CHECK(facts.own_seccomp_mode == 2);
  const auto none = read_kernel_facts(dir.path() + "/none");
  CHECK_FALSE(none.apparmor_restricts);
  CHECK_FALSE(none.most_user_namespaces);
  CHECK_FALSE(none.own_seccomp_mode);
  put("sys/user/max_user_namespaces", "12x\n");
  CHECK_FALSE(read_kernel_facts(dir.path()).most_user_namespaces);
}

/// Where bubblewrap is said to work, it must; elsewhere every failed line still has its fix.
TEST_CASE("the_bwrap_of_this_machine_makes_every_layer") {
  const char* must = std::getenv("PINFOLD_BWRAP_MUST_WORK");
  const auto usable = usable_bubblewrap();
  if (must != nullptr) REQUIRE(usable);
  if (!usable) {
    CHECK(usable.error().error == code::sandbox_unavailable);
    return;
  }
  const auto lines = probe_layers(*usable, read_kernel_facts(), run_itself);
  for (const auto& line : lines) {
    INFO(line.id << ": " << line.found);
    if (must != nullptr) CHECK(line.status == probe_status::ok);
    if (line.status == probe_status::failed) CHECK_FALSE(line.fix.empty());
  }
}
