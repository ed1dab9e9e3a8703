// How often the program has allocated. Linking allocations.cpp replaces operator new.
#pragma once

#include <atomic>

namespace pinfold_bench {

extern std::atomic<unsigned long> allocations;

}  // namespace pinfold_bench
