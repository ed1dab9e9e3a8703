// The least that an embedding program can do: prove its own policy while it compiles.
#include <pinfold/policy.hpp>

using namespace pinfold;

constexpr grant policy{"/work/app"};
static_assert(policy.region_of("/work/app-old/x") == region::outside);
static_assert(policy.region_of("/work/app/.git/hooks/pre-commit") == region::host_run);
static_assert(guard{policy, mode::plan, gate::on, taint{}}.check(call::write("/work/app/x")) ==
              verdict::refuse);

int main() {
  return policy.is_writable("/work/app/x") ? 0 : 1;
}
