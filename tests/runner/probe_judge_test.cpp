// Floor 8, which bwrap may be started: the judgement as a table, and what the disk says of real
// files. (The rows that need files of another owner are made as root; an ordinary user's own files
// are refused, which is what is asked then.)
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sandbox/probe.hpp"
#include "support/catch.hpp"

using namespace pinfold;
namespace fs = std::filesystem;

namespace {

/// A bwrap to which nothing can be said, in a plain root-owned tree.
program_facts blameless() {
  return {.asked = "/usr/bin/bwrap",
          .kind = program_kind::file,
          .file = {"/usr/bin/bwrap", 0, 0755},
          .capabilities = file_capabilities::none,
          .directories = {{"/usr/bin", 0, 0755}, {"/usr", 0, 0755}, {"/", 0, 0755}},
          .error = {}};
}

struct judge_row {
  std::string_view why;
  void (*spoil)(program_facts&);
  std::string_view id;       ///< the line that must fail
  std::string_view fix_has;  ///< what its fix must name
};

constexpr std::array judge_rows{
    judge_row{"nothing there", [](program_facts& f) { f.kind = program_kind::missing; },
              "bwrap-found", "apt-get install bubblewrap"},
    judge_row{"a dangling link", [](program_facts& f) { f.kind = program_kind::unreadable; },
              "bwrap-found", "--reinstall"},
    judge_row{"a directory", [](program_facts& f) { f.kind = program_kind::other; }, "bwrap-file",
              "--reinstall"},
    judge_row{"not executable", [](program_facts& f) { f.file.mode = 0644; }, "bwrap-file",
              "chmod 0755 /usr/bin/bwrap"},
    judge_row{"executable for its group only", [](program_facts& f) { f.file.mode = 0750; },
              "bwrap-file", "chmod 0755 /usr/bin/bwrap"},
    judge_row{"another owner", [](program_facts& f) { f.file.owner = 1000; }, "bwrap-owner",
              "--reinstall"},
    judge_row{"an owner that is not mapped", [](program_facts& f) { f.file.owner = 65534; },
              "bwrap-owner", "--reinstall"},
    judge_row{"writable by its group", [](program_facts& f) { f.file.mode = 0775; }, "bwrap-owner",
              "chmod 0755 /usr/bin/bwrap"},
    judge_row{"writable by all", [](program_facts& f) { f.file.mode = 0757; }, "bwrap-owner",
              "chmod 0755 /usr/bin/bwrap"},
    judge_row{"a directory of somebody else", [](program_facts& f) { f.directories[1].owner = 7; },
              "bwrap-directories", "chown root /usr"},
    judge_row{"a directory its group may write",
              [](program_facts& f) { f.directories[0].mode = 02775; }, "bwrap-directories",
              "chmod go-w /usr/bin"},
    judge_row{"a sticky directory for all", [](program_facts& f) { f.directories[0].mode = 01777; },
              "bwrap-directories", "chmod go-w /usr/bin"},
    judge_row{"a root directory for all", [](program_facts& f) { f.directories[2].mode = 0777; },
              "bwrap-directories", "chmod go-w /"},
    judge_row{"set-uid", [](program_facts& f) { f.file.mode = 04755; }, "bwrap-privileges",
              "chmod ug-s /usr/bin/bwrap"},
    judge_row{"set-gid", [](program_facts& f) { f.file.mode = 02755; }, "bwrap-privileges",
              "chmod ug-s /usr/bin/bwrap"},
    judge_row{"file capabilities",
              [](program_facts& f) { f.capabilities = file_capabilities::some; },
              "bwrap-privileges", "setcap -r /usr/bin/bwrap"},
};

std::vector<std::string> failed_ids(const std::vector<probe_line>& lines) {
  std::vector<std::string> ids;
  for (const auto& line : lines) {
    if (line.status == probe_status::failed) ids.push_back(line.id);
  }
  return ids;
}

const probe_line& line_of(const std::vector<probe_line>& lines, std::string_view id) {
  const auto found = std::ranges::find(lines, id, &probe_line::id);
  REQUIRE(found != lines.end());
  return *found;
}

/// A fresh directory; under /run as root, since every directory above it must be root's alone.
class scratch {
 public:
  scratch() {
    std::string name = ::geteuid() == 0 ? "/run/pinfold-probe-XXXXXX" : "/tmp/pinfold-probe-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    REQUIRE(::chmod(name.c_str(), 0755) == 0);
    path_ = fs::canonical(name).string();
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() { fs::remove_all(path_); }

  [[nodiscard]] std::string at(std::string_view name) const {
    return path_ + "/" + std::string{name};
  }

  std::string file(std::string_view name, unsigned mode) const {
    const auto path = at(name);
    fs::create_directories(fs::path{path}.parent_path());
    std::ofstream{path} << "#!/bin/sh\n";
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    return path;
  }

 private:
  std::string path_;
};

void add_file_capability(const std::string& path) {
  // struct vfs_cap_data of version 2: CAP_NET_RAW, permitted and effective
  const std::array<unsigned char, 20> data{0x01, 0, 0, 0x02, 0x00, 0x20};
  REQUIRE(::setxattr(path.c_str(), "security.capability", data.data(), data.size(), 0) == 0);
}

void make_disk_row(const scratch& dir, std::string_view name) {
  const auto bwrap = dir.file("bin/bwrap", 0755);
  if (name == "set-uid") REQUIRE(::chmod(bwrap.c_str(), 04755) == 0);
  if (name == "group-writable") REQUIRE(::chmod(bwrap.c_str(), 0775) == 0);
  if (name == "capabilities") add_file_capability(bwrap);
  if (name == "owner") REQUIRE(::chown(bwrap.c_str(), 12345, 0) == 0);
  if (name == "parent-writable") REQUIRE(::chmod(dir.at("bin").c_str(), 0777) == 0);
  if (name == "parent-owner") REQUIRE(::chown(dir.at("bin").c_str(), 12345, 0) == 0);
  if (name == "not-executable") REQUIRE(::chmod(bwrap.c_str(), 0644) == 0);
  if (name == "directory") {
    fs::remove(bwrap);
    fs::create_directory(bwrap);
  }
  if (name == "link-into-open-directory") {
    const auto real = dir.file("open/bwrap", 0755);
    REQUIRE(::chmod(dir.at("open").c_str(), 0777) == 0);
    fs::remove(bwrap);
    fs::create_symlink(real, bwrap);
  }
  if (name == "link-from-open-directory") {
    const auto real = dir.file("shut/bwrap", 0755);
    REQUIRE(::chmod(dir.at("bin").c_str(), 0777) == 0);
    fs::remove(bwrap);
    fs::create_symlink(real, bwrap);
  }
  if (name == "dangling") {
    fs::remove(bwrap);
    fs::create_symlink(dir.at("nowhere"), bwrap);
  }
}

struct disk_row {
  std::string_view name;
  std::string_view id;  ///< the line that must fail; empty: usable
};

constexpr std::array disk_rows{
    disk_row{"blameless", ""},
    disk_row{"set-uid", "bwrap-privileges"},
    disk_row{"group-writable", "bwrap-owner"},
    disk_row{"capabilities", "bwrap-privileges"},
    disk_row{"owner", "bwrap-owner"},
    disk_row{"parent-writable", "bwrap-directories"},
    disk_row{"parent-owner", "bwrap-directories"},
    disk_row{"not-executable", "bwrap-file"},
    disk_row{"directory", "bwrap-file"},
    disk_row{"link-into-open-directory", "bwrap-directories"},
    disk_row{"link-from-open-directory", "bwrap-directories"},
    disk_row{"dangling", "bwrap-found"},
};

void check_disk_row(const disk_row& row) {
  INFO(row.name);
  const scratch dir;
  make_disk_row(dir, row.name);
  const bubblewrap_search search{.places = {dir.at("bin/bwrap")}, .workspace = "/work/app"};
  const auto ids = failed_ids(judge_bubblewrap(find_bubblewrap(search), search));
  const auto usable = usable_bubblewrap(search);
  if (row.id.empty()) {
    CHECK(ids.empty());
    REQUIRE(usable);
    CHECK(usable->program == dir.at("bin/bwrap"));
    return;
  }
  CHECK(ids == std::vector<std::string>{std::string{row.id}});
  REQUIRE_FALSE(usable);
  CHECK(usable.error().error == code::sandbox_unavailable);
  CHECK(usable.error().detail.starts_with(row.id));
}

}  // namespace

TEST_CASE("a_bwrap_of_root_that_nobody_else_can_change_is_trusted") {
  const auto lines = judge_bubblewrap(blameless(), {});
  CHECK(failed_ids(lines).empty());
  CHECK(lines.size() == 5);
  const bubblewrap_search inside{.workspace = "/work/app"};
  CHECK(judge_bubblewrap(blameless(), inside).size() == 6);
}

TEST_CASE("each_fault_of_a_bwrap_has_its_own_line_and_fix") {
  for (const auto& row : judge_rows) {
    INFO(row.why);
    auto facts = blameless();
    row.spoil(facts);
    const auto lines = judge_bubblewrap(facts, {});
    CHECK(failed_ids(lines) == std::vector<std::string>{std::string{row.id}});
    CHECK(line_of(lines, row.id).fix.contains(row.fix_has));
    CHECK_FALSE(line_of(lines, row.id).found.empty());
  }
}

TEST_CASE("a_bwrap_inside_the_workspace_is_refused") {
  auto facts = blameless();
  facts.file.path = "/work/app/bin/bwrap";
  CHECK(failed_ids(judge_bubblewrap(facts, {.workspace = "/work/app"})) ==
        std::vector<std::string>{"bwrap-place"});
  CHECK(failed_ids(judge_bubblewrap(facts, {.workspace = "/work/ap"})).empty());
}

TEST_CASE("what_the_disk_holds_is_judged_as_it_is") {
  if (::geteuid() == 0) {
    for (const auto& row : disk_rows) check_disk_row(row);
    return;
  }
  const scratch dir;
  const bubblewrap_search search{.places = {dir.file("bin/bwrap", 0755)}, .workspace = {}};
  CHECK(failed_ids(judge_bubblewrap(find_bubblewrap(search), search)) ==
        std::vector<std::string>{"bwrap-owner", "bwrap-directories"});
}

TEST_CASE("the_first_bwrap_that_is_there_decides_even_when_a_later_one_is_better") {
  const scratch dir;
  const auto bad = dir.file("a/bwrap", 04755);
  const auto good = dir.file("b/bwrap", 0755);
  const auto absent = dir.at("none/bwrap");
  CHECK(find_bubblewrap({.places = {absent, good}, .workspace = {}}).asked == good);
  CHECK(find_bubblewrap({.places = {bad, good}, .workspace = {}}).asked == bad);
  CHECK_FALSE(usable_bubblewrap({.places = {bad, good}, .workspace = {}}));
}

TEST_CASE("path_in_the_environment_is_never_searched") {
  const scratch dir;
  dir.file("bin/bwrap", 0755);
  const std::string before = ::getenv("PATH") ? ::getenv("PATH") : "";
  REQUIRE(::setenv("PATH", dir.at("bin").c_str(), 1) == 0);
  const auto usable = usable_bubblewrap({.places = {dir.at("none/bwrap")}, .workspace = {}});
  REQUIRE(::setenv("PATH", before.c_str(), 1) == 0);
  REQUIRE_FALSE(usable);
  CHECK(usable.error().error == code::sandbox_unavailable);
  CHECK(usable.error().path == dir.at("none/bwrap"));
  CHECK(usable.error().message().contains("apt-get install bubblewrap"));
}

TEST_CASE("no_place_at_all_is_a_refusal_too") {
  CHECK_FALSE(usable_bubblewrap({.places = {}, .workspace = {}}));
}
