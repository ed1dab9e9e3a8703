// What the checks cost that ask nothing of the disk, beside the cheapest thing a program can ask the
// kernel, and how much they allocate.
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include <pinfold/guard.hpp>

#include "allocations.hpp"
#include "main.hpp"

using namespace pinfold;

namespace {

constexpr std::string_view workspace = "/home/user/work/app";
constexpr std::string_view sixty = "/home/user/work/app/src/library/parser/detail/token/node.cpp";
static_assert(sixty.size() == 60);

// The same at compile time.
static_assert(contains(workspace, sixty) && is_canonical_form(sixty));
static_assert(grant{workspace}.region_of(sixty) == region::workspace);

void getppid_by_syscall(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(syscall(SYS_getppid));
}

/// Runs `work` on a grant and a path that the compiler cannot see through, and counts.
template <typename Work>
void judge(benchmark::State& state, Work work) {
  auto where = workspace;
  auto path = sixty;
  benchmark::DoNotOptimize(where);
  const grant policy{where};
  const auto before = pinfold_bench::allocations.load();
  for (auto _ : state) {
    benchmark::DoNotOptimize(path);
    benchmark::DoNotOptimize(work(policy, path));
  }
  state.counters["allocations"] =
      static_cast<double>(pinfold_bench::allocations.load() - before);
}

void containment_and_region(benchmark::State& state) {
  judge(state, [](const grant& policy, std::string_view path) {
    return contains(policy.workspace(), path) ? policy.region_of(path) : region::outside;
  });
}

void verdict_for_reading(benchmark::State& state) {
  judge(state, [](const grant& policy, std::string_view path) {
    const guard now{policy, mode::autonomous, gate::untainted, taint{}, enforcement::enforced};
    return now.check(call::read(path)).says();
  });
}

/// Shows that the counter counts.
void a_refusal_with_its_sentence(benchmark::State& state) {
  judge(state, [](const grant& policy, std::string_view) {
    const guard now{policy, mode::autonomous, gate::off, taint{}};
    return now.check(call::read("/etc/passwd")).to_refusal().message().size();
  });
}

}  // namespace

BENCHMARK(getppid_by_syscall);
BENCHMARK(containment_and_region);
BENCHMARK(verdict_for_reading);
BENCHMARK(a_refusal_with_its_sentence);

int main(int count, char** arguments) {
  return pinfold_bench::run(count, arguments);
}
