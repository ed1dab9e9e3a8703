// refused: no match for|no operator|invalid operands|assignment|deleted
#include <pinfold/taint.hpp>

using namespace pinfold;

void forget(session_taint& session) {
#ifdef PINFOLD_MISUSE
  session -= taint::private_data;
#else
  session |= taint::private_data;
#endif
}
