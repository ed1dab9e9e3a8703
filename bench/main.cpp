// What every benchmark prints before its rows: the machine and the file system that the numbers are
// from. Nothing is measured here.
#include "main.hpp"

#include <sys/statfs.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <benchmark/benchmark.h>

namespace pinfold_bench {

namespace {

std::string processor() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string kernel() {
  utsname name{};
  ::uname(&name);
  return std::string{name.sysname} + " " + name.release;
}

std::string file_system(const std::string& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return "unknown";
  switch (static_cast<unsigned long>(status.f_type)) {
    case 0xef53: return "ext4";
    case 0x01021994: return "tmpfs";
    case 0x58465342: return "xfs";
    case 0x9123683e: return "btrfs";
    case 0x794c7630: return "overlayfs";
    default: return "type " + std::to_string(status.f_type);
  }
}

}  // namespace

int run(int count, char** arguments) {
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("kernel", kernel());
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("file_system",
                              file_system(std::filesystem::temp_directory_path().native()));
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace pinfold_bench
