// One fixed confinement, complete enough that every kind of mount is in its plan.
#pragma once

#include <string>

#include <pinfold/sandbox/confinement.hpp>

namespace pinfold_test {

/// A checkout below a hidden home, with harness state, git's doors, one read root and one secret.
constexpr pinfold::confinement fixed_facts() {
  using namespace pinfold;
  confinement facts;
  facts.workspace = "/home/u/work";
  facts.directory = "/home/u/work/src";
  facts.command.emplace_back("make");
  facts.command.emplace_back("test");
  facts.environment.emplace_back("PATH=/usr/bin");
  facts.environment.emplace_back("EMPTY=");
  facts.scratch_bytes = 4096;
  auto& state = facts.carve_outs.emplace_back();
  state.path = "/home/u/work/.foundry";
  auto& config = facts.carve_outs.emplace_back();
  config.path = "/home/u/work/.git/config";
  config.kind = carve_kind::host_run;
  config.type = file_kind::file;
  facts.pinned.emplace_back("/home/u/work/.git");
  auto& tools = facts.shared.emplace_back();
  tools.source = "/home/u/.cargo";
  tools.target = "/home/u/.cargo";
  facts.hidden.emplace_back().path = "/home";
  auto& scratch = facts.hidden.emplace_back();
  scratch.path = "/tmp";
  scratch.contents = hidden_path::use::scratch;
  facts.hidden_files.emplace_back("/etc/shadow");
  return facts;
}

constexpr pinfold::confinement minimal_facts() {
  auto facts = fixed_facts();
  facts.root = pinfold::root_profile::minimal;
  facts.hidden_files.clear();
  facts.visible.emplace_back().path = "/usr";
  auto& link = facts.visible.emplace_back();
  link.path = "/bin";
  link.type = pinfold::file_kind::link;
  link.target = "usr/bin";
  return facts;
}

}  // namespace pinfold_test
