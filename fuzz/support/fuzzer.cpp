// The door through which libFuzzer calls a target.
#include <cstddef>
#include <cstdint>

#include "support/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pinfold_fuzz::try_input({data, size});
  return 0;
}

/// Executions for each second count: a short trace of who allocated, a small quarantine.
extern "C" const char* __asan_default_options() {
  return "malloc_context_size=4:quarantine_size_mb=16:detect_leaks=1";
}
