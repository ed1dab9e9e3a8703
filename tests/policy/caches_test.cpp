// Floor 3: which caches are data, and which places are never shared.
#include <pinfold/caches.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

/// What is not only data, each with what would come of sharing it.
struct forbidden_row {
  std::string_view path;
  std::string_view why;
};

constexpr std::array forbidden{
    forbidden_row{"~/.cargo", "holds env, which a login runs"},
    forbidden_row{"~/.cargo/env", "a login runs it"},
    forbidden_row{"~/.cargo/bin", "in PATH"},
    forbidden_row{"~/.cargo/bin/cargo", "in PATH"},
    forbidden_row{"~/.cargo/credentials.toml", "tokens"},
    forbidden_row{"~/.cargo/config.toml", "names programs that cargo runs"},
    forbidden_row{"~/.cargo/registry", "holds unpacked sources"},
    forbidden_row{"~/.cargo/registry/src", "built without a second look"},
    forbidden_row{"~/.cargo/git", "holds checkouts"},
    forbidden_row{"~/.npmrc", "tokens and scripts"},
    forbidden_row{"~/.npm", "holds _npx, which npx runs"},
    forbidden_row{"~/.local/share", "holds keyrings and units"},
    forbidden_row{"~/.local/share/keyrings", "passwords"},
    forbidden_row{"~/.local/share/systemd", "units that a login starts"},
    forbidden_row{"~/.local/share/systemd/user/x.service", "such a unit"},
    forbidden_row{"~/.local/bin", "in PATH"},
    forbidden_row{"~/go", "holds bin"},
    forbidden_row{"~/go/pkg/mod", "unpacked sources, and repositories of git"},
    forbidden_row{"~/.cache", "holds uv, which links into projects"},
    forbidden_row{"~", "everything"},
};

template <class List>
constexpr bool could_be_shared(const List& list, std::string_view path) {
  const std::array with{shared_cache{path, root_access::write}};
  return detail::is_data_alone(list) && detail::is_data_alone(with);
}

template <class List>
constexpr bool has(const List& list, std::string_view path) {
  return std::ranges::find(list, path, &shared_cache::path) != list.end();
}

constexpr bool nothing_forbidden_could_be_shared() {
  return std::ranges::none_of(forbidden, [](const forbidden_row& row) {
    return could_be_shared(shared_caches_on_linux, row.path);
  });
}

/// A repository of git holds settings that a git of the host obeys; go-build holds programs.
constexpr bool what_a_host_program_obeys_is_for_reading() {
  for (const auto& part : shared_caches_on_linux) {
    const bool is_obeyed = part.path.ends_with("/index") || part.path.ends_with("/db") ||
                           part.path.ends_with("/go-build");
    if (is_obeyed != (part.access == root_access::read)) return false;
  }
  return true;
}

}  // namespace

static_assert(nothing_forbidden_could_be_shared());
static_assert(what_a_host_program_obeys_is_for_reading());
static_assert(could_be_shared(shared_caches_on_linux, "~/.cache/pip-tools"), "the control");
static_assert(has(shared_caches_on_linux, "~/.npm/_cacache"));

TEST_CASE("what_a_login_or_a_tool_runs_or_trusts_is_never_part_of_a_shared_cache") {
  for (const auto& row : forbidden) {
    INFO(row.path << ": " << row.why);
    CHECK_FALSE(could_be_shared(shared_caches_on_linux, row.path));
    CHECK_FALSE(could_be_shared(shared_caches_on_macos, row.path));
    CHECK_FALSE(has(shared_caches_on_linux, row.path));
    CHECK_FALSE(has(shared_caches_on_macos, row.path));
  }
  CHECK(what_a_host_program_obeys_is_for_reading());
}

TEST_CASE("two_parts_of_a_shared_cache_do_not_overlap") {
  constexpr std::array twice{shared_cache{"~/.cache/a", root_access::read},
                             shared_cache{"~/.cache/a/b", root_access::write}};
  CHECK_FALSE(detail::is_data_alone(twice));
  constexpr std::array apart{shared_cache{"~/.cache/a", root_access::read},
                             shared_cache{"~/.cache/ab", root_access::write}};
  CHECK(detail::is_data_alone(apart));
}

TEST_CASE("what_a_workspace_keeps_does_not_overlap_and_lies_in_the_home") {
  for (auto one : kept_caches) {
    CHECK(one.starts_with("~/"));
    for (auto other : kept_caches) CHECK((one == other || !detail::overlap(one, other)));
  }
}

TEST_CASE("write_roots_on_macos_are_named_as_the_kernel_names_them") {
  for (auto root : write_roots_on_macos) {
    const auto place = below_home(root, "/Users/u");
    CHECK(is_canonical_form(place));
    CHECK_FALSE((contains("/tmp", place) || contains("/var", place)));
  }
}

TEST_CASE("the_home_stands_for_a_tilde_and_for_nothing_else") {
  CHECK(below_home("~/.cache", "/home/u") == "/home/u/.cache");
  CHECK(below_home("~/.cache", "/") == "/.cache");
  CHECK(below_home("/private/tmp", "/home/u") == "/private/tmp");
  CHECK(below_home("~other/x", "/home/u") == "~other/x");
}
