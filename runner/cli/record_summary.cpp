// Counting, and the two forms of the answer: see record_summary.hpp.
#include "cli/record_summary.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/text.hpp"

namespace pinfold {
namespace {

std::string seconds(std::uint64_t milliseconds) {
  auto part = std::to_string(milliseconds % 1000);
  part.insert(0, 3 - part.size(), '0');
  return std::to_string(milliseconds / 1000) + "." + part + " s";
}

/// The counts that are not zero, by name. `Value` is the enumeration that the places stand for.
template <class Value, class Counts, class Each>
void for_each_counted(const Counts& counts, Each&& each) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) each(name_of(static_cast<Value>(i)), counts[i]);
  }
}

template <class Value, class Counts>
std::string rows_of(std::string_view title, const Counts& counts) {
  std::string text;
  for_each_counted<Value>(counts, [&](std::string_view name, std::uint64_t count) {
    if (text.empty()) text = std::string{title} + "\n";
    text += summary_row("  " + std::string{name}, std::to_string(count));
  });
  return text;
}

template <class Value, class Counts>
json counts_of(const Counts& counts) {
  json object = json::object();
  for_each_counted<Value>(counts, [&](std::string_view name, std::uint64_t count) {
    object[std::string{name}] = count;
  });
  return object;
}

}  // namespace

void record_summary::add(const record_facts& facts, record_place where) {
  ++records_;
  ++ended_.at(static_cast<std::size_t>(facts.ended));
  if (facts.exit_code) ++exit_codes_.at(static_cast<std::size_t>(*facts.exit_code));
  if (facts.limit) ++limits_.at(static_cast<std::size_t>(*facts.limit));
  if (facts.refused) ++refusals_.at(static_cast<std::size_t>(*facts.refused));
  duration_ms_ = saturating_sum(duration_ms_, facts.duration_ms);
  output_bytes_ = saturating_sum(output_bytes_, facts.output_bytes);
  keep(slowest_, &record_facts::duration_ms, facts, where);
  keep(loudest_, &record_facts::output_bytes, facts, where);
}

/// Most first; of equals, the one that came first.
void record_summary::keep(std::vector<kept>& best, std::uint64_t record_facts::* by,
                          const record_facts& facts, record_place where) const {
  const auto is_less = [&](const kept& one) { return one.facts.*by < facts.*by; };
  const auto at = std::ranges::find_if(best, is_less);
  if (at == best.end() && best.size() == most_) return;
  best.insert(at, {std::string{where.file}, where.line, facts});
  if (best.size() > most_) best.pop_back();
}

std::string record_summary::table(std::size_t files) const {
  auto text = summary_row("records", std::to_string(records_) + " in " + std::to_string(files) +
                                 (files == 1 ? " file" : " files"));
  text += summary_row("time in all", seconds(duration_ms_));
  text += summary_row("output in all", readable_size(output_bytes_));
  text += rows_of<ending>("ended", ended_);
  text += rows_of<run_limit>("limits met", limits_);
  text += rows_of<code>("refusals", refusals_);
  const auto list = [&](std::string_view title, const std::vector<kept>& best, auto&& amount) {
    if (!best.empty()) text += std::string{title} + "\n";
    for (const auto& one : best) {
      text += summary_row("  " + amount(one.facts), std::string{name_of(one.facts.ended)} + "  " +
                                                terminal_safe(one.facts.workspace) + "  " +
                                                place_text(one.file, one.line));
    }
  };
  list("slowest", slowest_, [](const record_facts& facts) { return seconds(facts.duration_ms); });
  list("most output", loudest_,
       [](const record_facts& facts) { return readable_size(facts.output_bytes); });
  return text + bad_.table("not run records");
}

json record_summary::object(std::size_t files) const {
  json object;
  object["files"] = files;
  object["records"] = records_;
  object["ended"] = counts_of<ending>(ended_);
  object["exit_codes"] = json::object();
  for (std::size_t i = 0; i < exit_codes_.size(); ++i) {
    if (exit_codes_[i] > 0) object["exit_codes"][std::to_string(i)] = exit_codes_[i];
  }
  object["limits"] = counts_of<run_limit>(limits_);
  object["refusals"] = counts_of<code>(refusals_);
  object["duration_ms"] = duration_ms_;
  object["output_bytes"] = output_bytes_;
  const auto list = [](const std::vector<kept>& best) {
    auto all = json::array();
    for (const auto& one : best) {
      json entry;
      put_bytes(entry, "file", one.file);
      entry["line"] = one.line;
      entry["ended"] = name_of(one.facts.ended);
      entry["duration_ms"] = one.facts.duration_ms;
      entry["output_bytes"] = one.facts.output_bytes;
      entry["workspace"] = one.facts.workspace;
      all.push_back(std::move(entry));
    }
    return all;
  };
  object["slowest"] = list(slowest_);
  object["most_output"] = list(loudest_);
  object["bad"] = bad_.object();
  return object;
}

}  // namespace pinfold
