// refused: deleted function|call to deleted
#include <pinfold/one_call.hpp>

using namespace pinfold;

#ifdef PINFOLD_MISUSE
one_call_grant another(const one_call_grant& approved) {
  return approved;
}
#else
one_call_grant another(one_call_grant&& approved) {
  return std::move(approved);
}
#endif
