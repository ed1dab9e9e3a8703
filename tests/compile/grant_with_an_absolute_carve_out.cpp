// refused: cover_nothing
#include <pinfold/grant.hpp>

#include <array>

#ifdef PINFOLD_MISUSE
constexpr std::array<pinfold::carve_out, 1> carved{
    {{"/work/app/.state", pinfold::carve_kind::harness_state}}};
#else
constexpr std::array<pinfold::carve_out, 1> carved{
    {{".state", pinfold::carve_kind::harness_state}}};
#endif
constexpr pinfold::grant policy{"/work/app", carved};
static_assert(!policy.is_readable("/work/app/.state/x"));
