#include "cli/limits_report.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "cli/text.hpp"

namespace pinfold {
namespace {

std::string milliseconds(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

}  // namespace

bounds_report look_at_bounds(const prepared_run& planned, const limits& bounds,
                             std::uint64_t blob_most) {
  bounds_report report{bounds, std::nullopt, {}, {}};
  if (planned.blobs) report.blob_most = blob_most;
  const auto wanted = controllers::for_limits(bounds.resources);
  if (planned.plan.backend == backend_name::none || !wanted.is_any()) return report;
  auto place = find_cgroup_place(planned.extras.cgroups, wanted);
  (place ? report.cgroup : report.why_not) =
      place ? std::move(place->path) : std::move(place.error());
  return report;
}

std::vector<titled_line> lines_of(const bounds_report& report) {
  const auto& [bounds, blob_most, cgroup, why_not] = report;
  std::vector<titled_line> lines{
      {"time limit", bounds.time ? milliseconds(*bounds.time) : "none"},
      {"grace", milliseconds(bounds.grace) + " from SIGTERM to SIGKILL"}};
  const auto& resources = bounds.resources;
  if (resources.memory) lines.push_back({"memory limit", readable_size(*resources.memory)});
  if (resources.processes) {
    lines.push_back({"process limit", std::to_string(*resources.processes)});
  }
  if (!cgroup.empty()) lines.push_back({"held by", "the kernel, in a cgroup below " + cgroup});
  if (!why_not.empty()) lines.push_back({"held by", "stage two, which watches; no cgroup: " + why_not});
  if (resources.cpu_time) lines.push_back({"processor time limit", milliseconds(*resources.cpu_time)});
  if (resources.file_size) lines.push_back({"file size limit", readable_size(*resources.file_size)});
  lines.push_back({"output kept", readable_size(bounds.output) + " of each stream"});
  return lines;
}

json json_of(const bounds_report& report) {
  const auto& resources = report.bounds.resources;
  const auto number = [](const auto& limit) { return limit ? json(*limit) : json(nullptr); };
  const auto time = [](const auto& limit) { return limit ? json(limit->count()) : json(nullptr); };
  json object;
  object["time_ms"] = time(report.bounds.time);
  object["memory_bytes"] = number(resources.memory);
  object["processes"] = number(resources.processes);
  object["cpu_time_ms"] = time(resources.cpu_time);
  object["file_size_bytes"] = number(resources.file_size);
  object["grace_ms"] = report.bounds.grace.count();
  object["output_bytes"] = report.bounds.output;
  object["blob_bytes"] = number(report.blob_most);
  object["cgroup"] = nullptr;
  if (!report.cgroup.empty()) put_bytes(object, "cgroup", report.cgroup);
  object["no_cgroup"] = nullptr;
  if (!report.why_not.empty()) put_bytes(object, "no_cgroup", report.why_not);
  return object;
}

}  // namespace pinfold
