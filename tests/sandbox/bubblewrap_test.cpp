// The plan for bubblewrap, word for word, and the refusals of what it cannot say.
#include <optional>
#include <string>
#include <vector>

#include <pinfold/sandbox/bubblewrap.hpp>

#include "sandbox/facts.hpp"
#include "support/catch.hpp"

namespace {

using namespace pinfold;
using pinfold_test::fixed_facts;
using pinfold_test::minimal_facts;
using words = std::vector<std::string>;

const words head{"/usr/bin/bwrap", "--unshare-user", "--unshare-ipc",
                 "--unshare-pid",  "--unshare-uts",  "--unshare-cgroup"};
const words no_network{"--unshare-net"};
const words privileges{"--cap-drop", "ALL", "--new-session"};
const words host_root{"--ro-bind", "/", "/"};
const words minimal_root{"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"};
const words system_places{"--dev",    "/dev",        "--perms",   "1777",     "--size",
                          "4096",     "--tmpfs",     "/dev/shm",  "--remount-ro", "/dev",
                          "--proc",   "/proc",       "--ro-bind", "/proc/sys", "/proc/sys"};
const words hidden{"--perms", "755",  "--size",  "1048576", "--tmpfs", "/home", "--perms", "1777",
                   "--size",  "4096", "--tmpfs", "/tmp",    "--dir",   "/tmp/home"};
const words no_hashes{"--ro-bind", "/dev/null", "/etc/shadow"};
const words read_root{"--ro-bind", "/home/u/.cargo", "/home/u/.cargo"};
const words writable{"--bind", "/home/u/work", "/home/u/work"};
const words read_only{"--ro-bind", "/home/u/work", "/home/u/work"};
const words pinned{"--bind", "/home/u/work/.git", "/home/u/work/.git"};
const words pinned_read_only{"--ro-bind", "/home/u/work/.git", "/home/u/work/.git"};
const words state_hidden{"--perms", "555",          "--size",
                         "4096",    "--tmpfs",      "/home/u/work/.foundry",
                         "--remount-ro", "/home/u/work/.foundry"};
const words state_visible{"--ro-bind", "/home/u/work/.foundry", "/home/u/work/.foundry"};
const words doors{"--ro-bind", "/home/u/work/.git/config", "/home/u/work/.git/config"};
const words close_home{"--remount-ro", "/home"};
const words close_root{"--remount-ro", "/"};
const words start{"--chdir", "/home/u/work/src"};
const words tail{"--disable-userns", "--clearenv", "--setenv", "PATH", "/usr/bin",
                 "--setenv",         "EMPTY",      "",         "--",   "make",     "test"};

words joined(std::initializer_list<words> parts) {
  words all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

words argv_of(const confinement& facts) {
  const auto plan = bubblewrap{}.wrap(facts);
  REQUIRE(plan);
  return standalone_argv(*plan);
}

/// The code with which the fixed facts are refused after a change; nothing when they are not.
template <class Change>
constexpr std::optional<code> refused_as(Change change) {
  auto facts = fixed_facts();
  change(facts);
  const auto plan = bubblewrap{}.wrap(facts);
  if (plan) return std::nullopt;
  return plan.error().error;
}

template <class Change>
void check_refused(const std::string& fact, Change change) {
  INFO(fact);
  auto facts = fixed_facts();
  REQUIRE(bubblewrap{}.wrap(facts));
  change(facts);
  const auto plan = bubblewrap{}.wrap(facts);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().error == code::not_enforceable);
  CHECK(plan.error().path == fact);
  CHECK(plan.error().detail == "backend bubblewrap");
}

}  // namespace

TEST_CASE("the whole argument vector of a confined run, in order") {
  CHECK(argv_of(fixed_facts()) ==
        joined({head, no_network, privileges, host_root, system_places, hidden, read_root,
                writable, close_home, start, no_hashes, pinned, state_hidden, doors, tail}));
}

TEST_CASE("an open network changes one word") {
  auto facts = fixed_facts();
  facts.network = network_access::on;
  CHECK(argv_of(facts) ==
        joined({head, privileges, host_root, system_places, hidden, read_root, writable,
                close_home, start, no_hashes, pinned, state_hidden, doors, tail}));
}

TEST_CASE("the minimal root shows its list, and is read-only at the end") {
  CHECK(argv_of(minimal_facts()) ==
        joined({head, no_network, privileges, minimal_root, system_places, hidden, read_root,
                writable, close_home, close_root, start, pinned, state_hidden, doors, tail}));
}

TEST_CASE("a read-only workspace has no writable bind at all") {
  auto facts = fixed_facts();
  facts.access = workspace_access::read_only;
  CHECK(argv_of(facts) ==
        joined({head, no_network, privileges, host_root, system_places, hidden, read_root,
                read_only, close_home, start, no_hashes, pinned_read_only, state_hidden, doors,
                tail}));
}

TEST_CASE("visible harness state is bound read-only, not covered") {
  auto facts = fixed_facts();
  facts.carve_outs.front().shell = carved_path::shown::visible;
  CHECK(argv_of(facts) ==
        joined({head, no_network, privileges, host_root, system_places, hidden, read_root,
                writable, close_home, start, no_hashes, pinned, state_visible, doors, tail}));
}

TEST_CASE("harness state that is a file is covered by nothing to read") {
  auto facts = fixed_facts();
  facts.carve_outs.front().type = file_kind::file;
  const words covered{"--ro-bind", "/dev/null", "/home/u/work/.foundry"};
  CHECK(argv_of(facts) ==
        joined({head, no_network, privileges, host_root, system_places, hidden, read_root,
                writable, close_home, start, no_hashes, pinned, covered, doors, tail}));
}

TEST_CASE("bwrap is given no place where the host's tree shows: those are attached, in order") {
  auto facts = fixed_facts();  // the workspace lies in a hidden home
  for (const auto* path : {"/home/u/work/agent", "/opt/tools"}) {
    facts.shared.push_back({path, path, root_access::read});
  }
  const auto targets_of = [](const std::vector<mount>& mounts) {
    words targets;
    for (const auto& one : mounts) targets.push_back(one.target);
    return targets;
  };
  const auto plan = bubblewrap{}.wrap(facts);
  REQUIRE(plan);
  CHECK(targets_of(plan->attached) ==
        words{"/etc/shadow", "/home/u/work/.git", "/home/u/work/agent", "/opt/tools",
              "/home/u/work/.foundry", "/home/u/work/.foundry", "/home/u/work/.git/config"});
  for (const auto& one : plan->attached) {
    CHECK(std::ranges::find(plan->mounts, one) != plan->mounts.end());
    CHECK((one.target == facts.directory || std::ranges::find(plan->options, one.target) == plan->options.end()));
  }
  facts.hidden.erase(facts.hidden.begin());  // then it shows like everything else
  const auto open = bubblewrap{}.wrap(facts);
  REQUIRE(open);
  CHECK(std::ranges::find(open->options, facts.workspace) == open->options.end());
  CHECK(targets_of(open->attached).at(1) == "/home/u/.cargo");
  CHECK(targets_of(open->attached).at(2) == "/home/u/work");
}

TEST_CASE("what has another name outside is bwrap's, unless something attached would cover it") {
  auto facts = fixed_facts();
  auto& tools = facts.shared.emplace_back();
  tools.source = "/opt/tools-1";
  tools.target = "/opt/tools";
  const auto plan = bubblewrap{}.wrap(facts);
  REQUIRE(plan);
  CHECK(std::ranges::find(plan->options, "/opt/tools-1") != plan->options.end());
  CHECK(std::ranges::find(plan->attached, "/opt/tools", &mount::target) == plan->attached.end());
  facts.shared.push_back({"/opt", "/opt", root_access::read});
  CHECK_FALSE(bubblewrap{}.wrap(facts));
}

TEST_CASE("nested namespaces are forbidden unless they were asked for") {
  auto facts = fixed_facts();
  facts.nesting = nested_namespaces::allowed;
  const auto argv = argv_of(facts);
  CHECK(std::ranges::find(argv, "--disable-userns") == argv.end());
  CHECK(bubblewrap{}.wrap(facts)->nesting == nested_namespaces::allowed);
  CHECK(bubblewrap{}.wrap(fixed_facts())->nesting == nested_namespaces::forbidden);
}

TEST_CASE("a socket is shown in its hidden place before that is closed, and named as one") {
  auto facts = fixed_facts();
  auto& socket = facts.shared.emplace_back();
  socket.source = socket.target = "/home/u/agent";
  socket.purpose = shared_path::use::socket;
  const words shown{"--ro-bind", "/home/u/agent", "/home/u/agent"};
  CHECK(argv_of(facts) ==
        joined({head, no_network, privileges, host_root, system_places, hidden, read_root, shown,
                writable, close_home, start, no_hashes, pinned, state_hidden, doors, tail}));
  const auto plan = bubblewrap{}.wrap(facts);
  const auto found = std::ranges::find(plan->mounts, mount_role::socket, &mount::role);
  REQUIRE(found != plan->mounts.end());
  CHECK(found->target == "/home/u/agent");
}

TEST_CASE("a path that is not canonical is refused by its name") {
  for (const std::string odd : {"", "relative", "/home/u/work/", "/home/u//work", "/home/./u",
                                "/home/u/../u", "--bind"}) {
    check_refused("workspace " + odd, [&](auto& facts) { facts.workspace = odd; });
    check_refused("directory " + odd, [&](auto& facts) { facts.directory = odd; });
    check_refused("carve-out " + odd, [&](auto& facts) { facts.carve_outs.back().path = odd; });
    check_refused("pinned directory " + odd, [&](auto& facts) { facts.pinned.back() = odd; });
    check_refused("hidden place " + odd, [&](auto& facts) { facts.hidden.back().path = odd; });
    check_refused("hidden file " + odd, [&](auto& facts) { facts.hidden_files.back() = odd; });
    check_refused("shared path " + odd, [&](auto& facts) { facts.shared.back().target = odd; });
    check_refused("shared path /home/u/.cargo",
                  [&](auto& facts) { facts.shared.back().source = odd; });
    check_refused("visible path " + odd, [&](auto& facts) {
      facts.root = root_profile::minimal;
      facts.visible.emplace_back().path = odd;
    });
  }
}

TEST_CASE("a carve-out or pinned directory that is not below the workspace narrows nothing") {
  for (const std::string outside : {"/home/u/work", "/home/u/work-old", "/home/u", "/etc"}) {
    check_refused("carve-out " + outside,
                  [&](auto& facts) { facts.carve_outs.front().path = outside; });
    check_refused("pinned directory " + outside,
                  [&](auto& facts) { facts.pinned.front() = outside; });
  }
}

TEST_CASE("a carve-out that is a link is refused") {
  check_refused("carve-out /home/u/work/.foundry",
                [](auto& facts) { facts.carve_outs.front().type = file_kind::link; });
}

TEST_CASE("an egress list of a closed network and an empty command are refused") {
  check_refused("an egress list of a closed network", [](auto& facts) {
    facts.network = network_access::off;
    facts.egress.emplace_back("example.org:443");
  });
  check_refused("an empty command", [](auto& facts) { facts.command.clear(); });
}

TEST_CASE("with an egress list the sandbox has no network, and the list goes along") {
  auto facts = fixed_facts();
  facts.network = network_access::on;
  facts.egress = {"example.org:443", "*.example.com:8443"};
  const auto plan = bubblewrap{}.wrap(facts);
  REQUIRE(plan);
  CHECK(plan->network == network_access::off);
  CHECK(std::ranges::count(plan->options, "--unshare-net") == 1);
  CHECK(plan->egress == facts.egress);
}

TEST_CASE("nothing shown may uncover a hidden place") {
  const auto check = [](const std::string& place, auto change) {
    INFO(place);
    auto facts = fixed_facts();
    change(facts);
    const auto plan = bubblewrap{}.wrap(facts);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().error == code::workspace_too_broad);
    CHECK(plan.error().boundary == place);
  };
  check("/home", [](auto& facts) { facts.shared.back().target = "/home"; });
  check("/home", [](auto& facts) { facts.shared.back().target = "/"; });
  check("/etc/shadow", [](auto& facts) { facts.shared.back().target = "/etc"; });
  check("/etc/shadow", [](auto& facts) { facts.shared.back().target = "/etc/shadow"; });
  check("/proc", [](auto& facts) { facts.shared.back().target = "/proc"; });
  check("/proc/sys", [](auto& facts) { facts.shared.back().target = "/proc/sys"; });
  check("/dev", [](auto& facts) { facts.shared.back().target = "/dev"; });
  check("/dev/sda", [](auto& facts) { facts.shared.back().target = "/dev/sda"; });
  check("/dev/shm", [](auto& facts) { facts.shared.back().target = "/dev/shm"; });
  check("/home/u/work/x", [](auto& facts) { facts.hidden.emplace_back().path = "/home/u/work/x"; });
  check("/home/u/work", [](auto& facts) { facts.hidden.emplace_back().path = "/home/u/work"; });
  check("/home/u/work/k", [](auto& facts) { facts.hidden_files.emplace_back("/home/u/work/k"); });
}

TEST_CASE("more mounts than bwrap takes arguments for are refused") {
  check_refused("more mounts than bwrap takes arguments for", [](auto& facts) {
    for (int i = 0; i < 2000; ++i) {
      auto& carve = facts.carve_outs.emplace_back();
      carve.path = "/home/u/work/c" + std::to_string(i);
      carve.kind = carve_kind::host_run;
    }
  });
}

TEST_CASE("the plan carries the facts unchanged") {
  const auto facts = fixed_facts();
  const auto plan = bubblewrap{"/opt/bwrap"}.wrap(facts);
  REQUIRE(plan);
  CHECK(plan->backend == backend_name::bubblewrap);
  CHECK(plan->program == "/opt/bwrap");
  CHECK(plan->command == facts.command);
  CHECK(plan->environment == facts.environment);
  CHECK(plan->directory == facts.directory);
  CHECK(plan->workspace == facts.workspace);
  CHECK(plan->network == network_access::off);
}

// With clang a std::string of libstdc++ 12 is no constant expression, and g++ 12 cannot move a
// refusal in one: what is accepted is proved at compile time, what is refused above.
#if defined(__GNUC__) && !defined(__clang__)
static_assert(bubblewrap{}.wrap(fixed_facts()).has_value());
static_assert(bubblewrap{}.wrap(minimal_facts())->mounts.back().kind == mount_kind::remount_ro);
static_assert(bubblewrap{}.wrap(fixed_facts())->options[5] == "--unshare-net");
static_assert(!refused_as([](auto&) {}));
#endif

TEST_CASE("no_mount_point_is_made_in_what_is_shown_under_another_name_or_in_the_workspace") {
  const auto refused = [](std::vector<shared_path> shared) {
    auto facts = fixed_facts();
    facts.shared = std::move(shared);
    const auto plan = bubblewrap{}.wrap(facts);
    if (plan) return std::string{};
    CHECK(plan.error().error == code::not_enforceable);
    return plan.error().path;
  };
  const shared_path cargo{"/kept/.cargo", "/tmp/home/.cargo", root_access::write};
  const shared_path registry{"/home/u/.cargo/registry", "/tmp/home/.cargo/registry",
                             root_access::write};
  const shared_path npm{"/kept/.npm", "/tmp/home/.npm", root_access::write};
  const shared_path in_workspace{"/kept/x", "/home/u/work/x", root_access::read};
  const shared_path around{"/kept/y", "/home/u", root_access::read};
  const shared_path as_it_is{"/opt/a/b", "/opt/a/b", root_access::read};
  const shared_path holds_it{"/opt/a", "/opt/a", root_access::read};
  CHECK(refused({cargo, registry}) == "shared path /tmp/home/.cargo/registry");
  CHECK(refused({registry, cargo}) == "shared path /tmp/home/.cargo/registry");
  CHECK(refused({cargo, cargo}) == "shared path /tmp/home/.cargo");
  CHECK(refused({in_workspace}) == "shared path /home/u/work/x");
  CHECK(refused({around}) == "shared path /home/u");
  CHECK(refused({cargo, npm}).empty());
  CHECK(refused({as_it_is, holds_it}).empty());
}
