// A program that embeds the runner and holds as much memory as it is told, every page touched. For
// each line on its input it runs `true` in the sandbox and prints how long that took, in nanoseconds.
//   resident_start WORKSPACE MEBIBYTES
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <pinfold/runner/runner.hpp>

using namespace pinfold;

namespace {

/// Pages that are written to, and small ones, as those of a program that has grown: a page table
/// entry for each.
void hold(std::size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::exit(2);
  ::madvise(at, bytes, MADV_NOHUGEPAGE);
  constexpr std::size_t page = 4096;
  for (std::size_t i = 0; i < bytes; i += page) static_cast<char*>(at)[i] = 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  hold(std::strtoull(argv[2], nullptr, 10) << 20);
  const auto commands = runner::for_caller({"PATH=/usr/bin:/bin", "HOME=/nonexistent"});
  if (!commands) return std::cerr << commands.error().message() << '\n', 1;
  run_request request;
  request.workspace = argv[1];
  request.command = {"/usr/bin/true"};
  request.caches = cache_choice::none;
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto start = std::chrono::steady_clock::now();
    const auto record = commands->run(request, {});
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
    if (record.exit_code != 0) return 1;
    std::cout << took.count() << std::endl;
  }
}
