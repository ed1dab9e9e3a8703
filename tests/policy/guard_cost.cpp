// Shows that a guard is cheap enough to be built for every call: no allocation, and no more time
// than one getppid() by syscall(), the cheapest thing a program can ask the kernel. Both are
// measured in the same run and compared with each other; no time is held against a clock of its
// own.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

#include <pinfold/guard.hpp>

namespace {
std::atomic<unsigned long> allocations{0};
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace pinfold;

/// What an agent does before each call: the grant and the guard are built anew.
template <class MakeCall>
int judge(std::string_view workspace, std::string_view text, MakeCall make) {
  const grant policy{workspace};
  const guard g{policy, mode::autonomous, gate::untainted, taint{}, enforcement::enforced};
  return g.check(make(text)).says();
}

int sink = 0;

/// Nanoseconds of one round of `work`: the best of many short batches, so that another process on
/// the machine does not count.
template <class Work>
double best_time(Work work) {
  constexpr int batches = 60;
  constexpr int rounds = 2000;
  double best = 1e9;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) sink += work();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() / rounds);
  }
  return best;
}

int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  // Through volatile pointers: the texts are known when the program runs, not before.
  const char* volatile workspace = "/home/user/work/app";
  const char* volatile inside = "/home/user/work/app/src/library/parser/tokens.cpp";
  const char* volatile outside = "/home/user/.config/other/settings.toml";

  struct timed {
    const char* name;
    double time;
  };
  const auto judged = [&](const char* text, auto make) {
    return best_time([&] { return judge(workspace, text, make); });
  };
  const double system_call = best_time([] { return static_cast<int>(syscall(SYS_getppid)); });
  const unsigned long before = allocations;
  const std::array all{
      timed{"read inside", judged(inside, [](auto text) { return call::read(text); })},
      timed{"write inside", judged(inside, [](auto text) { return call::write(text); })},
      timed{"read outside", judged(outside, [](auto text) { return call::read(text); })},
      timed{"execute", judged("make test", [](auto text) { return call::execute(text); })},
      timed{"connect",
            judged("api.example.com", [](auto text) { return call::connect(text, 443); })},
  };
  check(allocations == before, "no verdict allocates");

  std::printf("getppid() by syscall: %.0f ns\n", system_call);
  for (const auto& one : all) {
    std::printf("%-12s %.0f ns\n", one.name, one.time);
    check(one.time <= system_call, one.name);
  }

  // The counter counts: a refusal with its sentence owns text.
  const grant policy{workspace};
  const guard g{policy, mode::autonomous, gate::off, taint{}};
  const auto text = g.check(call::read(outside)).to_refusal().message();
  check(allocations > before && !text.empty(), "an allocation is seen");
  return failures == 0 ? 0 : 1;
}
