// Backend `none`: it runs the command as it stands and refuses every fact that it would have to drop.
#include <string>
#include <vector>

#include <pinfold/sandbox/none.hpp>

#include "sandbox/facts.hpp"
#include "support/catch.hpp"

namespace {

using namespace pinfold;

constexpr confinement open_facts() {
  confinement facts;
  facts.workspace = "/w";
  facts.directory = "/w/src";
  facts.command.emplace_back("make");
  facts.command.emplace_back("two words");
  facts.environment.emplace_back("A=b");
  facts.network = network_access::on;
  return facts;
}

template <class Change>
constexpr std::string refused_fact(Change change) {
  auto facts = open_facts();
  change(facts);
  const auto plan = none_backend{}.wrap(facts);
  if (plan || plan.error().error != code::not_enforceable) return "accepted";
  return plan.error().path;
}

constexpr auto network_off = [](auto& facts) { facts.network = network_access::off; };

}  // namespace

TEST_CASE("a confinement that asks for nothing is the command itself") {
  const auto plan = none_backend{}.wrap(open_facts());
  REQUIRE(plan);
  CHECK(plan->backend == backend_name::none);
  CHECK(plan->program.empty());
  CHECK(plan->options.empty());
  CHECK(plan->mounts.empty());
  CHECK(plan->network == network_access::on);
  CHECK(plan->command == std::vector<std::string>{"make", "two words"});
  CHECK(standalone_argv(*plan) == std::vector<std::string>{"/usr/bin/env", "-i", "-C", "/w/src",
                                                           "A=b", "make", "two words"});
}

TEST_CASE("every fact that would have to be dropped is refused by its name") {
  CHECK(refused_fact([](auto& facts) { facts.command.clear(); }) == "an empty command");
  CHECK(refused_fact(network_off) == "network off");
  CHECK(refused_fact([](auto& facts) { facts.access = workspace_access::read_only; }) ==
        "a read-only workspace");
  CHECK(refused_fact([](auto& facts) { facts.root = root_profile::minimal; }) == "root minimal");
  CHECK(refused_fact([](auto& facts) { facts.carve_outs.emplace_back().path = "/w/x"; }) ==
        "carve-outs");
  CHECK(refused_fact([](auto& facts) { facts.pinned.emplace_back("/w/x"); }) == "carve-outs");
  CHECK(refused_fact([](auto& facts) { facts.hidden.emplace_back().path = "/home"; }) ==
        "hidden places");
  CHECK(refused_fact([](auto& facts) { facts.hidden_files.emplace_back("/etc/shadow"); }) ==
        "hidden places");
  CHECK(refused_fact([](auto& facts) { facts.shared.emplace_back().target = "/opt"; }) ==
        "shared paths");
  CHECK(refused_fact([](auto& facts) { facts.visible.emplace_back().path = "/usr"; }) ==
        "visible paths");
  CHECK(refused_fact([](auto& facts) { facts.egress.emplace_back("example.org:443"); }) ==
        "an egress list");
}

TEST_CASE("a confinement made for bubblewrap is never accepted") {
  CHECK_FALSE(none_backend{}.wrap(pinfold_test::fixed_facts()));
  CHECK_FALSE(none_backend{}.wrap(confinement{}));
}

#if defined(__GNUC__) && !defined(__clang__)
static_assert(none_backend{}.wrap(open_facts()).has_value());
#endif
