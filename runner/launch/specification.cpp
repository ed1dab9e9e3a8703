// Little more than lengths and bytes; the reader on the other side trusts none of them.
#include "launch/specification.hpp"

#include <algorithm>

#include "launch/boundary.hpp"
#include "launch/packed.hpp"
#include "launch/stage_protocol.hpp"

namespace pinfold {
namespace {

std::uint32_t flags_of(const launch_plan& plan, stage_streams streams,
                       const launch_extras& extras) {
  std::uint32_t flags = 0;
  if (streams == stage_streams::terminal) flags |= stage::flag_terminal;
  if (plan.backend == backend_name::bubblewrap) flags |= stage::flag_confined;
  if (extras.access == workspace_access::read_write) flags |= stage::flag_must_write;
  if (extras.cores == core_dumps::as_the_caller) flags |= stage::flag_keep_core_dumps;
  if (plan.nesting == nested_namespaces::allowed) flags |= stage::flag_may_nest;
  if (plan.network == network_access::off) flags |= stage::flag_offline;
  return flags;
}

stage::wanted_limits packed(const resource_limits& limits) {
  const auto time = limits.cpu_time.value_or(std::chrono::milliseconds{0});
  return {.memory_bytes = limits.memory.value_or(0),
          .tasks = limits.processes.value_or(0),
          .cpu_milliseconds = static_cast<std::uint64_t>(time.count()),
          .file_bytes = limits.file_size.value_or(0)};
}

}  // namespace

std::string pack_specification(const launch_plan& plan, const resource_limits& limits,
                               stage_streams streams, const launch_extras& extras) {
  const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  std::string text;
  const auto places = expected_places(plan);
  stage::head head{.magic = stage::magic,
                   .flags = flags_of(plan, streams, extras),
                   .arguments = count(plan.command),
                   .environment = count(plan.environment),
                   .files = count(extras.files),
                   .proofs = count(extras.proofs),
                   .places = count(places),
                   .held = count(extras.held),
                   .host_namespaces = {},
                   .limits = packed(limits),
                   .listeners = count(extras.listeners),
                   .listener_ports = {}};
  std::ranges::copy(extras.listeners, head.listener_ports);
  std::ranges::copy(foreign_namespaces(plan), head.host_namespaces);
  append_bytes(text, head);
  append_text(text, plan.directory);
  for (const auto& word : plan.command) append_text(text, word);
  for (const auto& entry : plan.environment) append_text(text, entry);
  for (const auto& file : extras.files) {
    append_text(text, file.path);
    append_text(text, file.content);
  }
  for (const auto& one : extras.proofs) {
    append_bytes(text,
                 stage::proof{.device = one.device,
                              .inode = one.inode,
                              .read_only = one.state == place_proof::mount::read_only ? 1U : 0U,
                              .by_identity = one.object == place_proof::identity::same ? 1U : 0U});
    append_text(text, one.path);
  }
  for (const auto& one : places) {
    append_bytes(text, stage::place{.kind = one.kind, .entries = count(one.entries)});
    append_text(text, one.path);
    for (const auto& entry : one.entries) append_text(text, entry);
  }
  return text;
}

}  // namespace pinfold
