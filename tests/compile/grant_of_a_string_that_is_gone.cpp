// refused: use of deleted function|call to deleted constructor
#include <pinfold/grant.hpp>

#include <string>

std::string workspace();

pinfold::region ask() {
#ifdef PINFOLD_MISUSE
  const pinfold::grant policy{workspace()};
#else
  const auto kept = workspace();
  const pinfold::grant policy{kept};
#endif
  return policy.region_of("/work/app/x");
}
