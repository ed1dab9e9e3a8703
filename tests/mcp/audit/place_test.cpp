// Where an audit log may lie.
#include "cli/audit_place.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using pinfold_test::folder;
namespace fs = std::filesystem;

namespace {

/// A home with a workspace, a cache and a place for logs, which is the caller's alone.
struct home_with_places {
  home_with_places() {
    for (const auto* name : {"app/src", "cache", "logs"}) fs::create_directories(at(name));
  }
  [[nodiscard]] std::string at(const std::string& name) const { return home.path + "/" + name; }
  [[nodiscard]] std::expected<descriptor, refusal> open(const std::string& name) const {
    const std::vector<std::string> writable{at("app"), at("cache")};
    return open_audit_file(name.starts_with('/') ? name : at(name), writable);
  }
  /// The code of the refusal; nothing where it was opened.
  [[nodiscard]] std::optional<code> refused(const std::string& name) const {
    const auto opened = open(name);
    return opened ? std::nullopt : std::optional{opened.error().error};
  }
  folder home;
};

}  // namespace

TEST_CASE("a_log_beside_the_workspace_is_made_for_the_caller_alone_and_opened_again") {
  const home_with_places places;
  const auto mask = ::umask(0);
  CHECK_FALSE(places.refused("logs/a"));
  ::umask(mask);
  struct stat about{};
  REQUIRE(::stat(places.at("logs/a").c_str(), &about) == 0);
  CHECK((about.st_mode & 07777) == 0600);
  std::ofstream{places.at("logs/a")} << "kept\n";
  const auto again = places.open("logs/a");
  REQUIRE(again);
  CHECK(fs::file_size(places.at("logs/a")) == 5);
  CHECK((::fcntl(again->get(), F_GETFL) & O_APPEND) != 0);
  CHECK((::fcntl(again->get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a_log_that_a_command_could_change_is_refused_by_whatever_name") {
  const home_with_places places;
  fs::create_directory_symlink("app/src", places.at("link"));
  for (const auto* name : {"app/log", "app/src/log", "cache/log", "link/log", "logs/../app/log"}) {
    CAPTURE(name);
    CHECK(places.refused(name) == code::invalid_argument);
    CHECK_FALSE(fs::exists(places.at(name)));
  }
}

TEST_CASE("a_directory_that_is_the_workspace_under_another_name_is_known_by_its_identity") {
  if (::geteuid() != 0) return;
  const home_with_places places;
  if (::mount(places.at("app").c_str(), places.at("logs").c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return;  // no mounts here
  }
  CHECK(places.refused("logs/log") == code::invalid_argument);
  CHECK(places.refused("logs/src/log") == code::invalid_argument);
  ::umount2(places.at("logs").c_str(), MNT_DETACH);
}

TEST_CASE("what_is_no_plain_file_of_one_name_is_refused") {
  const home_with_places places;
  std::ofstream{places.at("logs/file")} << "";
  ::chmod(places.at("logs/file").c_str(), 0600);
  fs::create_symlink("file", places.at("logs/link"));
  fs::create_symlink("nothing", places.at("logs/dangling"));
  fs::create_directory(places.at("logs/directory"));
  REQUIRE(::mkfifo(places.at("logs/fifo").c_str(), 0600) == 0);
  for (const auto* name : {"logs/link", "logs/dangling", "logs/directory", "logs/fifo"}) {
    CAPTURE(name);
    CHECK(places.refused(name) == code::invalid_argument);
  }
  CHECK_FALSE(fs::exists(places.at("logs/nothing")));
  fs::create_hard_link(places.at("logs/file"), places.at("app/inside"));
  CHECK(places.refused("logs/file") == code::invalid_argument);
  fs::remove(places.at("app/inside"));
  CHECK_FALSE(places.refused("logs/file"));
}

TEST_CASE("what_others_may_read_or_replace_is_refused") {
  const home_with_places places;
  std::ofstream{places.at("logs/file")} << "";
  for (const mode_t mode : {0644U, 0660U, 0602U}) {
    REQUIRE(::chmod(places.at("logs/file").c_str(), mode) == 0);
    CHECK(places.refused("logs/file") == code::permission_denied);
  }
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    REQUIRE(::chmod(places.at("logs").c_str(), mode) == 0);
    CHECK(places.refused("logs/new") == code::permission_denied);
  }
  CHECK_FALSE(fs::exists(places.at("logs/new")));
}

TEST_CASE("what_is_no_name_of_a_file_is_refused") {
  const home_with_places places;
  for (const auto* name : {"logs/", "logs/.", "logs/.."}) {
    CAPTURE(name);
    CHECK(places.refused(name) == code::invalid_path);
  }
  CHECK(places.refused("absent/../log") == code::not_found);
}

TEST_CASE("directories_that_are_missing_are_made_for_the_caller_alone_and_none_where_it_is_refused") {
  const home_with_places places;
  CHECK_FALSE(places.refused("new/deep//log"));
  for (const auto* name : {"new", "new/deep"}) {
    struct stat about{};
    REQUIRE(::stat(places.at(name).c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == 0700);
  }
  fs::create_directory_symlink("nothing", places.at("dangling"));
  fs::create_directory(places.at("open"));
  REQUIRE(::chmod(places.at("open").c_str(), 0777) == 0);
  CHECK(places.refused("app/made/log") == code::invalid_argument);
  CHECK(places.refused("logs/../app/made/log") == code::invalid_argument);
  CHECK(places.refused("dangling/log") == code::permission_denied);
  CHECK(places.refused("dangling/made/log") == code::permission_denied);
  CHECK(places.refused("open/made/log") == code::permission_denied);
  for (const auto* name : {"app/made", "nothing", "open/made"}) CHECK_FALSE(fs::exists(places.at(name)));
  // A place of caches that is not there yet is known by its name.
  const std::vector<std::string> writable{places.at("app"), places.at("later/caches")};
  CHECK_FALSE(open_audit_file(places.at("later/caches/one/log"), writable));
  CHECK_FALSE(fs::exists(places.at("later")));
  CHECK(open_audit_file(places.at("later/log"), writable));
}

TEST_CASE("a_refusal_of_a_place_names_the_option_and_advises_nothing_that_breaks_the_machine") {
  const home_with_places places;
  const auto told = [&](mode_t mode) {
    REQUIRE(::chmod(places.at("logs").c_str(), mode) == 0);
    return places.open("logs/log").error().message();
  };
  const auto sticky = told(01777);
  CHECK(sticky.starts_with("refusing to write \"" + places.at("logs/log") + "\""));
  CHECK(sticky.contains("--audit: other users may write to this directory; choose a file in a directory "
                        "of your own (mode 0700)"));
  CHECK_FALSE(sticky.contains("chmod"));
  CHECK(told(0777).contains("(chmod go-w)"));
}

TEST_CASE("what_a_session_can_write_to_is_the_workspace_and_the_caches") {
  caller who{caller_environment{{}}, "/home/me", {}, {}};
  const auto own = writable_places("/work/app", cache_choice::own, who);
  REQUIRE(own);
  CHECK(*own == std::vector<std::string>{"/work/app", "/home/me/.cache/pinfold"});
  const auto shared = writable_places("/work/app", cache_choice::shared, who);
  REQUIRE(shared);
  CHECK(std::ranges::find(*shared, "/home/me/.npm/_cacache") != shared->end());
  CHECK(std::ranges::find(*shared, "/home/me/.cargo/registry/index") == shared->end());
}
