// Which pinfold these headers are. A test compares it with the version that CMake and the packages
// carry.
#pragma once

#include <string_view>

/// For the preprocessor: 10000 * major + 100 * minor + patch.
#define PINFOLD_VERSION 100

namespace pinfold {

/// Semantic Versioning: below 1.0.0 each minor version may change the interface.
inline constexpr unsigned version_major = PINFOLD_VERSION / 10000;
inline constexpr unsigned version_minor = PINFOLD_VERSION / 100 % 100;
inline constexpr unsigned version_patch = PINFOLD_VERSION % 100;

/// The same as people write it.
inline constexpr std::string_view version_text{"0.1.0"};

}  // namespace pinfold
