#include "host/shell.hpp"

#include <utility>

#include "host/program.hpp"

namespace pinfold {
namespace {

std::unexpected<refusal> refused(code error, std::string path, std::string why) {
  return std::unexpected{refusal{.error = error,
                                 .op = operation::execute,
                                 .path = std::move(path),
                                 .resolved = {},
                                 .boundary = {},
                                 .detail = std::move(why)}};
}

}  // namespace

std::expected<std::string, refusal> host_bash(std::span<const std::string_view> places) {
  for (const auto place : places) {
    const auto facts = look_at_program(std::string{place});
    if (facts.kind == program_kind::missing) continue;
    auto why = why_distrusted(facts);
    if (why.empty()) return facts.file.path;
    return refused(code::permission_denied, std::string{place}, "this bash is not started: " + why);
  }
  return refused(code::not_found, "bash", "there is none in /usr/bin, /bin or /usr/local/bin");
}

}  // namespace pinfold
