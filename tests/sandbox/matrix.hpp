// The whole matrix: every backend x mode x gate x taint x start region x carve-outs, with and
// without the token. Each case leads to a guard, and perhaps to a plan.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/guard.hpp>
#include <pinfold/sandbox/bubblewrap.hpp>
#include <pinfold/sandbox/confine.hpp>
#include <pinfold/sandbox/none.hpp>
#include <pinfold/sandbox/seatbelt.hpp>

#include "support/all.hpp"

namespace pinfold::matrix {

inline constexpr std::string_view workspace = "/work/app";

inline constexpr std::array<carve_out, 6> many_carve_outs{{
    {".efferent", carve_kind::harness_state},
    {".foundry", carve_kind::harness_state},
    {".git/hooks", carve_kind::host_run},
    {".git/config", carve_kind::host_run},
    {"src/generated", carve_kind::harness_state},
    {"ci", carve_kind::host_run},
}};

/// None, the default ones, and two more: each list is the beginning of the next.
inline constexpr std::array<std::size_t, 3> carve_out_counts{0, 4, 6};

inline constexpr std::array<extra_root, 3> roots{{
    {"/opt/tool", root_access::read},
    {"/cache", root_access::write},
    {"/cache/kept/ro", root_access::read},
}};

/// One directory of each region to start in.
inline constexpr std::array<std::string_view, 5> start_directories{
    "/work/app/src", "/work/app/.efferent", "/work/app/.git/hooks", "/cache/x", "/home/u"};

/// Files all over the machine, the first of them one for each region.
inline constexpr std::array<std::string_view, 20> every_file{
    "/work/app/x",
    "/work/app/.efferent/a/b",
    "/work/app/.git/hooks/pre-commit",
    "/cache/kept/ro/x",
    "/cache/x",
    "/work/app-old/x",
    "/work/app/src/generated/x",
    "/work/app/src/x.cpp",
    "/work/app/ci/x",
    "/work/app/.git/index",
    "/work/app/.git/config",
    "/work/app/.foundry/x",
    "/work/app/.efferent-old/x",
    "/work/x",
    "/opt/tool/cc",
    "/opt/tool-2/cc",
    "/etc/passwd",
    "/home/u/.ssh/id_ed25519",
    "/usr/bin/cc",
    "/secret",
};

/// The files that a law looks at: all of them, or as many as a compiler can do.
constexpr std::span<const std::string_view> files() {
  if
    consteval {
      return std::span{every_file}.first(5);
    }
  return every_file;
}

enum class token : bool { withheld, passed };

struct one_case {
  backend_name backend;
  mode present;
  gate open;
  taint labels;
  std::size_t carve_outs;
  std::string_view directory;
  token without_a_boundary;

  [[nodiscard]] constexpr grant policy() const {
    return grant{workspace, std::span{many_carve_outs}.first(carve_outs), roots};
  }
  [[nodiscard]] constexpr guard decided() const {
    const guard g{policy(), present, open, labels, enforcement_of(backend)};
    return without_a_boundary == token::passed ? g.allowing(unconfined{}) : g;
  }
};

/// What a harness knows beforehand of a machine that runs under this backend.
constexpr confinement known_facts(backend_name backend, std::string_view command = "make") {
  confinement facts;
  facts.command.emplace_back(command);
  if (enforcement_of(backend) != enforcement::enforced) return facts;
  facts.environment.emplace_back("PATH=/usr/bin");
  facts.hidden.emplace_back().path = "/home";
  facts.hidden_files.emplace_back("/secret");
  return facts;
}

constexpr std::expected<launch_plan, refusal> wrap(backend_name backend, const confinement& facts) {
  switch (backend) {
    case backend_name::none:
      return none_backend{}.wrap(facts);
    case backend_name::bubblewrap:
      return bubblewrap{}.wrap(facts);
    case backend_name::seatbelt:
      return seatbelt{}.wrap(facts);
  }
  return none_backend{}.wrap(facts);
}

/// The whole way from the decision to the plan.
constexpr std::expected<launch_plan, refusal> plan_of(const one_case& it,
                                                      std::string_view command = "make") {
  auto facts =
      confine(it.decided(), call::execute(command, it.directory), known_facts(it.backend, command));
  if (!facts) return std::unexpected{std::move(facts.error())};
  return wrap(it.backend, *facts);
}

/// Calls `holds` for each case until it is false: which one that was, or nothing.
template <class Backends, class Directories, class F>
constexpr std::optional<one_case> first_failure(const Backends& backends,
                                                const Directories& directories, F holds) {
  for (auto backend : backends) {
    for (auto present : all::modes) {
      for (auto open : all::gates) {
        for (auto labels : all::taints) {
          for (auto carve_outs : carve_out_counts) {
            for (auto directory : directories) {
              for (auto passed : {token::withheld, token::passed}) {
                const one_case it{backend, present, open, labels, carve_outs, directory, passed};
                if (!holds(it)) return it;
              }
            }
          }
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace pinfold::matrix
