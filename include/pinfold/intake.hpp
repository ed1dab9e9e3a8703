// What a call takes in: the usual answers to which labels it adds to the session. An agent that
// knows better adds more; nothing here ever takes a label away.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <pinfold/grant.hpp>
#include <pinfold/path.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

namespace pinfold {

/// Whether the harness trusts what lies in the workspace. A checkout of somebody else's is not.
enum class checkout : std::uint8_t { trusted, untrusted };

namespace detail {

[[nodiscard]] constexpr char folded(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Equal but for the case of ASCII letters; `small` is in lower case.
[[nodiscard]] constexpr bool is_folded(std::string_view text, std::string_view small) noexcept {
  return std::ranges::equal(text, small, [](char a, char b) { return folded(a) == b; });
}

[[nodiscard]] constexpr bool ends_folded(std::string_view text, std::string_view small) noexcept {
  return text.size() >= small.size() && is_folded(text.substr(text.size() - small.size()), small);
}

/// Directories of which every file counts.
inline constexpr std::array<std::string_view, 7> credential_directories{
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", "keyrings", "gcloud"};

/// Whole names, in lower case.
inline constexpr std::array<std::string_view, 21> credential_names{
    ".env",         ".envrc",      ".netrc",           "_netrc",           ".npmrc",
    ".pypirc",      ".pgpass",     ".my.cnf",          ".htpasswd",        ".git-credentials",
    ".dockercfg",   "credentials", "credentials.json", "credentials.toml", "secrets.json",
    "secrets.yaml", "secrets.yml", "id_rsa",           "id_dsa",           "id_ecdsa",
    "id_ed25519"};

/// How a name ends, in lower case.
inline constexpr std::array<std::string_view, 8> credential_endings{
    ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"};

}  // namespace detail

/// True when a canonical path has the name of a credential: in a directory kept for such (`.ssh`),
/// of a name known for it (`.netrc`, `id_ed25519`), a variant of `.env`, or with the ending of a
/// key file. A guess by name, meant to guess too often rather than too seldom; the content is not
/// read.
[[nodiscard]] constexpr bool looks_like_a_credential(std::string_view canonical) noexcept {
  std::string_view name;
  for (auto component : components{canonical}) {
    const auto is_that = [component](auto small) { return detail::is_folded(component, small); };
    if (std::ranges::any_of(detail::credential_directories, is_that)) return true;
    name = component;
  }
  if (detail::is_folded(name.substr(0, 5), ".env.")) return true;
  if (detail::is_folded(name, "config.json") && canonical.contains("/.docker/")) return true;
  return std::ranges::any_of(detail::credential_names,
                             [name](auto small) { return detail::is_folded(name, small); }) ||
         std::ranges::any_of(detail::credential_endings,
                             [name](auto small) { return detail::ends_folded(name, small); });
}

/// What reading a file takes in. `canonical` is what the path resolved to.
///  1. named like a credential             -> private data
///  2. anywhere but in the workspace       -> private data
///  3. in a checkout that is not trusted   -> untrusted content
///  4. any other file of the workspace     -> nothing
/// 3 may come on top of 1.
[[nodiscard]] constexpr taint taint_of_read(const grant& policy, std::string_view canonical,
                                            checkout origin) noexcept {
  taint taken;
  const auto where = policy.region_of(canonical);
  const bool is_inside = where == region::workspace || where == region::host_run;
  if (!is_inside || looks_like_a_credential(canonical)) taken |= taint::private_data;
  if (is_inside && origin == checkout::untrusted) taken |= taint::untrusted_content;
  return taken;
}

/// What a command takes in.
///  1. without a boundary -> both: it had the network, and every file of the user
///  2. with the network, or what a list leaves of it -> untrusted content
///  3. in a checkout that is not trusted -> untrusted content
///  4. offline            -> nothing
/// Under the root profile `host` a confined command can read what is not hidden; a harness that
/// keeps private data there adds `private_data` itself.
[[nodiscard]] constexpr taint taint_of_command(enforcement boundary, reach network,
                                               checkout origin) noexcept {
  if (boundary != enforcement::enforced) return taint::both;
  const bool has_foreign_text = network != reach::offline || origin == checkout::untrusted;
  return has_foreign_text ? taint::untrusted_content : taint{};
}

/// What fetching something takes in.
[[nodiscard]] constexpr taint taint_of_fetch() noexcept {
  return taint::untrusted_content;
}

}  // namespace pinfold
