// Facts that meet in one place: two entries for one path, one inside another, one under another
// name. Each of these was found by plan_fuzz; in whatever order the facts come, the plan is never
// looser than the strictest of them, or there is none.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/sandbox/bubblewrap.hpp>

#include "sandbox/effect.hpp"
#include "support/catch.hpp"

namespace {

using namespace pinfold;
using effects::effect;
using effects::effect_on;

constexpr auto hidden = carved_path::shown::hidden;
constexpr auto visible = carved_path::shown::visible;
constexpr auto state = carve_kind::harness_state;
constexpr auto host_run = carve_kind::host_run;
constexpr auto directory = file_kind::directory;

confinement plain_facts() {
  confinement facts;
  facts.workspace = facts.directory = "/work/app";
  facts.command = {"true"};
  return facts;
}

/// The plan for facts whose lists come in this order, and in the other.
std::vector<launch_plan> plans_of(confinement facts) {
  std::vector<launch_plan> plans;
  for (int turn = 0; turn < 2; ++turn) {
    auto plan = bubblewrap{}.wrap(facts);
    REQUIRE(plan);
    plans.push_back(std::move(*plan));
    std::ranges::reverse(facts.carve_outs);
    std::ranges::reverse(facts.shared);
    std::ranges::reverse(facts.hidden);
    std::ranges::reverse(facts.pinned);
  }
  return plans;
}

code refusal_of(const confinement& facts) {
  const auto plan = bubblewrap{}.wrap(facts);
  REQUIRE_FALSE(plan);
  CHECK_FALSE(plan.error().path.empty());
  return plan.error().error;
}

std::size_t place_of(const launch_plan& plan, std::string_view target) {
  const auto found = std::ranges::find(plan.mounts, target, &mount::target);
  REQUIRE(found != plan.mounts.end());
  return static_cast<std::size_t>(found - plan.mounts.begin());
}

}  // namespace

TEST_CASE("of_two_entries_for_one_shared_place_the_one_for_reading_holds") {
  auto facts = plain_facts();
  facts.shared = {{"/cache", "/cache", root_access::write},
                  {"/cache", "/cache", root_access::read}};
  for (const auto& plan : plans_of(facts)) CHECK(effect_on(plan, "/cache/x") == effect::reads);
}

TEST_CASE("what_lies_in_a_hidden_carve_out_is_not_shown_again") {
  auto facts = plain_facts();
  facts.carve_outs = {{"/work/app/s", state, directory, hidden},
                      {"/work/app/s/hooks", host_run, directory, visible}};
  for (const auto& plan : plans_of(facts)) {
    CHECK(effect_on(plan, "/work/app/s/hooks/x") == effect::closed);
  }
  facts.carve_outs = {{"/work/app/s", host_run, directory, visible},
                      {"/work/app/s/state", state, directory, hidden}};
  for (const auto& plan : plans_of(facts)) {
    CHECK(effect_on(plan, "/work/app/s/state/x") == effect::closed);
    CHECK(effect_on(plan, "/work/app/s/x") == effect::reads);
  }
}

TEST_CASE("of_two_entries_for_one_carve_out_the_hidden_one_holds") {
  auto facts = plain_facts();
  facts.carve_outs = {{"/work/app/s", state, directory, hidden},
                      {"/work/app/s", state, directory, visible}};
  for (const auto& plan : plans_of(facts))
    CHECK(effect_on(plan, "/work/app/s/x") == effect::closed);
}

TEST_CASE("every_directory_on_the_way_to_a_carve_out_is_a_mount_point") {
  auto facts = plain_facts();
  facts.carve_outs = {{"/work/app/a/b/state", state, directory, hidden}};
  for (const auto& plan : plans_of(facts)) {
    CHECK(place_of(plan, "/work/app") < place_of(plan, "/work/app/a"));
    CHECK(place_of(plan, "/work/app/a") < place_of(plan, "/work/app/a/b"));
    CHECK(place_of(plan, "/work/app/a/b") < place_of(plan, "/work/app/a/b/state"));
  }
}

TEST_CASE("a_pinned_directory_gives_no_more_than_what_holds_it") {
  auto facts = plain_facts();
  facts.shared = {{"/work/app/lib", "/work/app/lib", root_access::read}};
  facts.pinned = {"/work/app/lib/x/y", "/work/app/lib/x", "/work/app/a"};
  for (const auto& plan : plans_of(facts)) {
    CHECK(effect_on(plan, "/work/app/lib/x/y/f") == effect::reads);
    CHECK(effect_on(plan, "/work/app/a/f") == effect::writes);
    CHECK(place_of(plan, "/work/app/lib/x") < place_of(plan, "/work/app/lib/x/y"));
  }
}

TEST_CASE("a_hidden_place_comes_after_the_one_that_holds_it") {
  auto facts = plain_facts();
  facts.hidden = {{"/home/u", hidden_path::use::scratch}, {"/home", hidden_path::use::closed}};
  for (const auto& plan : plans_of(facts)) {
    CHECK(place_of(plan, "/home") < place_of(plan, "/home/u"));
  }
}

TEST_CASE("nothing_hidden_takes_the_place_of_the_sandboxs_own_proc_and_dev") {
  for (const std::string place : {"/", "/proc", "/proc/sys", "/dev", "/dev/shm", "/dev/x"}) {
    auto facts = plain_facts();
    facts.hidden = {{place, hidden_path::use::closed}};
    CHECK(refusal_of(facts) == code::workspace_too_broad);
  }
  auto facts = plain_facts();
  facts.hidden_files = {"/dev/mem"};
  CHECK(refusal_of(facts) == code::workspace_too_broad);
}

TEST_CASE("nothing_is_shown_under_another_name_that_its_own_name_does_not_show") {
  auto facts = plain_facts();
  facts.carve_outs = {{"/work/app/s", state, directory, hidden}};
  facts.hidden = {{"/home/u", hidden_path::use::closed}};
  facts.shared = {{"/work/app/s/x", "/mnt", root_access::read}};
  CHECK(refusal_of(facts) == code::not_enforceable);
  facts.shared = {{"/work/app", "/mnt", root_access::read}};
  CHECK(refusal_of(facts) == code::not_enforceable);
  facts.shared = {{"/home", "/mnt", root_access::read}};
  CHECK(refusal_of(facts) == code::workspace_too_broad);
  facts.shared = {{"/opt", "/mnt", root_access::write}, {"/opt/ro", "/opt/ro", root_access::read}};
  CHECK(refusal_of(facts) == code::not_enforceable);
  facts.shared = {{"/work/app/lib", "/mnt", root_access::write}};
  facts.access = workspace_access::read_only;
  CHECK(refusal_of(facts) == code::not_enforceable);
  facts.carve_outs.clear();
  facts.shared = {{"/work", "/mnt", root_access::write}};
  CHECK(refusal_of(facts) == code::not_enforceable);
  // The control: the blob directory, shown inside under a name of its own.
  facts.shared = {{"/var/blobs", "/work/app/blobs", root_access::read}};
  CHECK(bubblewrap{}.wrap(facts));
}

TEST_CASE("nothing_is_mounted_through_a_link_of_the_visible_tree") {
  auto facts = plain_facts();
  facts.root = root_profile::minimal;
  facts.shared = {{"/opt/t", "/opt/t", root_access::read}};
  for (const std::string link : {"/opt", "/opt/t", "/work", "/work/app/x", "/dev", "/tmp/home"}) {
    facts.visible = {{link, file_kind::link, "/elsewhere"}};
    INFO(link);
    CHECK(refusal_of(facts) == code::not_enforceable);
  }
  facts.visible = {{"/bin", file_kind::link, std::string{"usr\0--bind", 10}}};
  CHECK(refusal_of(facts) == code::not_enforceable);
  facts.visible = {{"/bin", file_kind::link, "usr/bin"}};
  CHECK(bubblewrap{}.wrap(facts));
}
