// Shows that a guard is cheap enough to be built for every call: no allocation, and no more time
// than one getppid() by syscall(), the cheapest thing a program can ask the kernel. Both are
// measured in turn, in short rounds, and the best of each is compared; no time is held against a clock
// of its own. Where another program shares the core, our code is slowed down more than the kernel's
// way in and out, so rounds go on for some seconds before the verdict is called the dearer one.
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

/// Nanoseconds of one `work()`: the best of a few short batches.
template <class Work>
double best_time(Work work) {
  constexpr int batches = 12;
  constexpr int times = 2000;
  double best = 1e9;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) sink += work();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() / times);
  }
  return best;
}

struct compared {
  const char* name;
  double time;
  double system_call;
};

/// A verdict and a system call, measured in turn until the verdict's best time is the better one, or
/// for many rounds.
template <class Work>
compared against_a_system_call(const char* name, Work work) {
  constexpr int rounds = 1000;
  compared one{name, 1e9, 1e9};
  for (int round = 0; round < rounds; ++round) {
    one.system_call =
        std::min(one.system_call, best_time([] { return static_cast<int>(syscall(SYS_getppid)); }));
    one.time = std::min(one.time, best_time(work));
    if (one.time <= one.system_call) break;
  }
  return one;
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

  const auto judged = [&](const char* name, const char* text, auto make) {
    return against_a_system_call(name, [=] { return judge(workspace, text, make); });
  };
  const unsigned long before = allocations;
  const std::array all{
      judged("read inside", inside, [](auto text) { return call::read(text); }),
      judged("write inside", inside, [](auto text) { return call::write(text); }),
      judged("read outside", outside, [](auto text) { return call::read(text); }),
      judged("execute", "make test", [](auto text) { return call::execute(text); }),
      judged("connect", "api.example.com", [](auto text) { return call::connect(text, 443); }),
  };
  check(allocations == before, "no verdict allocates");

  for (const auto& one : all) {
    std::printf("%-12s %4.0f ns, getppid() by syscall %4.0f ns\n", one.name, one.time,
                one.system_call);
    check(one.time <= one.system_call, one.name);
  }

  // The counter counts: a refusal with its sentence owns text.
  const grant policy{workspace};
  const guard g{policy, mode::autonomous, gate::off, taint{}};
  const auto text = g.check(call::read(outside)).to_refusal().message();
  check(allocations > before && !text.empty(), "an allocation is seen");
  return failures == 0 ? 0 : 1;
}
