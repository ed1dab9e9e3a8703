// Replaces operator new by one that counts. In a file of its own, so that no call of it is inlined.
#include "allocations.hpp"

#include <cstdlib>
#include <new>

std::atomic<unsigned long> pinfold_bench::allocations{0};

void* operator new(std::size_t size) {
  pinfold_bench::allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
