// The closed set of backends and the strategy: what was asked for, or an error; never a quiet
// fallback.
#include <pinfold/sandbox/backend.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include "support/all.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

probe_result usable(backend_name name, std::string program) {
  return {.backend = name, .found = usability::usable, .program = std::move(program), .reason = {}};
}
probe_result unusable(backend_name name, std::string reason) {
  return {.backend = name,
          .found = usability::unusable,
          .program = "/usr/bin/bwrap",
          .reason = std::move(reason)};
}

const std::vector<probe_result> linux_host{usable(backend_name::bubblewrap, "/opt/bin/bwrap"),
                                           unusable(backend_name::seatbelt, "not macOS")};
const std::vector<probe_result> mac_host{unusable(backend_name::bubblewrap, "not Linux"),
                                         usable(backend_name::seatbelt, "/usr/bin/sandbox-exec")};
const std::vector<probe_result> bare_host{
    unusable(backend_name::bubblewrap, "user namespaces are off: apply the AppArmor profile"),
    unusable(backend_name::seatbelt, "not macOS")};

confinement small() {
  confinement facts;
  facts.workspace = facts.directory = "/work/app";
  facts.command = {"true"};
  return facts;
}

template <class T>
concept is_a_token = requires(std::span<const probe_result> probes, T token) {
  build("bubblewrap", probes, token);
};

#ifndef __clang__
consteval bool a_missing_backend_is_an_error_at_compile_time() {
  const auto made = build("bubblewrap", {});
  return !made && made.error().error == code::sandbox_unavailable;
}
static_assert(a_missing_backend_is_an_error_at_compile_time());
consteval bool nothing_is_better_than_what_was_probed() {
  return best({}) == backend_name::none;
}
static_assert(nothing_is_better_than_what_was_probed());
#endif

}  // namespace

// Misuse, each with its control.
static_assert(is_a_token<unconfined> && !is_a_token<bool> && !is_a_token<enforcement>);
static_assert(!std::is_default_constructible_v<strategy>);
static_assert(!std::is_constructible_v<strategy, any_backend, backend_name, std::string>,
              "only build makes one");

TEST_CASE("a_backend_is_known_by_its_name_alone") {
  for (auto name : backends_by_strength) CHECK(parse_backend(name_of(name)) == name);
  for (auto name : {"", "bwrap", "Bubblewrap", "none ", "docker", "bubblewrap\n"}) {
    INFO(name);
    CHECK_FALSE(parse_backend(name));
    const auto answer = backend(name, linux_host);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().error == code::unknown_backend);
    CHECK(answer.error().path == name);
  }
}

TEST_CASE("a_backend_that_was_probed_usable_is_made_with_the_probed_program") {
  const auto found = backend("bubblewrap", linux_host);
  REQUIRE(found.has_value());
  CHECK(name_of(*found) == backend_name::bubblewrap);
  CHECK(std::get<bubblewrap>(*found).program == "/opt/bin/bwrap");
  CHECK(std::get<seatbelt>(*backend("seatbelt", mac_host)).program == "/usr/bin/sandbox-exec");
  CHECK(name_of(*backend("none", bare_host)) == backend_name::none);
  CHECK(name_of(*backend("none", {})) == backend_name::none);
}

TEST_CASE("a_backend_that_is_not_usable_is_an_error_with_the_reason_of_its_probe") {
  const auto answer = backend("bubblewrap", bare_host);
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().error == code::sandbox_unavailable);
  CHECK(answer.error().path == "bubblewrap");
  CHECK(answer.error().detail == "user namespaces are off: apply the AppArmor profile");
  CHECK(answer.error().help() == remedy::prepare_the_host);
}

TEST_CASE("what_is_not_clearly_usable_is_unusable") {
  struct row {
    std::vector<probe_result> probes;
    std::string reason;
  };
  const auto good = usable(backend_name::bubblewrap, "/usr/bin/bwrap");
  const std::vector<row> rows{
      {{}, "it was not probed"},
      {{usable(backend_name::seatbelt, "/usr/bin/sandbox-exec")}, "it was not probed"},
      {{usable(backend_name::bubblewrap, "")}, "its program has no absolute path"},
      {{usable(backend_name::bubblewrap, "bwrap")}, "its program has no absolute path"},
      {{usable(backend_name::bubblewrap, "/work/../bwrap")}, "its program has no absolute path"},
      {{unusable(backend_name::bubblewrap, "")}, "its probe failed"},
      {{good, unusable(backend_name::bubblewrap, "no network namespace")}, "no network namespace"},
      {{unusable(backend_name::bubblewrap, "set-uid"), good}, "set-uid"},
      {{probe_result{}}, "its probe failed"},
  };
  for (const auto& row : rows) {
    INFO(row.reason);
    const auto answer = backend("bubblewrap", row.probes);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().detail == row.reason);
    CHECK(best(row.probes) != backend_name::bubblewrap);
  }
}

TEST_CASE("the_best_backend_is_the_strongest_usable_one_and_only_a_suggestion") {
  CHECK(best(linux_host) == backend_name::bubblewrap);
  CHECK(best(mac_host) == backend_name::seatbelt);
  CHECK(best(bare_host) == backend_name::none);
  CHECK(best({}) == backend_name::none);
  const std::vector both{usable(backend_name::seatbelt, "/usr/bin/sandbox-exec"),
                         usable(backend_name::bubblewrap, "/usr/bin/bwrap")};
  CHECK(best(both) == backend_name::bubblewrap);
  // Asked for none, none it is, however good the best one may be.
  CHECK(build("none", linux_host)->in_force() == backend_name::none);
}

TEST_CASE("the_strategy_is_what_was_asked_for_or_an_error") {
  const auto made = build("bubblewrap", linux_host);
  REQUIRE(made.has_value());
  CHECK(made->in_force() == backend_name::bubblewrap);
  CHECK(made->asked() == backend_name::bubblewrap);
  CHECK(made->reason().empty());
  CHECK(made->boundary() == enforcement::enforced);

  const auto failed = build("bubblewrap", bare_host);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().error == code::sandbox_unavailable);
  // Nor does another backend stand in.
  CHECK(build("bubblewrap", mac_host).error().error == code::sandbox_unavailable);
}

TEST_CASE("with_the_token_the_strategy_is_none_and_says_why") {
  const auto made = build("bubblewrap", bare_host, unconfined{});
  REQUIRE(made.has_value());
  CHECK(made->in_force() == backend_name::none);
  CHECK(made->asked() == backend_name::bubblewrap);
  CHECK(made->reason() == "user namespaces are off: apply the AppArmor profile");
  CHECK(made->boundary() == enforcement::unconfined);
  // The token allows exactly that: it does not weaken what works, and it names no other backend.
  CHECK(build("bubblewrap", linux_host, unconfined{})->in_force() == backend_name::bubblewrap);
  CHECK(build("bubblewrap", mac_host, unconfined{})->in_force() == backend_name::none);
  CHECK(build("bwrap", bare_host, unconfined{}).error().error == code::unknown_backend);
}

TEST_CASE("a_strategy_wraps_with_the_backend_in_force") {
  CHECK(build("bubblewrap", linux_host)->wrap(small())->program == "/opt/bin/bwrap");
  CHECK(build("seatbelt", mac_host)->wrap(small())->backend == backend_name::seatbelt);
  const auto none = build("none", {})->wrap(small());
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().path == "network off");
  auto open = small();
  open.network = network_access::on;
  CHECK(build("none", {})->wrap(open)->program.empty());
}

TEST_CASE("every_backend_has_a_place_in_the_order_of_strength") {
  CHECK(backends_by_strength.size() == std::variant_size_v<any_backend>);
  for (auto name : backends_by_strength) {
    const std::vector probes{usable(name, "/usr/bin/x")};
    CHECK(name_of(*backend(name_of(name), probes)) == name);
  }
  CHECK(backends_by_strength.back() == backend_name::none);
}
