#include "mcp/network_words.hpp"

#include <utility>

#include <pinfold/describe.hpp>

namespace pinfold::mcp {
namespace {

std::string names_of_labels(taint labels) {
  std::string text;
  for (const auto& one : taint_labels) {
    if (labels.includes(one.label)) text.append(text.empty() ? "" : " and ").append(one.name);
  }
  return text;
}

std::string gate_and_labels(gate open, taint labels) {
  const auto text = "the gate is " + std::string{name_of(open)};
  const auto held = names_of_labels(labels);
  return held.empty() || open == gate::off ? text : text + ", and the session holds " + held;
}

/// Where the network can be had at all.
std::string cost_of_network(const session& now) {
  const auto& settings = now.settings();
  const auto labels = now.labels();
  const auto decided = [&](taint held) {
    return decide_network(settings.defaults.open, now.present(), held);
  };
  if (decided(labels) == decision::deny || labels.includes(settings.on_network)) return {};
  auto text = " A command that had the network adds " + names_of_labels(settings.on_network) +
              " to the session for good (--taint-on-network)";
  if (decided(labels | settings.on_network) != decided(labels)) {
    text += ", and that closes the network to the commands after it (--gate " +
            std::string{name_of(settings.defaults.open)} + ")";
  }
  return text + ". With network false a command has none and adds nothing: say so for what needs none.";
}

}  // namespace

std::string network_in_words(const session& now) {
  const auto open = now.settings().defaults.open;
  const auto network = decide_network(open, now.present(), now.labels());
  std::string text{rule_for_network(network)};
  if (network != decision::allow) {
    text += " Why: " + why_closed(open, now.present(), now.labels()) + ".";
  }
  return text + cost_of_network(now);
}

std::string why_closed(gate open, mode present, taint labels) {
  const auto text = gate_and_labels(open, labels);
  if (open == gate::off) return text + ": it stays closed in this session";
  if (decide_network(open, present, labels) == decision::ask) {
    return text + ", which closes it but for a command with network true that a person approves";
  }
  return text + ", which closes it: no label is ever taken away, so it stays closed in this session";
}

question question_about_network(const std::string& command, taint labels) {
  std::string text = "The agent asks for the network, for the command ";
  append_quoted(text, command);
  text += ". The session holds " + names_of_labels(labels) +
          ": with the network the command could send out what it can read. Allow this one call?";
  return {.op = operation::connect,
          .why = code::network_denied,
          .about = command,
          .text = std::move(text)};
}

}  // namespace pinfold::mcp
