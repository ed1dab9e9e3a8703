// Floor 9, JSON: the names of the interface, and that no bytes make it invalid.
#include "json/json.hpp"

#include <random>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/utf8.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> names_of(const json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

/// The object as a reader gets it back from its line, which must be one line.
json read_back(const json& object) {
  const auto line = one_line(object);
  REQUIRE(is_utf8(line));
  REQUIRE(line.find('\n') == line.size() - 1);
  return json::parse(line);
}

refusal refused_read() {
  return {.error = code::outside_workspace,
          .op = operation::read,
          .path = "../app-old/x",
          .resolved = "/work/app-old",
          .boundary = "/work/app",
          .detail = {}};
}

run_record ordinary_record() {
  run_record record;
  record.ended = ending::exited;
  record.exit_code = 3;
  record.duration = 1500499us;
  record.setup = 8501us;
  record.out = {.text = "out\n", .head = 4, .bytes = 4, .dropped = 0};
  record.backend = backend_name::bubblewrap;
  record.workspace = "/work/app";
  return record;
}

std::string random_bytes(std::mt19937& random, std::size_t most) {
  std::string bytes(random() % (most + 1), '\0');
  for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? random() : 0xc0 + random() % 64);
  return bytes;
}

}  // namespace

TEST_CASE("a_run_record_has_exactly_the_names_of_the_interface") {
  const auto object = read_back(to_json(ordinary_record()));
  CHECK(names_of(object) ==
        std::vector<std::string>{"ended",       "exit_code",        "signal",    "limit",
                                 "duration_ms", "setup_ms",         "stdout",    "stderr",
                                 "backend",     "reason",           "network",   "workspace",
                                 "enforced",    "killed",           "host_run",  "refusal",
                                 "mode",        "gate",             "taint",     "network_decision",
                                 "cache",       "cache_directory",  "egress",    "taint_after",
                                 "blobs",       "worktree", "commits"});
  CHECK(names_of(object["stdout"]) ==
        std::vector<std::string>{"text", "bytes", "dropped", "clipped"});
  CHECK(object["ended"] == "exited");
  CHECK(object["exit_code"] == 3);
  CHECK(object["signal"].is_null());
  CHECK(object["duration_ms"] == 1500);
  CHECK(object["setup_ms"] == 9);
  CHECK(object["stdout"] ==
        json::parse(R"({"text":"out\n","bytes":4,"dropped":0,"clipped":false})"));
  CHECK(object["backend"] == "bubblewrap");
  CHECK(object["reason"].is_null());
  CHECK(object["network"] == "off");
  CHECK(object["workspace"] == "/work/app");
  CHECK(object["killed"] == 0);
  CHECK(object["host_run"].is_null());
  CHECK(object["refusal"].is_null());
}

TEST_CASE("a_record_says_what_is_out_of_the_ordinary") {
  auto record = ordinary_record();
  record.ended = ending::refused;
  record.exit_code.reset();
  record.signal = 9;
  record.killed = 2;
  record.network = network_access::on;
  record.reason = "--no-sandbox was given";
  record.host_run = host_run_report{
      .found = {{"a\xff", host_run_kind::link_out, "/etc"}, {".envrc", host_run_kind::environment, {}}},
      .more = 1,
      .entries = 9,
      .ended = walk_end_reason::budget};
  record.error = refused_read();
  const auto object = read_back(to_json(record, record_role::gate));
  CHECK(object["ended"] == "refused");
  CHECK(object["exit_code"].is_null());
  CHECK(object["signal"] == 9);
  CHECK(object["killed"] == 2);
  CHECK(object["host_run"] == json::parse(R"({"complete":false,"ended":"budget","entries":9,"more":1,
    "found":[{"path":"a\ufffd","path_base64":"Yf8=","kind":"link_out","detail":"/etc"},
             {"path":".envrc","kind":"environment","detail":null}]})"));
  CHECK(object["network"] == "on");
  CHECK(object["reason"] == "--no-sandbox was given");
  CHECK(object["refusal"]["error"] == "OutsideWorkspace");
  CHECK(object["role"] == "gate");
}

TEST_CASE("a_record_says_what_was_decided_and_with_what") {
  auto record = ordinary_record();
  record.decided.present = mode::ask;
  record.decided.open = gate::untainted;
  record.decided.before = taint::private_data;
  record.decided.after = taint::both;
  record.decided.network = decision::ask;
  record.decided.caches = cache_choice::own;
  record.decided.cache_directory = "/home/u/.cache/pinfold/1-2-3-4";
  const auto object = read_back(to_json(record));
  CHECK(object["mode"] == "ask");
  CHECK(object["gate"] == "untainted");
  CHECK(object["taint"] == json::parse(R"(["private_data"])"));
  CHECK(object["network_decision"] == "ask");
  CHECK(object["network"] == "off");
  CHECK(object["cache"] == "own");
  CHECK(object["cache_directory"] == "/home/u/.cache/pinfold/1-2-3-4");
  CHECK(object["taint_after"] == json::parse(R"(["untrusted_content","private_data"])"));
  CHECK_FALSE(to_json(record, record_role::gate).contains("mode"));
}

TEST_CASE("a_record_names_the_files_of_whole_outputs_and_what_became_of_them") {
  auto record = ordinary_record();
  CHECK(to_json(record)["blobs"].is_null());
  record.err_blob = kept_blob{.path = "/blobs/pinfold-1-stderr",
                              .bytes = 12,
                              .is_whole = false,
                              .error = "No space left on device"};
  const auto blobs = read_back(to_json(record))["blobs"];
  CHECK(names_of(blobs) == std::vector<std::string>{"stdout", "stderr"});
  CHECK(blobs["stdout"].is_null());
  CHECK(blobs["stderr"] == json::parse(R"({"path":"/blobs/pinfold-1-stderr","bytes":12,
                                           "whole":false,"error":"No space left on device"})"));
  record.err_blob = kept_blob{};
  CHECK(to_json(record)["blobs"]["stderr"]["path"].is_null());
}

TEST_CASE("a_refusal_has_exactly_the_names_of_the_interface") {
  const auto object = read_back(to_json(refused_read()));
  CHECK(names_of(object) == std::vector<std::string>{"error", "message", "operation", "path",
                                                     "resolved", "boundary", "remedy"});
  CHECK(object["message"] == refused_read().message());
  CHECK(object["operation"] == "read");
  CHECK(object["path"] == "../app-old/x");
  CHECK(object["resolved"] == "/work/app-old");
  CHECK(object["boundary"] == "/work/app");
  CHECK(object["remedy"] == "use_path_inside");
}

TEST_CASE("a_refusal_without_a_place_says_null_and_an_empty_path_stays_a_text") {
  const auto object = read_back(to_json(refusal{.error = code::invalid_path,
                                                .op = operation::write,
                                                .path = "",
                                                .resolved = "",
                                                .boundary = "",
                                                .detail = ""}));
  CHECK(object["path"] == "");
  CHECK(object["resolved"].is_null());
  CHECK(object["boundary"].is_null());
}

TEST_CASE("a_path_that_is_not_utf8_has_a_twin_with_its_bytes") {
  auto refused = refused_read();
  refused.path = "a\xff/b";
  refused.resolved = "/work/a\xff";
  const auto object = read_back(to_json(refused));
  CHECK(object["path"] == "a\xef\xbf\xbd/b");
  CHECK(object["path_base64"] == "Yf8vYg==");
  CHECK(object["resolved_base64"] == "L3dvcmsvYf8=");
  CHECK_FALSE(object.contains("boundary_base64"));
  auto record = ordinary_record();
  record.workspace = "/w\x80";
  CHECK(read_back(to_json(record))["workspace_base64"] == "L3eA");
}

TEST_CASE("a_checked_path_is_canonical_or_refused") {
  const auto inside =
      read_back(checked_path_json("x\xfe", operation::write, "/work/app/x\xfe", {}));
  CHECK(names_of(inside) == std::vector<std::string>{"path", "path_base64", "operation",
                                                     "canonical", "canonical_base64", "refusal"});
  CHECK(inside["refusal"].is_null());
  const auto outside = read_back(checked_path_json("/etc", operation::read, {}, refused_read()));
  CHECK(names_of(outside) == std::vector<std::string>{"path", "operation", "canonical", "refusal"});
  CHECK(outside["canonical"].is_null());
  CHECK(outside["refusal"]["error"] == "OutsideWorkspace");
}

TEST_CASE("a_clipped_text_has_one_marker_line_and_true_counts") {
  const captured_output output{.text =
                                   "ab\xe2"
                                   "\xac"
                                   "yz",
                               .head = 3,
                               .bytes = 106,
                               .dropped = 100};
  const auto object = read_back(to_json(output));
  CHECK(object["text"] == "ab\n[pinfold: 102 bytes left out]\nyz");
  CHECK(object["bytes"] == 106);
  CHECK(object["dropped"] == 102);  // 106 = "ab" + "yz" + 102
  CHECK(object["clipped"] == true);
}

TEST_CASE("broken_output_keeps_its_count_of_bytes") {
  const captured_output output{.text = "\xff\xff", .head = 2, .bytes = 2, .dropped = 0};
  const auto object = read_back(to_json(output));
  CHECK(object["text"] == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(object["bytes"] == 2);
  CHECK(object["clipped"] == false);
}

TEST_CASE("no_bytes_make_the_json_invalid_or_lose_a_count") {
  std::mt19937 random{17};
  for (int i = 0; i < 3000; ++i) {
    auto record = ordinary_record();
    record.out.text = random_bytes(random, 40);
    record.out.head = random() % 50;  // past the end, too
    record.out.dropped = random() % 3 == 0 ? 0 : random() % 5000;
    record.out.bytes = record.out.text.size() + record.out.dropped;
    record.reason = random_bytes(random, 20);
    record.workspace = random_bytes(random, 20);
    record.error = refusal{.error = code::not_found,
                           .op = operation::read,
                           .path = random_bytes(random, 20),
                           .resolved = random_bytes(random, 20),
                           .boundary = random_bytes(random, 20),
                           .detail = random_bytes(random, 20)};
    const auto object = read_back(to_json(record));
    REQUIRE(object["stdout"]["bytes"] == record.out.bytes);
    REQUIRE(object["stdout"]["dropped"].get<std::uint64_t>() >= record.out.dropped);
    REQUIRE(object["stdout"]["dropped"].get<std::uint64_t>() <= record.out.bytes);
  }
}

TEST_CASE("text_that_nobody_made_valid_is_written_all_the_same") {
  std::mt19937 random{19};
  for (int i = 0; i < 3000; ++i) {
    json object;
    object[random_bytes(random, 9)] = random_bytes(random, 30);
    REQUIRE(is_utf8(one_line(object)));
  }
}

TEST_CASE("a_line_in_pieces_is_the_same_line") {
  std::mt19937 random{23};
  for (int i = 0; i < 40; ++i) {
    auto record = ordinary_record();
    // Characters of all lengths, at every place of a cut; NULs, which are written six times as long.
    record.out.text = with_replacements(random_bytes(random, 400'000));
    record.err.text = std::string(random() % 300'000, '\0');
    record.out.head = record.out.text.size();
    record.err.head = record.err.text.size();
    record.enforced.push_back({"a \"property\"", strength::partial, "why\n"});
    const auto object = to_json(record);
    std::string line;
    std::size_t longest = 0;
    put_line(object, [&](std::string_view piece) {
      longest = std::max(longest, piece.size());
      line += piece;
    });
    REQUIRE((line == one_line(object)));  // in brackets: Catch would print all of it
    REQUIRE(longest <= 4 * line_piece);
  }
  std::string empty;
  put_line(json::object(), [&](std::string_view piece) { empty += piece; });
  CHECK(empty == "{}\n");
}

TEST_CASE("base64_is_that_of_rfc_4648") {
  CHECK(base64_of("") == "");
  CHECK(base64_of("f") == "Zg==");
  CHECK(base64_of("fo") == "Zm8=");
  CHECK(base64_of("foo") == "Zm9v");
  CHECK(base64_of("foobar") == "Zm9vYmFy");
  CHECK(base64_of("\xfb\xff\xbf") == "+/+/");
}
