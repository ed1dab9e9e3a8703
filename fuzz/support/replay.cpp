// Runs a target over files that are already there: the corpus and every input that once broke a
// promise. Needs no fuzzer and no clang, so the ordinary test run does it.
//   TARGET_replay [--times N] FILE_OR_DIRECTORY...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "support/target.hpp"

namespace {

std::vector<std::filesystem::path> files_at(const std::filesystem::path& place) {
  if (!std::filesystem::is_directory(place)) return {place};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{place}) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// The bytes of a file; a file that cannot be read ends the run, for it would test nothing.
std::vector<std::uint8_t> content_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

int main(int argc, char** argv) {
  int times = 1;
  int first = 1;
  if (argc > 2 && std::string_view{argv[1]} == "--times") {
    times = std::atoi(argv[2]);
    first = 3;
  }
  std::size_t count = 0;
  for (int i = first; i < argc; ++i) {
    for (const auto& file : files_at(argv[i])) {
      const auto input = content_of(file);
      // Before the run: a broken promise ends the process.
      std::printf("%s\n", file.c_str());
      for (int again = 0; again < times; ++again) pinfold_fuzz::try_input(input);
      ++count;
    }
  }
  std::printf("%zu inputs, all promises held\n", count);
  if (count != 0) return 0;
  std::fprintf(stderr, "there was nothing to replay\n");
  return 2;
}
