// Floor 2: a refusal says what was refused, where it led and what to do instead.
#include <pinfold/refusal.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

constexpr std::size_t code_count = static_cast<std::size_t>(last_code) + 1;
constexpr auto no_code = static_cast<code>(code_count);

template <class F>
constexpr bool for_every_code(F holds) {
  for (std::size_t i = 0; i < code_count; ++i) {
    if (!holds(static_cast<code>(i))) return false;
  }
  return true;
}

/// A clause that ends a sentence: printable ASCII, no full stop and no capital of its own.
constexpr bool is_clause(std::string_view text) {
  if (text.size() < 10 || text.ends_with('.') || text.ends_with(' ')) return false;
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

constexpr bool every_code_has_a_sentence_of_its_own() {
  return for_every_code([](code a) {
    if (!is_clause(sentence_for(a)) || sentence_for(a) == sentence_for(no_code)) return false;
    return for_every_code([a](code b) { return a == b || sentence_for(a) != sentence_for(b); });
  });
}

/// True when the switch of `remedy_for` names the code: what is not named gets `look_again`, so the
/// codes that are meant to get it are written out here a second time.
constexpr bool is_about_what_is_there(code value) {
  constexpr std::array those{code::not_found,
                             code::not_a_directory,
                             code::is_a_directory,
                             code::already_exists,
                             code::not_empty,
                             code::symlink_loop,
                             code::special_file,
                             code::hard_linked_file,
                             code::permission_denied,
                             code::try_again,
                             code::input_output_error,
                             code::command_not_found,
                             code::command_not_executable,
                             code::host_unreachable,
                             code::no_repository};
  return std::ranges::find(those, value) != those.end();
}

constexpr bool only_what_is_there_asks_to_look_again() {
  return for_every_code([](code value) {
    return (remedy_for(value) == remedy::look_again) == is_about_what_is_there(value);
  });
}

constexpr std::array all_operations{
    operation::read,   operation::write,  operation::make_directory, operation::list,
    operation::remove, operation::rename, operation::execute,        operation::connect};

constexpr std::array all_remedies{remedy::use_path_inside,  remedy::needs_wider_grant,
                                  remedy::correct_the_call, remedy::look_again,
                                  remedy::prepare_the_host, remedy::ask_a_person};

template <class T>
constexpr bool names_are_unique(const T& all) {
  for (auto a : all) {
    if (name_of(a).empty()) return false;
    for (auto b : all) {
      if (a != b && name_of(a) == name_of(b)) return false;
    }
  }
  return true;
}

refusal sample() {
  return {.error = code::outside_workspace,
          .op = operation::write,
          .path = "../app-old/x",
          .resolved = "/work/app-old",
          .boundary = "/work/app",
          .detail = ""};
}

}  // namespace

static_assert(every_code_has_a_sentence_of_its_own());
static_assert(only_what_is_there_asks_to_look_again());
static_assert(names_are_unique(all_operations));
static_assert(names_are_unique(all_remedies));
static_assert(remedy_for(code::outside_workspace) == remedy::use_path_inside);
static_assert(remedy_for(code::needs_approval) == remedy::ask_a_person);
static_assert(remedy_for(code::network_denied) == remedy::needs_wider_grant);

TEST_CASE("every_code_has_a_sentence_of_its_own_and_a_remedy") {
  CHECK(every_code_has_a_sentence_of_its_own());
  CHECK(only_what_is_there_asks_to_look_again());
  for (auto value : all_remedies) {
    INFO(name_of(value));
    CHECK_FALSE(for_every_code([value](code c) { return remedy_for(c) != value; }));
  }
}

TEST_CASE("operations_and_remedies_have_names_of_their_own") {
  CHECK(names_are_unique(all_operations));
  CHECK(names_are_unique(all_remedies));
}

TEST_CASE("a_refusal_names_operation_path_place_and_boundary_in_one_line") {
  const auto text = sample().message();
  CHECK(text ==
        "refusing to write \"../app-old/x\": it leads outside the workspace; use a path inside it, "
        "or say that the task needs a wider grant; it resolved to \"/work/app-old\"; the boundary "
        "is \"/work/app\"");
}

TEST_CASE("a_refusal_says_in_a_field_what_would_help") {
  CHECK(sample().help() == remedy::use_path_inside);
  refusal asked{};
  asked.error = code::needs_approval;
  CHECK(asked.help() == remedy::ask_a_person);
}

TEST_CASE("what_is_empty_or_said_already_is_left_out") {
  refusal same = sample();
  same.path = same.resolved = same.boundary = "/work/app";
  CHECK(same.message() ==
        "refusing to write \"/work/app\": it leads outside the workspace; use a path inside it, or "
        "say that the task needs a wider grant");
  refusal bare{};
  bare.error = code::invalid_path;
  CHECK(bare.message().find("resolved") == std::string::npos);
  CHECK(bare.message().find("boundary") == std::string::npos);
  bare.detail = "a further fact";
  CHECK(bare.message().ends_with("; a further fact"));
}

TEST_CASE("a_path_cannot_break_the_line_of_a_message_nor_close_its_quotes") {
  struct row {
    std::string path;
    std::string shown;
    std::string why;
  };
  const std::vector<row> rows{
      {"a\nb", "\"a\\nb\"", "a line break would start a line of the model's own"},
      {"a\rb\tc", "\"a\\rb\\tc\"", "so would a return; a tab moves columns"},
      {"a\x1b[2Jb", "\"a\\x1b[2Jb\"", "an escape sequence would drive the terminal"},
      {"a\"b\\c", "\"a\\\"b\\\\c\"", "a quote would end the path early"},
      {std::string{"a\0b", 3}, "\"a\\x00b\"", "a NUL byte would end the message"},
      {"\x7f", "\"\\x7f\"", "delete is a control byte too"},
      {"na\xc3\xafve", "\"na\xc3\xafve\"", "bytes above ASCII are shown as they are"},
  };
  for (const auto& row : rows) {
    INFO(row.why);
    refusal it = sample();
    it.path = row.path;
    CHECK(it.message().starts_with("refusing to write " + row.shown + ": "));
    it.path = "x";
    it.resolved = row.path;
    CHECK(it.message().find("resolved to " + row.shown) != std::string::npos);
    it.boundary = row.path;
    CHECK(it.message().find("boundary is " + row.shown) != std::string::npos);
  }
}

TEST_CASE("two_refusals_are_equal_when_every_field_is") {
  const refusal one = sample();
  CHECK(one == sample());
  const std::vector<void (*)(refusal&)> changes{
      [](refusal& it) { it.error = code::not_found; },
      [](refusal& it) { it.op = operation::read; },
      [](refusal& it) { it.path += 'x'; },
      [](refusal& it) { it.resolved += 'x'; },
      [](refusal& it) { it.boundary += 'x'; },
      [](refusal& it) { it.detail += 'x'; },
  };
  for (auto change : changes) {
    refusal other = sample();
    change(other);
    CHECK_FALSE(one == other);
  }
}
