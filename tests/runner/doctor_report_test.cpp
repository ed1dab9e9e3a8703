// Floor 9, what doctor says: every failed line with its fix, and nothing that a terminal obeys.
#include "cli/doctor_report.hpp"

#include <nlohmann/json.hpp>

#include "cli/text.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

probe_report good_report() {
  return {.lines = {{"bwrap-found", probe_status::ok, "/usr/bin/bwrap", ""},
                    {"kernel", probe_status::info, "6.18.0", ""}},
          .program = "/usr/bin/bwrap"};
}

probe_report bad_report() {
  auto report = good_report();
  report.lines.push_back(
      {"sandbox-user", probe_status::failed, "bwrap: \x1b[2J\xff", "do this:\n  and that"});
  return report;
}

}  // namespace

TEST_CASE("a_machine_where_run_works_is_told_so_and_what_is_not_promised") {
  const auto table = doctor_table(good_report());
  CHECK(table.starts_with("pinfold run works here\n"));
  CHECK(table.contains("\n  ok      bwrap-found        /usr/bin/bwrap\n"));
  CHECK(table.contains("\n  info    kernel             6.18.0\n"));
  CHECK(table.contains("\npromised\n  - "));
  CHECK(table.contains("\nnot promised\n  - "));
}

TEST_CASE("a_failed_line_is_followed_by_its_fix_line_for_line") {
  const auto table = doctor_table(bad_report());
  CHECK(table.starts_with("pinfold run does not work here"));
  CHECK(
      table.contains("\n  FAILED  sandbox-user       bwrap: \\x1b[2J\\xff\n"
                     "          fix: do this:\n"
                     "              and that\n"));
}

TEST_CASE("the_table_holds_nothing_that_a_terminal_obeys") {
  auto table = doctor_table(bad_report());
  std::erase(table, '\n');
  CHECK(terminal_safe(table) == table);
}

TEST_CASE("the_json_report_has_the_names_of_the_interface") {
  const auto object = json::parse(one_line(doctor_json(bad_report())));
  CHECK(object["usable"] == false);
  CHECK(object["bwrap"] == "/usr/bin/bwrap");
  REQUIRE(object["probes"].size() == 3);
  CHECK(object["probes"][0] ==
        json::parse(R"({"id":"bwrap-found","status":"ok","found":"/usr/bin/bwrap","fix":null})"));
  CHECK(object["probes"][2]["status"] == "failed");
  CHECK(object["probes"][2]["found_base64"] == "YndyYXA6IBtbMkr/");
  CHECK(object["probes"][2]["fix"] == "do this:\n  and that");
  CHECK(object["promised"].size() > 3);
  CHECK(object["not_promised"].size() > 3);
  const auto ids = [](const json& list) {
    std::vector<std::string> all;
    for (const auto& one : list) all.push_back(one["id"]);
    return all;
  };
  CHECK_THAT(ids(object["promised"]), Catch::VectorContains(std::string{"no-route-out"}));
  CHECK_THAT(ids(object["not_promised"]), Catch::VectorContains(std::string{"open-network-leaks"}));
  CHECK_THAT(ids(object["not_promised"]), !Catch::VectorContains(std::string{"no-boundary"}));
  CHECK(doctor_json(good_report())["usable"] == true);
  CHECK(doctor_json({})["bwrap"].is_null());
}
