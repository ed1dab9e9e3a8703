// refused: cover_nothing
#include <pinfold/grant.hpp>

#include <array>

#ifdef PINFOLD_MISUSE
constexpr std::array<pinfold::extra_root, 1> roots{{{"/opt/..", pinfold::root_access::write}}};
#else
constexpr std::array<pinfold::extra_root, 1> roots{{{"/opt", pinfold::root_access::write}}};
#endif
constexpr pinfold::grant policy{"/work/app", pinfold::default_carve_outs, roots};
static_assert(policy.is_writable("/opt/x"));
