// Holds a plugged-in resolver (plug.hpp) to the oracle, over the trees of resolve_fuzz. The grant
// is the workspace alone, because carve-outs are nobody else's idea.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "resolve/inquiry.hpp"
#include "resolve/oracle.hpp"
#include "resolve/plug.hpp"
#include "support/scratch.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

/// How often the resolver said yes where yes is right; printed at the end.
class tally {
 public:
  tally() = default;
  tally(const tally&) = delete;
  ~tally() {
    std::fprintf(stderr, "%ld paths lead inside; the resolver declined %ld of them\n", inside_,
                 declined_);
  }
  void count(plugged_verdict verdict) {
    ++inside_;
    if (verdict == plugged_verdict::declined) ++declined_;
  }

 private:
  long inside_{0};
  long declined_{0};
};

void ask(const inquiry& all, const rules& rules, const question& asked) {
  static tally yes;
  const auto expected = opinion_on(all.data(), rules, asked.op, asked.input, asked.start);
  // A file's name that ends in '/' is a matter of spelling, not of place.
  if (expected.is_unknown || expected.refused == pinfold::code::invalid_path) return;
  const auto given = resolve_plugged(asked.start, asked.input, asked.op);
  if (!expected.refused) yes.count(given.verdict);
  if (given.verdict == plugged_verdict::declined) return;
  const auto facts = [&] {
    return all.described(asked) + "the resolver says " + quoted(given.canonical) +
           "\nthe oracle says " +
           (expected.refused ? std::string{name_of(*expected.refused)}
                             : quoted(expected.canonical));
  };
  if (expected.refused == pinfold::code::outside_workspace ||
      expected.refused == pinfold::code::magic_link) {
    broken("what leads out is not answered as inside", facts());
  }
  if (expected.refused) broken("what leads nowhere is not answered as inside", facts());
  if (given.canonical != expected.canonical) {
    broken("the answer names the place that the kernel reaches", facts());
  }
}

}  // namespace

void try_input(std::span<const std::uint8_t> input) {
  const auto& place = scratch::of_this_process();
  const inquiry all{bytes{input}, place.path(), grants::plain};
  const built_tree standing{all.plan(), place.fd()};
  const auto rules = rules_of(all.grant());
  for (const auto& asked : all.questions()) ask(all, rules, asked);
}

}  // namespace pinfold_fuzz
