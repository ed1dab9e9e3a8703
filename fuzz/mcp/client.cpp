// Pieces are packets: read(2) gives one at a time (unix(7), SOCK_SEQPACKET).
#include "mcp/client.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>
#include <pinfold/disk/descriptor.hpp>

#include "mcp/server.hpp"
#include "mcp/session.hpp"
#include "support/scratch.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {
namespace {

using namespace pinfold;
using namespace pinfold::mcp;

tool quick(std::string name, std::function<tool_result(const tool_call&)> act) {
  tool made;
  made.name = made.title = std::move(name);
  made.description = "a tool of the fuzz target";
  made.input = R"({"type":"object"})";
  made.output = R"({"type":"object"})";
  made.runs = pace::quick;
  made.act = std::move(act);
  return made;
}

tool_result echo(const tool_call& call) {
  return done("said", call.arguments);
}

tool_result refuse(const tool_call&) {
  const refusal why{.error = code::outside_workspace,
                    .op = operation::read,
                    .path = "../x",
                    .resolved = {},
                    .boundary = {},
                    .detail = {}};
  return not_done(why, {{operation::read, "../x", {}, verdict::refuse, why.error}});
}

tool_result throws(const tool_call&) {
  throw std::runtime_error{"a tool that throws"};
}

std::vector<tool> tools_for(const session&) {
  return {quick("echo", echo), quick("refuse", refuse), quick("throw", throws)};
}

/// Counts, and sees that a call ends once, after it began, and before the next one begins.
class counting_log : public audit_sink {
 public:
  explicit counting_log(heard& to) : to_{to} {}
  std::optional<refusal> begins(const call_begun& call) override {
    must(to_.begun == to_.ended, "a call ends before the next one of a quick tool begins");
    must(call.number == ++to_.begun, "calls are counted from 1");
    return std::nullopt;
  }
  std::optional<refusal> ended(const call_ended& call) override {
    must(call.number == ++to_.ended && to_.begun == to_.ended, "each end is that of the call begun");
    return std::nullopt;
  }

 private:
  heard& to_;
};

descriptor said(std::string_view stream, const std::vector<std::size_t>& cuts) {
  int ends[2];
  must(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "a socket pair is made");
  descriptor reading{ends[0]};
  const descriptor writing{ends[1]};
  std::size_t from = 0;
  const auto say = [&](std::size_t to) {
    if (to <= from) return;  // an empty packet would be the end
    const auto piece = stream.substr(from, to - from);
    must(::send(writing.get(), piece.data(), piece.size(), MSG_DONTWAIT) ==
             static_cast<ssize_t>(piece.size()),
         "the pieces fit into the socket");
    from = to;
  };
  for (const auto cut : cuts) say(cut);
  say(stream.size());
  return reading;
}

std::string content_of(int file) {
  const auto size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(size), '\0');
  must(::pread(file, text.data(), text.size(), 0) == size, "the output is read back");
  return text;
}

std::unique_ptr<session> new_session() {
  static const auto launcher = runner::for_caller({"HOME=/nonexistent", "PATH=/usr/bin:/bin"});
  must(launcher.has_value(), "there is a caller");
  session_settings settings;
  settings.defaults.workspace = scratch::of_this_process().path();
  settings.boundary = commands::unconfined_by_request;
  auto made = session::open(std::move(settings), *launcher);
  must(made.has_value(), "the scratch folder is a workspace");
  return std::move(*made);
}

}  // namespace

heard serve(std::string_view stream, const std::vector<std::size_t>& cuts) {
  heard all;
  const auto input = said(stream, cuts);
  const descriptor output{::memfd_create("answers", MFD_CLOEXEC)};
  must(output.is_open(), "a file for the answers is made");
  const auto now = new_session();
  counting_log log{all};
  server{*now, &tools_for, {.input = input.get(), .output = output.get()}, &log}.serve();
  all.output = content_of(output.get());
  return all;
}

}  // namespace pinfold_fuzz
