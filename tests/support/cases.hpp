// Where the tables of checked cases lie.
#pragma once

#include <string>
#include <string_view>

namespace pinfold_test {

/// The absolute path of tests/cases/NAME.
std::string cases(std::string_view name);

}  // namespace pinfold_test
