// The macOS dialect, as data: what a profile lets through, the order of its rules, its quoting, and
// what it refuses to say. No macOS kernel is asked.
#include <pinfold/sandbox/seatbelt.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "sandbox/profile.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using profile::lets_through;
using profile::rule;

namespace {

confinement usual() {
  confinement facts;
  facts.workspace = facts.directory = "/Users/u/app";
  facts.command = {"/bin/sh", "-c", "make test"};
  facts.environment = {"PATH=/usr/bin:/bin"};
  facts.carve_outs = {
      {.path = "/Users/u/app/.efferent"},
      {.path = "/Users/u/app/.git/hooks", .kind = carve_kind::host_run},
      {.path = "/Users/u/app/.git/config", .kind = carve_kind::host_run, .type = file_kind::file}};
  facts.hidden = {{.path = "/Users/u"}, {.path = "/private/var/run"}};
  facts.hidden_files = {"/private/etc/master.passwd"};
  facts.shared = {
      {.source = "/Users/u/.cargo/registry", .target = "/Users/u/.cargo/registry"},
      {.source = "/private/tmp", .target = "/private/tmp", .access = root_access::write}};
  return facts;
}

std::string text_of(const confinement& facts) {
  const auto plan = seatbelt{}.wrap(facts);
  REQUIRE(plan.has_value());
  return plan->options.at(1);
}
std::vector<rule> rules_of(const confinement& facts) {
  return profile::rules_of(text_of(facts));
}

bool can_write(const std::vector<rule>& rules, std::string_view path) {
  return lets_through(rules, "file-write-data", path);
}
bool can_read(const std::vector<rule>& rules, std::string_view path) {
  return lets_through(rules, "file-read-data", path);
}
bool can_rename(const std::vector<rule>& rules, std::string_view path) {
  return lets_through(rules, "file-write-unlink", path);
}

#ifndef __clang__
/// At compile time, with g++: the plan as a whole is a constant expression.
consteval bool is_made_at_compile_time() {
  confinement facts;
  facts.workspace = facts.directory = "/Users/u/app";
  facts.command.emplace_back("true");
  const auto plan = seatbelt{}.wrap(facts);
  return plan.has_value() && plan->options.size() == 3 &&
         plan->options[1].starts_with("(version 1)\n(allow default)\n(deny file-write*)\n") &&
         plan->options[1].find("(deny network*)") != std::string::npos;
}
static_assert(is_made_at_compile_time());
#endif

}  // namespace

TEST_CASE("the_profile_stands_in_the_argument_vector_and_the_command_after_two_dashes") {
  const auto plan = seatbelt{}.wrap(usual());
  REQUIRE(plan.has_value());
  CHECK(plan->backend == backend_name::seatbelt);
  CHECK(plan->program == "/usr/bin/sandbox-exec");
  REQUIRE(plan->options.size() == 3);
  CHECK(plan->options[0] == "-p");
  CHECK(plan->options[2] == "--");
  CHECK(plan->command == usual().command);
  CHECK(plan->environment == usual().environment);
  CHECK(plan->directory == usual().directory);
  CHECK(plan->mounts.empty());
}

TEST_CASE("a_seatbelt_plan_can_be_run_as_it_stands") {
  const auto plan = seatbelt{}.wrap(usual());
  const auto argv = standalone_argv(*plan);
  const std::vector<std::string> before{
      "/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", "/Users/u/app", "/usr/bin/sandbox-exec",
      "-p"};
  const std::vector<std::string> after{"--",      "/usr/bin/env", "-i",       "PATH=/usr/bin:/bin",
                                       "/bin/sh", "-c",           "make test"};
  REQUIRE(argv.size() == before.size() + 1 + after.size());
  CHECK(std::equal(before.begin(), before.end(), argv.begin()));
  CHECK(std::equal(after.begin(), after.end(), argv.begin() + 7));
}

TEST_CASE("a_command_writes_in_the_workspace_and_in_write_roots_and_nowhere_else") {
  const auto rules = rules_of(usual());
  for (auto path :
       {"/Users/u/app", "/Users/u/app/x", "/Users/u/app/.git/index", "/private/tmp/x", "/dev/null",
        "/dev/stdout", "/dev/stderr", "/dev/urandom", "/dev/tty", "/dev/dtracehelper"}) {
    INFO(path);
    CHECK(can_write(rules, path));
  }
  for (auto path : {"/", "/etc/x", "/Users/u/app-old/x", "/Users/u/.zshrc", "/usr/local/bin/x",
                    "/Users/u/.cargo/registry/x", "/dev/disk0", "/private/tmpx", "/dev/null/x"}) {
    INFO(path);
    CHECK_FALSE(can_write(rules, path));
  }
}

TEST_CASE("carve_outs_are_not_written_and_hidden_ones_not_read") {
  auto facts = usual();
  auto rules = rules_of(facts);
  for (auto path : {"/Users/u/app/.efferent", "/Users/u/app/.efferent/a/b",
                    "/Users/u/app/.git/hooks/pre-commit", "/Users/u/app/.git/config"}) {
    INFO(path);
    CHECK_FALSE(can_write(rules, path));
    CHECK_FALSE(can_rename(rules, path));
  }
  CHECK_FALSE(can_read(rules, "/Users/u/app/.efferent/a"));
  CHECK(can_read(rules, "/Users/u/app/.git/hooks/pre-commit"));
  CHECK(can_write(rules, "/Users/u/app/.efferent-old/x"));
  facts.carve_outs[0].shell = carved_path::shown::visible;
  rules = rules_of(facts);
  CHECK(can_read(rules, "/Users/u/app/.efferent/a"));
  CHECK_FALSE(can_write(rules, "/Users/u/app/.efferent/a"));
}

TEST_CASE("what_holds_a_carve_out_keeps_its_name") {
  auto facts = usual();
  facts.carve_outs.push_back({.path = "/Users/u/app/a/b/c"});
  facts.pinned = {"/Users/u/app/pinned"};
  const auto rules = rules_of(facts);
  for (auto path : {"/Users/u/app", "/Users/u/app/.git", "/Users/u/app/a", "/Users/u/app/a/b",
                    "/Users/u/app/pinned", "/private/tmp"}) {
    INFO(path);
    CHECK_FALSE(can_rename(rules, path));
  }
  for (auto path : {"/Users/u/app/x", "/Users/u/app/a/x", "/Users/u/app/pinned/x"}) {
    INFO(path);
    CHECK(can_rename(rules, path));
  }
}

TEST_CASE("hidden_places_are_not_read_but_for_what_is_shown_in_them") {
  const auto rules = rules_of(usual());
  for (auto path : {"/Users/u/.ssh/id_ed25519", "/Users/u/app-old/x", "/private/var/run/x",
                    "/private/etc/master.passwd", "/Users/u/.cargo/credentials.toml"}) {
    INFO(path);
    CHECK_FALSE(can_read(rules, path));
  }
  for (auto path :
       {"/Users/u/app/x", "/Users/u/.cargo/registry/x", "/usr/lib/x", "/private/etc/x"}) {
    INFO(path);
    CHECK(can_read(rules, path));
  }
  // The way to the workspace is there, and can be looked at from outside only.
  CHECK(lets_through(rules, "file-read-metadata", "/Users/u"));
  CHECK(lets_through(rules, "file-read-metadata", "/Users/u/.cargo"));
  CHECK_FALSE(can_read(rules, "/Users/u"));
  CHECK_FALSE(lets_through(rules, "file-read-metadata", "/Users/u/.ssh"));
}

TEST_CASE("the_network_is_on_or_off_and_sockets_in_hidden_places_are_closed_either_way") {
  auto facts = usual();
  CHECK_FALSE(lets_through(rules_of(facts), "network-outbound", "1.2.3.4:443"));
  CHECK_FALSE(lets_through(rules_of(facts), "network-bind", "127.0.0.1:80"));
  facts.network = network_access::on;
  CHECK(lets_through(rules_of(facts), "network-outbound", "1.2.3.4:443"));
  CHECK(lets_through(rules_of(facts), "network-outbound", "/private/var/other/socket"));
  CHECK_FALSE(lets_through(rules_of(facts), "network-outbound", "/private/var/run/docker.sock"));
  CHECK_FALSE(lets_through(rules_of(facts), "network-outbound", "/Users/u/.ssh/agent"));
}

TEST_CASE("a_read_only_workspace_is_not_written_also_below_a_write_root") {
  auto facts = usual();
  facts.access = workspace_access::read_only;
  CHECK_FALSE(can_write(rules_of(facts), "/Users/u/app/x"));
  facts.hidden.clear();
  facts.shared = {{.source = "/Users/u", .target = "/Users/u", .access = root_access::write},
                  {.source = "/Users/u/kept", .target = "/Users/u/kept"}};
  const auto rules = rules_of(facts);
  CHECK(can_write(rules, "/Users/u/x"));
  CHECK_FALSE(can_write(rules, "/Users/u/app/x"));
  CHECK_FALSE(can_write(rules, "/Users/u/kept/x"));
  // Of two entries for one place the one for reading wins.
  facts.shared = {
      {.source = "/Users/u/app", .target = "/Users/u/app", .access = root_access::write}};
  CHECK_FALSE(can_write(rules_of(facts), "/Users/u/app/x"));
}

TEST_CASE("the_rules_stand_in_the_order_that_makes_the_later_one_win") {
  const auto rules = rules_of(usual());
  using enum rule::filter;
  const auto at = [&rules](bool allows, std::string operation, rule::filter kind,
                           std::string path) {
    const auto place = profile::place_of(rules, {.allows = allows,
                                                 .operation = std::move(operation),
                                                 .kind = kind,
                                                 .path = std::move(path)});
    REQUIRE(place.has_value());
    return *place;
  };
  CHECK(at(true, "default", none, "") == 0);
  CHECK(at(false, "file-write*", none, "") == 1);
  CHECK(at(true, "file-write*", literal, "/dev/null") > 1);
  const auto hidden = at(false, "file-read*", subpath, "/Users/u");
  const auto shown = at(true, "file-write*", subpath, "/Users/u/app");
  const auto kept = at(false, "file-write-unlink", literal, "/Users/u/app/.git");
  const auto carved = at(false, "file-write*", subpath, "/Users/u/app/.git/hooks");
  CHECK(hidden < shown);
  CHECK(shown < kept);
  CHECK(kept < carved);
  // No rule that allows stands behind the first carve-out.
  for (auto i = at(false, "file-write*", subpath, "/Users/u/app/.efferent"); i < rules.size();
       ++i) {
    CHECK_FALSE(rules[i].allows);
  }
}

TEST_CASE("a_path_is_quoted_so_that_it_cannot_become_a_rule") {
  for (const std::string name :
       {"plain", "with space", "qu\"ote", "back\\slash", "line\nbreak", "tab\there", "\\\"",
        "a\")) (allow file-write* (subpath \"x\")) (deny file-write* (literal \"", "ends with \\",
        "; comment", "#|x|#", "na\xc3\xafve", "\xff\xfe"}) {
    INFO(name);
    auto facts = usual();
    facts.workspace = facts.directory = "/Users/u/" + name;
    facts.carve_outs = {{.path = facts.workspace + "/" + name}};
    const auto rules = rules_of(facts);
    CHECK(can_write(rules, facts.workspace + "/x"));
    CHECK_FALSE(can_write(rules, facts.workspace + "/" + name));
    CHECK_FALSE(can_write(rules, "/"));
    CHECK_FALSE(can_write(rules, "/etc/passwd"));
    CHECK(rules.size() == rules_of([&] {
                            auto plain = usual();
                            plain.carve_outs = {{.path = plain.workspace + "/p"}};
                            return plain;
                          }())
                              .size());
  }
}

TEST_CASE("what_the_dialect_cannot_say_is_an_error_that_names_the_fact") {
  struct row {
    void (*change)(confinement&);
    std::string named;
    std::string why;
  };
  const std::vector<row> rows{
      {[](confinement& it) { it.egress = {"example.com:443"}; }, "egress to example.com:443",
       "rules know addresses and ports, no names"},
      {[](confinement& it) { it.egress = {"127.0.0.1:8080"}; }, "egress to 127.0.0.1:8080",
       "an address is not dropped either"},
      {[](confinement& it) { it.root = root_profile::minimal; }, "root minimal", "no mounts"},
      {[](confinement& it) { it.visible = {{.path = "/usr", .target = {}}}; }, "visible path /usr",
       "no mounts"},
      {[](confinement& it) { it.shared[0].target = "/opt/x"; },
       "shared path /Users/u/.cargo/registry at /opt/x", "a place cannot be shown elsewhere"},
      {[](confinement& it) { it.shared[0].purpose = shared_path::use::socket; },
       "socket /Users/u/.cargo/registry", "no rule for one socket is written yet"},
      {[](confinement& it) {
         it.hidden[0] = {.path = "/private/tmp", .contents = hidden_path::use::scratch};
       },
       "scratch place /private/tmp", "no empty place can be made"},
      {[](confinement& it) { it.workspace = "/tmp/app"; }, "workspace /tmp/app",
       "/tmp is a link to /private/tmp"},
      {[](confinement& it) { it.directory = "/var/folders/x"; }, "directory /var/folders/x",
       "/var is a link"},
      {[](confinement& it) { it.shared[1].source = it.shared[1].target = "/tmp"; },
       "shared path /tmp", "a write root that nobody writes to"},
      {[](confinement& it) { it.hidden[1].path = "/var/run"; }, "hidden place /var/run", "a link"},
      {[](confinement& it) { it.hidden_files = {"/etc/master.passwd"}; },
       "hidden file /etc/master.passwd", "a link"},
      {[](confinement& it) { it.workspace = "/Users/u/../app"; }, "workspace /Users/u/../app",
       "not canonical"},
      {[](confinement& it) { it.carve_outs[0].path = "/Users/u/x"; }, "carve-out /Users/u/x",
       "narrows nothing"},
      {[](confinement& it) { it.carve_outs[0].path = it.workspace; }, "carve-out /Users/u/app",
       "the workspace itself"},
      {[](confinement& it) { it.carve_outs[0].type = file_kind::link; },
       "carve-out /Users/u/app/.efferent", "a link can be replaced inside"},
      {[](confinement& it) { it.pinned = {"/Users/u"}; }, "pinned directory /Users/u", "outside"},
      {[](confinement& it) { it.command.clear(); }, "an empty command", "nothing to run"},
  };
  for (const auto& row : rows) {
    INFO(row.named << " | " << row.why);
    auto facts = usual();
    row.change(facts);
    const auto plan = seatbelt{}.wrap(facts);
    REQUIRE_FALSE(plan.has_value());
    CHECK(plan.error().error == code::not_enforceable);
    CHECK(plan.error().path == row.named);
    CHECK(plan.error().detail == "backend seatbelt");
  }
}

TEST_CASE("a_shown_place_that_would_uncover_a_hidden_one_is_refused") {
  struct row {
    void (*change)(confinement&);
    std::string boundary;
  };
  const std::vector<row> rows{
      {[](confinement& it) {
         it.workspace = it.directory = "/Users";
         it.carve_outs.clear();
       },
       "/Users/u"},
      {[](confinement& it) { it.shared[1].source = it.shared[1].target = "/private"; },
       "/private/var/run"},
      {[](confinement& it) { it.shared[1].source = it.shared[1].target = "/private/etc"; },
       "/private/etc/master.passwd"},
      {[](confinement& it) { it.hidden.push_back({.path = "/Users/u/app/secret"}); },
       "/Users/u/app/secret"},
  };
  for (const auto& row : rows) {
    INFO(row.boundary);
    auto facts = usual();
    row.change(facts);
    const auto plan = seatbelt{}.wrap(facts);
    REQUIRE_FALSE(plan.has_value());
    CHECK(plan.error().error == code::workspace_too_broad);
    CHECK(plan.error().boundary == row.boundary);
  }
}

TEST_CASE("the_same_facts_give_the_same_plan") {
  CHECK(seatbelt{}.wrap(usual()) == seatbelt{}.wrap(usual()));
}

TEST_CASE("the_reader_of_the_tests_sees_a_profile_that_is_not_balanced") {
  using profile::rules_of;
  const std::string good = "(version 1)(allow default)";
  CHECK(rules_of(good).size() == 1);
  for (const std::string bad :
       {"", "(allow default)", "(version 1)(allow default", "(version 1)(allow default))",
        "(version 1)(allow file-write* (literal \"/x))", "(version 1)(permit default)",
        "(version 1)(allow file-write* (regex \"/x\"))",
        "(version 1)(allow file-write* (literal x))", "(version 1)(allow)"}) {
    INFO(bad);
    CHECK_THROWS(rules_of(bad));
  }
}
