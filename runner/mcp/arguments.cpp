#include "mcp/arguments.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace pinfold::mcp {

const json* argument_reader::find(std::string_view name) {
  known_.push_back(name);
  const auto at = from_.find(name);
  return at == from_.end() ? nullptr : &*at;
}

void argument_reader::refuse(std::string_view name, std::string why) {
  if (first_) return;
  first_ = refusal{.error = code::invalid_argument,
                   .op = op_,
                   .path = std::string{name},
                   .resolved = {},
                   .boundary = {},
                   .detail = std::move(why)};
}

std::string_view argument_reader::text(std::string_view name) {
  const auto given = text_if_given(name);
  if (!given) refuse(name, "it has to be given, as a string");
  return given.value_or(std::string_view{});
}

std::optional<std::string_view> argument_reader::text_if_given(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get_ref<const std::string&>();
  refuse(name, "it has to be a string");
  return std::nullopt;
}

std::uint64_t argument_reader::number(std::string_view name, std::uint64_t least,
                                      std::uint64_t most, std::uint64_t unsaid) {
  const auto* value = find(name);
  if (value == nullptr) return unsaid;
  constexpr double exact = 9007199254740992.0;  // 2^53: beyond it a double skips whole numbers
  std::optional<std::uint64_t> given;
  if (value->is_number_unsigned()) {
    given = value->get<std::uint64_t>();
  } else if (value->is_number_float()) {
    const auto real = value->get<double>();
    if (real >= 0 && real <= exact && std::trunc(real) == real) {
      given = static_cast<std::uint64_t>(real);
    }
  }
  if (given && *given >= least && *given <= most) return *given;
  refuse(name, "it has to be a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most));
  return unsaid;
}

std::optional<bool> argument_reader::flag_if_given(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  refuse(name, "it has to be true or false");
  return std::nullopt;
}

bool argument_reader::flag(std::string_view name, bool unsaid) {
  return flag_if_given(name).value_or(unsaid);
}

std::optional<refusal> argument_reader::wrong() {
  for (const auto& [name, value] : from_.items()) {
    if (std::ranges::find(known_, std::string_view{name}) == known_.end()) {
      refuse(name, "there is no such argument");
    }
  }
  return first_;
}

}  // namespace pinfold::mcp
