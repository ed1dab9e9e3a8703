#include "resolve/oracle.hpp"

#include <algorithm>
#include <span>

namespace pinfold_fuzz {

namespace {

using pinfold::carve_kind;
using pinfold::code;
using pinfold::operation;
using pinfold::region;
using pinfold::root_access;

bool is_at_or_below(const names& outer, std::span<const std::string> inner) {
  return inner.size() >= outer.size() && std::ranges::equal(outer, inner.first(outer.size()));
}

names joined(names left, std::span<const std::string> right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

bool may_be_missing(operation op) {
  return op == operation::write || op == operation::make_directory || op == operation::rename;
}
bool acts_on_the_name(operation op) {
  return op == operation::remove || op == operation::rename;
}

/// What is wrong with the spelling, if anything.
std::optional<code> misspelling(std::string_view input) {
  if (input.empty() || std::ranges::count(input, '\0') != 0) return code::invalid_path;
  if (input.size() > 4095) return code::name_too_long;
  for (const auto& name : names_in(input)) {
    if (name.size() > 255) return code::name_too_long;
  }
  return std::nullopt;
}

class judge {
 public:
  judge(const tree& data, const rules& rules, operation op, const footing& end)
      : data_{data}, rules_{rules}, op_{op}, end_{end} {
    for (const auto& carve : rules.carves) {
      ways_.push_back(
          walk(data, rules.workspace, text_of(carve.path).substr(1), {.may_be_missing = true}));
    }
  }

  /// In the order of what weighs most; the last line denies.
  opinion decide() const {
    if (end_.is_unknown || std::ranges::any_of(ways_, &footing::is_unknown)) {
      return {.is_unknown = true};
    }
    if (end_.error == code::magic_link) return no(code::magic_link);
    const auto carve = carve_around();
    if (carve == carve_kind::harness_state) return no(code::harness_state);
    const bool is_inside = is_at_or_below(rules_.workspace, end_.place);
    if (!is_inside && root_around() == nullptr) return no(code::outside_workspace);
    if (end_.error) return no(*end_.error);
    const bool changes = may_be_missing(op_) || acts_on_the_name(op_);
    if (changes && carve) return no(code::host_run_file);
    if (changes && !is_inside && root_around()->access == root_access::read) {
      return no(code::read_only_root);
    }
    if (acts_on_the_name(op_) || op_ == operation::write) {
      if (const auto why = what_would_come_along()) return no(*why);
    }
    const auto where = carve       ? region::host_run
                       : is_inside ? region::workspace
                                   : region::extra_root;
    return {.canonical = text_of(end_.place), .where = where};
  }

 private:
  static opinion no(code why) { return {.refused = why}; }

  /// The innermost root that holds the place; of two for one place the one for reading.
  const rules::root* root_around() const {
    const rules::root* found = nullptr;
    for (const auto& root : rules_.roots) {
      if (!is_at_or_below(root.path, end_.place)) continue;
      const bool is_deeper = found == nullptr || root.path.size() > found->path.size();
      const bool is_stricter =
          found != nullptr && root.path == found->path && root.access == root_access::read;
      if (is_deeper || is_stricter) found = &root;
    }
    return found;
  }

  /// The kind of the carve-out that the place lies in, harness state first.
  std::optional<carve_kind> carve_around() const {
    std::optional<carve_kind> found;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (!is_in_carve(rules_.carves[i], ways_[i])) continue;
      if (found != carve_kind::harness_state) found = rules_.carves[i].kind;
    }
    return found;
  }

  /// By its name, by where it leads, or because something on the way is the same object as
  /// something on the carve-out's own way.
  bool is_in_carve(const rules::carve& carve, const footing& way) const {
    if (is_at_or_below(joined(rules_.workspace, carve.path), end_.place)) return true;
    const names* base = nullptr;
    if (is_at_or_below(rules_.workspace, end_.place)) {
      base = &rules_.workspace;
    } else if (const auto* root = root_around()) {
      base = &root->path;
    }
    if (base == nullptr) return false;
    if (!way.error && is_at_or_below(way.place, end_.place) && is_at_or_below(*base, way.place)) {
      return true;
    }
    for (std::size_t i = base->size() + 1; i < end_.objects.size(); ++i) {
      if (is_same_as_part_of(carve, i)) return true;
    }
    return false;
  }

  /// Whether the first `count` names of the place lead to what the first few of the carve-out lead
  /// to, and the rest of the place goes on as the rest of the carve-out does.
  bool is_same_as_part_of(const rules::carve& carve, std::size_t count) const {
    const auto object = end_.objects[count];
    if (data_.nodes[object].kind == node_kind::link) return false;
    const std::span rest = std::span{end_.place}.subspan(count);
    for (std::size_t part = 1; part <= carve.path.size(); ++part) {
      const names first(carve.path.begin(), carve.path.begin() + static_cast<long>(part));
      const names last(carve.path.begin() + static_cast<long>(part), carve.path.end());
      if (!is_at_or_below(last, rest)) continue;
      const auto there = walk(data_, rules_.workspace, text_of(first).substr(1), {});
      if (!there.error && !there.is_unknown && there.objects.back() == object) return true;
    }
    return false;
  }

  /// What a removal or rename of the place would take along, or what it, or a file made there,
  /// would pull from under a carve-out.
  std::optional<code> what_would_come_along() const {
    const bool is_file = op_ == operation::write;
    if (is_at_or_below(end_.place, rules_.workspace)) {
      return is_file ? std::nullopt : std::optional{code::permission_denied};
    }
    const bool is_inside = is_at_or_below(rules_.workspace, end_.place);
    if (!is_file && !is_inside && root_around()->path == end_.place) {
      return code::permission_denied;
    }
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      const auto below = [&](const names& passed) { return is_at_or_below(end_.place, passed); };
      if (std::ranges::any_of(ways_[i].passed, below)) {
        return rules_.carves[i].kind == carve_kind::harness_state ? code::harness_state
                                                                  : code::host_run_file;
      }
    }
    for (const auto& root : rules_.roots) {
      const bool is_kept = root.access == root_access::read && !is_file;
      if (!is_inside && is_kept && is_at_or_below(end_.place, root.path)) {
        return code::read_only_root;
      }
    }
    return std::nullopt;
  }

  const tree& data_;
  const rules& rules_;
  operation op_;
  const footing& end_;
  std::vector<footing> ways_;  // of the carve-outs
};

}  // namespace

rules rules_of(const pinfold::grant& grant) {
  rules made;
  made.workspace = names_in(grant.workspace());
  for (const auto& carve : grant.carve_outs()) {
    made.carves.push_back({names_in(carve.path), carve.kind});
  }
  for (const auto& root : grant.extra_roots()) {
    made.roots.push_back({names_in(root.path), root.access});
  }
  return made;
}

opinion opinion_on(const tree& data, const rules& rules, operation op, std::string_view input,
                   std::string_view start) {
  if (const auto wrong = misspelling(input)) return {.refused = wrong};
  const auto end = walk(data, names_in(start), input,
                        {.may_be_missing = may_be_missing(op),
                         .follows_last = !acts_on_the_name(op),
                         .makes_a_file = op == operation::write});
  return judge{data, rules, op, end}.decide();
}

}  // namespace pinfold_fuzz
