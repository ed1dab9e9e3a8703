// What is promised and what is not, as lists for a person and as JSON: the engine's own sentences.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <pinfold/describe.hpp>

#include "json/json.hpp"

namespace pinfold {

/// A heading and one line for each sentence.
template <class Claims>
[[nodiscard]] std::string listed(std::string_view title, Claims claims) {
  std::string text{title};
  text += '\n';
  for (const auto& one : claims) text.append("  - ").append(one.sentence) += '\n';
  return text;
}

/// A list of objects with `id` and `sentence`.
template <class Claims>
[[nodiscard]] json listed_json(Claims claims) {
  auto list = json::array();
  for (const auto& one : claims) {
    json entry;
    entry["id"] = one.id;
    entry["sentence"] = one.sentence;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace pinfold
