// What each operation of a workspace does when it may: opening, writing, replacing, making, listing,
// removing, renaming. Each test runs with openat2 and without it.
#include <pinfold/disk/open.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "disk/folder.hpp"
#include "support/catch.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

TEST_CASE("special_files_are_refused_and_never_waited_for") {
  const auto answer = isolated([] {
    const folder at;
    REQUIRE(::mkfifo(at.path("ws/fifo").c_str(), 0600) == 0);
    at.link("ws/to_fifo", "fifo");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    at.path("ws/sock").copy(address.sun_path, sizeof address.sun_path - 1);
    const descriptor listening{::socket(AF_UNIX, SOCK_STREAM, 0)};
    REQUIRE(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    std::string wrong;
    for (auto names : both_lookups) {
      const auto ws = at.open(names);
      for (std::string_view path : {"fifo", "to_fifo", "sock"}) {
        if (said(ws.open_read(path)) != "SpecialFile") wrong += "read " + std::string{path} + "\n";
        if (said(ws.open_write(path)) != "SpecialFile") wrong += "write " + std::string{path} + "\n";
        if (said(ws.replace_file(path, "x")) != "SpecialFile") wrong += "replace\n";
        const auto facts = ws.stat_of(path);
        if (!facts || facts->type != file_type::special) wrong += "stat\n";
      }
    }
    // With somebody at the other end the FIFO could be opened; it is refused all the same.
    const descriptor other{::open(at.path("ws/fifo").c_str(), O_RDWR | O_NONBLOCK)};
    const auto ws = at.open();
    if (said(ws.open_read("fifo")) != "SpecialFile") wrong += "read open fifo\n";
    if (said(ws.open_write("fifo")) != "SpecialFile") wrong += "write open fifo\n";
    return wrong;
  }, 20);
  CHECK(answer.empty());
}

TEST_CASE("a_device_is_refused_even_in_a_workspace_full_of_them") {
  for (auto names : both_lookups) {
    const auto opened = workspace::open("/dev", {}, {}, names);
    REQUIRE(opened);
    CHECK(said(opened->open_read("null")) == "SpecialFile");
    CHECK(said(opened->open_write("null", {.make = creation::never})) == "SpecialFile");
  }
}

TEST_CASE("a_file_is_opened_for_writing_as_asked") {
  struct row {
    write_options how;
    std::string_view existing;  // the file's content before, "-" for no file
    std::string_view answer;
    std::string_view after;     // after writing "new"
    std::string_view why;
  };
  const std::vector<row> rows{
      {{}, "-", "ok", "new", "made when missing"},
      {{}, "older", "ok", "new", "emptied by default"},
      {{.existing = contents::keep}, "older", "ok", "newer", "written over from the start"},
      {{.existing = contents::append}, "older", "ok", "oldernew", "appended"},
      {{.make = creation::never}, "-", "NotFound", "-", "not made when it must be there"},
      {{.make = creation::never}, "older", "ok", "new", "there"},
      {{.make = creation::exclusive}, "-", "ok", "new", "made for us"},
      {{.make = creation::exclusive}, "older", "AlreadyExists", "older", "somebody else's"},
  };
  for (auto names : both_lookups) {
    for (const auto& row : rows) {
      INFO(row.why);
      const folder at;
      if (row.existing != "-") at.put("ws/a/f", row.existing);
      at.make_directory("ws/a");
      const auto ws = at.open(names);
      const auto file = ws.open_write("a/f", row.how);
      CHECK(said(file) == row.answer);
      if (file) CHECK(write_all(*file, "new"));
      CHECK((at.has("ws/a/f") ? at.get("ws/a/f") : "-") == row.after);
    }
  }
}

TEST_CASE("a_dangling_link_is_written_where_it_leads_and_a_missing_directory_is_not_made") {
  for (auto names : both_lookups) {
    const folder at;
    at.make_directory("ws/a");
    at.link("ws/d", "a/miss");
    const auto ws = at.open(names);
    CHECK(said(ws.open_write("d")) == "ok");
    CHECK(at.has("ws/a/miss"));
    CHECK(said(ws.open_write("no/such/file")) == "NotFound");
    CHECK(said(ws.open_write("a/new/")) == "InvalidPath");
    CHECK(said(ws.open_write("a")) == "IsADirectory");
    CHECK(said(ws.open_read("a")) == "IsADirectory");
    CHECK(said(ws.open_read("a/miss/x")) == "NotADirectory");
  }
}

TEST_CASE("a_file_with_two_names_is_refused_or_replaced_and_never_written_through") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("outside/two", "shared");
    std::filesystem::create_hard_link(at.path("outside/two"), at.path("ws/two"));
    ::chmod(at.path("ws/two").c_str(), 0640);
    const auto ws = at.open(names);
    CHECK(said(ws.open_write("two")) == "HardLinkedFile");
    CHECK(at.get("outside/two") == "shared");

    const auto file = ws.open_write(
        "two", {.existing = contents::append, .shared = hard_links::replace});
    REQUIRE(file);
    CHECK(write_all(*file, "+own"));
    CHECK(at.get("ws/two") == "shared+own");
    CHECK(at.get("outside/two") == "shared");
    CHECK(ws.stat_of("two")->permissions == 0640u);
    CHECK(ws.stat_of("two")->links == 1u);

    std::filesystem::create_hard_link(at.path("outside/two"), at.path("ws/again"));
    CHECK(said(ws.replace_file("again", "mine")) == "ok");
    CHECK(at.get("ws/again") == "mine");
    CHECK(at.get("outside/two") == "shared");
  }
}

TEST_CASE("a_replaced_file_keeps_its_mode_and_leaves_nothing_beside_it") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/f", "old");
    ::chmod(at.path("ws/a/f").c_str(), 0751);
    at.link("ws/l", "a/f");
    const auto ws = at.open(names);
    CHECK(said(ws.replace_file("l", "new")) == "ok");
    CHECK(at.get("ws/a/f") == "new");
    CHECK(std::filesystem::is_symlink(at.path("ws/l")));
    CHECK(ws.stat_of("a/f")->permissions == 0751u);
    CHECK(said(ws.replace_file("a/g", "made")) == "ok");
    CHECK(said(ws.replace_file("a", "x")) == "IsADirectory");
    CHECK(said(ws.replace_file("no/f", "x")) == "NotFound");
    CHECK(names_in(ws, "a") == std::vector<std::string>{"f", "g"});
    CHECK(names_in(ws, ".") == std::vector<std::string>{"a", "l"});
  }
}

TEST_CASE("a_replacement_that_fails_half_way_leaves_the_old_file_and_nothing_else") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/f", "old");
    CHECK("ResourceExhausted" == isolated([&] {
      const auto ws = at.open(names);
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit small{1000, 1000};
      ::setrlimit(RLIMIT_FSIZE, &small);
      return said(ws.replace_file("a/f", std::string(5000, 'n')));
    }));
    CHECK(at.get("ws/a/f") == "old");
    CHECK(names_in(at.open(names), "a") == std::vector<std::string>{"f"});
  }
}

TEST_CASE("a_set_id_bit_does_not_survive_new_content") {
  const folder at;
  at.put("ws/tool", "old");
  ::chmod(at.path("ws/tool").c_str(), 06755);
  CHECK(said(at.open().replace_file("tool", "new")) == "ok");
  struct stat status {};
  REQUIRE(::stat(at.path("ws/tool").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0755u);
}

TEST_CASE("directories_are_made_with_those_above_them") {
  for (auto names : both_lookups) {
    const folder at;
    at.make_directory("ws/a");
    at.put("ws/f", "x");
    at.link("ws/l", "a");
    at.link("ws/dangling", "a/deep/er");
    const auto ws = at.open(names);
    CHECK(ws.make_directories("l/b/c/")->canonical == at.path("ws/a/b/c"));
    CHECK(said(ws.make_directories("dangling/x")) == "ok");
    CHECK(std::filesystem::is_directory(at.path("ws/a/deep/er/x")));
    CHECK(said(ws.make_directories("a")) == "ok");
    CHECK(said(ws.make_directories(".")) == "ok");
    CHECK(said(ws.make_directories("f")) == "NotADirectory");
    CHECK(said(ws.make_directories("f/x")) == "NotADirectory");
    CHECK(said(ws.make_directories("x/../y")) == "NotFound");
    CHECK_FALSE(at.has("ws/x"));
  }
}

TEST_CASE("a_listing_names_what_is_there_and_what_it_is") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/file", "x");
    at.make_directory("ws/a/dir");
    at.link("ws/a/link", "nowhere");
    REQUIRE(::mkfifo(at.path("ws/a/fifo").c_str(), 0600) == 0);
    const auto ws = at.open(names);
    auto listed = ws.list_directory("a");
    REQUIRE(listed);
    std::ranges::sort(*listed, {}, &directory_entry::name);
    CHECK(*listed == std::vector<directory_entry>{{"dir", file_type::directory},
                                                  {"fifo", file_type::special},
                                                  {"file", file_type::file},
                                                  {"link", file_type::link}});
    CHECK(said(ws.list_directory("a/file")) == "NotADirectory");
    CHECK(said(ws.list_directory("a/nope")) == "NotFound");
  }
}

TEST_CASE("a_removal_takes_the_name_and_never_what_a_link_leads_to") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/f", "x");
    at.link("ws/out", "../outside/canary");
    at.link("ws/in", "a/f");
    at.make_directory("ws/empty");
    const auto ws = at.open(names);
    CHECK(said(ws.remove("out")) == "ok");
    CHECK(said(ws.remove("in")) == "ok");
    CHECK(said(ws.remove("a")) == "NotEmpty");
    CHECK(said(ws.remove("empty/")) == "ok");
    CHECK(said(ws.remove("a/f")) == "ok");
    CHECK(said(ws.remove("a/f")) == "NotFound");
    CHECK(names_in(ws, ".") == std::vector<std::string>{"a"});
    CHECK(at.get("outside/canary") == canary);
  }
}

TEST_CASE("a_rename_moves_the_name_and_never_what_a_link_leads_to") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("ws/a/f", "f");
    at.put("ws/g", "g");
    at.make_directory("ws/b");
    at.link("ws/out", "../outside/canary");
    const auto ws = at.open(names);
    CHECK(said(ws.rename_within("a/f", "b/f")) == "ok");
    CHECK(at.get("ws/b/f") == "f");
    CHECK(said(ws.rename_within("g", "b/f", overwrite::refused)) == "AlreadyExists");
    CHECK(said(ws.rename_within("g", "out")) == "ok");
    CHECK(at.get("ws/out") == "g");
    CHECK_FALSE(std::filesystem::is_symlink(at.path("ws/out")));
    CHECK(said(ws.rename_within("nope", "x")) == "NotFound");
    CHECK(said(ws.rename_within("b", "b/inner")) == "InvalidArgument");
    CHECK(said(ws.rename_within("b/f", "no/f")) == "NotFound");
    CHECK(at.get("outside/canary") == canary);
  }
}

TEST_CASE("extra_roots_are_used_as_they_were_granted") {
  for (auto names : both_lookups) {
    const folder at;
    at.put("cache/c", "c");
    at.put("tools/t", "t");
    at.link("tools/up", "../outside/canary");
    const std::string cache = at.path("cache");
    const std::string tools = at.path("tools");
    const std::array roots{extra_root{cache, root_access::write},
                           extra_root{tools, root_access::read}};
    const auto opened = workspace::open(at.ws(), default_carve_outs, roots, names);
    REQUIRE(opened);
    CHECK(said(opened->open_read(tools + "/t")) == "ok");
    CHECK(said(opened->list_directory("../tools")) == "ok");
    CHECK(said(opened->open_write(tools + "/t")) == "ReadOnlyRoot");
    CHECK(said(opened->remove(tools + "/t")) == "ReadOnlyRoot");
    CHECK(said(opened->open_read(tools + "/up")) == "OutsideWorkspace");
    CHECK(said(opened->replace_file(cache + "/c", "new")) == "ok");
    CHECK(said(opened->make_directories(cache + "/x/y")) == "ok");
    CHECK(said(opened->open_write(cache + "/x/y/z")) == "ok");
    CHECK(said(opened->remove(cache)) == "PermissionDenied");
    CHECK(said(opened->rename_within(cache + "/c", "taken")) == "ok");
    CHECK(at.get("ws/taken") == "new");
    std::filesystem::remove_all(cache);
    CHECK(said(opened->make_directories(cache + "/again")) != "ok");
    CHECK_FALSE(at.has("cache"));
  }
}
