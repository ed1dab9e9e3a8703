// refused: constant expression
#include <pinfold/egress.hpp>

#ifdef PINFOLD_MISUSE
constexpr auto entry = pinfold::egress("*:443");
#else
constexpr auto entry = pinfold::egress("*.example.com:443");
#endif
static_assert(entry.port() == 443);
