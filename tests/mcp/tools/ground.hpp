// A session over a folder of its own, and its file tools, called as the server calls them. Each result
// is held to its tool's output schema on the way.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "disk/folder.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold_test {

using pinfold::json;
namespace mcp = pinfold::mcp;

/// A person who always gives the same answer and remembers what was asked.
class person final : public mcp::asker {
 public:
  std::optional<std::string> refuses(const mcp::question& asked) override {
    questions.push_back(asked.text);
    if (says_yes) return std::nullopt;
    return "nobody answered";
  }
  bool says_yes{false};
  std::vector<std::string> questions;
};

/// What is wrong with an object under a schema, as far as these schemas go: required and unknown
/// names, and the types of what is there.
inline std::string misfit(const json& schema, const json& value) {
  const auto type = schema.value("type", "");
  const bool fits = type == "object"    ? value.is_object()
                    : type == "array"   ? value.is_array()
                    : type == "string"  ? value.is_string()
                    : type == "boolean" ? value.is_boolean()
                    : type == "integer" ? value.is_number_integer()
                                        : false;
  if (!fits) return "not " + type + ": " + value.dump() + "\n";
  std::string wrong;
  if (type == "array") {
    for (const auto& one : value) wrong += misfit(schema.at("items"), one);
  }
  if (type != "object") return wrong;
  for (const auto& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) wrong += "no " + name.dump() + "\n";
  }
  for (const auto& [name, one] : value.items()) {
    const auto& known = schema.at("properties");
    wrong += known.contains(name) ? misfit(known.at(name), one) : "unknown " + name + "\n";
  }
  return wrong;
}

class tools_at {
 public:
  explicit tools_at(const folder& at, pinfold::mode present = pinfold::mode::autonomous,
                    const mcp::tool_bounds& bounds = {}) {
    mcp::session_settings settings;
    settings.defaults.workspace = at.ws();
    settings.defaults.present = present;
    auto launcher = pinfold::runner::for_caller({"PATH=/usr/bin:/bin", "HOME=" + at.path("home")});
    if (!launcher) throw std::runtime_error{launcher.error().message()};
    auto opened = mcp::session::open(std::move(settings), std::move(*launcher));
    if (!opened) throw std::runtime_error{opened.error().message()};
    now_ = std::move(*opened);
    tools_ = mcp::bounded_file_tools(*now_, bounds);
  }

  [[nodiscard]] const mcp::tool& named(std::string_view name) const {
    for (const auto& one : tools_) {
      if (one.name == name) return one;
    }
    throw std::runtime_error{"no tool " + std::string{name}};
  }

  mcp::tool_result result(std::string_view name, const json& as_built) {
    const auto& called = named(name);
    const auto arguments = json::parse(as_built.dump());  // numbers as they come over the wire
    auto came = called.act({arguments, *now_, stop.get_token(), progress, asked});
    if (came.structured) {
      const auto wrong = misfit(json::parse(called.output), *came.structured);
      if (!wrong.empty()) throw std::runtime_error{std::string{name} + ": " + wrong};
    }
    if (came.refused.has_value() == (came.structured != nullptr)) {
      throw std::runtime_error{"a result and a refusal, or neither"};
    }
    return came;
  }
  /// The structured result; throws for a refusal.
  json operator()(std::string_view name, const json& arguments) {
    const auto came = result(name, arguments);
    if (came.refused) throw std::runtime_error{came.refused->message()};
    return *came.structured;
  }
  /// "ok", or the name of the code.
  std::string said(std::string_view name, const json& arguments) {
    const auto came = result(name, arguments);
    return came.refused ? std::string{name_of(came.refused->error)} : "ok";
  }
  /// The sentence of a refusal.
  std::string why(std::string_view name, const json& arguments) {
    const auto came = result(name, arguments);
    return came.refused ? came.refused->message() : "ok";
  }

  [[nodiscard]] mcp::session& now() const { return *now_; }
  [[nodiscard]] const std::vector<mcp::tool>& all() const { return tools_; }

  std::stop_source stop;
  mcp::progress_sink progress;
  person asked;

 private:
  std::unique_ptr<mcp::session> now_;
  std::vector<mcp::tool> tools_;
};

inline std::vector<std::string> each(const json& list, const std::string& name) {
  std::vector<std::string> all;
  for (const auto& one : list) all.push_back(one.at(name).get<std::string>());
  return all;
}

using words = std::vector<std::string>;

}  // namespace pinfold_test
