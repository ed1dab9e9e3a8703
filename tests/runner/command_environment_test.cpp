// The command's environment: a short list, and what was asked for by name.
#include "sandbox/command_environment.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/shell.hpp"
#include "support/catch.hpp"

namespace {

using namespace pinfold;
using entries = std::vector<std::string>;

caller caller_with(entries environment) {
  return {.environment = caller_environment{std::move(environment)},
          .home = {},
          .homes = {},
          .git = {}};
}

entries sorted(entries list) {
  std::ranges::sort(list);
  return list;
}

entries made(entries environment, const std::vector<environment_request>& asked = {},
             const std::string& workspace = "/w") {
  const auto list = command_environment(caller_with(std::move(environment)), workspace,
                                        "/tmp/home", asked);
  REQUIRE(list);
  return sorted(*list);
}

std::string path_for(const std::string& callers, const std::string& workspace = "/w") {
  for (const auto& entry : made({"PATH=" + callers}, {}, workspace)) {
    if (entry.starts_with("PATH=")) return entry.substr(5);
  }
  return "none";
}

}  // namespace

TEST_CASE("only the short list comes along") {
  CHECK(made({"PATH=/usr/bin", "HOME=/home/u", "LANG=C", "LC_ALL=C.UTF-8", "LC_TIME=x", "TERM=t",
              "TZ=UTC", "USER=u", "LOGNAME=u", "SHELL=/bin/sh", "GITHUB_TOKEN=secret",
              "LD_PRELOAD=/w/x.so", "LD_LIBRARY_PATH=/w", "BASH_ENV=/w/x", "ENV=/w/x",
              "NODE_OPTIONS=x", "PYTHONPATH=x", "GIT_SSH_COMMAND=x", "SSH_AUTH_SOCK=/run/x",
              "XDG_RUNTIME_DIR=/run/user/1", "LANGUAGE=x", "TERMINFO=x", "lc_x=1", "NOEQUALS",
              "=odd", "BASH_FUNC_x%%=() { evil; }"}) ==
        sorted({"PATH=/w/.local/bin:/usr/bin", "HOME=/tmp/home", "LANG=C", "LC_ALL=C.UTF-8",
                "LC_TIME=x", "TERM=t", "TZ=UTC", "USER=u", "LOGNAME=u", "SHELL=/bin/sh"}));
}

TEST_CASE("the workspace's own tools come first, and only absolute directories after them") {
  CHECK(path_for("/usr/bin:/bin") == "/w/.local/bin:/usr/bin:/bin");
  CHECK(path_for("") == "/w/.local/bin");
  CHECK(path_for(":.:bin:../x::/bin:") == "/w/.local/bin:/bin");
  CHECK(path_for("/bin", "/w:x") == "/bin");
  CHECK(made({}).back().starts_with("PATH=/w/.local/bin:/usr/local/sbin:"));
}

TEST_CASE("what is asked for by name comes along, and overrules") {
  CHECK(made({"TOKEN=t", "LANG=C", "PATH=/bin"},
             {{"TOKEN", {}}, {"LANG", "de"}, {"NEW", ""}, {"NEW", "a=b\nc"}, {"PATH", "/x"}}) ==
        sorted({"HOME=/tmp/home", "LANG=de", "NEW=a=b\nc", "PATH=/x", "TOKEN=t"}));
}

TEST_CASE("a name that is none, and a variable that the caller does not have, are refused") {
  for (const std::string name : {"", "1A", "A B", "A-B", "A=B", "\u00e4", "A\n", "A.B"}) {
    INFO(name);
    const auto list = command_environment(caller_with({}), "/w", "/h", {{name, "x"}});
    REQUIRE_FALSE(list);
    CHECK(list.error().error == code::invalid_argument);
    CHECK(list.error().path == name);
  }
  const auto list = command_environment(caller_with({"AB=1"}), "/w", "/h", {{"A", {}}});
  REQUIRE_FALSE(list);
  CHECK(list.error().error == code::invalid_argument);
}

TEST_CASE("without a boundary nothing of the workspace is in PATH") {
  const auto path_without = [](const std::string& callers) {
    const auto list = command_environment(caller_with({"PATH=" + callers}), "/w", "/h", {}, {},
                                          workspace_tools::left_out);
    REQUIRE(list);
    REQUIRE(list->front().starts_with("PATH="));
    return list->front().substr(5);
  };
  CHECK(path_without("/w/.local/bin:/usr/bin:/w:/w-old/bin") == "/usr/bin:/w-old/bin");
  for (const char* nothing : {"", ".", "/w", "/w/bin:x"}) {
    INFO(nothing);
    CHECK(path_without(nothing).starts_with("/usr/local/sbin:"));
  }
}

TEST_CASE("a bash that others could have written is not started") {
  const std::array<std::string_view, 2> places{"/nowhere/bash", "/tmp"};
  CHECK(host_bash(places).error().error == code::permission_denied);
  CHECK(host_bash(std::span{places}.first(1)).error().error == code::not_found);
  CHECK(host_bash().value().starts_with("/"));
}
