// The one include of floors 0 to 5, and how the engine reads at the caller.
#include <pinfold/policy.hpp>

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

// What an embedder proves about a policy of its own.
constexpr grant policy{"/work/app"};
static_assert(policy.region_of("/work/app-old/x") == region::outside);
static_assert(policy.region_of("/work/app/.efferent/x") == region::harness_state);
static_assert(!policy.is_writable("/work/app/.git/config"));
static_assert(decide_network(gate::untainted, mode::autonomous, taint::untrusted_content) ==
              decision::deny);
static_assert(guard{policy, mode::autonomous, gate::off, taint{}}.check(
                  call::write("/work/app/src/x.cpp")) == verdict::allow);
static_assert(decide_egress(std::array{egress("*.example.com:443")}, "example.com", 443) ==
              egress_decision::answer::deny);

/// A scripted agent: what it does, and what it is told.
struct agent {
  session_taint taken_in;
  enforcement boundary{enforcement::enforced};
  std::vector<std::string> told;

  void wants(const call& next, taint brings_back = {}) {
    const guard g{policy, mode::autonomous, gate::untainted, taken_in, boundary};
    const auto v = g.check(next);
    if (v == verdict::allow) {
      told.emplace_back("done");
      taken_in |= brings_back;
    } else {
      told.emplace_back(name_of(v.to_refusal().error));
    }
  }
};

}  // namespace

TEST_CASE("an_agent_gets_refusals_back_and_is_cut_off_when_it_has_taken_in_too_much") {
  agent it;
  it.wants(call::read("/work/app/README.md"));
  it.wants(call::read("/etc/passwd"));
  it.wants(call::connect("example.com", 443), taint_of_fetch());
  it.wants(call::connect("example.com", 443));
  it.wants(call::write("/work/app/.git/config"));
  it.wants(call::execute("make test"));
  CHECK(it.told == std::vector<std::string>{"done", "OutsideWorkspace", "done", "NetworkDenied",
                                            "HostRunFile", "done"});
}

TEST_CASE("an_agent_without_a_sandbox_runs_no_command_on_its_own") {
  agent it;
  it.boundary = enforcement::unconfined;
  it.wants(call::execute("make test"));
  CHECK(it.told == std::vector<std::string>{"UnconfinedForbidden"});
}
