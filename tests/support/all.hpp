// Every value of the small enumerations, for tests that walk the whole matrix. A value that is
// added to an enumeration and not listed here stops the compilation.
#pragma once

#include <array>
#include <cstddef>

#include <pinfold/grant.hpp>
#include <pinfold/network.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

namespace pinfold::all {

inline constexpr std::array gates{gate::off, gate::untainted, gate::guarded, gate::on};
inline constexpr std::array modes{mode::plan, mode::ask, mode::autonomous};
inline constexpr std::array taints{taint{}, taint::untrusted_content, taint::private_data,
                                   taint::both};
inline constexpr std::array regions{region::workspace, region::harness_state, region::host_run,
                                    region::extra_root, region::outside};
inline constexpr std::array operations{operation::read,           operation::write,
                                       operation::make_directory, operation::list,
                                       operation::remove,         operation::rename,
                                       operation::execute,        operation::connect};
inline constexpr std::array enforcements{enforcement::unconfined, enforcement::enforced};

/// The values are counted from 0, and one beyond the last has no name of its own: it gets the name
/// that stands for the strictest value, which is in the list.
template <class Value, std::size_t Size>
consteval bool is_complete(const std::array<Value, Size>& list) {
  for (std::size_t i = 0; i < Size; ++i) {
    if (list[i] != static_cast<Value>(i)) return false;
  }
  for (auto value : list) {
    if (name_of(value) == name_of(static_cast<Value>(Size))) return true;
  }
  return false;
}

static_assert(is_complete(gates) && is_complete(modes) && is_complete(regions));
static_assert(is_complete(operations) && is_complete(enforcements));
static_assert(taints.size() == taint::count);

}  // namespace pinfold::all
