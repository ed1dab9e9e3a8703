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

TEST_CASE("a_directory_is_listed_with_types_sizes_and_what_is_closed") {
  const folder at;
  at.put("ws/b", "12345");
  at.put("ws/.efferent/state", "x");
  at.put("ws/.git/hooks/pre-commit", "x");
  at.link("ws/l", "/etc/passwd");
  REQUIRE(::mkfifo(at.path("ws/p").c_str(), 0600) == 0);
  tools_at tools{at};
  const auto top = tools("list_directory", json::object());
  CHECK(top["entries"] == json::parse(R"([{"name":".efferent","type":"directory","access":"none"},
    {"name":".git","type":"directory"},{"name":"b","type":"file","size":5},
    {"name":"l","type":"link"},{"name":"p","type":"special"}])"));
  CHECK(top["order"] == "name");
  CHECK(tools("list_directory", {{"path", ".git"}})["entries"][0]["access"] == "read");
  CHECK(tools.said("list_directory", {{"path", "b"}}) == "NotADirectory");
}

TEST_CASE("pages_of_a_directory_hold_each_name_once_sorted_or_not") {
  const folder at;
  words expected;
  for (char c = 'a'; c <= 'z'; ++c) {
    at.put("ws/" + std::string{c}, "");
    expected.push_back(std::string{c});
  }
  for (const std::size_t sorted : {100U, 10U}) {
    tools_at tools{at, mode::autonomous, {.listed = 7, .sorted = sorted}};
    words names;
    json next = 0;
    while (!next.is_null()) {
      const auto page = tools("list_directory", {{"offset", next}});
      CHECK(page["total"] == 26);
      CHECK(page["order"] == (sorted == 100 ? "name" : "directory"));
      for (auto& name : each(page["entries"], "name")) names.push_back(name);
      if (page.contains("left")) CHECK(page["left"] == 26 - names.size());
      next = page.value("next_offset", json{});
    }
    if (sorted == 10) std::ranges::sort(names);
    CHECK(names == expected);
  }
}

TEST_CASE("names_are_found_by_patterns") {
  const folder at;
  for (const std::string name : {"a.cpp", "src/b.cpp", "src/deep/c.cpp", "src/deep/c.hpp",
                                 "[x].txt", "t1.py", "t22.py", ".git/objects/d.cpp"}) {
    at.put("ws/" + name, "");
  }
  tools_at tools{at};
  const auto found = [&](std::string_view pattern, std::string_view path = ".") {
    auto all = each(tools("find_files", {{"pattern", pattern}, {"path", path}})["matches"], "path");
    return all;
  };
  CHECK(found("*.cpp") == words{"a.cpp", "src/b.cpp", "src/deep/c.cpp"});
  CHECK(found("*.{hpp,py}") == words{"src/deep/c.hpp", "t1.py", "t22.py"});
  CHECK(found("t?.py") == words{"t1.py"});
  CHECK(found("src/*.cpp") == words{"src/b.cpp"});
  CHECK(found("src/**/*.cpp") == words{"src/b.cpp", "src/deep/c.cpp"});
  CHECK(found("**/c.*") == words{"src/deep/c.cpp", "src/deep/c.hpp"});
  CHECK(found("[ab].cpp") == words{"a.cpp", "src/b.cpp"});
  CHECK(found("[!a].cpp") == words{"src/b.cpp", "src/deep/c.cpp"});
  CHECK(found("\\[x].txt") == words{"[x].txt"});
  CHECK(found("a.cp") == words{});
  CHECK(found("a+cpp") == words{});
  CHECK(found("*.cpp", ".git/objects") == words{".git/objects/d.cpp"});
  CHECK(tools("find_files", {{"pattern", "d*"}, {"type", "directory"}})["matches"].size() == 1);
  CHECK(tools("find_files", {{"pattern", "*"}})["skipped"] == json::parse(R"({"git":1})"));
  CHECK_THAT(tools.why("find_files", {{"pattern", "{a"}}), Catch::Contains("has no '}'"));
  CHECK_THAT(tools.why("find_files", {{"pattern", ""}}), Catch::Contains("it is empty"));
}

TEST_CASE("lines_are_found_by_a_regular_expression") {
  const folder at;
  at.put("ws/a", "first\n  second one\r\nthird\n\nlast second");
  at.put("ws/sub/b", "SECOND\n");
  tools_at tools{at};
  const auto all = tools("search_text", {{"pattern", "second"}});
  CHECK(all["matches"] == json::parse(
                              R"([{"path":"a","line":2,"offset":6,"text":"  second one"},
          {"path":"a","line":5,"offset":27,"text":"last second"}])"));
  CHECK(all["files"] == 2);
  const auto count = [&](std::string_view pattern, json more = json::object()) {
    more["pattern"] = pattern;
    return tools("search_text", more)["matches"].size();
  };
  CHECK(count("SECOND") == 1);
  CHECK(count("second", {{"ignore_case", true}}) == 3);
  CHECK(count("second", {{"ignore_case", true}, {"files", "b"}}) == 1);
  CHECK(count("^third$", {{"path", "a"}}) == 1);
  CHECK(count("^$", {{"path", "a"}}) == 1);
  CHECK(count("$", {{"path", "a"}}) == 5);
  CHECK(count("third\\n", {{"path", "a"}}) == 0);
  CHECK(count("t[^x]*s", {{"path", "a"}}) == 1);  // "last s", and not over a line's end
  CHECK_THAT(tools.why("search_text", {{"pattern", "a)(b"}}), Catch::Contains("cannot be read"));
  CHECK_THAT(tools.why("search_text", {{"pattern", "x"}, {"files", "{"}}),
             Catch::Contains("has no '}'"));
}

TEST_CASE("a_search_goes_on_where_it_was_cut_and_shows_a_long_line_in_part") {
  const folder at;
  std::string text;
  for (int i = 1; i <= 50; ++i) text += "match " + std::to_string(i) + "\n";
  at.put("ws/f", text);
  tools_at tools{at, mode::autonomous, {.matches = 8, .shown_bytes = 40}};
  std::vector<int> lines;
  json next = 0;
  while (!next.is_null()) {
    const auto page = tools("search_text", {{"pattern", "match"}, {"offset", next}});
    for (const auto& one : page["matches"]) lines.push_back(one["line"]);
    CHECK(page["truncated"] == page.contains("next_offset"));
    next = page.value("next_offset", json{});
  }
  REQUIRE(lines.size() == 50);
  for (int i = 0; i < 50; ++i) CHECK(lines[static_cast<std::size_t>(i)] == i + 1);
  at.put("ws/long", std::string(5000, 'x') + "needle" + std::string(5000, 'y'));
  const auto found = tools("search_text", {{"pattern", "needle"}})["matches"];
  REQUIRE(found.size() == 1);
  CHECK(found[0]["cut"] == true);
  CHECK_THAT(found[0]["text"].get<std::string>(), Catch::Contains("needle"));
  CHECK(found[0]["text"].get<std::string>().size() <= 40);
}

TEST_CASE("a_search_counts_lines_and_offsets_across_its_parts") {
  const folder at;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i) + (i % 7 == 0 ? " x\n" : "\n");
  at.put("ws/f", text);
  tools_at tools{at, mode::autonomous, {.matches = 5000, .line_bytes = 512}};
  const auto found = tools("search_text", {{"pattern", "x$"}, {"path", "f"}})["matches"];
  REQUIRE(found.size() == 715);
  for (const auto& one : found) {
    const auto number = one["line"].get<int>() - 1;
    const auto expected = "line " + std::to_string(number) + " x";
    REQUIRE(one["text"] == expected);
    REQUIRE(text.substr(one["offset"].get<std::size_t>(), expected.size()) == expected);
  }
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
