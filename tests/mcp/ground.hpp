// A server on pipes with a thread of its own, and the client at the other end.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <pinfold/disk/descriptor.hpp>

#include "mcp/server.hpp"
#include "runner/ground.hpp"

namespace pinfold_test {

using pinfold::json;
namespace mcp = pinfold::mcp;

struct two_ends {
  two_ends() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  pinfold::descriptor read;
  pinfold::descriptor write;
};

inline mcp::session_settings settings_for(const std::string& workspace,
                                          pinfold::mode present = pinfold::mode::autonomous) {
  mcp::session_settings settings;
  settings.defaults.workspace = workspace;
  settings.defaults.present = present;
  settings.defaults.caches = pinfold::cache_choice::none;
  settings.bounds.grace = std::chrono::milliseconds{100};
  return settings;
}

/// A session in a folder of its own. The home is the folder's sibling.
class ground {
 public:
  explicit ground(std::function<void(mcp::session_settings&)> change = {}) {
    std::filesystem::create_directories(workspace());
    std::filesystem::create_directories(place_.path + "/home");
    auto settings = settings_for(workspace());
    if (change) change(settings);
    auto launcher =
        pinfold::runner::for_caller({"PATH=/usr/bin:/bin", "HOME=" + place_.path + "/home"});
    if (!launcher) throw std::runtime_error{launcher.error().message()};
    auto opened = mcp::session::open(std::move(settings), std::move(*launcher));
    if (!opened) throw std::runtime_error{opened.error().message()};
    now_ = std::move(*opened);
  }

  [[nodiscard]] std::string workspace() const { return place_.path + "/work"; }
  [[nodiscard]] mcp::session& now() const { return *now_; }

 private:
  folder place_;
  std::unique_ptr<mcp::session> now_;
};

/// A client of a server with these tools. Every wait has an end: `nothing` comes after it.
class client {
 public:
  using tool_list = std::function<std::vector<mcp::tool>(const mcp::session&)>;

  client(mcp::session& now, tool_list tools, mcp::audit_sink* log = nullptr)
      : thread_{[this, &now, tools = std::move(tools), log] {
          mcp::server{now, tools, {in_.read.get(), out_.write.get(), ending_.read.get()}, log}
              .serve();
          out_.write.reset();
        }} {}
  ~client() {
    hang_up();
    if (thread_.joinable()) thread_.join();
  }

  void send_text(std::string text) {
    text += '\n';
    for (std::string_view left = text; !left.empty();) {
      const auto wrote = ::write(in_.write.get(), left.data(), left.size());
      if (wrote <= 0) throw std::runtime_error{"the server does not read"};
      left.remove_prefix(static_cast<std::size_t>(wrote));
    }
  }
  void send(const json& message) { send_text(message.dump()); }
  void notify(const std::string& method, json params = json::object()) {
    send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }
  void ask(const json& id, const std::string& method, json params = json::object()) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  }
  void call(const json& id, const std::string& tool, json arguments = json::object()) {
    ask(id, "tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
  }

  /// The next line; null when none came in time, or the server has ended.
  json next(int milliseconds = 20'000) {
    for (;;) {
      if (const auto end = came_.find('\n'); end != std::string::npos) {
        auto line = json::parse(came_.substr(0, end));
        came_.erase(0, end + 1);
        return line;
      }
      pollfd on{out_.read.get(), POLLIN, 0};
      if (::poll(&on, 1, milliseconds) != 1) return nullptr;
      std::array<char, 65536> buffer{};
      const auto got = ::read(out_.read.get(), buffer.data(), buffer.size());
      if (got <= 0) return nullptr;
      came_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  /// The answer to a request; what comes before it is kept in `others`.
  json answer(const json& id) {
    for (auto line = next(); !line.is_null(); line = next()) {
      if (line.is_object() && line.value("id", json{}) == id && !line.contains("method")) {
        return line;
      }
      others.push_back(std::move(line));
    }
    return nullptr;
  }

  json initialize(const std::string& version = "2025-11-25", json capabilities = json::object()) {
    ask(0, "initialize",
        {{"protocolVersion", version},
         {"capabilities", std::move(capabilities)},
         {"clientInfo", {{"name", "test"}, {"version", "0"}}}});
    auto greeting = answer(0);
    notify("notifications/initialized");
    return greeting;
  }

  void hang_up() { in_.write.reset(); }
  void interrupt() { (void)!::write(ending_.write.get(), "x", 1); }
  void join() { thread_.join(); }

  std::vector<json> others;

 private:
  two_ends in_;
  two_ends out_;
  two_ends ending_;
  std::string came_;
  std::thread thread_;
};

}  // namespace pinfold_test
