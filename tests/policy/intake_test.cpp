// Floor 3: what a call takes in, by default.
#include <pinfold/intake.hpp>

#include <array>
#include <string>

#include "support/all.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

constexpr std::array<extra_root, 1> roots{{{"/opt/tool", root_access::read}}};
constexpr grant policy{"/work/app", default_carve_outs, roots};

struct name_row {
  std::string_view path;
  bool credential;
  std::string_view why;
};

constexpr std::array name_rows{
    name_row{"/home/u/.ssh/known_hosts", true, "every file of a directory kept for such"},
    name_row{"/work/app/.SSH/x", true, "case does not hide it"},
    name_row{"/work/app/.env", true, "the usual place of a project's secrets"},
    name_row{"/work/app/.env.local", true, "a variant of it"},
    name_row{"/work/app/.environment", false, "another word"},
    name_row{"/work/app/env", false, "no dot"},
    name_row{"/work/app/sub/id_ed25519", true, "a private key"},
    name_row{"/work/app/sub/id_ed25519.pub", false, "the public half"},
    name_row{"/work/app/server.PEM", true, "a key file's ending in capitals"},
    name_row{"/work/app/tls/server.key", true, "a key file"},
    name_row{"/work/app/keyboard.cpp", false, "only begins like one"},
    name_row{"/work/app/monkey", false, "only ends like one"},
    name_row{"/home/u/.docker/config.json", true, "docker keeps logins there"},
    name_row{"/work/app/config.json", false, "an ordinary configuration"},
    name_row{"/home/u/.cargo/credentials.toml", true, "cargo keeps tokens there"},
    name_row{"/work/app/src/credentials.cpp", false, "source code about them"},
    name_row{"/work/app/.sshd/x", false, "another directory"},
    name_row{"/", false, "no name at all"},
};

constexpr bool names_hold() {
  for (const auto& row : name_rows) {
    if (looks_like_a_credential(row.path) != row.credential) return false;
  }
  return true;
}

struct read_row {
  std::string_view path;
  checkout origin;
  taint taken;
  std::string_view why;
};

constexpr std::array read_rows{
    read_row{"/work/app/src/x.cpp", checkout::trusted, taint{}, "the workspace adds nothing"},
    read_row{"/work/app/src/x.cpp", checkout::untrusted, taint::untrusted_content,
             "unless the checkout is somebody else's"},
    read_row{"/work/app/.env", checkout::trusted, taint::private_data, "a credential inside"},
    read_row{"/work/app/.env", checkout::untrusted, taint::both, "both at once"},
    read_row{"/work/app/.git/config", checkout::trusted, taint{}, "readable, in the workspace"},
    read_row{"/etc/hosts", checkout::trusted, taint::private_data, "outside the workspace"},
    read_row{"/work/app-old/x", checkout::trusted, taint::private_data, "a sibling is outside"},
    read_row{"/opt/tool/include/x.h", checkout::trusted, taint::private_data, "so is a root"},
    read_row{"/work/app/../x", checkout::trusted, taint::private_data, "not canonical: outside"},
    read_row{"/work/app/.efferent/x", checkout::trusted, taint::private_data, "harness state"},
};

constexpr bool reads_hold() {
  for (const auto& row : read_rows) {
    if (taint_of_read(policy, row.path, row.origin) != row.taken) return false;
  }
  return true;
}

}  // namespace

static_assert(names_hold());
static_assert(reads_hold());
static_assert(taint_of_fetch() == taint::untrusted_content);

TEST_CASE("a_file_that_is_named_like_a_credential_counts_as_one") {
  for (const auto& row : name_rows) {
    INFO(row.path << " | " << row.why);
    CHECK(looks_like_a_credential(row.path) == row.credential);
  }
}

TEST_CASE("a_read_outside_the_workspace_or_of_a_credential_takes_in_private_data") {
  for (const auto& row : read_rows) {
    INFO(row.path << " | " << row.why);
    CHECK(taint_of_read(policy, row.path, row.origin).index() == row.taken.index());
  }
}

TEST_CASE("a_command_with_network_takes_in_untrusted_content_and_one_without_boundary_both") {
  using enum enforcement;
  CHECK(taint_of_command(enforced, reach::offline, checkout::trusted).is_clean());
  CHECK(taint_of_command(enforced, reach::network, checkout::trusted) == taint::untrusted_content);
  CHECK(taint_of_command(enforced, reach::listed, checkout::trusted) == taint::untrusted_content);
  CHECK(taint_of_command(enforced, reach::offline, checkout::untrusted) ==
        taint::untrusted_content);
  CHECK(taint_of_command(unconfined, reach::offline, checkout::trusted) == taint::both);
  CHECK(taint_of_command(unconfined, reach::network, checkout::trusted) == taint::both);
}

TEST_CASE("less_trust_never_takes_in_less") {
  for (const auto& row : name_rows) {
    CHECK(taint_of_read(policy, row.path, checkout::trusted) <=
          taint_of_read(policy, row.path, checkout::untrusted));
  }
  for (auto boundary : all::enforcements) {
    for (auto network : {reach::offline, reach::listed, reach::network}) {
      CHECK(taint_of_command(boundary, network, checkout::trusted) <=
            taint_of_command(boundary, network, checkout::untrusted));
      CHECK(taint_of_command(enforcement::enforced, network, checkout::trusted) <=
            taint_of_command(boundary, network, checkout::trusted));
    }
  }
}
