// refused: cover_nothing
#include <pinfold/grant.hpp>

#ifdef PINFOLD_MISUSE
constexpr pinfold::grant policy{"work/app"};
#else
constexpr pinfold::grant policy{"/work/app"};
#endif
static_assert(policy.is_readable("/work/app/x"));
