// Floor 2: taint is a join semilattice, and a session's taint only grows.
#include <pinfold/taint.hpp>

#include <type_traits>

#include "support/all.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

template <class F>
constexpr bool for_all_pairs(F holds) {
  for (auto a : all::taints) {
    for (auto b : all::taints) {
      if (!holds(a, b)) return false;
    }
  }
  return true;
}

constexpr bool join_is_idempotent() {
  return for_all_pairs([](taint a, taint) { return (a | a) == a; });
}
constexpr bool join_is_commutative() {
  return for_all_pairs([](taint a, taint b) { return (a | b) == (b | a); });
}
constexpr bool join_is_associative() {
  for (auto c : all::taints) {
    if (!for_all_pairs([c](taint a, taint b) { return ((a | b) | c) == (a | (b | c)); })) {
      return false;
    }
  }
  return true;
}
constexpr bool no_label_is_the_least() {
  return for_all_pairs([](taint a, taint) { return (taint{} | a) == a && taint{} <= a; });
}
constexpr bool join_is_the_least_upper_bound() {
  for (auto bound : all::taints) {
    const bool holds = for_all_pairs([bound](taint a, taint b) {
      const auto joined = a | b;
      return joined >= a && joined >= b && (!(bound >= a && bound >= b) || bound >= joined);
    });
    if (!holds) return false;
  }
  return true;
}
constexpr bool order_is_inclusion() {
  return for_all_pairs([](taint a, taint b) { return (a <= b) == ((a | b) == b); });
}
constexpr bool indexes_are_places_in_a_table() {
  for (std::size_t i = 0; i < taint::count; ++i) {
    if (all::taints[i].index() != i) return false;
  }
  return all::taints.size() == taint::count;
}

template <class T>
concept can_lose_labels = requires(T a, T b) {
  a& b;
}
|| requires(T a, T b) {
  a - b;
}
|| requires(T a, T b) {
  a ^ b;
}
|| requires(T a) {
  ~a;
}
|| requires(T a, T b) {
  a &= b;
}
|| requires(T a, T b) {
  a -= b;
}
|| requires(T a, T b) {
  a ^= b;
};
template <class T>
concept can_gain_labels = requires(T a, T b) {
  a |= b;
};

constexpr taint labels_after(session_taint session, taint first, taint second) {
  session.after_call(first);
  session |= second;
  return session;
}

}  // namespace

static_assert(join_is_idempotent());
static_assert(join_is_commutative());
static_assert(join_is_associative());
static_assert(no_label_is_the_least());
static_assert(join_is_the_least_upper_bound());
static_assert(order_is_inclusion());
static_assert(indexes_are_places_in_a_table());

// Misuse, each with its control.
static_assert(can_gain_labels<taint> && !can_lose_labels<taint>);
static_assert(!std::is_assignable_v<session_taint&, taint>, "a session cannot be washed clean");
static_assert(!std::is_assignable_v<session_taint&, session_taint>);
static_assert(!std::is_move_assignable_v<session_taint>);
static_assert(requires(session_taint session) { session |= taint::both; });
static_assert(std::is_copy_constructible_v<session_taint>, "a subagent starts with its parent's");
static_assert(!std::is_constructible_v<taint, int>, "a label is not a number");

TEST_CASE("labels_are_joined_and_compared_as_a_semilattice") {
  CHECK(join_is_idempotent());
  CHECK(join_is_commutative());
  CHECK(join_is_associative());
  CHECK(no_label_is_the_least());
  CHECK(join_is_the_least_upper_bound());
  CHECK(order_is_inclusion());
  CHECK(indexes_are_places_in_a_table());
}

TEST_CASE("two_labels_of_which_neither_holds_the_other_are_unordered") {
  CHECK((taint::untrusted_content <=> taint::private_data) == std::partial_ordering::unordered);
  CHECK_FALSE(taint::untrusted_content <= taint::private_data);
  CHECK_FALSE(taint::untrusted_content >= taint::private_data);
  CHECK(taint::both > taint::private_data);
  CHECK((taint::untrusted_content | taint::private_data) == taint::both);
}

TEST_CASE("a_session_only_gains_labels") {
  for (auto first : all::taints) {
    for (auto second : all::taints) {
      for (auto start : all::taints) {
        CHECK(labels_after(session_taint{start}, first, second) == (start | first | second));
      }
    }
  }
}

TEST_CASE("a_new_session_starts_clean_and_a_copy_starts_with_what_the_original_has") {
  CHECK(session_taint{}.labels().is_clean());
  session_taint parent;
  parent.after_call(taint::private_data);
  session_taint child{parent};
  child.after_call(taint::untrusted_content);
  CHECK(child.labels() == taint::both);
  CHECK(parent.labels() == taint::private_data);
}

TEST_CASE("each_label_has_a_name_and_no_other_name_has_a_label") {
  taint all;
  for (const auto& one : taint_labels) {
    CHECK(parse_label(one.name) == one.label);
    all |= one.label;
  }
  CHECK(all == taint::both);
  for (auto name : {"", "both", "Private_Data", "private_data ", "private-data"}) {
    CHECK_FALSE(parse_label(name).has_value());
  }
}
