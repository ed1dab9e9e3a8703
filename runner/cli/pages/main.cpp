// Writes the manual and the completions that belong to this build of the program.
//   pinfold-pages DIRECTORY     makes man/, bash/, zsh/ and fish/ in it; the directory must be there
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include <boost/filesystem/operations.hpp>

#include "cli/pages/described.hpp"

namespace pinfold::pages {
namespace {

void write(const std::string& directory, const page& one) {
  boost::filesystem::create_directory(directory);
  std::ofstream file{directory + "/" + one.name, std::ios::binary};
  file << one.text;
  if (!file.flush()) throw std::runtime_error{directory + "/" + one.name + ": cannot be written"};
}

void write_all_pages(const std::string& to) {
  const program parsed_by;
  const auto all = describe(parsed_by);
  for (const auto& one : manual(all)) write(to + "/man", one);
  write(to + "/bash", bash_completion(all));
  write(to + "/zsh", zsh_completion(all));
  write(to + "/fish", fish_completion(all));
}

}  // namespace
}  // namespace pinfold::pages

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    pinfold::pages::write_all_pages(argv[1]);
    return 0;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "pinfold-pages: %s\n", wrong.what());
    return 1;
  }
}
