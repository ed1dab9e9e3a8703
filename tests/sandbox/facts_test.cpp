// Every fact of a confinement under every backend: it shows in the plan, or it is an error that
// names it. None is ever dropped.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sandbox/effect.hpp"
#include "sandbox/matrix.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using effects::effect;
using effects::effect_on;

namespace {

/// A confinement that asks for no boundary: every backend makes a plan of it.
confinement open_facts() {
  confinement facts;
  facts.workspace = facts.directory = "/work/app";
  facts.command = {"make"};
  facts.network = network_access::on;
  return facts;
}

/// A repository that is shown for reading, and a private directory that stands in for a part of it.
confinement with_a_store(confinement facts) {
  facts.shared = {{.source = "/repo", .target = "/repo"}, {.source = "/store", .target = "/store"}};
  facts.replaced = {{.source = "/store/private/refs",
                     .target = "/repo/refs/x",
                     .access = root_access::write}};
  facts.covered = {"/store/private"};
  return facts;
}

bool has_option(const launch_plan& plan, std::string_view word) {
  return std::ranges::find(plan.options, word) != plan.options.end();
}
bool has_mount(const launch_plan& plan, mount_kind kind, std::string_view target) {
  return std::ranges::any_of(
      plan.mounts, [&](const mount& one) { return one.kind == kind && one.target == target; });
}
bool keeps_name(const launch_plan& plan, std::string_view path) {
  if (plan.backend == backend_name::bubblewrap) return has_mount(plan, mount_kind::bind, path);
  return !profile::lets_through(profile::rules_of(plan.options.at(1)), "file-write-unlink", path);
}

struct fact {
  std::string name;  ///< what a refusal has to name
  void (*add)(confinement&);
  bool (*is_held)(const launch_plan&);
  /// Backends that have to hold to it; the others have to refuse it.
  std::vector<backend_name> held_by;
};

constexpr auto bwrap = backend_name::bubblewrap;
constexpr auto mac = backend_name::seatbelt;

const std::vector<fact> facts{
    {"network off",
     [](confinement& it) { it.network = network_access::off; },
     [](const launch_plan& it) {
       return it.network == network_access::off && !effects::has_a_way_out(it);
     },
     {bwrap, mac}},
    {"read-only workspace",
     [](confinement& it) { it.access = workspace_access::read_only; },
     [](const launch_plan& it) { return effect_on(it, "/work/app/x") == effect::reads; },
     {bwrap, mac}},
    {"root minimal",
     [](confinement& it) { it.root = root_profile::minimal; },
     [](const launch_plan& it) { return effect_on(it, "/etc/passwd") == effect::closed; },
     {bwrap}},
    {"carve-out",
     [](confinement& it) { it.carve_outs = {{.path = "/work/app/.efferent"}}; },
     [](const launch_plan& it) { return effect_on(it, "/work/app/.efferent/x") == effect::closed; },
     {bwrap, mac}},
    {"carve-out",
     [](confinement& it) {
       it.carve_outs = {{.path = "/work/app/.efferent", .shell = carved_path::shown::visible}};
     },
     [](const launch_plan& it) { return effect_on(it, "/work/app/.efferent/x") == effect::reads; },
     {bwrap, mac}},
    {"carve-out",
     [](confinement& it) {
       it.carve_outs = {{.path = "/work/app/.git/config",
                         .kind = carve_kind::host_run,
                         .type = file_kind::file}};
     },
     [](const launch_plan& it) { return effect_on(it, "/work/app/.git/config") == effect::reads; },
     {bwrap, mac}},
    {"carve-out",
     [](confinement& it) { it.carve_outs = {{.path = "/work/app/link", .type = file_kind::link}}; },
     [](const launch_plan&) { return false; },
     {}},
    {"carve-out",
     [](confinement& it) { it.carve_outs = {{.path = "/work/other/.efferent"}}; },
     [](const launch_plan&) { return false; },
     {}},
    {"carve-outs",
     [](confinement& it) { it.pinned = {"/work/app/.git"}; },
     [](const launch_plan& it) { return keeps_name(it, "/work/app/.git"); },
     {bwrap, mac}},
    {"shared path",
     [](confinement& it) { it.shared = {{.source = "/opt/tool", .target = "/opt/tool"}}; },
     [](const launch_plan& it) { return effect_on(it, "/opt/tool/cc") == effect::reads; },
     {bwrap, mac}},
    {"shared path",
     [](confinement& it) {
       it.shared = {{.source = "/cache", .target = "/cache", .access = root_access::write}};
     },
     [](const launch_plan& it) { return effect_on(it, "/cache/x") == effect::writes; },
     {bwrap, mac}},
    {"shared path",
     [](confinement& it) {
       it.shared = {
           {.source = "/cache/id", .target = "/home/u/.cache", .access = root_access::write}};
     },
     [](const launch_plan& it) {
       return std::ranges::any_of(it.mounts, [](const mount& one) {
         return one.source == "/cache/id" && one.target == "/home/u/.cache";
       });
     },
     {bwrap}},
    {"replaced path",
     [](confinement& it) { it = with_a_store(std::move(it)); },
     [](const launch_plan& it) {
       const auto at = std::ranges::find(it.mounts, "/repo/refs/x", &mount::target);
       return at != it.mounts.end() && at->kind == mount_kind::bind &&
              at->source == "/store/private/refs" && effect_on(it, "/repo/refs/y") == effect::reads &&
              effect_on(it, "/store/private/refs/work") == effect::closed;
     },
     {bwrap}},
    {"replaced path",  // it would be written to under its own name as well
     [](confinement& it) {
       it = with_a_store(std::move(it));
       it.covered.clear();
     },
     [](const launch_plan&) { return false; },
     {}},
    {"replaced path",  // its source is not shown
     [](confinement& it) {
       it = with_a_store(std::move(it));
       it.shared.pop_back();
     },
     [](const launch_plan&) { return false; },
     {}},
    {"replaced path",  // it would lie over a part of the workspace
     [](confinement& it) {
       it = with_a_store(std::move(it));
       it.replaced.front().target = "/work/app/refs";
     },
     [](const launch_plan&) { return false; },
     {}},
    {"replaced path",  // it would lie over what is not shown
     [](confinement& it) {
       it = with_a_store(std::move(it));
       it.replaced.front().target = "/other/refs";
     },
     [](const launch_plan&) { return false; },
     {}},
    {"replaced path",  // it would be uncovered again
     [](confinement& it) {
       it = with_a_store(std::move(it));
       it.replaced.push_back({.source = "/repo/objects", .target = "/store/private/refs"});
     },
     [](const launch_plan&) { return false; },
     {}},
    {"replaced path",
     [](confinement& it) {
       it = with_a_store(std::move(it));
       it.covered.push_back("/repo");
     },
     [](const launch_plan&) { return false; },
     {}},
    {"hidden place",
     [](confinement& it) { it.hidden = {{.path = "/home"}}; },
     [](const launch_plan& it) { return effect_on(it, "/home/u/.ssh/x") == effect::closed; },
     {bwrap, mac}},
    {"hidden",
     [](confinement& it) { it.hidden_files = {"/secret"}; },
     [](const launch_plan& it) { return effect_on(it, "/secret") == effect::closed; },
     {bwrap, mac}},
    {"place",
     [](confinement& it) {
       it.hidden = {{.path = "/scratch", .contents = hidden_path::use::scratch}};
       it.scratch_bytes = 12345;
     },
     [](const launch_plan& it) {
       return has_mount(it, mount_kind::tmpfs, "/scratch") && has_option(it, "12345");
     },
     {bwrap}},
    {"egress",
     [](confinement& it) { it.egress = {"example.com:443"}; },
     [](const launch_plan& it) {
       return it.network == network_access::off && has_option(it, "--unshare-net") &&
              it.egress == std::vector<std::string>{"example.com:443"};
     },
     {bwrap}},
    {"visible path",
     [](confinement& it) {
       it.root = root_profile::minimal;
       it.visible = {{.path = "/usr", .target = {}}};
     },
     [](const launch_plan& it) {
       return effect_on(it, "/usr/bin/cc") == effect::reads &&
              effect_on(it, "/etc/passwd") == effect::closed;
     },
     {bwrap}},
    {"command",
     [](confinement& it) { it.command.clear(); },
     [](const launch_plan&) { return false; },
     {}},
};

constexpr std::array backends{backend_name::none, bwrap, mac};

/// The word a refusal of none uses may stand for several facts.
bool names(const refusal& refused, const fact& one) {
  const auto has = [&refused](std::string_view word) {
    return refused.path.find(word) != std::string::npos;
  };
  if (has(one.name)) return true;
  if (one.name == "visible path") return has("root minimal");
  if (one.name == "hidden place" || one.name == "hidden" || one.name == "place") {
    return has("hidden") || has("scratch");
  }
  return one.name == "carve-out" && has("carve-outs");
}

}  // namespace

TEST_CASE("a_fact_is_held_or_named_in_an_error_and_never_dropped") {
  for (const auto& one : facts) {
    for (auto backend : backends) {
      INFO(one.name << " under " << name_of(backend));
      auto asked = open_facts();
      one.add(asked);
      const auto plan = matrix::wrap(backend, asked);
      const bool has_to_hold = std::ranges::find(one.held_by, backend) != one.held_by.end();
      REQUIRE(plan.has_value() == has_to_hold);
      if (has_to_hold) {
        CHECK(one.is_held(*plan));
      } else {
        CHECK(plan.error().error == code::not_enforceable);
        CHECK(names(plan.error(), one));
        CHECK(plan.error().detail == "backend " + std::string{name_of(backend)});
      }
    }
  }
}

TEST_CASE("a_fact_that_was_not_asked_for_does_not_show") {
  // The control: without the fact, its evidence is missing.
  for (auto backend : {bwrap, mac}) {
    const auto plan = matrix::wrap(backend, open_facts());
    REQUIRE(plan.has_value());
    CHECK(effects::has_a_way_out(*plan));
    CHECK(effect_on(*plan, "/work/app/x") == effect::writes);
    CHECK(effect_on(*plan, "/work/app/.efferent/x") == effect::writes);
    CHECK(effect_on(*plan, "/work/app/.git/config") == effect::writes);
    CHECK(effect_on(*plan, "/etc/passwd") == effect::reads);
    CHECK(effect_on(*plan, "/cache/x") == effect::reads);
    CHECK(effect_on(*plan, "/home/u/.ssh/x") == effect::reads);
    CHECK(effect_on(*plan, "/secret") == effect::reads);
    CHECK_FALSE(keeps_name(*plan, "/work/app/.git"));
  }
}

TEST_CASE("every_backend_hands_on_command_environment_and_directory_unchanged") {
  auto asked = open_facts();
  asked.command = {"sh", "-c", "echo \"a b\" > 'x\ny'", "--", ""};
  asked.environment = {"PATH=/usr/bin", "EMPTY=", "ODD=a=b\nc"};
  asked.directory = "/work/app/src";
  for (auto backend : backends) {
    const auto plan = matrix::wrap(backend, asked);
    REQUIRE(plan.has_value());
    CHECK(plan->command == asked.command);
    CHECK(plan->environment == asked.environment);
    CHECK(plan->directory == asked.directory);
    CHECK(plan->workspace == asked.workspace);
    CHECK(plan->backend == backend);
  }
}

TEST_CASE("what_is_shown_never_uncovers_what_is_hidden") {
  for (auto backend : {bwrap, mac}) {
    auto asked = open_facts();
    asked.hidden = {{.path = "/work/app/secret"}};
    CHECK(matrix::wrap(backend, asked).error().error == code::workspace_too_broad);
    asked = open_facts();
    asked.hidden = {{.path = "/home/u/.ssh"}};
    asked.shared = {{.source = "/home/u", .target = "/home/u"}};
    CHECK(matrix::wrap(backend, asked).error().error == code::workspace_too_broad);
    asked.hidden.clear();
    asked.hidden_files = {"/home/u/.netrc"};
    CHECK(matrix::wrap(backend, asked).error().error == code::workspace_too_broad);
  }
}

TEST_CASE("a_confined_command_has_no_way_to_gain_privilege_back") {
  const auto plan = matrix::wrap(bwrap, open_facts());
  for (auto word : {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL",
                    "--new-session"}) {
    INFO(word);
    CHECK(has_option(*plan, word));
  }
  const auto alone = [](const launch_plan& of, std::string_view word) {
    const auto argv = standalone_argv(of);
    return std::ranges::find(argv, word) != argv.end();
  };
  CHECK(alone(*plan, "--disable-userns"));  // the runner sees to it by itself
  CHECK(effect_on(*plan, "/proc/sys/kernel/core_pattern") == effect::reads);
  auto nested = open_facts();
  nested.nesting = nested_namespaces::allowed;
  CHECK_FALSE(alone(*matrix::wrap(bwrap, nested), "--disable-userns"));
}
