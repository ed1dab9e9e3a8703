// Floor 3: the network decision, the whole table and its laws.
#include <pinfold/network.hpp>

#include <array>
#include <string>

#include "support/all.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

struct row {
  gate open;
  mode present;
  taint labels;
  decision answer;
  std::string_view why;
};

/// Stated once more, apart from the table, as the promises of each gate.
constexpr std::array rows{
    row{gate::off, mode::ask, taint{}, decision::deny, "off never opens, whoever is there"},
    row{gate::off, mode::autonomous, taint::both, decision::deny, "nor for any taint"},
    row{gate::untainted, mode::autonomous, taint{}, decision::allow, "nothing taken in yet"},
    row{gate::untainted, mode::autonomous, taint::untrusted_content, decision::deny, "one label"},
    row{gate::untainted, mode::ask, taint::private_data, decision::ask, "a person may say yes"},
    row{gate::untainted, mode::plan, taint::private_data, decision::deny, "nobody is asked"},
    row{gate::guarded, mode::autonomous, taint::untrusted_content, decision::allow,
        "nothing private could leave"},
    row{gate::guarded, mode::autonomous, taint::private_data, decision::allow,
        "nobody else has spoken yet"},
    row{gate::guarded, mode::autonomous, taint::both, decision::deny, "both and a way out leak"},
    row{gate::guarded, mode::ask, taint::both, decision::ask, "a person may say yes"},
    row{gate::guarded, mode::plan, taint::both, decision::deny, "nobody is asked"},
    row{gate::on, mode::autonomous, taint::both, decision::allow, "on is on"},
};

constexpr bool rows_hold() {
  for (const auto& it : rows) {
    if (decide_network(it.open, it.present, it.labels) != it.answer) return false;
  }
  return true;
}

template <class F>
constexpr bool for_the_whole_table(F holds) {
  for (auto open : all::gates) {
    for (auto present : all::modes) {
      for (auto labels : all::taints) {
        if (!holds(open, present, labels)) return false;
      }
    }
  }
  return true;
}

constexpr bool every_case_is_written_out_once() {
  return for_the_whole_table([](gate open, mode present, taint) {
    int found = 0;
    for (const auto& it : detail::network_table) {
      if (it.open == open && it.present == present) ++found;
    }
    return found == 1;
  });
}
constexpr bool more_taint_never_allows_more() {
  return for_the_whole_table([](gate open, mode present, taint less) {
    for (auto more : all::taints) {
      if (more >= less && decide_network(open, present, more) > decide_network(open, present, less))
        return false;
    }
    return true;
  });
}
constexpr bool a_stricter_gate_never_allows_more() {
  return for_the_whole_table([](gate wider, mode present, taint labels) {
    for (auto stricter : all::gates) {
      if (stricter <= wider &&
          decide_network(stricter, present, labels) > decide_network(wider, present, labels)) {
        return false;
      }
    }
    return true;
  });
}
constexpr bool nobody_is_asked_who_is_not_there() {
  return for_the_whole_table([](gate open, mode present, taint labels) {
    return present == mode::ask || decide_network(open, present, labels) != decision::ask;
  });
}
constexpr bool asking_stands_only_where_others_are_denied_for_taint() {
  return for_the_whole_table([](gate open, mode present, taint labels) {
    if (decide_network(open, present, labels) != decision::ask) return true;
    return !labels.is_clean() && decide_network(open, mode::autonomous, labels) == decision::deny;
  });
}
constexpr bool the_plain_answer_is_yes_for_allow_alone() {
  return for_the_whole_table([](gate open, mode present, taint labels) {
    return network_allowed(open, present, labels) ==
           (decide_network(open, present, labels) == decision::allow);
  });
}

template <class T>
constexpr bool names_are_unique(const T& values) {
  for (auto a : values) {
    for (auto b : values) {
      if (a != b && name_of(a) == name_of(b)) return false;
    }
  }
  return true;
}

/// An agent's session: the decision is computed for each call, with the labels of that moment.
struct session {
  session_taint taken_in;
  gate open;
  mode present;
  [[nodiscard]] constexpr decision ask_for_network() const {
    return decide_network(open, present, taken_in);
  }
};

constexpr bool second_call_is_denied() {
  session it{.taken_in = {}, .open = gate::untainted, .present = mode::autonomous};
  if (it.ask_for_network() != decision::allow) return false;
  it.taken_in.after_call(taint::untrusted_content);  // the first call fetched a page
  return it.ask_for_network() == decision::deny;
}

}  // namespace

static_assert(rows_hold());
static_assert(every_case_is_written_out_once());
static_assert(more_taint_never_allows_more());
static_assert(a_stricter_gate_never_allows_more());
static_assert(nobody_is_asked_who_is_not_there());
static_assert(asking_stands_only_where_others_are_denied_for_taint());
static_assert(the_plain_answer_is_yes_for_allow_alone());
static_assert(second_call_is_denied());
static_assert(decide_network(gate::untainted, mode::autonomous, taint::untrusted_content) ==
              decision::deny);

TEST_CASE("each_gate_does_what_it_is_for") {
  for (const auto& it : rows) {
    INFO(name_of(it.open) << " " << name_of(it.present) << " " << it.labels.index() << ": "
                          << it.why);
    CHECK(name_of(decide_network(it.open, it.present, it.labels)) == name_of(it.answer));
  }
}

TEST_CASE("the_network_table_is_complete_and_keeps_its_laws") {
  CHECK(every_case_is_written_out_once());
  CHECK(more_taint_never_allows_more());
  CHECK(a_stricter_gate_never_allows_more());
  CHECK(nobody_is_asked_who_is_not_there());
  CHECK(asking_stands_only_where_others_are_denied_for_taint());
  CHECK(the_plain_answer_is_yes_for_allow_alone());
}

TEST_CASE("the_second_call_of_a_session_is_denied_when_the_first_one_tainted_it") {
  CHECK(second_call_is_denied());
}

TEST_CASE("a_value_from_outside_the_enumerations_is_denied") {
  for (auto labels : all::taints) {
    CHECK(decide_network(static_cast<gate>(9), mode::ask, labels) == decision::deny);
    CHECK(decide_network(gate::on, static_cast<mode>(9), labels) == decision::deny);
  }
}

TEST_CASE("gates_modes_and_decisions_have_names_of_their_own") {
  CHECK(names_are_unique(all::gates));
  CHECK(names_are_unique(all::modes));
  CHECK(names_are_unique(std::array{decision::deny, decision::ask, decision::allow}));
  CHECK(names_are_unique(all::enforcements));
  CHECK(names_are_unique(
      std::array{backend_name::none, backend_name::bubblewrap, backend_name::seatbelt}));
}

TEST_CASE("gates_and_modes_are_read_by_their_names_alone") {
  for (auto open : all::gates) CHECK(parse_gate(name_of(open)) == open);
  for (auto present : all::modes) CHECK(parse_mode(name_of(present)) == present);
  for (auto name : {"", "On", "open", "on ", "planned", "auto"}) {
    CHECK_FALSE(parse_gate(name).has_value());
    CHECK_FALSE(parse_mode(name).has_value());
  }
}
