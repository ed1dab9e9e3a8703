// Records read back: what is one, what is none and why, and that no line makes the reader grow.
#include "cli/record_lines.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "json/json.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

/// A record as `run --json` prints it, so that a change of its names is seen here.
json record_of(ending ended) {
  run_record record;
  record.ended = ended;
  record.exit_code = 3;
  record.duration = std::chrono::milliseconds{1500};
  record.out = {.text = "out", .head = 3, .bytes = 70, .dropped = 0};
  record.err = {.text = "err", .head = 3, .bytes = 7, .dropped = 0};
  record.workspace = "/work/app";
  return to_json(record);
}

std::string without(json record, const std::string& name) {
  record.erase(name);
  return record.dump();
}

std::string with(json record, const std::string& name, json value) {
  record[name] = std::move(value);
  return record.dump();
}

struct line_and_end {
  line_reader::got got;
  std::string line;
};

/// All that a reader says about these bytes.
std::vector<line_and_end> lines_of(const std::string& bytes) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const descriptor reading{ends[0]};
  std::thread writer{[&bytes, to = ends[1]] {
    const descriptor writing{to};
    for (std::size_t at = 0; at < bytes.size();) {
      const auto wrote =
          ::write(to, bytes.data() + at, std::min<std::size_t>(bytes.size() - at, 70001));
      if (wrote <= 0) return;
      at += static_cast<std::size_t>(wrote);
    }
  }};
  line_reader reader{reading.get()};
  std::vector<line_and_end> all;
  do {
    std::string line;
    const auto got = reader.next(line);
    all.push_back({got, std::move(line)});
  } while (all.back().got != line_reader::got::end && all.back().got != line_reader::got::error);
  writer.join();
  return all;
}

}  // namespace

TEST_CASE("a_record_that_the_program_prints_is_read_back") {
  for (const auto ended : {ending::exited, ending::signaled, ending::timed_out, ending::limited,
                           ending::cancelled, ending::refused, ending::failed}) {
    const auto facts = read_record(record_of(ended).dump());
    REQUIRE(facts);
    CHECK(facts->ended == ended);
    CHECK(facts->exit_code == 3);
    CHECK(facts->duration_ms == 1500);
    CHECK(facts->output_bytes == 77);
    CHECK(facts->workspace == "/work/app");
    CHECK_FALSE(facts->limit);
    CHECK_FALSE(facts->refused);
  }
}

TEST_CASE("a_refusal_is_read_back_by_its_code") {
  run_record record;
  record.error = refusal{.error = code::sandbox_unavailable,
                         .op = operation::execute,
                         .path = "x",
                         .resolved = {},
                         .boundary = {},
                         .detail = {}};
  const auto facts = read_record(to_json(record).dump());
  REQUIRE(facts);
  CHECK(facts->refused == code::sandbox_unavailable);
}

TEST_CASE("every_limit_is_read_back") {
  for (const auto limit : {run_limit::time, run_limit::memory, run_limit::processes,
                           run_limit::cpu_time, run_limit::file_size, run_limit::tmp_size}) {
    const auto facts = read_record(with(record_of(ending::limited), "limit", name_of(limit)));
    REQUIRE(facts);
    CHECK(facts->limit == limit);
  }
}

TEST_CASE("what_lacks_a_counted_field_or_has_it_wrong_is_no_record") {
  const auto good = record_of(ending::exited);
  for (const auto* name :
       {"ended", "exit_code", "limit", "duration_ms", "stdout", "stderr", "workspace", "refusal"}) {
    CAPTURE(name);
    CHECK_FALSE(read_record(without(good, name)));
    for (const json& value : {json(-1), json(1.5), json(true), json::array({1}), json("no such")}) {
      if (std::string{name} == "workspace" && value.is_string()) continue;
      CAPTURE(value.dump());
      CHECK_FALSE(read_record(with(good, name, value)));
    }
  }
  CHECK_FALSE(read_record(with(good, "exit_code", 256)));
  CHECK_FALSE(read_record(with(good, "stdout", json::object())));
  CHECK_FALSE(read_record(with(good, "refusal", json::object())));
  CHECK_FALSE(read_record(with(good, "refusal", json{{"error", "NoSuchCode"}})));
  CHECK_FALSE(read_record(with(good, "ended", nullptr)));
}

TEST_CASE("what_is_no_json_object_is_no_record") {
  for (const auto* text : {"{", "[]", "5", "\"x\"", "null", "{}", "{\"ended\":\"exited\"", "\xff",
                           "[[[", "{\"a\":1}{\"b\":2}"}) {
    CAPTURE(text);
    const auto facts = read_record(text);
    REQUIRE_FALSE(facts);
    CHECK_FALSE(facts.error().empty());
  }
  CHECK_FALSE(read_record(std::string_view{"{}\0", 3}));
}

TEST_CASE("fields_of_the_same_name_deeper_down_count_for_nothing") {
  auto record = record_of(ending::exited);
  record["more"] = {{"ended", "failed"}, {"bytes", 5}, {"list", json::array({{{"bytes", 9}}})}};
  record["stdout"]["inner"] = {{"bytes", 1000}};
  const auto facts = read_record(record.dump());
  REQUIRE(facts);
  CHECK(facts->ended == ending::exited);
  CHECK(facts->output_bytes == 77);
}

TEST_CASE("a_deep_line_neither_overflows_the_stack_nor_counts") {
  CHECK_FALSE(read_record(std::string(1000000, '[')));
  auto record = record_of(ending::exited).dump();
  record.insert(record.size() - 1,
                ",\"deep\":" + std::string(100000, '[') + std::string(100000, ']'));
  CHECK(read_record(record));
}

TEST_CASE("sums_stop_at_the_most_that_fits") {
  auto record = record_of(ending::exited);
  record["stdout"]["bytes"] = UINT64_MAX;
  const auto facts = read_record(record.dump());
  REQUIRE(facts);
  CHECK(facts->output_bytes == UINT64_MAX);
}

TEST_CASE("lines_come_one_by_one_and_the_last_needs_no_newline") {
  const auto all = lines_of("one\n\ntwo");
  REQUIRE(all.size() == 4);
  CHECK(all[0].line == "one");
  CHECK(all[1].line.empty());
  CHECK(all[2].line == "two");
  CHECK(all[3].got == line_reader::got::end);
}

TEST_CASE("a_long_string_is_read_as_an_empty_one_wherever_it_is_cut") {
  // Escapes of each kind, so that every offset of a cut is tried against them.
  const std::string escapes = R"(\"\\é\u00e9\ud83d\ude00\n)";
  for (std::size_t shift = 0; shift < escapes.size(); ++shift) {
    std::string text(shift, 'x');
    while (text.size() <= line_reader::longest_string + 100) text += escapes;
    const auto all = lines_of("{\"a\":\"" + text + "\",\"b\":\"kept\\\\\"}\nnext");
    REQUIRE(all.size() == 3);
    CHECK(all[0].line == "{\"a\":\"\",\"b\":\"kept\\\\\"}");
    CHECK(all[1].line == "next");
  }
}

TEST_CASE("no_line_makes_the_reader_hold_more_than_its_bounds") {
  auto record = record_of(ending::exited);
  record["stdout"]["text"] = "@";
  auto line = record.dump();
  line.replace(line.find('@'), 1, std::string(20 << 20, 'x'));
  const auto all = lines_of(line + "\n" + std::string(20 << 20, '7') + "\n{}");
  REQUIRE(all.size() == 4);
  REQUIRE(all[0].got == line_reader::got::line);
  CHECK(all[0].line.capacity() < 4 * line_reader::longest_string);
  CHECK(read_record(all[0].line));
  CHECK(all[1].got == line_reader::got::too_long);
  CHECK(all[1].line.capacity() <= 2 * line_reader::longest_line);
  CHECK(all[2].line == "{}");
}

TEST_CASE("a_descriptor_that_cannot_be_read_is_an_error_not_an_end") {
  const descriptor directory{::open("/", O_RDONLY | O_CLOEXEC)};
  line_reader reader{directory.get()};
  std::string line;
  CHECK(reader.next(line) == line_reader::got::error);
}
