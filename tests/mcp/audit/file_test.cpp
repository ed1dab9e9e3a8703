// The file of lines: whole lines, whatever happens on the way.
#include "mcp/audit_file.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "cli/audit_lines.hpp"
#include "mcp/audit/ground.hpp"

using namespace pinfold;
using namespace pinfold_test;
using pinfold::mcp::audit_file;
using pinfold::mcp::durability;
namespace fs = std::filesystem;

TEST_CASE("a_line_is_appended_and_nothing_before_it_changes") {
  const log_file log;
  std::ofstream{log.path} << "before\n";
  audit_file file{log.open(), log.path};
  CHECK(file.append("one"));
  CHECK(file.append("two"));
  CHECK(file.sync(durability::now));
  CHECK(log.lines() == std::vector<std::string>{"before", "one", "two"});
}

TEST_CASE("what_a_crash_left_half_written_is_closed_off_and_kept") {
  const log_file log;
  std::ofstream{log.path} << "whole\n{\"event\":\"beg";
  audit_file file{log.open(), log.path};
  CHECK(file.append("one"));
  // Another session's crash, while this one goes on.
  std::ofstream{log.path, std::ios::app} << "{\"half";
  CHECK(file.append("two"));
  CHECK(log.lines() ==
        std::vector<std::string>{"whole", "{\"event\":\"beg", "one", "{\"half", "two"});
}

TEST_CASE("a_line_of_which_the_disk_took_a_part_is_closed_off") {
  const log_file log;
  audit_file file{log.open(), log.path};
  CHECK(file.append("first"));
  {
    const small_disk full{10};
    CHECK_FALSE(file.append("0123456789"));
  }
  CHECK(file.append("0123456789"));
  CHECK(log.lines() == std::vector<std::string>{"first", "0123", "0123456789"});
}

TEST_CASE("a_line_that_is_too_long_is_not_begun") {
  const log_file log;
  audit_file file{log.open(), log.path};
  CHECK_FALSE(file.append(std::string(audit_file::longest_line + 1, 'x')));
  CHECK(log.lines().empty());
}

TEST_CASE("a_file_that_was_removed_or_got_a_second_name_takes_no_line") {
  const log_file log;
  audit_file file{log.open(), log.path};
  CHECK(file.append("one"));
  fs::create_hard_link(log.path, log.path + "-too");
  CHECK_FALSE(file.append("two"));
  fs::remove(log.path + "-too");
  CHECK(file.append("three"));
  CHECK(log.lines() == std::vector<std::string>{"one", "three"});
  fs::remove(log.path);
  CHECK_FALSE(file.append("four"));
}

TEST_CASE("a_file_that_its_name_leads_to_no_more_takes_no_line_until_it_is_back") {
  const log_file log;
  audit_file file{log.open(), log.path};
  CHECK(file.append("one"));
  const auto other = log.path + ".2";
  fs::rename(log.path, other);
  const auto why_not = [&file] {
    const auto written = file.append("two");
    return written ? std::string{} : written.error();
  };
  CHECK(why_not() == "it was moved away");
  std::ofstream{log.path} << "";
  CHECK(why_not() == "it was moved away, and something else has its name");
  fs::remove(log.path);
  fs::create_symlink(other, log.path);
  CHECK_FALSE(why_not().empty());
  fs::rename(other, log.path);
  CHECK(file.append("three"));
  CHECK(log.lines() == std::vector<std::string>{"one", "three"});
}

TEST_CASE("a_lock_that_somebody_else_holds_is_waited_for_and_not_for_ever") {
  const log_file log;
  audit_file file{log.open(), log.path};
  // Of another process: reading is enough for it.
  const descriptor other{::open(log.path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct flock whole{};
  whole.l_type = F_RDLCK;
  whole.l_whence = SEEK_SET;
  REQUIRE(::fcntl(other.get(), F_OFD_SETLK, &whole) == 0);
  const auto begun = std::chrono::steady_clock::now();
  CHECK_FALSE(file.append("one"));
  CHECK(std::chrono::steady_clock::now() - begun >= audit_file::longest_wait);
  whole.l_type = F_UNLCK;
  REQUIRE(::fcntl(other.get(), F_OFD_SETLK, &whole) == 0);
  CHECK(file.append("two"));
  CHECK(log.lines() == std::vector<std::string>{"two"});
}

TEST_CASE("sessions_that_share_a_file_mix_no_lines") {
  const log_file log;
  const auto write = [&log](char letter) {
    audit_file file{log.open(), log.path};
    for (int i = 0; i < 200; ++i) {
      if (!file.append(std::string(9000, letter))) std::abort();
    }
  };
  std::thread other{write, 'b'};
  write('a');
  other.join();
  const auto lines = log.lines();
  CHECK(lines.size() == 400);
  for (const auto& line : lines) {
    REQUIRE(line == std::string(9000, line.front()));
  }
}

namespace {

/// A session that makes calls until it is killed; each line is longer than a page, so that a kill can
/// come in the middle of one.
[[noreturn]] void call_for_ever(const log_file& log) {
  const auto session = log.begin();
  for (std::uint64_t number = 1;; ++number) {
    const told_call call{number, "bash", {{"command", std::string(8000, '\1')}}};
    if (call.begins(*session)) ::_exit(3);
    if (!call.ends(*session, {})) ::_exit(4);
  }
}

}  // namespace

TEST_CASE("a_session_that_is_killed_at_any_moment_leaves_every_complete_line_valid") {
  const log_file log;
  constexpr int kills = 100;
  std::mt19937 random{20261201};
  for (int i = 0; i < kills; ++i) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) call_for_ever(log);
    std::this_thread::sleep_for(std::chrono::microseconds{500 + random() % 12000});
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
  }
  { const auto last = log.begin(); }
  std::set<std::string> sessions;
  std::map<std::string, std::uint64_t> calls;
  int cut = 0;
  for (const auto& line : log.lines()) {
    const auto entry = read_audit_line(line);
    if (!entry) {
      ++cut;
      continue;
    }
    sessions.insert(entry->session);
    // No complete entry is missing: the calls of a session follow one another.
    if (entry->event == audit_event::begins) REQUIRE(entry->call == ++calls[entry->session]);
    if (entry->event == audit_event::ended) REQUIRE(entry->call == calls[entry->session]);
  }
  CHECK(cut <= kills);
  CHECK(sessions.size() > kills / 2);
  INFO(cut << " lines were cut short");
  SUCCEED();
}
