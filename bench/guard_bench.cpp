// What a verdict costs, with the grant and the guard built anew for it, beside the cheapest thing a
// program can ask the kernel.
#include <array>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include <pinfold/guard.hpp>

using namespace pinfold;

namespace {

constexpr std::string_view workspace = "/home/user/work/app";
constexpr std::string_view inside = "/home/user/work/app/src/library/parser/tokens.cpp";
constexpr std::string_view outside = "/home/user/.config/other/settings.toml";

void getppid_by_syscall(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(syscall(SYS_getppid));
}

/// Grant, guard and verdict for one call; `make` makes the call of a text that the compiler cannot
/// see through.
template <class Make>
void judge(benchmark::State& state, std::string_view text, Make make) {
  auto where = workspace;
  for (auto _ : state) {
    benchmark::DoNotOptimize(where);
    benchmark::DoNotOptimize(text);
    const grant policy{where};
    const guard g{policy, mode::autonomous, gate::untainted, taint{}, enforcement::enforced};
    benchmark::DoNotOptimize(g.check(make(text)).says());
  }
}

void read_inside(benchmark::State& state) {
  judge(state, inside, [](std::string_view text) { return call::read(text); });
}
void write_inside(benchmark::State& state) {
  judge(state, inside, [](std::string_view text) { return call::write(text); });
}
void read_outside(benchmark::State& state) {
  judge(state, outside, [](std::string_view text) { return call::read(text); });
}
void execute(benchmark::State& state) {
  judge(state, "make test", [](std::string_view text) { return call::execute(text); });
}
void connect(benchmark::State& state) {
  judge(state, "api.example.com", [](std::string_view text) { return call::connect(text, 443); });
}
void connect_with_a_list(benchmark::State& state) {
  const std::array list{egress("example.com:443"), egress("*.example.org:443"),
                        egress("127.0.0.1:8080"), egress("*.example.net:443")};
  std::string_view host = "api.example.org";
  for (auto _ : state) {
    benchmark::DoNotOptimize(host);
    benchmark::DoNotOptimize(decide_egress(list, host, 443).says);
  }
}

}  // namespace

BENCHMARK(getppid_by_syscall);
BENCHMARK(read_inside);
BENCHMARK(write_inside);
BENCHMARK(read_outside);
BENCHMARK(execute);
BENCHMARK(connect);
BENCHMARK(connect_with_a_list);
