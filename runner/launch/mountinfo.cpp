// ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER-OPTIONS
#include "launch/mountinfo.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

std::string_view take_field(std::string_view& line) {
  const auto field = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

}  // namespace

mount_fields fields_of(std::string_view line) noexcept {
  mount_fields fields;
  for (int skipped = 0; skipped < 3; ++skipped) take_field(line);
  fields.root = take_field(line);
  fields.point = take_field(line);
  fields.options = take_field(line);
  while (!line.empty() && take_field(line) != "-") {
  }
  fields.type = take_field(line);
  return fields;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digits = text.substr(i + 1, 3);
    if (text[i] == '\\' && digits.size() == 3 && std::ranges::all_of(digits, is_octal)) {
      plain.push_back(static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 +
                                        (digits[2] - '0')));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

}  // namespace pinfold
