// What is listed, found and searched, and how it goes on where it was cut.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mcp/tools/ground.hpp"

using namespace pinfold;
using namespace pinfold_test;

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
