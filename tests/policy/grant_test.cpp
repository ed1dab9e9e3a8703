// Floor 2: the region of a canonical path under a grant, at compile time and at run time.
#include <pinfold/grant.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

constexpr std::array<extra_root, 3> roots{{
    {"/opt/tool", root_access::read},
    {"/home/u/.cache", root_access::write},
    {"/home/u/.cache/ro", root_access::read},
}};

constexpr grant plain{"/work/app"};
constexpr grant bare{"/work/app", {}};
constexpr grant wide{"/work/app", default_carve_outs, roots};

struct region_row {
  std::string_view path;
  region where;
  std::string_view why;
};

constexpr std::array region_rows{
    region_row{"/work/app", region::workspace, "the workspace itself"},
    region_row{"/work/app/src/x.cpp", region::workspace, "an ordinary file"},
    region_row{"/work/app-old/x", region::outside, "a sibling that shares the prefix"},
    region_row{"/work/ap", region::outside, "a prefix of the name"},
    region_row{"/work", region::outside, "the directory above"},
    region_row{"/", region::outside, "the file system's root"},
    region_row{"/etc/passwd", region::outside, "elsewhere"},
    region_row{"/work/app/.efferent", region::harness_state, "the harness's directory"},
    region_row{"/work/app/.efferent/a/b", region::harness_state, "deep below it"},
    region_row{"/work/app/.efferent-old", region::workspace, "a name that only begins like it"},
    region_row{"/work/app/.efferen", region::workspace, "a prefix of it"},
    region_row{"/work/app/sub/.efferent", region::workspace, "the name in another directory"},
    region_row{"/work/app/.foundry/base", region::harness_state, "the other one"},
    region_row{"/work/app/.git", region::workspace, "above the host-run files"},
    region_row{"/work/app/.git/index", region::workspace, "git's own files stay writable"},
    region_row{"/work/app/.git/config", region::host_run, "git obeys it on the host"},
    region_row{"/work/app/.git/config.lock", region::workspace, "a name that begins like it"},
    region_row{"/work/app/.git/hooks/pre-commit", region::host_run, "git runs it on the host"},
    region_row{"/opt/tool", region::extra_root, "a read root"},
    region_row{"/opt/tool/bin/cc", region::extra_root, "below a read root"},
    region_row{"/opt/tool-2/bin/cc", region::outside, "a sibling of a read root"},
    region_row{"/home/u/.cache/x", region::extra_root, "below a write root"},
    region_row{"/home/u", region::outside, "above a write root"},
    region_row{"", region::outside, "not a path"},
    region_row{"work/app/x", region::outside, "relative: it has no place yet"},
    region_row{"/work/app/../app-old/x", region::outside, "not canonical: it may lead anywhere"},
    region_row{"/work/app/./x", region::outside, "not canonical"},
    region_row{"/work/app//x", region::outside, "not canonical"},
    region_row{"/work/app/", region::outside, "not canonical"},
    region_row{std::string_view{"/work/app/a\0b", 13}, region::outside, "a NUL byte"},
};

constexpr bool regions_hold() {
  for (const auto& row : region_rows) {
    if (wide.region_of(row.path) != row.where) return false;
  }
  return true;
}
static_assert(regions_hold());

struct access_row {
  std::string_view path;
  bool readable;
  bool writable;
};

constexpr std::array access_rows{
    access_row{"/work/app", true, true},
    access_row{"/work/app/x", true, true},
    access_row{"/work/app/.git/config", true, false},
    access_row{"/work/app/.git/hooks/x", true, false},
    access_row{"/work/app/.efferent/x", false, false},
    access_row{"/opt/tool/x", true, false},
    access_row{"/home/u/.cache/x", true, true},
    access_row{"/home/u/.cache/ro/x", true, false},  // the innermost root decides
    access_row{"/etc/passwd", false, false},
    access_row{"/work/app/../x", false, false},
    access_row{"", false, false},
};

constexpr bool accesses_hold() {
  for (const auto& row : access_rows) {
    if (wide.is_readable(row.path) != row.readable) return false;
    if (wide.is_writable(row.path) != row.writable) return false;
  }
  return true;
}
static_assert(accesses_hold());

struct below_row {
  std::string_view path;
  bool has;
  std::string_view why;
};

constexpr std::array below_rows{
    below_row{"/work/app", true, "the workspace holds them all"},
    below_row{"/work", true, "the directory above the workspace"},
    below_row{"/", true, "the root"},
    below_row{"/work/app/.git", true, "hooks and config lie in it"},
    below_row{"/work/app/.git/hooks", false, "it is the carve-out, none lies below it"},
    below_row{"/work/app/.git/hooks/x", false, "inside a carve-out"},
    below_row{"/work/app/.gi", false, "a prefix of the name"},
    below_row{"/work/app/src", false, "an ordinary directory"},
    below_row{"/work/app-old", false, "a sibling"},
    below_row{"/etc", false, "elsewhere"},
};

constexpr bool belows_hold() {
  for (const auto& row : below_rows) {
    if (plain.has_carve_out_below(row.path) != row.has) return false;
  }
  return true;
}
static_assert(belows_hold());

/// What an embedder writes about a policy of its own.
static_assert(plain.region_of("/work/app-old/x") == region::outside);
static_assert(bare.region_of("/work/app/.efferent/x") == region::workspace);
static_assert(bare.has_carve_out_below("/work"), "the workspace itself would be taken along");
static_assert(!bare.has_carve_out_below("/work/app"));
static_assert(std::is_trivially_copyable_v<grant>, "building one for every call is the use meant");

/// An overlap: harness state below host-run files and the other way round.
constexpr std::array<carve_out, 3> nested{{
    {"a", carve_kind::host_run},
    {"a/b", carve_kind::harness_state},
    {"a/b/c", carve_kind::host_run},
}};
constexpr grant overlapping{"/w", nested};
static_assert(overlapping.region_of("/w/a/x") == region::host_run);
static_assert(overlapping.region_of("/w/a/b") == region::harness_state);
static_assert(overlapping.region_of("/w/a/b/c") == region::harness_state, "the stricter one wins");

/// A root that reaches into or over the workspace changes nothing in there.
constexpr std::array<extra_root, 2> over{{
    {"/work", root_access::write},
    {"/work/app/.efferent/cache", root_access::write},
}};
constexpr grant overlaid{"/work/app", default_carve_outs, over};
static_assert(overlaid.region_of("/work/app/.efferent/cache/x") == region::harness_state);
static_assert(!overlaid.is_writable("/work/app/.git/config"));
static_assert(overlaid.is_writable("/work/app-old/x"));

}  // namespace

TEST_CASE("the_region_of_a_path_is_decided_by_component_and_the_last_line_denies") {
  for (const auto& row : region_rows) {
    INFO(row.path << " | " << row.why);
    CHECK(name_of(wide.region_of(row.path)) == name_of(row.where));
  }
}

TEST_CASE("harness_state_is_neither_read_nor_written_and_host_run_files_are_only_read") {
  for (const auto& row : access_rows) {
    INFO(row.path);
    CHECK(wide.is_readable(row.path) == row.readable);
    CHECK(wide.is_writable(row.path) == row.writable);
  }
}

TEST_CASE("a_directory_above_a_carve_out_is_known_as_such") {
  for (const auto& row : below_rows) {
    INFO(row.path << " | " << row.why);
    CHECK(plain.has_carve_out_below(row.path) == row.has);
  }
  CHECK(plain.carve_out_below(".git")->path == ".git/hooks");
  CHECK(plain.carve_out_below("")->kind == carve_kind::harness_state);
  CHECK(plain.carve_out_below("src") == nullptr);
}

TEST_CASE("where_carve_outs_overlap_the_stricter_one_wins_whatever_their_order") {
  CHECK(overlapping.carve_out_at("a/b/c")->path == "a/b");
  CHECK(overlapping.carve_out_at("a/x")->path == "a");
  CHECK(overlapping.carve_out_at("x") == nullptr);
  const std::array<carve_out, 3> turned{{nested[2], nested[1], nested[0]}};
  CHECK(grant{"/w", turned}.region_of("/w/a/b/c") == region::harness_state);
}

TEST_CASE("an_extra_root_never_opens_a_carve_out") {
  CHECK(overlaid.region_of("/work/app/.efferent/cache/x") == region::harness_state);
  CHECK_FALSE(overlaid.is_readable("/work/app/.efferent/cache/x"));
  CHECK_FALSE(overlaid.is_writable("/work/app/.git/hooks/x"));
}

TEST_CASE("of_two_roots_the_inner_one_decides_and_of_equal_ones_the_stricter") {
  const std::array<extra_root, 2> same{{{"/r", root_access::read}, {"/r", root_access::write}}};
  const std::array<extra_root, 2> turned{{same[1], same[0]}};
  CHECK_FALSE(grant{"/w", {}, same}.is_writable("/r/x"));
  CHECK_FALSE(grant{"/w", {}, turned}.is_writable("/r/x"));
  const std::array<extra_root, 2> inner{{{"/r/in", root_access::write}, {"/r", root_access::read}}};
  CHECK(grant{"/w", {}, inner}.is_writable("/r/in/x"));
  CHECK_FALSE(grant{"/w", {}, inner}.is_writable("/r/x"));
}

TEST_CASE("an_ill_formed_grant_covers_nothing") {
  // At run time; in a constant expression none of these compiles (tests/compile).
  const std::string nul{"/wo\0rk", 6};
  for (std::string_view workspace :
       {"", "work", "/work/", "/work//app", "/work/../app", "/.", "//"}) {
    const grant it{workspace};
    INFO(workspace);
    CHECK(it.workspace().empty());
    CHECK(it.region_of(workspace) == region::outside);
    CHECK(it.region_of("/work/app/x") == region::outside);
    CHECK(it.region_of("/") == region::outside);
    CHECK_FALSE(it.has_carve_out_below("/work"));
  }
  CHECK(grant{std::string_view{nul}}.region_of("/wo") == region::outside);
  for (std::string_view path : {"", "/abs", "a/", "a//b", "./a", "a/../b", "..", "."}) {
    const std::array<carve_out, 1> carved{{{path, carve_kind::harness_state}}};
    INFO(path);
    CHECK(grant{"/work/app", carved}.region_of("/work/app/x") == region::outside);
  }
  for (std::string_view path : {"", "rel", "/opt/", "/opt/../etc", "/opt//x"}) {
    const std::array<extra_root, 1> added{{{path, root_access::write}}};
    INFO(path);
    const grant it{"/work/app", default_carve_outs, added};
    CHECK(it.region_of("/work/app/x") == region::outside);
    CHECK(it.region_of("/etc/passwd") == region::outside);
  }
}

TEST_CASE("adding_a_carve_out_never_enlarges_what_is_allowed") {
  const std::vector<std::string_view> candidates{".git", ".git/config", "src",
                                                 "a",    "a/b",         ".foundry"};
  for (auto path : candidates) {
    for (auto kind : {carve_kind::harness_state, carve_kind::host_run}) {
      std::vector<carve_out> more(default_carve_outs.begin(), default_carve_outs.end());
      more.push_back({path, kind});
      const grant narrower{"/work/app", more, roots};
      for (const auto& row : region_rows) {
        INFO(path << " | " << row.path);
        CHECK(narrower.is_readable(row.path) <= wide.is_readable(row.path));
        CHECK(narrower.is_writable(row.path) <= wide.is_writable(row.path));
      }
    }
  }
}

TEST_CASE("a_workspace_that_is_the_root_holds_everything_but_its_carve_outs") {
  constexpr grant all{"/"};
  CHECK(all.region_of("/etc/passwd") == region::workspace);
  CHECK(all.region_of("/.efferent/x") == region::harness_state);
  CHECK(all.region_of("/") == region::workspace);
}

TEST_CASE("the_regions_have_names_of_their_own") {
  std::vector<std::string_view> seen;
  for (auto where : {region::workspace, region::harness_state, region::host_run, region::extra_root,
                     region::outside}) {
    for (auto name : seen) CHECK(name != name_of(where));
    seen.push_back(name_of(where));
  }
}
