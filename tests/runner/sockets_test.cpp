// The kernel's list of sockets as text, and what may be bound back.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "runner/ground.hpp"
#include "sandbox/sockets.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

using paths = std::vector<std::string>;

void listen_at(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(fd);
}

}  // namespace

TEST_CASE("the list gives absolute paths, each once, and no abstract or relative name") {
  CHECK(socket_paths_in(
            "Num       RefCount Protocol Flags    Type St Inode Path\n"
            "ffff888: 00000002 00000000 00010000 0001 01 18000 /run/a b/socket\n"
            "ffff889: 00000002 00000000 00010000 0001 01    18 /run/a b/socket\n"
            "ffff88a: 00000002 00000000 00000000 0002 01 18001\n"
            "ffff88b: 00000002 00000000 00010000 0001 01 18002 @/tmp/.X11-unix/X0\n"
            "ffff88c: 00000002 00000000 00010000 0001 01 18003 relative\n"
            "ffff88d: 00000002 00000000 00010000 0001 01 18004 /var/lib/x/s") ==
        paths{"/run/a b/socket", "/var/lib/x/s"});
}

TEST_CASE("no text makes the reader of the list fall over") {
  for (const auto* text : {"", "\n", " ", "\n\n", "a", "a b c d e f g", "a b c d e f g ",
                           "a b c d e f g /", "       /x", "a b c d e f g h /x"}) {
    for (const auto& path : socket_paths_in(text)) CHECK(path.starts_with('/'));
  }
}

TEST_CASE("a socket is shown and nothing else is") {
  const pinfold_test::folder place;
  const auto workspace = place.path + "/work";
  ::mkdir(workspace.c_str(), 0755);
  listen_at(place.path + "/socket");
  listen_at(workspace + "/socket");
  std::ofstream{place.path + "/file"} << "x";
  REQUIRE(::symlink("socket", (place.path + "/link").c_str()) == 0);

  for (const auto* name : {"/socket", "/link", "/work/../socket"}) {
    const auto shown = allowed_socket(place.path + name, workspace);
    REQUIRE(shown);
    CHECK(shown->target == place.path + "/socket");
    CHECK(shown->source == shown->target);
    CHECK(shown->access == root_access::read);
    CHECK(shown->purpose == shared_path::use::socket);
  }
  for (const auto& path : {place.path, place.path + "/file", place.path + "/missing",
                           workspace + "/socket", std::string{"/dev/null"}, std::string{}}) {
    INFO(path);
    const auto shown = allowed_socket(path, workspace);
    REQUIRE_FALSE(shown);
    CHECK(shown.error().error == code::invalid_argument);
  }
}
