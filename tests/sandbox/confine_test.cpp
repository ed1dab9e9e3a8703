// From a decision to the facts that a backend gets.
#include <pinfold/sandbox/confine.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

constexpr std::array<extra_root, 2> roots{
    {{"/opt/tool", root_access::read}, {"/cache", root_access::write}}};
constexpr grant policy{"/work/app", default_carve_outs, roots};
const auto make_test = call::execute("make test");

guard held(mode present, gate open = gate::off, taint labels = {}) {
  return {policy, present, open, labels, enforcement::enforced};
}

confinement known() {
  confinement facts;
  facts.command = {"make", "test"};
  facts.environment = {"PATH=/usr/bin"};
  facts.hidden = {{.path = "/home"}};
  return facts;
}

const carved_path* carve_at(const confinement& facts, std::string_view path) {
  const auto found = std::ranges::find(facts.carve_outs, path, &carved_path::path);
  return found == facts.carve_outs.end() ? nullptr : &*found;
}

template <class... From>
concept confines = requires(From... from) {
  confine(from...);
};

}  // namespace

// Misuse, each with its control: a call alone makes no confinement, nor does a model's text.
static_assert(confines<guard, call, confinement>);
static_assert(!confines<call, call, confinement> && !confines<grant, call, confinement>);
static_assert(!std::is_constructible_v<confinement, call>);
static_assert(!std::is_constructible_v<confinement, call_text>);
static_assert(std::is_assignable_v<std::string&, std::string_view>);
static_assert(!std::is_assignable_v<std::string&, call_text>);

TEST_CASE("the_facts_say_what_the_guard_decided") {
  const auto facts = confine(held(mode::autonomous), make_test, known());
  REQUIRE(facts.has_value());
  CHECK(facts->workspace == "/work/app");
  CHECK(facts->directory == "/work/app");
  CHECK(facts->access == workspace_access::read_write);
  CHECK(facts->network == network_access::off);
  CHECK(facts->command == known().command);
  CHECK(facts->environment == known().environment);
  CHECK(facts->hidden.size() == 1);
  REQUIRE(facts->shared.size() == 2);
  CHECK(facts->shared[0].target == "/opt/tool");
  CHECK(facts->shared[0].access == root_access::read);
  CHECK(facts->shared[1].access == root_access::write);
  CHECK(facts->carve_outs.size() == default_carve_outs.size());
}

TEST_CASE("in_plan_mode_nothing_is_writable_not_even_a_write_root") {
  const auto facts = confine(held(mode::plan), make_test, known());
  REQUIRE(facts.has_value());
  CHECK(facts->access == workspace_access::read_only);
  for (const auto& shared : facts->shared) CHECK(shared.access == root_access::read);
}

TEST_CASE("the_network_is_there_for_a_plain_yes_alone") {
  const auto network = [](mode present, gate open, taint labels) {
    return confine(held(present, open, labels), make_test, known())->network;
  };
  CHECK(network(mode::autonomous, gate::untainted, {}) == network_access::on);
  CHECK(network(mode::autonomous, gate::untainted, taint::private_data) == network_access::off);
  CHECK(network(mode::ask, gate::untainted, taint::private_data) == network_access::off);
  CHECK(network(mode::autonomous, gate::off, {}) == network_access::off);
  // What the harness knew beforehand does not open it.
  auto open = known();
  open.network = network_access::on;
  CHECK(confine(held(mode::autonomous), make_test, open)->network == network_access::off);
}

TEST_CASE("every_carve_out_of_the_grant_is_in_the_facts_as_it_was_found") {
  auto facts = known();
  facts.carve_outs = {
      {.path = "/work/app/.git/config", .kind = carve_kind::host_run, .type = file_kind::file},
      {.path = "/work/app/.efferent", .kind = carve_kind::host_run},
      {.path = "/work/app/more", .kind = carve_kind::host_run}};
  const auto made = confine(held(mode::autonomous), make_test, facts);
  REQUIRE(made.has_value());
  for (const auto& carve : default_carve_outs) {
    INFO(carve.path);
    const auto* place = carve_at(*made, "/work/app/" + std::string{carve.path});
    REQUIRE(place != nullptr);
    CHECK(place->kind == carve.kind);
  }
  CHECK(carve_at(*made, "/work/app/.git/config")->type == file_kind::file);
  CHECK(carve_at(*made, "/work/app/.git/hooks")->type == file_kind::directory);
  CHECK(carve_at(*made, "/work/app/more") != nullptr);
  CHECK(made->carve_outs.size() == default_carve_outs.size() + 1);
}

TEST_CASE("a_found_carve_out_stays_the_stricter_of_the_two") {
  auto facts = known();
  facts.carve_outs = {{.path = "/work/app/.git/config", .kind = carve_kind::harness_state}};
  const auto made = confine(held(mode::autonomous), make_test, facts);
  CHECK(carve_at(*made, "/work/app/.git/config")->kind == carve_kind::harness_state);
}

TEST_CASE("an_egress_list_goes_along_word_by_word") {
  const std::array list{egress("Example.com.:443"), egress("*.a.example:8443"),
                        egress("[0::1]:80")};
  auto facts = known();
  facts.egress = {"evil.test:443"};
  const auto listed = [&](gate open, std::span<const egress_entry> entries) {
    return confine(held(mode::autonomous, open).with_egress(entries), make_test, facts);
  };
  const auto open = listed(gate::on, list);
  CHECK(open->network == network_access::on);
  CHECK(open->egress ==
        std::vector<std::string>{"example.com:443", "*.a.example:8443", "[::1]:80"});
  const auto closed = listed(gate::off, list);
  CHECK(closed->network == network_access::off);
  CHECK(closed->egress.empty());
}

TEST_CASE("an_egress_list_without_entries_closes_the_network") {
  const auto none = confine(held(mode::autonomous, gate::on).with_egress({}), make_test, known());
  CHECK(none->network == network_access::off);
  CHECK(none->egress.empty());
}

TEST_CASE("what_the_guard_does_not_plainly_allow_becomes_no_confinement") {
  const guard unheld{policy, mode::ask, gate::off, taint{}, enforcement::unconfined};
  const auto asked = confine(unheld, make_test, known());
  REQUIRE_FALSE(asked.has_value());
  CHECK(asked.error().error == code::needs_approval);
  const auto outside = confine(held(mode::autonomous), call::execute("x", "/home/u"), known());
  REQUIRE_FALSE(outside.has_value());
  CHECK(outside.error().error == code::outside_workspace);
  CHECK(outside.error().op == operation::execute);
  const auto state = confine(held(mode::ask), call::execute("x", "/work/app/.efferent"), known());
  CHECK(state.error().error == code::harness_state);
  // Only a command is confined.
  CHECK(confine(held(mode::ask), call::read("/work/app/x"), known()).error().error ==
        code::invalid_argument);
}

TEST_CASE("without_a_boundary_the_facts_ask_for_none_but_the_network") {
  const guard open{policy, mode::autonomous, gate::on, taint{}, enforcement::unconfined};
  confinement facts;
  facts.command = {"true"};
  const auto made = confine(open.allowing(unconfined{}), make_test, facts);
  REQUIRE(made.has_value());
  CHECK(made->network == network_access::on);
  CHECK(made->carve_outs.empty());
  CHECK(made->shared.empty());
  const guard closed{policy, mode::autonomous, gate::off, taint{}, enforcement::unconfined};
  CHECK(confine(closed.allowing(unconfined{}), make_test, facts)->network == network_access::off);
}

TEST_CASE("a_cache_is_shown_as_its_owner_and_the_mode_say") {
  const auto shown = [](mode present, cache_owner owner, root_access listed) {
    return shown_cache(held(present), "/home/u/.cache/x", "/tmp/home/.cache/x", owner, listed);
  };
  using enum root_access;
  for (auto present : {mode::plan, mode::ask, mode::autonomous}) {
    const bool is_plan = present == mode::plan;
    CHECK(shown(present, cache_owner::workspace, write).access == write);
    CHECK(shown(present, cache_owner::user, read).access == read);
    CHECK(shown(present, cache_owner::user, write).access == (is_plan ? read : write));
  }
  const auto one = shown(mode::ask, cache_owner::user, write);
  CHECK(one.source == "/home/u/.cache/x");
  CHECK(one.target == "/tmp/home/.cache/x");
}
