// What the harness chose for a session: the mode, the backend, how much of the machine is shown.
// Plain words only; nothing here decides, and nothing that a model says may choose any of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pinfold {

/// Who is there, and whether anything may be written.
enum class mode : std::uint8_t {
  plan,        ///< nothing may be written
  ask,         ///< a person is there and can approve one call
  autonomous,  ///< nobody is there
};

[[nodiscard]] constexpr std::string_view name_of(mode value) noexcept {
  switch (value) {
    case mode::plan:
      return "plan";
    case mode::ask:
      return "ask";
    case mode::autonomous:
      return "autonomous";
  }
  return "plan";
}

/// The mode of that name, or nothing.
[[nodiscard]] constexpr std::optional<mode> parse_mode(std::string_view name) noexcept {
  for (auto value : std::array{mode::plan, mode::ask, mode::autonomous}) {
    if (name_of(value) == name) return value;
  }
  return std::nullopt;
}

enum class backend_name : std::uint8_t { none, bubblewrap, seatbelt };

[[nodiscard]] constexpr std::string_view name_of(backend_name value) noexcept {
  switch (value) {
    case backend_name::none:
      return "none";
    case backend_name::bubblewrap:
      return "bubblewrap";
    case backend_name::seatbelt:
      return "seatbelt";
  }
  return "none";
}

/// Whether the kernel holds a command to the grant.
enum class enforcement : std::uint8_t { unconfined, enforced };

[[nodiscard]] constexpr std::string_view name_of(enforcement value) noexcept {
  switch (value) {
    case enforcement::unconfined:
      return "unconfined";
    case enforcement::enforced:
      return "enforced";
  }
  return "unconfined";
}

/// Every backend but `none` confines.
[[nodiscard]] constexpr enforcement enforcement_of(backend_name value) noexcept {
  switch (value) {
    case backend_name::none:
      return enforcement::unconfined;
    case backend_name::bubblewrap:
    case backend_name::seatbelt:
      return enforcement::enforced;
  }
  return enforcement::unconfined;
}

/// The host's own file tree, read-only (`host`), or only what a program needs to run (`minimal`).
enum class root_profile : std::uint8_t { host, minimal };

/// Whether a command can reach anything beyond itself: nothing, what is on an egress list, anything.
enum class reach : std::uint8_t { offline, listed, network };

/// The token that lets a command run without a boundary. It carries nothing; whoever passes it has
/// written `unconfined{}` into the source, where a reader finds it.
struct unconfined {
  explicit constexpr unconfined() noexcept = default;
};

}  // namespace pinfold
