// What the pages are made from, and that no description can break out of where it is put.
#include "cli/pages/described.hpp"

#include <algorithm>
#include <string>

#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold::pages;

namespace {

const described_command& named(const described_program& all, const std::string& name) {
  const auto found = std::ranges::find(all.subcommands, name, &described_command::name);
  REQUIRE(found != all.subcommands.end());
  return *found;
}

const described_option& option(const described_command& one, const std::string& name) {
  const auto found = std::ranges::find_if(one.options, [&](const described_option& each) {
    return std::ranges::find(each.names, name) != each.names.end();
  });
  REQUIRE(found != one.options.end());
  return *found;
}

described_program odd_program() {
  described_program all;
  all.top.name = "pinfold";
  all.top.text = "pinfold: .it's \\fBodd\\fR";
  described_command sub;
  sub.name = "odd";
  sub.text = "it's \"odd\": [x] $(touch made) `touch made` \\d";
  sub.notes = {".so /etc/passwd", "first\n.second\n'third"};
  sub.options = {{.names = {"-o", "--odd"},
                  .value = "DIR",
                  .kind = value_kind::directory,
                  .choices = {},
                  .text = sub.text,
                  .is_repeatable = true}};
  sub.after_dashes = tail::command;
  all.subcommands.push_back(sub);
  return all;
}

}  // namespace

TEST_CASE("the_parser_tells_all_that_a_page_needs") {
  const program parsed_by;
  const auto all = describe(parsed_by);
  CHECK(all.subcommands.size() == parsed_by.subcommands.size());
  const auto& run = named(all, "run");
  CHECK(run.after_dashes == tail::command);
  CHECK(option(run, "--workspace").kind == value_kind::directory);
  CHECK(option(run, "--allow-socket").kind == value_kind::file);
  CHECK(option(run, "--root").choices == std::vector<std::string>{"host", "minimal"});
  CHECK(option(run, "--root").value == "host|minimal");
  CHECK(option(run, "--json").kind == value_kind::none);
  CHECK(option(run, "--taint").is_repeatable);
  CHECK(option(run, "--help").names == std::vector<std::string>{"-h", "--help"});
  CHECK(run.example == "  pinfold run --timeout 5m -- make test");
  CHECK(run.exit_code.starts_with("the command's own"));
  const auto& check = named(all, "check");
  REQUIRE(check.words.size() == 2);
  CHECK(check.words[0].choices == std::vector<std::string>{"read", "write", "mkdir"});
  CHECK(check.words[1].kind == value_kind::file);
  CHECK(check.words[1].is_repeatable);
  CHECK(option(named(all, "records"), "--top").value == "N");
}

TEST_CASE("every_subcommand_says_what_it_does_and_every_option_what_it_means") {
  const program parsed_by;
  for (const auto& one : describe(parsed_by).subcommands) {
    CAPTURE(one.name);
    CHECK_FALSE(one.text.empty());
    CHECK_FALSE(one.example.empty());
    for (const auto& each : one.options) {
      CAPTURE(each.names.front());
      CHECK_FALSE(each.text.empty());
      // A value's name says what it is (DIR, FILE, PATH, SIZE, TIME); `-c` takes any text.
      CHECK((each.value != "TEXT" || each.names.front() == "-c"));
    }
  }
}

TEST_CASE("a_page_says_of_each_option_what_the_help_says") {
  const program parsed_by;
  const auto plain = [](std::string text) {
    for (const auto* mark : {"\\-", "\\(aq", "\\(ga", "\\(dq", "-", "'", "`", "\""}) {
      text = replaced(std::move(text), mark, "");
    }
    return text;
  };
  const auto pages = manual(describe(parsed_by));
  REQUIRE(pages.size() == parsed_by.subcommands.size() + 1);
  for (std::size_t i = 0; i < parsed_by.subcommands.size(); ++i) {
    const auto text = plain(pages[i + 1].text);
    for (const auto* option : parsed_by.subcommands[i].app->get_options()) {
      CAPTURE(option->get_description());
      CHECK(text.find(plain(option->get_description())) != std::string::npos);
    }
  }
}

TEST_CASE("no_text_begins_a_request_of_roff") {
  for (const auto& one : manual(odd_program())) {
    CHECK(one.text.find("\n.so") == std::string::npos);
    CHECK(one.text.find("\n.second") == std::string::npos);
    CHECK(one.text.find("\n'") == std::string::npos);
    CHECK(one.text.find("\\fBodd") == std::string::npos);
  }
}

TEST_CASE("no_text_ends_a_quotation_of_a_shell") {
  CHECK(
      zsh_completion(odd_program())
          .text.find(
              R"('*--odd[it'\''s "odd"\: \[x\] $(touch made) `touch made` \\d]:DIR:_files -/')") !=
      std::string::npos);
  CHECK(fish_completion(odd_program())
            .text.find(R"(-d 'it\'s "odd": [x] $(touch made) `touch made` \\d')") !=
        std::string::npos);
  CHECK(bash_completion(odd_program()).text.find("touch made") == std::string::npos);
}
