// Floor 0: the headers' version is the project's, in each of its forms.
#include <pinfold/version.hpp>

#include <string>

#include "support/catch.hpp"

using namespace pinfold;

TEST_CASE("the_headers_carry_the_version_of_the_project") {
  CHECK(version_text == PINFOLD_PROJECT_VERSION);
  CHECK(std::to_string(version_major) + "." + std::to_string(version_minor) + "." +
            std::to_string(version_patch) ==
        PINFOLD_PROJECT_VERSION);
}
