// What is written down of a session, when, and what is refused where it cannot be.
#include "mcp/audit_log.hpp"

#include <thread>

#include "mcp/audit/ground.hpp"

using namespace pinfold;
using namespace pinfold_test;
using namespace std::chrono_literals;
using pinfold::mcp::call_end;
using pinfold::mcp::effect;
using pinfold::mcp::tool_result;

namespace {

std::vector<std::string> names_of(const json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

refusal outside() {
  return {.error = code::outside_workspace,
          .op = operation::write,
          .path = "../x",
          .resolved = "/work",
          .boundary = "/work/app",
          .detail = {}};
}

/// As long as a record can be, with a marker where the output is.
std::shared_ptr<run_record> long_record() {
  auto record = std::make_shared<run_record>();
  record->ended = ending::exited;
  record->exit_code = 0;
  record->out.text = "SECRET-OUTPUT";
  record->out.bytes = record->out.head = 13;
  record->workspace = "/work/app";
  record->host_run.emplace();
  for (std::size_t i = 0; i < host_run_report::most_found; ++i) {
    record->host_run->found.push_back({std::string(4000, '\1'), host_run_kind::tool, {}});
  }
  record->egress.emplace();
  for (std::size_t i = 0; i < egress_report::most_attempts; ++i) {
    egress_attempt one;
    one.host = std::string(250, 'h');
    one.port = 443;
    record->egress->attempts.push_back(one);
  }
  return record;
}

}  // namespace

TEST_CASE("entries_have_exactly_the_names_of_the_format") {
  const log_file file;
  {
    const auto log = file.begin();
    const told_call call{1, "read_file", {{"path", "a"}}};
    CHECK_FALSE(call.begins(*log));
    CHECK(call.ends(*log, result_of({{operation::read, "a", "/work/app/a", verdict::allow}}),
                    taint::private_data));
  }
  const auto entries = file.entries();
  REQUIRE(entries.size() == 5);
  CHECK(names_of(entries[0]) ==
        std::vector<std::string>{"event", "session", "at", "format", "program", "pid", "workspace",
                                 "mode", "gate", "taint", "network", "egress_list", "commands"});
  CHECK(names_of(entries[1]) == std::vector<std::string>{"event", "session", "at", "call", "tool",
                                                         "arguments", "taint", "network"});
  CHECK(names_of(entries[2]) ==
        std::vector<std::string>{"event", "session", "at", "call", "tool", "how", "duration_ms",
                                 "effects", "more_effects", "questions", "more_questions", "refusal",
                                 "taint", "record"});
  CHECK(names_of(entries[2]["effects"][0]) ==
        std::vector<std::string>{"operation", "verdict", "why", "asked", "canonical"});
  CHECK(names_of(entries[3]) == std::vector<std::string>{"event", "session", "at", "call", "added",
                                                         "taint", "network_before", "network"});
  CHECK(names_of(entries[4]) == std::vector<std::string>{"event", "session", "at", "calls"});
  CHECK(entries[0]["format"] == 1);
  CHECK(entries[4]["calls"] == 1);
}

TEST_CASE("a_call_is_written_down_before_anything_is_done") {
  const log_file file;
  const auto log = file.begin();
  const told_call call{1, "bash", {{"command", "make"}}};
  CHECK_FALSE(call.begins(*log));
  CHECK(file.entries().back()["arguments"]["command"] == "make");
}

TEST_CASE("neither_output_nor_content_is_written_down") {
  const log_file file;
  const auto log = file.begin();
  const told_call call{1, "write_file",
                       {{"path", "a"},
                        {"content", "SECRET-CONTENT"},
                        {"edits", json::array({{{"old", "SECRET-OLD"}}})}}};
  CHECK_FALSE(call.begins(*log));
  auto result = result_of({}, long_record());
  result.text = "SECRET-TEXT";
  result.structured = std::make_shared<json>(json{{"text", "SECRET-TEXT"}});
  CHECK(call.ends(*log, result));
  for (const auto& line : file.lines()) CHECK(line.find("SECRET") == std::string::npos);
  CHECK(file.entries()[1]["arguments"]["content_bytes"] == 14);
  CHECK(file.entries()[1]["arguments"]["edits_items"] == 1);
  CHECK(file.entries()[2]["record"]["stdout"]["bytes"] == 13);
}

TEST_CASE("an_entry_is_bounded_whatever_the_call_held") {
  const log_file file;
  const auto log = file.begin();
  json arguments;
  for (const auto* name : {"path", "command", "pattern", "from", "to", "cwd", "files", "label"}) {
    arguments[name] = std::string(1 << 20, '\1');
  }
  for (int i = 0; i < 5000; ++i) arguments["x" + std::to_string(i)] = i;
  const told_call call{1, "bash", arguments};
  CHECK_FALSE(call.begins(*log));
  auto refused = outside();
  refused.path = std::string(4 << 20, '\1');
  std::vector<effect> effects(3000, effect{operation::read, std::string(5000, '\1'), {}, verdict::allow});
  effects.push_back({operation::write, "w", "/work/app/w", verdict::allow});
  auto result = refused_by(refused, effects);
  result.record = long_record();
  CHECK(call.ends(*log, result, {}, call_end::refused));
  const auto entries = file.entries();
  REQUIRE(entries.size() == 3);
  CHECK(entries[1]["arguments"]["path_bytes"] == 1 << 20);
  CHECK(entries[1]["arguments"]["left_out"].get<int>() > 4900);
  const auto& end = entries[2];
  // What changes something is never cut in favour of what reads.
  CHECK(end["effects"][0]["operation"] == "write");
  CHECK(end["effects"].size() + end["more_effects"].get<std::size_t>() == 3001);
  const auto& left = end["record"]["host_run"];
  CHECK(left["found"].size() + left["more"].get<std::size_t>() == host_run_report::most_found);
  const auto& egress = end["record"]["egress"];
  CHECK(egress["attempts"].size() + egress["more"].get<std::size_t>() ==
        egress_report::most_attempts);
}

TEST_CASE("a_question_is_written_down_with_its_answer_and_bounded") {
  const log_file file;
  const auto log = file.begin();
  told_call call{1, "move", json::object()};
  const mcp::question asked{.op = operation::rename,
                            .why = code::outside_workspace,
                            .about = "/work/x\xff",
                            .to = "/work/app/x",
                            .text = "May it?"};
  call.questions = {{asked, mcp::reply::declined}};
  CHECK_FALSE(call.begins(*log));
  CHECK(call.ends(*log, {}));
  auto long_one = asked;
  long_one.about = std::string(1 << 20, '\1');
  call.questions.assign(30, {long_one, mcp::reply::yes});
  CHECK(call.ends(*log, {}));
  const auto entries = file.entries();
  REQUIRE(entries.size() == 4);
  CHECK(entries[2]["questions"] ==
        json::array({{{"operation", "rename"},
                      {"why", "OutsideWorkspace"},
                      {"about", "/work/x\xef\xbf\xbd"},
                      {"about_base64", "L3dvcmsveP8="},
                      {"to", "/work/app/x"},
                      {"answer", "declined"}}}));
  CHECK(entries[2]["more_questions"] == 0);
  CHECK(entries[3]["questions"].size() + entries[3]["more_questions"].get<std::size_t>() == 30);
  CHECK(entries[3]["more_questions"] > 0);
}

TEST_CASE("a_name_that_is_no_text_keeps_its_bytes") {
  const log_file file;
  const auto log = file.begin();
  const told_call call{1, "list_directory", json::object()};
  CHECK_FALSE(call.begins(*log));
  CHECK(call.ends(*log, result_of({{operation::remove, "\xff", "/work/app/\xff", verdict::allow}})));
  CHECK(file.entries()[2]["effects"][0]["canonical_base64"] == "L3dvcmsvYXBwL/8=");
}

TEST_CASE("a_taint_says_when_and_what_it_closed") {
  const log_file file;
  const auto log = file.begin({.workspace = "/work/app", .open = gate::untainted});
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    const told_call call{number, "bash", json::object()};
    CHECK_FALSE(call.begins(*log, number == 1 ? taint{} : taint::untrusted_content));
    CHECK(call.ends(*log, {}, number < 3 ? taint::untrusted_content : taint::both));
  }
  std::vector<json> taints;
  for (const auto& entry : file.entries()) {
    if (entry["event"] == "taint") taints.push_back(entry);
  }
  REQUIRE(taints.size() == 2);
  CHECK(taints[0]["call"] == 1);
  CHECK(taints[0]["added"] == json::array({"untrusted_content"}));
  CHECK(taints[0]["network_before"] == "allow");
  CHECK(taints[0]["network"] == "deny");
  CHECK(taints[1]["call"] == 3);
  CHECK(taints[1]["added"] == json::array({"private_data"}));
  CHECK(taints[1]["network_before"] == "deny");
}

TEST_CASE("on_a_full_disk_a_call_is_refused_and_an_end_is_owed_until_there_is_room") {
  const log_file file;
  const auto log = file.begin();
  const told_call first{1, "bash", {{"command", "make"}}};
  const told_call second{2, "read_file", {{"path", "a"}}};
  CHECK_FALSE(first.begins(*log));
  {
    const small_disk full{std::filesystem::file_size(file.path) + 20};
    CHECK_FALSE(first.ends(*log, result_of({}, long_record()), taint::private_data));
    const auto refused = second.begins(*log, taint::private_data);
    REQUIRE(refused);
    CHECK(refused->error == code::input_output_error);
    CHECK(refused->path == file.path);
    CHECK(refused->detail.find("audit log") != std::string::npos);
    CHECK(refused->detail.find("File too large") != std::string::npos);
  }
  CHECK_FALSE(second.begins(*log, taint::private_data));
  std::vector<std::string> events;
  int cut = 0;
  for (const auto& line : file.lines()) {
    const auto entry = json::parse(line, nullptr, false);
    if (entry.is_discarded()) {
      ++cut;
    } else {
      events.push_back(entry["event"]);
    }
  }
  CHECK(events == std::vector<std::string>{"session", "begins", "ended", "taint", "begins"});
  CHECK(cut == 1);
}

TEST_CASE("a_session_whose_first_entry_cannot_be_written_does_not_begin") {
  const log_file file;
  const small_disk full{10};
  const auto log = mcp::audit_log::begin(file.open(), file.path, {.workspace = "/work/app"});
  REQUIRE_FALSE(log);
  CHECK(log.error().error == code::input_output_error);
  const auto nowhere = mcp::audit_log::begin(
      descriptor{::open("/dev/full", O_RDWR | O_APPEND | O_CLOEXEC)}, "/dev/full", {});
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().detail.find("No space left") != std::string::npos);
}

TEST_CASE("calls_of_many_threads_are_whole_lines") {
  const log_file file;
  {
    const auto log = file.begin();
    std::vector<std::thread> threads;
    for (std::uint64_t first = 0; first < 8; ++first) {
      threads.emplace_back([&log, first] {
        for (std::uint64_t i = 0; i < 50; ++i) {
          const told_call call{first * 50 + i + 1, "read_file", {{"path", std::string(5000, 'p')}}};
          if (call.begins(*log) || !call.ends(*log, {})) std::abort();
        }
      });
    }
    for (auto& one : threads) one.join();
  }
  const auto entries = file.entries();
  CHECK(entries.size() == 802);
  CHECK(entries.back()["calls"] == 400);
}
