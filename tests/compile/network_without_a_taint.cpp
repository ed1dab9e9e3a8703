// refused: too few arguments|no matching function
#include <pinfold/network.hpp>

using namespace pinfold;

#ifdef PINFOLD_MISUSE
constexpr bool answer = network_allowed(gate::guarded, mode::autonomous);
#else
constexpr bool answer = network_allowed(gate::guarded, mode::autonomous, taint{});
#endif
static_assert(answer);
