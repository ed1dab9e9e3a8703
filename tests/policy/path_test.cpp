// Floor 1: components, lexical normal form, containment by component.
#include <pinfold/path.hpp>

#include <array>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

struct containment_row {
  std::string_view root;
  std::string_view path;
  bool inside;
  std::string_view why;
};

constexpr std::array containment_rows{
    containment_row{"/work/app", "/work/app", true, "the root itself"},
    containment_row{"/work/app", "/work/app/x", true, "a child"},
    containment_row{"/work/app", "/work/app-old", false, "a sibling that shares the prefix"},
    containment_row{"/work/app", "/work/app-old/x", false, "a file in such a sibling"},
    containment_row{"/work/app", "/work/ap", false, "a prefix of the last name"},
    containment_row{"/work/app", "/work", false, "the parent"},
    containment_row{"/work/app", "/", false, "the file system's root"},
    containment_row{"/work/app", "/work/app/..foo", true, "a name that only starts with dots"},
    containment_row{"/work/app", "/work/app/...", true, "three dots are a name"},
    containment_row{"/", "/", true, "the root in itself"},
    containment_row{"/", "/etc/passwd", true, "the root holds everything"},
    containment_row{"/work/app", "/other/work/app/x", false, "the root's text further down"},
    containment_row{"/work/app", "", false, "nothing lies nowhere"},
    containment_row{"", "/work/app", false, "no root holds nothing"},
};

struct form_row {
  std::string_view path;
  bool canonical;
};

constexpr std::array form_rows{
    form_row{"/", true},         form_row{"/a", true},      form_row{"/a/b", true},
    form_row{"/..foo", true},    form_row{"/a/...", true},  form_row{"", false},
    form_row{"a", false},        form_row{"//", false},     form_row{"//a", false},
    form_row{"/a/", false},      form_row{"/a//b", false},  form_row{"/a/.", false},
    form_row{"/./a", false},     form_row{"/a/..", false},  form_row{"/../a", false},
    form_row{std::string_view{"/a\0b", 4}, false},
};

consteval bool containment_holds() {
  for (const auto& row : containment_rows) {
    if (contains(row.root, row.path) != row.inside) return false;
  }
  return true;
}
static_assert(containment_holds());

consteval bool forms_hold() {
  for (const auto& row : form_rows) {
    if (is_canonical_form(row.path) != row.canonical) return false;
  }
  return true;
}
static_assert(forms_hold());

std::string normal(std::string_view path) {
  std::array<char, path_max> buffer{};
  auto result = lexically_normal(path, buffer);
  return result ? std::string{*result} : std::string{name_of(result.error())};
}

std::vector<std::string> names(std::string_view path) {
  std::vector<std::string> all;
  for (auto name : components{path}) all.emplace_back(name);
  return all;
}

}  // namespace

static_assert(std::forward_iterator<components::iterator>);
static_assert(ranges::forward_range<components>);

TEST_CASE("containment_is_decided_by_component") {
  for (const auto& row : containment_rows) {
    INFO(row.root << " | " << row.path << " | " << row.why);
    CHECK(contains(row.root, row.path) == row.inside);
  }
}

TEST_CASE("the_tail_below_the_root_has_no_leading_slash") {
  CHECK(tail_below("/w", "/w") == "");
  CHECK(tail_below("/w", "/w/a/b") == "a/b");
  CHECK(tail_below("/", "/a") == "a");
  CHECK_FALSE(tail_below("/w", "/wx"));
}

TEST_CASE("components_skip_separators_and_keep_dots") {
  CHECK(names("/a//b/./../c/") == std::vector<std::string>{"a", "b", ".", "..", "c"});
  CHECK(names("").empty());
  CHECK(names("///").empty());
  CHECK(names("a") == std::vector<std::string>{"a"});
}

TEST_CASE("a_canonical_form_has_no_dots_and_no_spare_slash") {
  for (const auto& row : form_rows) {
    INFO(row.path);
    CHECK(is_canonical_form(row.path) == row.canonical);
  }
}

TEST_CASE("the_lexical_normal_form_cancels_by_component") {
  CHECK(normal("/a/./b//c/..") == "/a/b");
  CHECK(normal("/..") == "/");
  CHECK(normal("/../../a") == "/a");
  CHECK(normal("/a/..") == "/");
  CHECK(normal("/..foo/x/../y") == "/..foo/y");
  CHECK(normal("/") == "/");
  CHECK(normal("a/b") == "InvalidPath");
  CHECK(normal("") == "InvalidPath");
  CHECK(normal("/" + std::string(256, 'a')) == "NameTooLong");
  CHECK(normal("/" + std::string(255, 'a')) == "/" + std::string(255, 'a'));
}

TEST_CASE("a_buffer_that_is_too_small_is_an_error_and_never_a_cut") {
  std::array<char, 4> small{};
  CHECK(lexically_normal("/abcd", small).error() == code::name_too_long);
  CHECK(lexically_normal("/abc", small).value() == "/abc");
  CHECK(lexically_normal("/", std::span<char>{}).error() == code::name_too_long);
}

TEST_CASE("a_misspelled_path_has_its_own_code") {
  CHECK(misspelling_of("") == code::invalid_path);
  CHECK(misspelling_of(std::string_view{"a\0b", 3}) == code::invalid_path);
  CHECK(misspelling_of(std::string(256, 'a')) == code::name_too_long);
  CHECK(misspelling_of(std::string(4096, '/')) == code::name_too_long);
  CHECK_FALSE(misspelling_of(std::string(4095, '/')));
  CHECK_FALSE(misspelling_of("\xff\xfe"));
}

TEST_CASE("the_parent_of_a_path_is_the_directory_above_it") {
  CHECK(parent_of("/a/b") == "/a");
  CHECK(parent_of("/a") == "/");
  CHECK(parent_of("/") == "/");
}

namespace {

/// The definition, name by name.
bool is_normal_by_definition(std::string_view path) {
  if (path.size() >= path_max || path.contains('\0')) return false;
  for (std::size_t start = 0; start <= path.size();) {
    const auto end = std::min(path.find('/', start), path.size());
    const auto name = path.substr(start, end - start);
    if (name.empty() || name == "." || name == ".." || name.size() > name_max) return false;
    start = end + 1;
  }
  return true;
}

}  // namespace

TEST_CASE("a_normal_tail_is_seen_as_such_wherever_its_marks_stand") {
  // Every text of up to five marks, at every place of a longer one: the quick look goes by eights.
  constexpr std::string_view marks{"a./\0", 4};
  std::size_t wrong = 0;
  for (unsigned number = 0; number < 4 * 4 * 4 * 4 * 4; ++number) {
    std::string text;
    for (unsigned rest = number, i = 0; i < 5; ++i, rest /= 4) text += marks[rest % 4];
    for (std::size_t before = 0; before < 20; ++before) {
      for (std::size_t after : {0, 1, 2, 7, 8, 9, 30}) {
        const auto path = std::string(before, 'b') + text + std::string(after, 'c');
        if (is_normal_tail(path) != is_normal_by_definition(path)) ++wrong;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a_normal_tail_has_lawful_names_of_every_length_and_byte") {
  std::size_t wrong = 0;
  for (std::size_t length = 0; length < 600; ++length) {
    for (const auto& path : {std::string(length, 'n'), "d/" + std::string(length, 'n'),
                             std::string(length, 'n') + "/f"}) {
      if (is_normal_tail(path) != is_normal_by_definition(path)) ++wrong;
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 20; ++at) {
      std::string path(20, 'n');
      path[at] = static_cast<char>(byte);
      if (is_normal_tail(path) != is_normal_by_definition(path)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}
