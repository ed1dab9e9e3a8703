// The log read back, and what is told of it.
#include <algorithm>

#include "cli/audit_summary.hpp"
#include "cli/base64.hpp"
#include "mcp/audit/ground.hpp"

using namespace pinfold;
using namespace pinfold_test;
using pinfold::mcp::call_end;
using pinfold::mcp::effect;
using pinfold::mcp::tool_result;

namespace {

audit_summary sum_of(const std::vector<std::string>& lines) {
  audit_summary sum;
  record_place where{"log", 1};
  for (const auto& line : lines) {
    auto entry = read_audit_line(line);
    if (entry) {
      sum.add(*entry, where);
    } else {
      sum.add_bad(where, entry.error().why);
    }
    ++where.line;
  }
  sum.finish();
  return sum;
}

/// The first line of a session, for lines that are made here.
json session_line() {
  return {{"event", "session"}, {"session", "s"}, {"at", "t"},        {"format", 1},
          {"workspace", "/w"},  {"mode", "ask"},  {"gate", "on"}, {"commands", "confined"}};
}

json ended_line() {
  return {{"event", "ended"}, {"session", "s"},     {"at", "t"},        {"call", 1},
          {"tool", "bash"},   {"how", "done"},      {"effects", json::array()},
          {"more_effects", 0}, {"refusal", nullptr}, {"record", nullptr}};
}

refusal outside(std::string path) {
  return {.error = code::outside_workspace,
          .op = operation::write,
          .path = std::move(path),
          .resolved = "/work",
          .boundary = "/work/app",
          .detail = {}};
}

/// A session in which everything happened that is told.
void make_calls(mcp::audit_log& log) {
  std::uint64_t number = 0;
  const auto call = [&](std::string tool, json arguments, const tool_result& result,
                        call_end how = call_end::done, taint after = {},
                  std::vector<mcp::answered_question> questions = {}) {
    told_call one{++number, std::move(tool), std::move(arguments)};
    one.questions = std::move(questions);
    REQUIRE_FALSE(one.begins(log));
    REQUIRE(one.ends(log, result, after, how));
  };
  for (int i = 0; i < 3; ++i) {
    call("write_file", {{"path", "../x"}},
         refused_by(outside("../x"), {{operation::write, "../x", "/work", verdict::refuse,
                                       code::outside_workspace}}),
         call_end::refused);
  }
  call("write_file", {{"path", "a"}},
       result_of({{operation::write, "a", "/work/app/a\x1b[2J\u202e", verdict::allow}}));
  call("move", {{"from", "a"}, {"to", "b"}},
       result_of({{operation::rename, "a", "/work/app/a", verdict::allow, {}, "/work/app/b"}}));
  call("remove", {{"path", "../b"}},
       result_of({{operation::remove, "../b", "/work/b\xff", verdict::ask, code::outside_workspace}}),
       call_end::done, {},
       {{{.op = operation::remove, .why = code::outside_workspace, .about = "/work/b\xff", .text = {}},
         mcp::reply::yes}});
  call("remove", {{"path", "c"}, {"recursive", true}},
       result_of({{operation::remove, "c", "/work/app/c", verdict::refuse, code::permission_denied}}),
       call_end::cancelled);
  auto record = std::make_shared<run_record>();
  record->ended = ending::exited;
  record->exit_code = 3;
  record->host_run.emplace();
  record->host_run->found.push_back({".envrc", host_run_kind::environment, {}});
  record->egress.emplace();
  egress_attempt reached;
  reached.host = "example.org";
  reached.port = 443;
  reached.protocol = egress_protocol::connect;
  reached.sent = 10;
  reached.received = 20;
  auto denied = reached;
  denied.host = "evil.example";
  denied.refused = outside("x");
  denied.refused->error = code::network_denied;
  record->egress->attempts = {reached, reached, denied};
  call("bash", {{"command", "make test"}}, result_of({}, record), call_end::done,
       taint::untrusted_content);
  const told_call never{++number, "bash", {{"command", "sleep 9"}}};
  REQUIRE_FALSE(never.begins(log));
}

/// Arguments that no tool knows, or that are of another kind than it knows, under names that the log uses.
json odd_arguments() {
  return {{"command", 5},          {"path", nullptr},      {"from", true},
          {"label", {{"a", 1}}},   {"pattern", 1.5},       {"to", "x"},
          {"to_base64", 7},        {"to_bytes", 8},        {"from_base64", json::array()},
          {"left_out", 9},         {"path_value", "evil"}, {"type_items", "evil"},
          {"recursive", "true"}};
}

json object_of(const log_file& file) {
  return sum_of(file.lines()).object();
}

json first_row(const json& object, const char* part) {
  REQUIRE(object[part]["rows"].size() > 0);
  auto row = object[part]["rows"][0];
  row.erase("first");
  return row;
}

}  // namespace

TEST_CASE("what_was_done_is_told_by_kind") {
  const log_file file;
  { make_calls(*file.begin({.workspace = "/work/app", .open = gate::untainted})); }
  const auto told = object_of(file);
  CHECK(first_row(told, "refused") ==
        json{{"error", "OutsideWorkspace"},
             {"path", "../x"},
             {"detail", "write, by write_file; it led to /work"},
             {"count", 3}});
  CHECK(first_row(told, "asked") == json{{"answer", "yes"},
                                         {"about", "/work/b\xef\xbf\xbd"},
                                         {"about_base64", "L3dvcmsvYv8="},
                                         {"detail", "remove, by remove"},
                                         {"outside", true},
                                         {"count", 1}});
  CHECK(told["written"]["total"] == 1);
  CHECK(first_row(told, "written")["outside"] == false);
  CHECK(first_row(told, "moved") == json{{"operation", "rename"},
                                         {"path", "/work/app/a"},
                                         {"to", "/work/app/b"},
                                         {"outside", false},
                                         {"count", 1}});
  CHECK(first_row(told, "removed")["path_base64"] == "L3dvcmsvYv8=");
  CHECK(first_row(told, "removed")["outside"] == true);
  CHECK(first_row(told, "unsure") ==
        json{{"operation", "remove"},
             {"path", "/work/app/c"},
             {"detail", "refused on the way: part of what lay below may be gone"},
             {"count", 1}});
  CHECK(first_row(told, "commands") == json{{"ended", "exited"},
                                            {"command", "make test"},
                                            {"detail", "exit code 3"},
                                            {"count", 1}});
  CHECK(first_row(told, "reached") == json{{"protocol", "connect"},
                                           {"host", "example.org:443"},
                                           {"detail", ""},
                                           {"sent", 20},
                                           {"received", 40},
                                           {"count", 2}});
  CHECK(first_row(told, "denied")["host"] == "evil.example:443");
  CHECK(first_row(told, "tainted") ==
        json{{"label", "untrusted_content"},
             {"call", "call 8"},
             {"detail", "it closed the network: allow -> deny"},
             {"count", 1}});
  CHECK(first_row(told, "host_run")["path"] == ".envrc");
  CHECK(first_row(told, "unfinished")["about"] == "sleep 9");
  CHECK(told["calls"] ==
        json{{"bash", 2}, {"move", 1}, {"remove", 2}, {"write_file", 4}});
  CHECK(told["sessions"][0]["ended"] == true);
  CHECK(told["bad"]["count"] == 0);
}

TEST_CASE("refusals_come_first_and_foreign_bytes_are_shown_as_text") {
  const log_file file;
  { make_calls(*file.begin({.workspace = "/work/app", .open = gate::untainted})); }
  const auto text = sum_of(file.lines()).table(50);
  CHECK(text.starts_with("refused                 3\n  OutsideWorkspace      ../x  write"));
  CHECK(text.find("asked of a person       1\n  yes                   /work/b\\xff  remove, by remove; "
                  "outside the workspace\nbegun") != std::string::npos);
  CHECK(text.find("removed                 1\n  remove                /work/b\\xff  outside the "
                  "workspace\n") != std::string::npos);
  CHECK(text.find("(3 times)") != std::string::npos);
  CHECK(text.find("/work/app/a\\x1b[2J\\u{202e}") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("hosts reached           2\n") != std::string::npos);
  CHECK(text.find("not listed: they are held to it, not watched") != std::string::npos);
}

TEST_CASE("what_no_rule_refused_is_told_as_an_error_and_not_among_the_refusals") {
  auto wrong = ended_line();
  wrong["tool"] = "add_taint";
  wrong["how"] = "refused";
  wrong["refusal"] = {{"error", "InvalidArgument"}, {"operation", "read"}, {"path", "label"}};
  auto missing = ended_line();
  missing["tool"] = "read_file";
  missing["how"] = "refused";
  missing["refusal"] = {{"error", "NotFound"}, {"operation", "read"}, {"path", "a"}};
  auto later = missing;
  later["refusal"]["error"] = "CodeOfALaterProgram";
  const auto told =
      sum_of({session_line().dump(), wrong.dump(), missing.dump(), later.dump()}).object();
  CHECK(told["refused"]["total"] == 1);
  CHECK(told["refused"]["rows"][0]["error"] == "CodeOfALaterProgram");
  REQUIRE(told["errors"]["rows"].size() == 2);
  CHECK(told["errors"]["rows"][0]["detail"] == "by add_taint");
  CHECK(told["errors"]["rows"][1]["detail"] == "read, by read_file");
}

TEST_CASE("of_a_log_without_questions_what_was_approved_is_told") {
  auto line = ended_line();
  line["effects"].push_back({{"operation", "read"},
                             {"verdict", "ask"},
                             {"why", "OutsideWorkspace"},
                             {"asked", "../x"},
                             {"canonical", "/x"}});
  const auto told = sum_of({session_line().dump(), line.dump()}).object();
  auto row = told["asked"]["rows"][0];
  row.erase("first");
  CHECK(row == json{{"answer", "yes"},
                    {"about", "/x"},
                    {"detail", "read, by bash"},
                    {"outside", true},
                    {"count", 1}});
  line["questions"] = json::array();
  CHECK_FALSE(read_audit_line(line.dump()));
  line["more_questions"] = 3;
  CHECK(sum_of({session_line().dump(), line.dump()}).object()["asked"]["more"] == 3);
}

TEST_CASE("a_list_is_cut_at_what_was_asked_for_and_says_so") {
  const log_file file;
  { make_calls(*file.begin()); }
  std::vector<std::string> lines{session_line().dump()};
  for (int i = 0; i < 30; ++i) {
    auto line = ended_line();
    line["effects"].push_back({{"operation", "write"},
                               {"verdict", "allow"},
                               {"asked", "a"},
                               {"canonical", "/w/" + std::to_string(i)}});
    lines.push_back(line.dump());
  }
  CHECK(sum_of(lines).table(7).find("  and 23 more (--top)\n") != std::string::npos);
}

TEST_CASE("no_log_makes_the_answer_grow_without_bound") {
  audit_list list;
  for (std::size_t i = 0; i < audit_list::most_kept + 50; ++i) {
    list.add("write", std::to_string(i), {}, "t");
  }
  list.add("write", "1", {}, "t");
  CHECK(list.rows().size() == audit_list::most_kept);
  CHECK(list.more() == 50);
  CHECK(list.total() == audit_list::most_kept + 51);
  CHECK(list.rows()[1].count == 2);
}

TEST_CASE("a_line_that_lacks_a_told_field_or_has_it_wrong_is_no_entry") {
  REQUIRE(read_audit_line(ended_line().dump()));
  for (const auto* name : {"event", "session", "at", "call", "tool", "how", "effects", "refusal",
                           "record", "more_effects"}) {
    CAPTURE(name);
    auto without = ended_line();
    without.erase(name);
    CHECK_FALSE(read_audit_line(without.dump()));
    auto wrong = ended_line();
    wrong[name] = true;
    CHECK_FALSE(read_audit_line(wrong.dump()));
  }
  for (const auto* text : {"", "{", "[]", "null", "{}", "\xff", "{\"event\":\"begins\""}) {
    CAPTURE(text);
    CHECK_FALSE(read_audit_line(text));
  }
  CHECK_FALSE(read_audit_line(std::string(900000, '[')));
  CHECK_FALSE(read_audit_line(std::string(mcp::audit_file::longest_line + 1, ' ')));
}

TEST_CASE("another_format_is_not_guessed_at_and_a_new_event_is_passed_over") {
  auto newer = session_line();
  newer["format"] = 2;
  const auto refused = read_audit_line(newer.dump());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().is_other_format);
  CHECK(refused.error().why == "format 2, and this pinfold reads format 1 alone");
  const auto event = read_audit_line(R"({"event":"later","session":"s","at":"t","new":[1]})");
  REQUIRE(event);
  CHECK(event->event == audit_event::other);
}

TEST_CASE("an_entry_of_a_session_that_did_not_begin_here_is_counted_as_bad") {
  const auto sum = sum_of({ended_line().dump(), session_line().dump(), ended_line().dump()});
  CHECK(sum.bad() == 1);
  CHECK(sum.object()["bad"]["lines"][0]["line"] == 1);
}

TEST_CASE("an_open_network_is_not_told_as_if_nothing_was_reached") {
  auto line = ended_line();
  line["record"] = {{"ended", "exited"}, {"exit_code", 0},     {"network", "on"},
                    {"refusal", nullptr}, {"egress", nullptr}, {"host_run", nullptr}};
  const auto told = sum_of({session_line().dump(), line.dump()}).object();
  CHECK(told["reached"]["rows"][0]["protocol"] == "open");
}

TEST_CASE("a_search_that_did_not_see_all_is_told") {
  auto line = ended_line();
  line["record"] = {{"ended", "exited"},
                    {"exit_code", 0},
                    {"network", "off"},
                    {"refusal", nullptr},
                    {"egress", nullptr},
                    {"host_run", {{"complete", false}, {"more", 7}, {"found", json::array()}}}};
  const auto told = sum_of({session_line().dump(), line.dump()}).object();
  CHECK(told["host_run"]["rows"][0]["kind"] == "incomplete");
  CHECK(told["host_run"]["more"] == 7);
}

TEST_CASE("base64_is_read_back_as_it_was_written_and_nothing_else_is") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    CHECK(bytes_of_base64(base64_of(bytes)) == bytes);
    bytes += static_cast<char>(i * 7);
  }
  for (const auto* text : {"A", "AA", "AAA", "AB==", "A===", "AA=A", "AA==AA==", "A A=", "-_=="}) {
    CAPTURE(text);
    CHECK_FALSE(bytes_of_base64(text));
  }
}

TEST_CASE("whatever a call is given its entry is read back, and no argument is taken for the log's word") {
  const log_file file;
  {
    const auto log = file.begin();
    const told_call call{1, "bash", odd_arguments()};
    REQUIRE_FALSE(call.begins(*log));
    REQUIRE(call.ends(*log, result_of({})));
  }
  const auto begun = file.entries()[1]["arguments"];
  CHECK(begun == json{{"command_value", 5}, {"path_value", nullptr}, {"from_value", true}, {"label_items", 1},
                      {"pattern_value", 1.5}, {"to", "x"}, {"recursive_bytes", 4}, {"left_out", 6}});
  const auto sum = sum_of(file.lines());
  CHECK(sum.bad() == 0);
  CHECK(sum.object()["calls"]["bash"] == 1);
}

TEST_CASE("what a file tool put where a program of the host takes it up is told with what commands left") {
  const log_file file;
  const std::vector<std::pair<std::string, std::string>> told{
      {".envrc", "environment"},         {".vscode/tasks.json", "editor"},  {"sub/.git/config", "git_config"},
      {"sub/.git/hooks/post-commit", "git_hook"}, {"a/.git", "git_file"}, {"d/CLAUDE.md", "agent"},
      {"/out/.envrc", "environment"}};
  const std::vector<std::string> plain{"src/main.c", "tasks.json", "sub/.git/refs/heads/config", "vscode/x",
                                       "sub/.git/hooks/post-commit.sample", ".vscode"};
  std::uint64_t number = 0;
  {
    const auto log = file.begin();
    const auto ends = [&](const effect& one) {
      const told_call call{++number, one.op == operation::rename ? "move" : "write_file", {{"path", "x"}}};
      REQUIRE_FALSE(call.begins(*log));
      REQUIRE(call.ends(*log, result_of({one})));
    };
    const auto whole = [](const std::string& path) { return path[0] == '/' ? path : "/work/app/" + path; };
    for (const auto& [path, kind] : told) ends({operation::write, path, whole(path), verdict::allow});
    for (const auto& path : plain) ends({operation::write, path, whole(path), verdict::allow});
    ends({operation::write, ".npmrc", whole(".npmrc"), verdict::refuse, code::mode_forbids_writing});
    for (const auto* to : {"sub/.git/hooks", ".vscode", "plain"}) {
      ends({operation::rename, "x", whole("x"), verdict::allow, {}, whole(to)});
    }
  }
  const auto rows = object_of(file)["host_run"]["rows"];
  REQUIRE(rows.size() == told.size() + 2);
  for (std::size_t i = 0; i < told.size(); ++i) {
    CHECK(rows[i]["path"] == told[i].first);
    CHECK(rows[i]["kind"] == told[i].second);
    CHECK(rows[i]["detail"] == "written by write_file");
  }
  CHECK(rows[told.size()]["path"] == "sub/.git/hooks");
  CHECK(rows[told.size()]["detail"] == "moved there by move");
  CHECK(rows[told.size() + 1]["kind"] == "editor");
}
