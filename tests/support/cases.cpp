// The place is compiled in: a test is started from any folder.
#include "support/cases.hpp"

namespace pinfold_test {

std::string cases(std::string_view name) {
  return std::string{PINFOLD_TEST_CASES "/"}.append(name);
}

}  // namespace pinfold_test
