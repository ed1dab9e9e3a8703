// Any confinement, and any grant with any guard over it: each backend answers an error, or a plan
// that keeps the laws.
#include <array>
#include <expected>
#include <string>
#include <vector>

#include <pinfold/guard.hpp>
#include <pinfold/sandbox/backend.hpp>
#include <pinfold/sandbox/confine.hpp>

#include "plan/facts.hpp"
#include "plan/laws.hpp"
#include "plan/view.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

using namespace pinfold;

std::vector<launch_plan> plans_for(const confinement& facts) {
  std::vector<launch_plan> plans;
  const auto keep = [&](auto&& answer) {
    if (answer) return plans.push_back(std::move(*answer));
    const auto why = answer.error().error;
    must(why == code::not_enforceable || why == code::workspace_too_broad,
         "a backend refuses with a reason of its own", described(facts));
    must(!answer.error().path.empty(), "a refusal names the fact", described(facts));
  };
  keep(none_backend{}.wrap(facts));
  keep(bubblewrap{}.wrap(facts));
  keep(seatbelt{}.wrap(facts));
  return plans;
}

void check_laws(const confinement& facts, const std::vector<launch_plan>& plans) {
  for (const auto& plan : plans) {
    if (const auto law = broken_law(facts, plan)) {
      std::string mounts;
      for (const auto& word : plan.options) mounts += " " + quoted(word);
      broken(*law, described(facts) + std::string{name_of(plan.backend)} + mounts);
    }
  }
}

// --- from a decision -----------------------------------------------------------------------------

/// A grant with the texts that it views.
struct decided_texts {
  std::string workspace;
  std::vector<std::string> paths;
  std::vector<carve_out> carves;
  std::vector<extra_root> roots;
};

/// A tail in normal form most of the time.
std::string tail_of(std::string path) {
  const auto start = path.find_first_not_of('/');
  return start == std::string::npos ? "x" : path.substr(start);
}

void read_grant(bytes& input, decided_texts& texts) {
  texts.workspace = read_place(input);
  const auto carves = input.below(4);
  const auto roots = input.below(4);
  texts.paths.reserve(carves + roots);
  constexpr std::array<std::string_view, 6> tails{".efferent", ".git/hooks", "a",
                                                  "a/b",       "a/b/c",      "x"};
  for (std::size_t i = 0; i < carves; ++i) {
    const auto choice = input.below(tails.size() + 1);
    texts.paths.push_back(choice < tails.size() ? std::string{tails[choice]}
                                                : tail_of(read_place(input)));
    texts.carves.push_back(
        {texts.paths.back(), input.coin() ? carve_kind::host_run : carve_kind::harness_state});
  }
  for (std::size_t i = 0; i < roots; ++i) {
    texts.paths.push_back(read_place(input));
    texts.roots.push_back(
        {texts.paths.back(), input.coin() ? root_access::read : root_access::write});
  }
}

/// A command writes nothing of the host's but what the grant lets be written, and nothing at all in
/// mode plan. (The grant is asked, not the guard: that one also refuses to replace a whole root.)
void check_against_guard(const guard& decided, const confinement& facts, const launch_plan& plan) {
  if (plan.backend == backend_name::none) return;
  const auto check = [&](const auto& view) {
    for (const auto& place : places_of(facts)) {
      if (!is_canonical_form(place)) continue;
      const auto seen = view.at(place);
      if (!seen.host || !seen.is_writable || contains("/dev", place)) continue;
      if (decided.present() != mode::plan && decided.policy().is_writable(*seen.host)) continue;
      broken("a plan is never looser than the decision",
             described(facts) + std::string{name_of(plan.backend)} + " " + quoted(place));
    }
  };
  if (plan.backend == backend_name::bubblewrap) return check(mounted_view{plan});
  check(profiled_view{plan});
}

void try_decision(bytes& input) {
  decided_texts texts;
  read_grant(input, texts);
  const grant policy{std::string_view{texts.workspace}, texts.carves, texts.roots};
  constexpr std::array modes{mode::plan, mode::ask, mode::autonomous};
  constexpr std::array gates{gate::off, gate::untainted, gate::guarded, gate::on};
  constexpr std::array labels{taint{}, taint::untrusted_content, taint::private_data, taint::both};
  const auto present = input.one_of(modes);
  const auto open = input.one_of(gates);
  const auto taints = input.one_of(labels);
  const guard decided{policy, present, open, taints, enforcement::enforced};
  const auto directory = input.coin() ? texts.workspace : read_place(input);
  auto known = read_facts(input);
  known.shared.clear();  // what the harness shows on its own account is nobody's decision
  const auto facts = confine(decided, call::execute("make", directory), known);
  if (!facts) return;
  must(decided.check(call::execute("make", directory)) == verdict::allow,
       "only an allowed command is confined", described(known));
  must((facts->network == network_access::on) == decided.is_network_allowed(),
       "the network is as it was decided", described(*facts));
  const auto plans = plans_for(*facts);
  for (const auto& plan : plans) check_against_guard(decided, *facts, plan);
  check_laws(*facts, plans);
}

}  // namespace

void try_input(std::span<const std::uint8_t> input) {
  bytes rest{input};
  if (rest.coin()) return try_decision(rest);
  const auto facts = read_facts(rest);
  check_laws(facts, plans_for(facts));
}

}  // namespace pinfold_fuzz
