// Confinements out of bytes: any mixture of places, however odd, most of them canonical so that a
// plan comes of many.
#pragma once

#include <string>
#include <vector>

#include <pinfold/sandbox/confinement.hpp>

#include "support/bytes.hpp"

namespace pinfold_fuzz {

/// A path: one that plans tend to hold, one below it, or any text.
std::string read_place(bytes& input);

/// Facts without any decision in them.
pinfold::confinement read_facts(bytes& input);

/// Every path that the facts name, one name below each, and the places of the system.
std::vector<std::string> places_of(const pinfold::confinement& facts);

/// The facts in words, for whoever reads a find.
std::string described(const pinfold::confinement& facts);

}  // namespace pinfold_fuzz
