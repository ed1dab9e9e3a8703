// What the server's messages are held against, and who drives both. As `loop` it only parses each request
// and writes the answer of a read_file of 4 KiB with the JSON library; as `echo` it answers each line with
// a byte, which is a round trip of pipes. As `drive` it starts a program, sends it requests and prints how
// long that took, in nanoseconds.
//   mcp_messages loop | echo
//   mcp_messages drive pipelined|single COUNT CONTENT -- PROGRAM [ARG...]
// CONTENT is the text that each answer has to hold; for `pipelined` the whole time is printed, for `single`
// each round trip.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

extern char** environ;

namespace {

using json = nlohmann::ordered_json;
using clock_type = std::chrono::steady_clock;

[[noreturn]] void fail(std::string_view why) {
  std::cerr << "mcp_messages: " << why << '\n';
  std::exit(1);
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0) fail("nobody reads");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

/// Lines of a descriptor; `before_waiting` whenever there is no whole one yet.
class lines {
 public:
  explicit lines(int fd) : fd_{fd} {}

  template <class Before>
  std::optional<std::string_view> next(Before&& before_waiting) {
    for (;;) {
      const auto end = bytes_.find('\n', begin_);
      if (end != std::string::npos) {
        const auto line = std::string_view{bytes_}.substr(begin_, end - begin_);
        begin_ = end + 1;
        return line;
      }
      bytes_.erase(0, begin_);
      begin_ = 0;
      before_waiting();
      const auto size = bytes_.size();
      bytes_.resize(size + most);
      const auto got = ::read(fd_, bytes_.data() + size, most);
      if (got <= 0) return std::nullopt;
      bytes_.resize(size + static_cast<std::size_t>(got));
    }
  }

 private:
  static constexpr std::size_t most = std::size_t{64} << 10;
  int fd_;
  std::string bytes_;
  std::size_t begin_{0};
};

/// The answer that the server gives for a file of 4 KiB, made anew for each request.
json answer_for(const json& request, const std::string& content) {
  json answer;
  answer["jsonrpc"] = "2.0";
  answer["id"] = request["id"];
  auto& result = answer["result"];
  result["content"] = json::array({{{"type", "text"}, {"text", content}}});
  auto& told = result["structuredContent"];
  told["path"] = request["params"]["arguments"]["path"];
  told["binary"] = false;
  told["encoding"] = "utf-8";
  told["offset"] = 0;
  told["bytes"] = content.size();
  told["content"] = content;
  told["truncated"] = false;
  return answer;
}

std::string content_of(const char* path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

int loop(const std::string& content) {
  lines input{STDIN_FILENO};
  std::string out;
  const auto flush = [&out] {
    write_all(STDOUT_FILENO, out);
    out.clear();
  };
  while (const auto line = input.next(flush)) {
    const auto request = json::parse(*line);
    if (!request.contains("id")) continue;
    out += answer_for(request, content).dump();
    out += '\n';
    if (out.size() > std::size_t{64} << 10) flush();
  }
  return 0;
}

int echo() {
  lines input{STDIN_FILENO};
  while (input.next([] {})) write_all(STDOUT_FILENO, "\n");
  return 0;
}

struct peer {
  pid_t process{0};
  int to{-1};
  int from{-1};
};

peer start(char** argv) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) fail("no pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  peer made;
  if (::posix_spawnp(&made.process, argv[0], &actions, nullptr, argv, environ) != 0) {
    fail("the program cannot be started");
  }
  ::close(in[0]);
  ::close(out[1]);
  made.to = in[1];
  made.from = out[0];
  return made;
}

std::string request(std::uint64_t id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"file"}}})" "\n";
}

constexpr std::string_view greeting =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"bench","version":"0"},"arguments":{"path":""}}})" "\n"
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})" "\n";

/// The next answer; ends the program where there is none.
std::string_view awaited(lines& from) {
  const auto line = from.next([] {});
  if (!line) fail("the program ended");
  return *line;
}

void check(std::string_view answer, std::string_view content) {
  if (!answer.contains(content)) fail("an answer does not hold the content of the file");
}

void drive_pipelined(const peer& with, lines& from, std::uint64_t count, std::string_view content) {
  std::string all;
  for (std::uint64_t id = 1; id <= count; ++id) all += request(id);
  const auto begun = clock_type::now();
  std::thread writer{[&] { write_all(with.to, all); }};
  for (std::uint64_t id = 1; id <= count; ++id) {
    const auto answer = awaited(from);
    if (id == 1 || id == count) check(answer, content);
  }
  std::cout << (clock_type::now() - begun).count() << '\n';
  writer.join();
}

void drive_single(const peer& with, lines& from, std::uint64_t count, std::string_view content) {
  for (std::uint64_t id = 1; id <= count; ++id) {
    const auto text = request(id);
    const auto begun = clock_type::now();
    write_all(with.to, text);
    const auto answer = awaited(from);
    const auto took = clock_type::now() - begun;
    check(answer, content);
    std::cout << took.count() << '\n';
  }
}

int drive(int argc, char** argv) {
  if (argc < 8 || std::string_view{argv[5]} != "--") return 2;
  const auto with = start(argv + 6);
  lines from{with.from};
  write_all(with.to, greeting);
  (void)awaited(from);
  if (std::string_view{argv[6]}.ends_with("mcp_messages") && std::string_view{argv[7]} == "echo") {
    (void)awaited(from);  // it answers the notification too
  }
  const auto count = std::strtoull(argv[3], nullptr, 10);
  const bool is_single = std::string_view{argv[2]} == "single";
  (is_single ? drive_single : drive_pipelined)(with, from, count, argv[4]);
  ::close(with.to);
  int status = 0;
  ::waitpid(with.process, &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "loop" && argc == 3) return loop(content_of(argv[2]));
  if (role == "echo") return echo();
  if (role == "drive") return drive(argc, argv);
  return 2;
}
