// The closed set of backends, and the strategy: the backend in force and why. Probing is the
// runner's and comes in as data. There is no quiet fallback: what was asked for, or an error.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <pinfold/path.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/bubblewrap.hpp>
#include <pinfold/sandbox/launch_plan.hpp>
#include <pinfold/sandbox/none.hpp>
#include <pinfold/sandbox/seatbelt.hpp>
#include <pinfold/settings.hpp>

namespace pinfold {

/// The strongest first; `none` is the last and always there.
inline constexpr std::array<backend_name, 3> backends_by_strength{
    backend_name::bubblewrap, backend_name::seatbelt, backend_name::none};

[[nodiscard]] constexpr std::optional<backend_name> parse_backend(std::string_view name) noexcept {
  for (auto value : backends_by_strength) {
    if (name_of(value) == name) return value;
  }
  return std::nullopt;
}

enum class usability : std::uint8_t { unusable, usable };

/// What a probe found about one backend.
struct probe_result {
  backend_name backend{backend_name::bubblewrap};
  usability found{usability::unusable};
  std::string program;  ///< absolute: what is to be started
  std::string reason;   ///< why it is unusable: the probe that failed and the fix
};

/// A backend that can wrap: one of the closed set.
using any_backend = std::variant<none_backend, bubblewrap, seatbelt>;

[[nodiscard]] constexpr backend_name name_of(const any_backend& one) noexcept {
  constexpr std::array names{backend_name::none, backend_name::bubblewrap, backend_name::seatbelt};
  return one.index() < names.size() ? names[one.index()] : backend_name::none;
}

namespace detail {

/// Why a backend cannot be used, or nothing when it can. Decided in this order:
///  1. `none` needs nothing                      -> usable
///  2. a probe says that it is unusable          -> that probe's reason, whatever others say
///  3. a probe says usable, of an absolute path  -> usable
///  4. anything else, so no probe at all         -> unusable
constexpr std::optional<std::string> obstacle_to(backend_name wanted,
                                                 std::span<const probe_result> probes) {
  if (wanted == backend_name::none) return std::nullopt;
  const auto is_about = [wanted](const probe_result& one) { return one.backend == wanted; };
  const auto failed = std::ranges::find_if(probes, [&](const probe_result& one) {
    return is_about(one) && one.found != usability::usable;
  });
  if (failed != probes.end()) {
    return failed->reason.empty() ? std::string{"its probe failed"} : failed->reason;
  }
  const auto passed = std::ranges::find_if(probes, is_about);
  if (passed == probes.end()) return std::string{"it was not probed"};
  if (!is_canonical_form(passed->program)) return std::string{"its program has no absolute path"};
  return std::nullopt;
}

constexpr any_backend made(backend_name wanted, std::span<const probe_result> probes) {
  const auto found = std::ranges::find(probes, wanted, &probe_result::backend);
  const auto program = found == probes.end() ? std::string{} : found->program;
  switch (wanted) {
    case backend_name::none:
      break;
    case backend_name::bubblewrap: {
      bubblewrap backend;
      backend.program = program;
      return backend;
    }
    case backend_name::seatbelt: {
      seatbelt backend;
      backend.program = program;
      return backend;
    }
  }
  return none_backend{};
}

constexpr refusal refused_backend(code why, std::string_view name, std::string_view reason) {
  refusal answer;
  answer.error = why;
  answer.op = operation::execute;
  answer.path = name;
  answer.detail = reason;
  return answer;
}

}  // namespace detail

/// The backend of that name. Errors: `unknown_backend`; `sandbox_unavailable` with the probe's
/// reason when it cannot be used here.
[[nodiscard]] constexpr std::expected<any_backend, refusal> backend(
    std::string_view name, std::span<const probe_result> probes) {
  const auto wanted = parse_backend(name);
  if (!wanted) {
    return std::unexpected{detail::refused_backend(
        code::unknown_backend, name, "the backends are none, bubblewrap and seatbelt")};
  }
  if (const auto obstacle = detail::obstacle_to(*wanted, probes)) {
    return std::unexpected{detail::refused_backend(code::sandbox_unavailable, name, *obstacle)};
  }
  return detail::made(*wanted, probes);
}

/// The strongest backend that can be used here; `none` when no other can. A suggestion to print: it
/// changes nothing.
[[nodiscard]] constexpr backend_name best(std::span<const probe_result> probes) {
  for (auto candidate : backends_by_strength) {
    if (!detail::obstacle_to(candidate, probes)) return candidate;
  }
  return backend_name::none;
}

/// The backend in force, the one that was asked for, and the reason when they are not the same.
/// Only `build` makes one. Owns its texts.
class strategy {
 public:
  [[nodiscard]] constexpr backend_name in_force() const noexcept { return name_of(backend_); }
  [[nodiscard]] constexpr backend_name asked() const noexcept { return asked_; }
  [[nodiscard]] constexpr const std::string& reason() const noexcept { return reason_; }
  /// What the guard is told.
  [[nodiscard]] constexpr enforcement boundary() const noexcept {
    return enforcement_of(in_force());
  }
  [[nodiscard]] constexpr std::expected<launch_plan, refusal> wrap(const confinement& facts) const {
    return std::visit([&facts](const auto& one) { return one.wrap(facts); }, backend_);
  }

 private:
  friend constexpr std::expected<strategy, refusal> build(std::string_view,
                                                          std::span<const probe_result>,
                                                          std::optional<unconfined>);
  constexpr strategy(any_backend backend, backend_name asked, std::string reason)
      : backend_{std::move(backend)}, asked_{asked}, reason_{std::move(reason)} {}

  any_backend backend_;
  backend_name asked_;
  std::string reason_;
};

/// The strategy for the backend that was asked for. Decided in this order; the last line denies:
///  1. no such backend                       -> `unknown_backend`, token or not
///  2. it can be used                        -> it
///  3. it cannot, and the token was passed   -> `none`, and the reason
///  4. it cannot                             -> `sandbox_unavailable`, with the reason
[[nodiscard]] constexpr std::expected<strategy, refusal> build(
    std::string_view asked, std::span<const probe_result> probes,
    std::optional<unconfined> without_a_boundary = std::nullopt) {
  auto found = backend(asked, probes);
  if (found) {
    const auto name = name_of(*found);
    return strategy{std::move(*found), name, {}};
  }
  const auto wanted = parse_backend(asked);
  if (wanted && without_a_boundary) {
    return strategy{none_backend{}, *wanted, std::move(found.error().detail)};
  }
  return std::unexpected{std::move(found.error())};
}

}  // namespace pinfold
