// What the README shows an embedder, as a program: the grant proven at compile time, a file opened
// through the workspace, one guard for each call.
#include <pinfold/pinfold.hpp>

#include "disk/folder.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold_test;

constexpr grant policy{"/work/app"};
static_assert(policy.region_of("/work/app-old/x") == region::outside);
static_assert(policy.region_of("/work/app/.git/hooks/pre-commit") == region::host_run);

namespace {

constexpr verdict::answer in_plan_mode(const call& asked) {
  return guard{policy, mode::plan, gate::off, taint{}}.check(asked).says();
}
static_assert(in_plan_mode(call::read("/work/app/x")) == verdict::allow);
static_assert(in_plan_mode(call::write("/work/app/x")) == verdict::refuse);

}  // namespace

TEST_CASE("an_embedder_gets_a_descriptor_or_a_refusal_that_says_what_to_do") {
  const folder at;
  at.put("ws/notes.md", "hello");
  const auto ws = workspace::open(at.ws());
  REQUIRE(ws.has_value());
  CHECK(ws->open_read("notes.md").has_value());
  const auto refused = ws->open_read("../outside/canary");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().error == code::outside_workspace);
  CHECK(refused.error().message().contains("use a path inside it"));
}

TEST_CASE("the_second_call_of_a_session_is_denied_the_network_after_the_first_tainted_it") {
  const folder at;
  const auto ws = workspace::open(at.ws());
  REQUIRE(ws.has_value());
  taint labels{};
  const auto connects = [&] {
    const guard now{ws->grant(), mode::autonomous, gate::untainted, labels, enforcement::enforced};
    return now.check(call::connect("example.org", 443)).says();
  };
  CHECK(connects() == verdict::allow);
  labels = taint::untrusted_content;
  CHECK(connects() == verdict::refuse);
}
