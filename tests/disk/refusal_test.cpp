// What a refusal of a resolver tells, and what it must not: nothing of what lies outside, nothing
// of what the harness keeps.
#include <pinfold/disk/resolve.hpp>

#include <string>
#include <vector>

#include "disk/folder.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

constexpr std::array every_resolver{resolver::portable, resolver::beneath, resolver::beneath_walk};

refusal refusal_of(const folder& at, operation op, std::string_view path, resolver by) {
  const auto text = at.ws();
  const grant rules{text};
  auto answer = resolve(rules, op, path, {}, by);
  REQUIRE_FALSE(answer);
  return answer.error();
}

}  // namespace

TEST_CASE("a_refusal_tells_nothing_of_what_lies_outside") {
  const folder at;
  at.put("outside/there/f", "x");
  at.link("outside/link", "there/f");
  at.link("outside/loop", "loop");
  at.link("outside/away", "/usr/bin");
  at.link("ws/out", "../outside");
  for (auto by : every_resolver) {
    for (auto op : {operation::read, operation::write, operation::make_directory, operation::list,
                    operation::remove, operation::rename}) {
      for (const std::string prefix : {"../outside", "out", "../outside/../outside"}) {
        for (const std::string rest :
             {"", "/", "/there", "/there/f", "/there/f/", "/nope", "/there/nope/x", "/there/f/x",
              "/link", "/loop", "/away/env", "/there/../.."}) {
          if (prefix == "out" && rest.size() < 2) continue;  // a removal acts on that name, inside
          const auto said = refusal_of(at, op, prefix + rest, by);
          INFO(name_of(op) << " " << prefix << rest << " " << said.message());
          CHECK(said.error == code::outside_workspace);
          CHECK(said.resolved == at.path("outside"));
          CHECK(said.boundary == at.ws());
          CHECK(said.path == prefix + rest);
          CHECK(said.op == op);
          CHECK(said.detail.empty());
        }
      }
    }
  }
}

TEST_CASE("a_refusal_tells_no_more_when_the_path_begins_outside") {
  const folder at;
  at.put("outside/deep/there/f", "x");
  const auto text = at.ws();
  const grant rules{text};
  for (auto by : every_resolver) {
    for (const std::string path : {"f", "nope", "nope/x", "..", "../nope"}) {
      const auto said =
          resolve(rules, operation::read, path, at.path("outside/deep/there"), by).error();
      CHECK(said.error == code::outside_workspace);
      CHECK(said.resolved == at.path("outside"));
    }
  }
}

TEST_CASE("a_refusal_names_an_ancestor_when_the_path_ends_on_one") {
  const folder at;
  for (auto by : every_resolver) {
    CHECK(refusal_of(at, operation::read, "..", by).resolved == parent_of(at.ws()));
    CHECK(refusal_of(at, operation::read, "/", by).resolved == "/");
    CHECK(refusal_of(at, operation::read, "/no-such-entry-zq/x/y", by).resolved ==
          "/no-such-entry-zq");
  }
}

TEST_CASE("a_refusal_tells_nothing_of_what_the_harness_keeps") {
  const folder at;
  at.put("ws/.efferent/there/f", "x");
  at.link("ws/.efferent/link", "there/f");
  for (auto by : every_resolver) {
    for (auto op : {operation::read, operation::write, operation::make_directory}) {
      for (const std::string rest : {"", "/there", "/there/f", "/there/f/x", "/nope", "/nope/x",
                                     "/link", "/there/../nope"}) {
        const auto said = refusal_of(at, op, ".efferent" + rest, by);
        INFO(name_of(op) << " " << rest << " " << said.message());
        CHECK(said.error == code::harness_state);
        CHECK(said.resolved == at.path("ws/.efferent"));
        CHECK(said.boundary == at.path("ws/.efferent"));
      }
    }
  }
}

TEST_CASE("a_refusal_inside_names_where_the_path_led") {
  const folder at;
  at.put("ws/a/f", "x");
  at.link("ws/l", "a");
  at.put("ws/.git/config", "x");
  at.link("ws/cfg", ".git/config");
  for (auto by : every_resolver) {
    CHECK(refusal_of(at, operation::read, "l/nope/x", by).resolved == at.path("ws/a/nope"));
    CHECK(refusal_of(at, operation::read, "l/nope/x", by).boundary.empty());
    CHECK(refusal_of(at, operation::read, "l/f/x", by).error == code::not_a_directory);
    const auto said = refusal_of(at, operation::write, "cfg", by);
    CHECK(said.resolved == at.path("ws/.git/config"));
    CHECK(said.boundary == at.path("ws/.git/config"));
  }
}

TEST_CASE("a_grant_that_covers_nothing_resolves_nothing") {
  for (auto by : every_resolver) {
    const std::string relative{"not/absolute"};
    const auto answer = resolve(grant{relative}, operation::read, "x", "/", by);
    CHECK_FALSE(answer);
    const folder at;
    const auto text = at.ws();
    CHECK_FALSE(resolve(grant{text}, operation::read, "x", "not/canonical", by));
    const auto gone = at.path("gone");
    CHECK(resolve(grant{gone}, operation::write, "x", {}, by).error().error ==
          code::workspace_gone);
  }
}

TEST_CASE("the_canonical_workspace_is_where_links_lead") {
  const folder at;
  at.make_directory("ws/a");
  at.link("l", "ws");
  at.put("f", "x");
  CHECK(canonical_workspace(at.path("l/a/..")).value() == at.ws());
  CHECK(canonical_workspace(at.path("l//./")).value() == at.ws());
  CHECK(canonical_workspace("a", at.ws()).value() == at.path("ws/a"));
  CHECK(canonical_workspace("/").value() == "/");
  CHECK(canonical_workspace(at.path("f")).error().error == code::not_a_directory);
  CHECK(canonical_workspace(at.path("nope")).error().error == code::not_found);
  CHECK(canonical_workspace("").error().error == code::invalid_path);
}
