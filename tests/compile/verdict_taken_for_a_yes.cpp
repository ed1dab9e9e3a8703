// refused: cannot convert|could not convert|no viable conversion
#include <pinfold/guard.hpp>

using namespace pinfold;

constexpr grant policy{"/work/app"};
constexpr guard now{policy, mode::ask, gate::off, taint{}};

#ifdef PINFOLD_MISUSE
bool may_read() {
  return now.check(call::read("/etc/hosts"));  // an "ask" is no "yes"
}
#else
bool may_read() {
  return now.check(call::read("/etc/hosts")) == verdict::allow;
}
#endif
