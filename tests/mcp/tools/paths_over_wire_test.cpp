// Every row of tests/cases/paths.tsv that can be put into JSON, through read_file and write_file of a
// server on pipes. The verdict is the table's where the row is for that operation, else that of the
// portable resolver, which these tools do not use.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <map>
#include <thread>

#include "disk/case_table.hpp"
#include "disk/case_tree.hpp"
#include "json/utf8.hpp"
#include "mcp/server.hpp"
#include "mcp/tools/ground.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

constexpr std::string_view marker = "written over the wire";

/// A server on pipes in this process, and requests to it one after the other.
class wire {
 public:
  explicit wire(mcp::session& now) {
    must(::pipe2(to_.data(), O_CLOEXEC) == 0 && ::pipe2(from_.data(), O_CLOEXEC) == 0);
    server_ = std::thread{[this, &now] {
      const auto tools = [](const mcp::session& of) { return mcp::file_tools(of); };
      mcp::server{now, tools, {.input = to_[0], .output = from_[1]}}.serve();
    }};
    static_cast<void>(ask("initialize", {{"protocolVersion", "2025-06-18"},
                                         {"capabilities", json::object()},
                                         {"clientInfo", {{"name", "t"}, {"version", "1"}}}}));
    put({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }
  wire(const wire&) = delete;
  ~wire() {
    ::close(to_[1]);
    server_.join();
    for (const int fd : {to_[0], from_[0], from_[1]}) ::close(fd);
  }

  /// What a tool answered: "ok" and its path, or the verdict of its refusal.
  std::string call(const std::string& tool, const json& arguments) {
    const auto result = ask("tools/call", {{"name", tool}, {"arguments", arguments}});
    const auto& structured = result.at("structuredContent");
    if (!result.value("isError", false)) {
      return "ok " + (structured.contains("path_base64")
                          ? "base64 " + structured.at("path_base64").get<std::string>()
                          : structured.at("path").get<std::string>());
    }
    const auto why = parse_code(structured.at("refusal").at("error").get<std::string>());
    return why ? verdict_of(*why) : "no code";
  }

 private:
  static void must(bool done) {
    if (!done) throw std::runtime_error{"the pipe"};
  }
  void put(const json& message) {
    auto line = message.dump() + '\n';
    for (std::string_view left = line; !left.empty();) {
      const auto wrote = ::write(to_[1], left.data(), left.size());
      must(wrote > 0);
      left.remove_prefix(static_cast<std::size_t>(wrote));
    }
  }
  json ask(const std::string& method, const json& params) {
    const auto id = ++number_;
    put({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    for (;;) {
      auto answer = json::parse(next());
      if (answer.value("id", 0) == id) return answer.at("result");
    }
  }
  std::string next() {
    for (auto end = came_.find('\n');; end = came_.find('\n')) {
      if (end != std::string::npos) {
        auto line = came_.substr(0, end);
        came_.erase(0, end + 1);
        return line;
      }
      pollfd waiting{from_[0], POLLIN, 0};
      must(::poll(&waiting, 1, 20'000) == 1);
      std::array<char, 16384> buffer{};
      const auto size = ::read(from_[0], buffer.data(), buffer.size());
      must(size > 0);
      came_.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  std::string came_;
  int number_{0};
  std::thread server_;
};

/// Why a row cannot be asked over the wire; empty where it can.
std::string left_out(const case_row& row, const std::string& scratch) {
  for (const auto& item : tree_items(row.tree, scratch)) {
    if (item.starts_with("S:")) return "relative paths begin at the workspace";
    if (item.starts_with("x:") && item.ends_with("=write")) return "the server has no write roots";
    if (item == "w:/") return "its workspace is this machine, in which no test writes";
  }
  if (!is_utf8(input_bytes(row.input, scratch))) return "not UTF-8, so no JSON";
  return {};
}

/// The table's word for where a path leads.
std::string expected_for(const case_row& row, operation op, const std::string& scratch,
                         const prepared& at, const std::string& workspace) {
  const bool is_own =
      (op == operation::read && row.operation == "read") ||
      (op == operation::write && (row.operation == "write" || row.operation == "create"));
  if (is_own && row.verdict == "inside") return "ok " + bytes_of(row.canonical, scratch);
  if (is_own) return row.verdict;
  std::vector<extra_root> roots;
  for (const auto& path : at.root_paths) roots.push_back({path, root_access::read});
  const grant rules{workspace, default_carve_outs, roots};
  const auto found = resolve(rules, op, input_bytes(row.input, scratch), {}, resolver::portable);
  if (!found) return verdict_of(found.error().error);
  const auto tail = tail_below(workspace, found->canonical);
  if (!tail) return "ok " + found->canonical;
  return "ok " + (tail->empty() ? "." : std::string{*tail});
}

/// The table speaks of the place alone; what lies there may be no file, or closed by its mode.
bool agree(const std::string& expected, const std::string& answered) {
  if (expected == answered) return true;
  if (!expected.starts_with("ok ")) return false;
  if (answered.starts_with("ok base64 ")) return !is_utf8(expected);
  return answered == "IsADirectory" || answered == "SpecialFile" || answered == "denied";
}

/// Files below `scratch` and outside of the workspace and its roots that hold the marker.
std::string marked_outside(const std::string& scratch, const std::string& workspace) {
  std::string wrong;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator all{scratch, failed};
  for (; !failed && all != std::filesystem::recursive_directory_iterator{}; all.increment(failed)) {
    if (all.depth() > 20 || contains(workspace, all->path().native())) {
      all.disable_recursion_pending();
      continue;
    }
    if (all->is_symlink(failed) || !all->is_regular_file(failed)) continue;
    std::ifstream in{all->path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (text == marker) wrong += all->path().native() + " was written\n";
  }
  return wrong;
}

std::string ask_both(const case_row& row, const std::string& scratch, const prepared& at) {
  mcp::session_settings settings;
  settings.defaults.workspace = at.workspace;
  settings.defaults.read_roots = at.root_paths;
  auto launcher = runner::for_caller({"PATH=/usr/bin:/bin", "HOME=" + scratch + "/cwd"});
  if (!launcher) return launcher.error().message();
  auto now = mcp::session::open(std::move(settings), std::move(*launcher));
  if (!now && now.error().error == code::carve_out_unusable) return "closed";
  if (!now) return "no session: " + now.error().message() + "\n";
  const auto& workspace = (*now)->settings().defaults.workspace;
  const auto path = input_bytes(row.input, scratch);
  std::string wrong;
  const auto compare = [&](const std::string& tool, const std::string& expected,
                           const std::string& answered) {
    if (agree(expected, answered)) return;
    wrong += tool + ": expected " + expected + ", answered " + answered + "\n";
  };
  // The rows for it are left out; if one came through, this would be the machine's own files.
  if (!contains(scratch, workspace)) return "the workspace lies outside of the scratch place\n";
  wire to{**now};
  const auto to_read = expected_for(row, operation::read, scratch, at, workspace);
  const auto to_write = expected_for(row, operation::write, scratch, at, workspace);
  compare("read_file", to_read, to.call("read_file", {{"path", path}}));
  compare("write_file", to_write,
          to.call("write_file", {{"path", path}, {"content", marker}, {"make_directories", true}}));
  if (row.tree.contains("b:")) return wrong;  // what is mounted in the workspace is written there
  return wrong + marked_outside(scratch, workspace);
}

/// One row with the process as it was before. "closed ROW" where there is no server to ask.
std::string answers_to(const case_row& row, asker who, const std::string& scratch) {
  std::string wrong;
  try {
    const auto at = enter_case(scratch, row.tree, who);
    wrong = ask_both(row, scratch, at);
  } catch (const std::exception& thrown) {
    wrong = std::string{"threw: "} + thrown.what() + "\n";
  }
  leave_case();
  if (wrong.empty()) return {};
  if (wrong == "closed") return "closed " + row.id + "\n";
  return row.id + " (" + row.operation + " \"" + row.input + "\"): " + wrong;
}

/// Takes the lines about rows without a server out of `answers`.
words take_closed(std::string& answers) {
  words rows;
  for (auto at = answers.find("closed "); at != answers.npos; at = answers.find("closed ")) {
    const auto end = answers.find('\n', at);
    rows.push_back(answers.substr(at + 7, end - at - 7));
    answers.erase(at, end + 1 - at);
  }
  return rows;
}

}  // namespace

TEST_CASE("every_row_of_the_path_cases_is_answered_as_stated_over_the_wire") {
  std::map<std::string, words> out;
  std::vector<case_row> shared;
  std::size_t asked = 0;
  std::string wrong;
  for (const auto& row : read_cases(path_table)) {
    if (const auto why = left_out(row, "/tmp/scratch"); !why.empty()) {
      out[why].push_back(row.id);
      continue;
    }
    ++asked;
    if (!needs_own_process(row.tree)) {
      shared.push_back(row);
      continue;
    }
    const auto scratch = make_scratch();
    wrong += isolated([&] { return answers_to(row, asker::whoever, scratch); });
    remove_tree(scratch);
  }
  wrong += isolated(
      [&] {
        std::string all;
        for (const auto& row : shared) {
          const auto scratch = make_scratch();
          all += answers_to(row, asker::whoever, scratch);
          remove_tree(scratch);
        }
        return all;
      },
      300);
  auto& closed = out["the server refuses to start there (CarveOutUnusable)"] = take_closed(wrong);
  asked -= closed.size();
  CHECK("" == wrong);
  CHECK(asked >= 379);
  std::cout << "paths over the wire: " << asked << " rows asked of read_file and write_file\n";
  for (const auto& [why, rows] : out) {
    std::cout << "  left out (" << rows.size() << "), " << why << ":";
    for (const auto& id : rows) std::cout << ' ' << id;
    std::cout << '\n';
  }
}
