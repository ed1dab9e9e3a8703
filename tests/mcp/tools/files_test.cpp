// What each file tool does when it may, and what it answers when it is asked wrongly.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mcp/tools/ground.hpp"

using namespace pinfold;
using namespace pinfold_test;

TEST_CASE("a_text_file_is_read_whole_and_as_it_is") {
  const folder at;
  at.put("ws/a/f", "one\r\ntw\xc3\xb6\n\n");
  tools_at tools{at};
  const auto came = tools.result("read_file", {{"path", "a/../a/f"}});
  CHECK(came.text == "one\r\ntw\xc3\xb6\n\n");
  CHECK(*came.structured == json::parse(R"({"path":"a/f","binary":false,"encoding":"utf-8",
    "offset":0,"bytes":11,"truncated":false,"content":"one\r\ntwö\n\n"})"));
  REQUIRE(came.effects.size() == 1);
  CHECK(came.effects[0].canonical == at.path("ws/a/f"));
  CHECK(came.effects[0].says == verdict::allow);
  at.put("ws/empty", "");
  CHECK(tools("read_file", {{"path", "empty"}})["content"] == "");
}

TEST_CASE("a_file_read_in_parts_is_whole_and_no_character_is_split") {
  const folder at;
  const std::string text = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82z\xc3\xa4\xc3\xa4\n";
  at.put("ws/f", text);
  tools_at tools{at};
  std::string all;
  json next = 0;
  for (int parts = 0; parts < 20 && !next.is_null(); ++parts) {
    const auto came = tools("read_file", {{"path", "f"}, {"offset", next}, {"limit", 4}});
    CHECK(came["encoding"] == "utf-8");
    all += came["content"].get<std::string>();
    CHECK(came["truncated"] == came.contains("next_offset"));
    if (came.contains("left")) CHECK(came["left"] == text.size() - all.size());
    next = came.value("next_offset", json{});
  }
  CHECK(all == text);
  CHECK(tools("read_file", {{"path", "f"}, {"offset", 2}, {"limit", 4}})["offset"] == 3);
}

TEST_CASE("lines_are_read_by_their_numbers") {
  const folder at;
  at.put("ws/f", "one\ntwo\nthree\nfour");
  tools_at tools{at};
  const auto some =
      tools("read_file", {{"path", "f"}, {"start_line", 2}, {"lines", 2}, {"line_numbers", true}});
  CHECK(some["content"] == "     2\ttwo\n     3\tthree\n");
  CHECK(some["next_start_line"] == 4);
  CHECK(some["next_offset"] == 14);
  const auto last = tools("read_file", {{"path", "f"}, {"start_line", 4}});
  CHECK(last["content"] == "four");
  CHECK(last["truncated"] == false);
  CHECK(tools("read_file", {{"path", "f"}, {"lines", 4}})["truncated"] == false);
  CHECK_THAT(tools.why("read_file", {{"path", "f"}, {"start_line", 5}}),
             Catch::Contains("has only 4 lines"));
  at.put("ws/g", "one\ntwo\n");
  CHECK_THAT(tools.why("read_file", {{"path", "g"}, {"start_line", 3}}),
             Catch::Contains("has only 2 lines"));
  // Where the bytes end first, the part ends with a whole line, so that lines go on by number.
  const auto cut = tools("read_file", {{"path", "f"}, {"line_numbers", true}, {"limit", 6}});
  CHECK(cut["content"] == "     1\tone\n");
  CHECK(cut["next_start_line"] == 2);
}

TEST_CASE("what_is_no_text_is_told_apart_and_read_as_base64_only") {
  const folder at;
  at.put("ws/latin", "caf\xe9\n");
  at.put("ws/nul", std::string{"a\0b", 3});
  tools_at tools{at};
  for (const std::string name : {"latin", "nul"}) {
    const auto came = tools("read_file", {{"path", name}});
    CHECK(came["binary"] == true);
    CHECK(came["content"] == "");
    CHECK(came["size"] == at.get("ws/" + name).size());
  }
  const auto bytes = tools("read_file", {{"path", "nul"}, {"base64", true}});
  CHECK(bytes["content"] == "YQBi");
  CHECK(bytes["encoding"] == "base64");
}

TEST_CASE("a_file_is_written_whole_and_its_mode_is_kept") {
  const folder at;
  tools_at tools{at};
  const auto made = tools("write_file", {{"path", "f"}, {"content", std::string{"a\0b", 3}}});
  CHECK(made == json::parse(R"({"path":"f","created":true,"bytes":3})"));
  CHECK(at.get("ws/f") == std::string("a\0b", 3));
  REQUIRE(::chmod(at.path("ws/f").c_str(), 0751) == 0);
  CHECK(tools("write_file", {{"path", "f"}, {"content", "new"}})["created"] == false);
  CHECK(at.get("ws/f") == "new");
  struct stat status{};
  REQUIRE(::stat(at.path("ws/f").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0751);
  CHECK(tools.said("write_file", {{"path", "x/y/z"}, {"content", ""}}) == "NotFound");
  CHECK(tools.said("write_file",
                   {{"path", "x/y/z"}, {"content", ""}, {"make_directories", true}}) == "ok");
  CHECK(at.has("ws/x/y/z"));
  CHECK(names_in(at.open(), ".") == words{"f", "x"});
}

TEST_CASE("an_edit_is_made_where_its_text_stands_once_or_everywhere") {
  const folder at;
  at.put("ws/f", "a b\nb a\n\xff");
  REQUIRE(::chmod(at.path("ws/f").c_str(), 0640) == 0);
  tools_at tools{at};
  const auto edit = [&](std::string_view from, std::string_view to, bool all = false) {
    return tools.why("edit_file",
                     {{"path", "f"}, {"old_text", from}, {"new_text", to}, {"replace_all", all}});
  };
  CHECK_THAT(edit("c", "x"), Catch::Contains("not in the file"));
  CHECK_THAT(edit("a", "x"), Catch::Contains("2 times, at lines 1, 2"));
  CHECK_THAT(edit("", "x"), Catch::Contains("it is empty"));
  CHECK_THAT(edit("a", "a"), Catch::Contains("the same as old_text"));
  CHECK(at.get("ws/f") == "a b\nb a\n\xff");
  CHECK(edit("a b\n", "c\n") == "ok");
  CHECK(at.get("ws/f") == "c\nb a\n\xff");
  const auto all =
      tools("edit_file",
            {{"path", "f"}, {"old_text", "\n"}, {"new_text", "\n\n"}, {"replace_all", true}});
  CHECK(all["replacements"] == 2);
  CHECK(all["lines"] == json::parse("[1,2]"));
  CHECK(at.get("ws/f") == "c\n\nb a\n\n\xff");
  struct stat status{};
  REQUIRE(::stat(at.path("ws/f").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
  // From left to right, none over another.
  at.put("ws/g", "aaaaa");
  CHECK(tools("edit_file", {{"path", "g"},
                            {"old_text", "aa"},
                            {"new_text", "b"},
                            {"replace_all", true}})["replacements"] == 2);
  CHECK(at.get("ws/g") == "bba");
}

TEST_CASE("an_edit_of_a_file_that_is_or_becomes_too_large_is_refused") {
  const folder at;
  at.put("ws/f", std::string(40, 'a'));
  tools_at tools{at, mode::autonomous, {.edited_bytes = 64}};
  const json doubled{{"path", "f"}, {"old_text", "a"}, {"new_text", "bb"}, {"replace_all", true}};
  CHECK_THAT(tools.why("edit_file", doubled), Catch::Contains("at most 64 bytes"));
  at.put("ws/f", std::string(65, 'a'));
  CHECK_THAT(tools.why("edit_file", doubled), Catch::Contains("at most 64 bytes"));
  CHECK(at.get("ws/f") == std::string(65, 'a'));
}

TEST_CASE("a_label_is_added_and_none_is_taken_away") {
  const folder at;
  tools_at tools{at};
  CHECK(tools("add_taint", {{"label", "private_data"}})["labels"] ==
        json::parse(R"(["private_data"])"));
  CHECK(tools("add_taint", {{"label", "untrusted_content"}})["labels"].size() == 2);
  for (const std::string label : {"none", "", "PRIVATE_DATA"}) {
    CHECK(tools.said("add_taint", {{"label", label}}) == "InvalidArgument");
  }
  CHECK(tools.now().labels() == taint::both);
}

TEST_CASE("a_move_replaces_only_what_it_was_told_to") {
  const folder at;
  at.put("ws/a", "a");
  at.put("ws/b", "b");
  at.make_directory("ws/d");
  tools_at tools{at};
  CHECK(tools.said("move", {{"from", "a"}, {"to", "b"}}) == "AlreadyExists");
  CHECK(at.get("ws/b") == "b");
  CHECK(tools.said("move", {{"from", "a"}, {"to", "b"}, {"overwrite", true}}) == "ok");
  CHECK(at.get("ws/b") == "a");
  const auto came = tools.result("move", {{"from", "b"}, {"to", "d/c"}});
  CHECK(*came.structured == json::parse(R"({"from":"b","to":"d/c"})"));
  REQUIRE(came.effects.size() == 1);
  CHECK(came.effects[0].to == at.path("ws/d/c"));
  CHECK(tools.said("move", {{"from", "b"}, {"to", "x"}}) == "NotFound");
  CHECK_THAT(tools.why("move", {{"from", "d"}, {"to", "d/e"}}), Catch::Contains("into itself"));
}

TEST_CASE("a_directory_is_removed_with_what_is_in_it_only_when_that_was_said") {
  const folder at;
  at.put("ws/d/e/f", "x");
  at.put("ws/d/g", "x");
  tools_at tools{at};
  CHECK_THAT(tools.why("remove", {{"path", "d"}}), Catch::Contains("recursive removes it"));
  CHECK(tools("remove", {{"path", "d/g"}})["removed"] == 1);
  CHECK(tools("remove", {{"path", "d"}, {"recursive", true}})["removed"] == 3);
  CHECK_FALSE(at.has("ws/d"));
  at.make_directory("ws/empty");
  CHECK(tools.said("remove", {{"path", "empty"}}) == "ok");
  CHECK(tools.said("remove", {{"path", "empty"}}) == "NotFound");
}

TEST_CASE("a_refusal_names_the_argument_that_would_help_and_the_workspace_as_such") {
  const folder at;
  at.put("ws/a", "a");
  at.put("ws/b", "b");
  tools_at tools{at};
  CHECK(tools.why("write_file", {{"path", "no/x"}, {"content", ""}}).contains("make_directories"));
  CHECK_FALSE(tools.why("read_file", {{"path", "no/x"}}).contains("make_directories"));
  CHECK(tools.why("move", {{"from", "a"}, {"to", "b"}}).contains("overwrite"));
  for (const auto& path : {std::string{"."}, std::string{"./"}, at.ws()}) {
    CAPTURE(path);
    CHECK(tools.said("remove", {{"path", path}, {"recursive", true}}) == "InvalidArgument");
    CHECK(tools.why("remove", {{"path", path}}).contains("it is the workspace itself"));
    CHECK(tools.why("move", {{"from", path}, {"to", "c"}}).contains("it is the workspace itself"));
  }
  const auto came = tools.result("remove", {{"path", "."}});
  CHECK(came.effects.back().why == code::invalid_argument);
  CHECK(tools.said("remove", {{"path", ""}}) == "InvalidPath");
  CHECK(tools.said("read_file", {{"path", "a"}}) == "ok");
}

TEST_CASE("wrong_arguments_are_named_and_nothing_is_done") {
  const folder at;
  at.put("ws/f", "text");
  tools_at tools{at};
  const std::vector<std::pair<std::string, json>> wrong{
      {"read_file", json::object()},
      {"read_file", {{"path", 7}}},
      {"read_file", {{"path", "f"}, {"limit", 0}}},
      {"read_file", {{"path", "f"}, {"limit", "4"}}},
      {"read_file", {{"path", "f"}, {"offset", -1}}},
      {"read_file", {{"path", "f"}, {"offset", 1.5}}},
      {"read_file", {{"path", "f"}, {"offset", 1}, {"start_line", 2}}},
      {"read_file", {{"path", "f"}, {"offset", 1}, {"line_numbers", true}}},
      {"read_file", {{"path", "f"}, {"base64", true}, {"lines", 1}}},
      {"read_file", {{"path", "f"}, {"mode", "r"}}},
      {"write_file", {{"path", "f"}}},
      {"write_file", {{"path", "f"}, {"content", json::array()}}},
      {"write_file", {{"path", nullptr}, {"content", ""}}},
      {"edit_file", {{"path", "f"}, {"old_text", "t"}}},
      {"edit_file", {{"path", "f"}, {"old_text", "t"}, {"new_text", "s"}, {"replace_all", 1}}},
      {"list_directory", {{"path", true}}},
      {"list_directory", {{"limit", 1001}}},
      {"find_files", json::object()},
      {"find_files", {{"pattern", "*"}, {"type", "pipe"}}},
      {"search_text", {{"path", "f"}}},
      {"search_text", {{"pattern", "["}}},
      {"add_taint", json::object()},
      {"move", {{"from", "f"}}},
      {"remove", json::object()},
      {"remove", {{"path", "f"}, {"recursive", "yes"}}},
  };
  for (const auto& [name, arguments] : wrong) {
    INFO(name << ' ' << arguments.dump());
    CHECK(tools.said(name, arguments) == "InvalidArgument");
  }
  CHECK(at.get("ws/f") == "text");
}

TEST_CASE("each_tool_says_its_rule_its_hints_and_lawful_schemas") {
  const folder at;
  tools_at tools{at};
  words names;
  for (const auto& one : tools.all()) {
    names.push_back(one.name);
    INFO(one.name);
    const auto input = json::parse(one.input);
    CHECK(input["type"] == "object");
    CHECK(input["additionalProperties"] == false);
    CHECK(json::parse(one.output)["type"] == "object");
    CHECK_FALSE(one.hints.open_world);
    CHECK_FALSE((one.hints.read_only && one.hints.destructive));
    if (one.name == "add_taint") continue;
    CHECK_THAT(one.description, Catch::Contains(at.ws()));
    CHECK_THAT(one.description, Catch::Contains(".efferent"));
  }
  CHECK(names == words{"read_file", "write_file", "edit_file", "list_directory", "find_files",
                       "search_text", "add_taint", "move", "remove"});
}
