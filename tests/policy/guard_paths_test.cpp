// Floor 4: one call about a path -> one verdict; the guard's table and its laws.
#include <array>
#include <string>

#include "policy/guard_ground.hpp"
#include "support/all.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace guard_ground;

namespace {

std::string_view name_of(verdict::answer says) {
  switch (says) {
    case verdict::refuse:
      return "refuse";
    case verdict::ask:
      return "ask";
    case verdict::allow:
      return "allow";
  }
  return "";
}

constexpr bool path_rows_hold() {
  for (const auto& row : path_rows) {
    if (planning.check(row.asked).says() != row.in_plan) return false;
    if (asking.check(row.asked).says() != row.in_ask) return false;
    if (alone.check(row.asked).says() != row.in_autonomous) return false;
  }
  return true;
}

// The table and its laws.

template <class F>
constexpr bool for_the_whole_table(F holds) {
  for (auto op : all::operations) {
    for (auto present : all::modes) {
      for (auto where : all::regions) {
        if (!holds(op, present, where, detail::rule_for(op, present, where))) return false;
      }
    }
  }
  return true;
}

constexpr bool writes(operation op) {
  return op == operation::write || op == operation::make_directory || op == operation::remove ||
         op == operation::rename;
}

constexpr bool every_row_stands_in_its_place() {
  for (std::size_t i = 0; i < detail::guard_table.size(); ++i) {
    const auto& row = detail::guard_table[i];
    if (row.op != all::operations[i / 3] || row.present != all::modes[i % 3]) return false;
  }
  return detail::guard_table.size() == all::operations.size() * all::modes.size();
}
constexpr bool carved_out_regions_are_never_asked_about() {
  return for_the_whole_table([](operation op, mode, region where, detail::rule found) {
    if (op == operation::connect) return true;
    if (where == region::harness_state) return found == detail::rule::refuse;
    return where != region::host_run || found != detail::rule::ask;
  });
}
constexpr bool plan_refuses_every_write() {
  return for_the_whole_table([](operation op, mode present, region, detail::rule found) {
    return !writes(op) || present != mode::plan || found == detail::rule::refuse;
  });
}
constexpr bool the_table_asks_only_a_person_and_only_about_the_outside() {
  return for_the_whole_table([](operation, mode present, region where, detail::rule found) {
    return found != detail::rule::ask || (present == mode::ask && where == region::outside);
  });
}
constexpr bool the_outside_is_never_plainly_allowed() {
  return for_the_whole_table([](operation op, mode present, region where, detail::rule found) {
    if (where != region::outside || op == operation::connect) return true;
    const bool asks = present == mode::ask && op != operation::execute;
    return found == (asks ? detail::rule::ask : detail::rule::refuse);
  });
}
constexpr bool host_run_files_are_read_and_never_written() {
  return for_the_whole_table([](operation op, mode, region where, detail::rule found) {
    return where != region::host_run || !writes(op) || found == detail::rule::refuse;
  });
}

}  // namespace

static_assert(path_rows_hold());
static_assert(every_row_stands_in_its_place());
static_assert(carved_out_regions_are_never_asked_about());
static_assert(plan_refuses_every_write());
static_assert(the_table_asks_only_a_person_and_only_about_the_outside());
static_assert(the_outside_is_never_plainly_allowed());
static_assert(host_run_files_are_read_and_never_written());

TEST_CASE("a_verdict_depends_on_region_operation_and_mode") {
  for (const auto& row : path_rows) {
    INFO(pinfold::name_of(row.asked.op())
         << " " << row.asked.subject().as_the_call_says() << " "
         << row.asked.place().as_the_call_says() << " | " << row.why);
    CHECK(name_of(planning.check(row.asked).says()) == name_of(row.in_plan));
    CHECK(name_of(asking.check(row.asked).says()) == name_of(row.in_ask));
    CHECK(name_of(alone.check(row.asked).says()) == name_of(row.in_autonomous));
  }
}

TEST_CASE("whatever_is_not_allowed_says_why") {
  for (const auto& row : path_rows) {
    INFO(pinfold::name_of(row.asked.op()) << " " << row.asked.subject().as_the_call_says());
    for (const auto& g : {planning, asking, alone}) {
      const auto v = g.check(row.asked);
      if (v == verdict::allow) continue;
      // Where several reasons hold, any of them is a true answer: plan mode for every write, and
      // the other end of a rename.
      const bool is_the_mode = g.present() == mode::plan && writes(row.asked.op()) &&
                               v.reason() == code::mode_forbids_writing;
      const bool is_the_other_end = row.asked.op() == operation::rename && row.in_ask == no &&
                                    v.reason() == code::outside_workspace;
      if (!is_the_mode && !is_the_other_end) {
        CHECK(pinfold::name_of(v.reason()) == pinfold::name_of(row.reason));
      }
    }
    if (row.in_ask != go) {
      CHECK(pinfold::name_of(asking.check(row.asked).reason()) == pinfold::name_of(row.reason));
    }
  }
}

TEST_CASE("the_guards_table_is_complete_and_keeps_its_laws") {
  CHECK(every_row_stands_in_its_place());
  CHECK(carved_out_regions_are_never_asked_about());
  CHECK(plan_refuses_every_write());
  CHECK(the_table_asks_only_a_person_and_only_about_the_outside());
  CHECK(the_outside_is_never_plainly_allowed());
  CHECK(host_run_files_are_read_and_never_written());
}

TEST_CASE("without_any_carve_out_the_workspace_itself_still_stays_where_it_is") {
  const grant bare{"/work/app", {}};
  const guard g{bare, mode::autonomous, gate::off, taint{}, enforcement::enforced};
  for (const auto& asked :
       {call::remove("/work/app"), call::write("/work/app"), call::rename("/work/app", "/work/b"),
        call::rename("/work/app/x", "/work/app"), call::remove("/work")}) {
    INFO(pinfold::name_of(asked.op()));
    CHECK(g.check(asked) == verdict::refuse);
    CHECK(asking.around(bare).check(asked) == verdict::refuse);
  }
  CHECK(g.check(call::make_directory("/work/app")) == verdict::allow);
  CHECK(g.check(call::remove("/work/app/.git")) == verdict::allow);
}

TEST_CASE("a_refusal_names_operation_path_and_boundary_and_what_would_help") {
  const auto out = alone.check(call::write("/work/app-old/x")).to_refusal("../app-old/x");
  CHECK(out.error == code::outside_workspace);
  CHECK(out.op == operation::write);
  CHECK(out.path == "../app-old/x");
  CHECK(out.resolved == "/work/app-old/x");
  CHECK(out.boundary == "/work/app");
  CHECK(out.help() == remedy::use_path_inside);

  const auto state = alone.check(call::read("/work/app/.efferent/x"));
  CHECK(state.boundary() == ".efferent");
  CHECK(state.to_refusal().boundary == "/work/app/.efferent");
  CHECK(state.help() == remedy::use_path_inside);

  const auto closed = alone.check(call::connect("example.com", 443));
  CHECK(closed == verdict::allow);
  const guard tainted{policy, mode::autonomous, gate::untainted, taint::both};
  CHECK(tainted.check(call::connect("example.com", 443)).help() == remedy::needs_wider_grant);

  const auto asked = asking.check(call::write("/etc/hosts"));
  CHECK(asked.help() == remedy::ask_a_person);
  CHECK(asked.to_refusal().error == code::needs_approval);
  CHECK(asked.to_refusal().path == "/etc/hosts");
  CHECK(asked.to_refusal().detail == sentence_for(code::outside_workspace));

  const auto end = alone.check(call::rename("/work/app/x", "/tmp/y"));
  CHECK(end.at() == "/tmp/y");
}

TEST_CASE("looking_again_helps_against_no_verdict_but_that_a_root_stays") {
  for (const auto& row : path_rows) {
    for (const auto& g : {planning, asking, alone}) {
      const auto v = g.check(row.asked);
      if (v == verdict::allow || v.reason() == code::permission_denied) continue;
      CHECK(v.help() != remedy::look_again);
    }
  }
}

TEST_CASE("a_value_from_outside_the_enumerations_is_refused") {
  for (auto where : all::regions) {
    CHECK(detail::rule_for(static_cast<operation>(9), mode::ask, where) == detail::rule::refuse);
    CHECK(detail::rule_for(operation::read, static_cast<mode>(9), where) == detail::rule::refuse);
    CHECK(detail::rule_for(operation::read, static_cast<mode>(3), where) == detail::rule::refuse);
  }
  CHECK(detail::rule_for(operation::read, mode::ask, static_cast<region>(9)) ==
        detail::rule::refuse);
}
