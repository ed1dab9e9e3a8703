// refused: no matching function|no matching constructor|cannot convert
#include <pinfold/call.hpp>
#include <pinfold/grant.hpp>

using namespace pinfold;

#ifdef PINFOLD_MISUSE
grant widened(const call& asked) {
  return grant{asked.subject()};  // what a model said grants nothing
}
#else
grant widened(std::string_view chosen_by_the_harness) {
  return grant{chosen_by_the_harness};
}
#endif
