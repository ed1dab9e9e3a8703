// refused: could not convert|no viable conversion
#include <pinfold/grant.hpp>

bool is_readable(pinfold::grant policy) {
  return policy.is_readable("/work/app/x");
}

#ifdef PINFOLD_MISUSE
bool answer() {
  return is_readable(std::string_view{"/work/app"});
}
#else
bool answer() {
  return is_readable(pinfold::grant{"/work/app"});
}
#endif
