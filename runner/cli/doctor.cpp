#include "cli/commands.hpp"
namespace pinfold {
std::unique_ptr<command> make_doctor(CLI::App&) {
  return nullptr;
}
}  // namespace pinfold
