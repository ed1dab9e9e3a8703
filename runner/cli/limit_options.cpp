// Every value is checked before anything is started; a range is refused, never clipped.
#include "cli/limit_options.hpp"

#include <charconv>
#include <optional>

#include <CLI/App.hpp>

#include <pinfold/sandbox/confinement.hpp>

#include "cli/text.hpp"

namespace pinfold {
namespace {

using size = std::expected<std::optional<std::uint64_t>, std::string>;

constexpr size_range memory_sizes{1 << 20, 1ULL << 40};
constexpr size_range file_sizes{1, 1ULL << 40};
constexpr size_range tmp_sizes{64 << 10, 1ULL << 40};

size parse_optional_size(const char* option, const std::string& text, size_range allowed) {
  if (text.empty()) return std::nullopt;
  const auto bytes = parse_size(text, allowed);
  if (!bytes) return std::unexpected{std::string{option} + ": " + bytes.error()};
  return *bytes;
}

std::expected<std::uint64_t, std::string> parse_processes(const std::string& text) {
  if (text.empty()) return default_processes;
  constexpr std::uint64_t most = 1 << 20;
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && number >= 1 &&
      number <= most) {
    return number;
  }
  return std::unexpected{"--processes: \"" + terminal_safe(text) +
                         "\" is not a number of processes: write one from 1 to 1048576"};
}

}  // namespace

void add_limit_options(CLI::App& app, limit_options& to) {
  app.add_option("--memory", to.memory,
                 "End the command when all of its processes hold more than this: 512MiB, 4GiB "
                 "(default: no limit). Like --processes a hard bound where a cgroup is delegated to "
                 "you, else watched over: explain says which")
      ->type_name("SIZE");
  app.add_option("--processes", to.processes,
                 "End the command when it has more tasks than this; threads count (default: 4096)")
      ->type_name("N");
  app.add_option("--cpu-time", to.cpu_time,
                 "End the command when all of its processes used the processor this long (default: "
                 "no limit)")
      ->type_name("TIME");
  app.add_option("--file-size", to.file_size, "No file may grow beyond this (default: no limit)")
      ->type_name("SIZE");
  app.add_option("--tmp-size", to.tmp_size,
                 "The size of each of /tmp, /var/tmp and /dev/shm inside (default: 1GiB)")
      ->type_name("SIZE");
}

bool is_any_given(const limit_options& given) noexcept {
  for (const auto* text :
       {&given.memory, &given.processes, &given.cpu_time, &given.file_size, &given.tmp_size}) {
    if (!text->empty()) return true;
  }
  return false;
}

std::expected<resource_limits, std::string> resource_limits_of(const limit_options& given) {
  resource_limits wanted;
  const auto memory = parse_optional_size("--memory", given.memory, memory_sizes);
  if (!memory) return std::unexpected{memory.error()};
  wanted.memory = *memory;
  const auto processes = parse_processes(given.processes);
  if (!processes) return std::unexpected{processes.error()};
  wanted.processes = *processes;
  if (!given.cpu_time.empty()) {
    const auto time = parse_duration(given.cpu_time);
    if (!time) return std::unexpected{"--cpu-time: " + time.error()};
    wanted.cpu_time = *time;
  }
  const auto file = parse_optional_size("--file-size", given.file_size, file_sizes);
  if (!file) return std::unexpected{file.error()};
  wanted.file_size = *file;
  return wanted;
}

std::expected<std::uint64_t, std::string> tmp_size_of(const limit_options& given) {
  const auto bytes = parse_optional_size("--tmp-size", given.tmp_size, tmp_sizes);
  if (!bytes) return std::unexpected{bytes.error()};
  return bytes->value_or(confinement{}.scratch_bytes);
}

}  // namespace pinfold
