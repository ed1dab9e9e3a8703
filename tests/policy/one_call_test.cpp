// Floor 4: an approved `ask` is good for exactly one call.
#include <pinfold/one_call.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include <pinfold/guard.hpp>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

constexpr grant policy{"/work/app"};
constexpr guard asking{policy, mode::ask, gate::untainted, taint::both};
constexpr auto person = approver::in_the_harness();

one_call_grant approved(const call& asked) {
  return person.approve(asking.check(asked)).value();
}

}  // namespace

// Misuse, each with its control.
static_assert(std::is_move_constructible_v<one_call_grant>);
static_assert(!std::is_copy_constructible_v<one_call_grant>, "one call, not two");
static_assert(!std::is_move_assignable_v<one_call_grant>, "a used one is not filled up again");
static_assert(!std::is_default_constructible_v<one_call_grant>);
static_assert(!std::is_constructible_v<one_call_grant, call>, "a call does not approve itself");
static_assert(!std::is_constructible_v<one_call_grant, verdict>);
static_assert(!std::is_default_constructible_v<approver>, "it is made by name");
static_assert(requires { approver::in_the_harness(); });

TEST_CASE("an_approved_call_passes_once") {
  for (const auto& asked :
       {call::write("/etc/hosts"), call::read("/work/app-old/x"), call::remove("/tmp/x"),
        call::rename("/tmp/x", "/work/app/x"), call::execute("make"),
        call::execute("make", "/work/app/src"), call::connect("example.com", 443)}) {
    INFO(name_of(asked.op()));
    auto once = approved(asked);
    CHECK_FALSE(once.is_spent());
    CHECK(once.spend(asked));
    CHECK(once.is_spent());
    CHECK_FALSE(once.spend(asked));
  }
}

TEST_CASE("an_approval_covers_no_other_call_and_the_attempt_uses_it_up") {
  const auto asked = call::write("/etc/hosts");
  for (const auto& other :
       {call::write("/etc/host"), call::write("/etc/hosts2"), call::write("/etc/passwd"),
        call::read("/etc/hosts"), call::remove("/etc/hosts"), call::write("")}) {
    auto once = approved(asked);
    CHECK_FALSE(once.spend(other));
    CHECK_FALSE(once.spend(asked));
  }
  auto move = approved(call::rename("/tmp/x", "/work/app/x"));
  CHECK_FALSE(move.spend(call::rename("/tmp/x", "/work/app/y")));
  auto door = approved(call::connect("example.com", 443));
  CHECK_FALSE(door.spend(call::connect("example.com", 444)));
  auto here = approved(call::execute("make"));
  CHECK_FALSE(here.spend(call::execute("make", "/work/app/src")));
}

TEST_CASE("what_is_refused_cannot_be_approved") {
  struct row {
    call asked;
    code reason;
  };
  for (const auto& it : {row{call::read("/work/app/.efferent/x"), code::harness_state},
                         row{call::write("/work/app/.git/config"), code::host_run_file},
                         row{call::write("/work/app/../x"), code::invalid_path},
                         row{call::execute("x", "/home/u"), code::outside_workspace},
                         row{call::connect("127.1", 80), code::invalid_host}}) {
    const auto answer = person.approve(asking.check(it.asked));
    REQUIRE_FALSE(answer.has_value());
    CHECK(name_of(answer.error()) == name_of(it.reason));
  }
}

TEST_CASE("what_is_allowed_needs_no_approval") {
  const auto answer = person.approve(asking.check(call::write("/work/app/x")));
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error() == code::invalid_argument);
}

TEST_CASE("an_approval_that_was_moved_from_is_used_up") {
  const auto asked = call::write("/etc/hosts");
  auto once = approved(asked);
  auto taken = std::move(once);
  CHECK(once.is_spent());  // NOLINT: that is the point
  CHECK_FALSE(once.spend(asked));
  CHECK(taken.spend(asked));
  auto spent = std::move(taken);
  CHECK_FALSE(spent.spend(asked));
}

TEST_CASE("an_approval_outlives_the_text_of_the_call") {
  auto text = std::string{"/etc/hosts"};
  auto once = approved(call::write(text));
  text = "/etc/passwd";
  CHECK(once.spend(call::write("/etc/hosts")));
}
