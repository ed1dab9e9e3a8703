// The promises of the lexical floors, each checked against the naive model.
#pragma once

#include <cstddef>
#include <string>

#include "support/bytes.hpp"

namespace pinfold_fuzz {

/// A field in which 0xfe N C stands for N times 17 bytes C: the limits are long, inputs are short.
inline std::string read_text(bytes& input) {
  const auto field = input.field();
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\xfe' && i + 2 < field.size()) {
      text.append(static_cast<unsigned char>(field[i + 1]) * std::size_t{17}, field[i + 2]);
      i += 2;
    } else {
      text += field[i];
    }
  }
  return text;
}

void check_one_path(const std::string& path);
/// `room` is the size of the buffer for the answer.
void check_normal_form(const std::string& path, std::size_t room);
void check_two_paths(const std::string& root, const std::string& path);

/// A grant of the input's making, and where the paths in the rest of the input lie in it.
void check_grant(bytes& input);

void check_host(const std::string& text);
void check_egress(const std::string& entry, const std::string& host, unsigned port);

}  // namespace pinfold_fuzz
