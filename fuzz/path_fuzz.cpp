// The lexical floors against a naive model: paths, grants, hosts, egress entries.
#include <string>

#include "path/checks.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

void try_input(std::span<const std::uint8_t> input) {
  bytes rest{input};
  switch (rest.below(4)) {
    case 0: {
      const auto room = rest.byte() * 17U;  // around every length up to PATH_MAX
      const auto first = read_text(rest);
      const auto second = read_text(rest);
      for (const auto& path : {first, second, "/" + first, first + "/" + second}) {
        check_one_path(path);
        check_normal_form(path, room);
        check_normal_form(path, path.size() + 1);
      }
      check_two_paths(first, second);
      check_two_paths("/" + first, "/" + first + second);
      check_two_paths("/" + first, "/" + first + "/" + second);
      return;
    }
    case 1:
      return check_grant(rest);
    case 2:
      while (!rest.is_empty()) check_host(read_text(rest));
      return;
    default: {
      const unsigned port = rest.byte() * 256U + rest.byte();
      const auto entry = read_text(rest);
      const auto host = read_text(rest);
      check_egress(entry, host, port);
      check_egress(host + ":" + std::to_string(port), host, port);
      check_egress("*." + host + ":443", entry + "." + host, 443);
      return;
    }
  }
}

}  // namespace pinfold_fuzz
