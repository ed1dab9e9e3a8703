// The guard: one call -> one verdict. It decides by where canonical paths lie and what the kernel
// holds; it never parses a command line, asks the disk or remembers a call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <pinfold/call.hpp>
#include <pinfold/egress.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/network.hpp>
#include <pinfold/path.hpp>
#include <pinfold/rules.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>
#include <pinfold/verdict.hpp>

namespace pinfold {

/// Built for one call out of what the harness chose and what the session has taken in, and thrown
/// away after it. Copies views only: the grant's texts and the egress list must outlive it.
class guard {
 public:
  /// Without a word about the boundary, none is assumed: commands are then asked about or refused.
  constexpr guard(const grant& policy, mode present, gate open, taint labels,
                  enforcement boundary = enforcement::unconfined) noexcept
      : policy_{policy}, present_{present}, open_{open}, labels_{labels}, boundary_{boundary} {}

  /// The same, with connections held to a list whatever the gate. An empty list allows none.
  [[nodiscard]] constexpr guard with_egress(std::span<const egress_entry> list) const noexcept {
    auto other = *this;
    other.egress_ = list;
    return other;
  }
  /// The same, with commands allowed to run without a boundary where nobody is there to be asked.
  [[nodiscard]] constexpr guard allowing(unconfined) const noexcept {
    auto other = *this;
    other.allows_unconfined_ = true;
    return other;
  }
  /// The same rules around another directory: all that a subagent's isolation needs.
  [[nodiscard]] constexpr guard around(const grant& policy) const noexcept {
    auto other = *this;
    other.policy_ = policy;
    return other;
  }

  /// The verdict for one call. No allocation, no system call.
  [[nodiscard]] constexpr verdict check(const call& asked) const noexcept {
    const auto subject = asked.subject().as_the_call_says();
    const auto place = asked.place().as_the_call_says();
    switch (asked.op()) {
      case operation::read:
      case operation::write:
      case operation::make_directory:
      case operation::list:
      case operation::remove:
        return check_path(asked, subject);
      case operation::rename: {  // the worse of the two ends
        const auto from = check_path(asked, subject);
        const auto to = check_path(asked, place);
        return to.says() < from.says() ? to : from;
      }
      case operation::execute:
        return check_path(asked, place.empty() ? policy_.workspace() : place);
      case operation::connect:
        return check_host(asked, subject);
    }
    return answer(verdict::refuse, code::invalid_argument, asked, subject, {});
  }

  /// The network decision for a command of this moment, and the plain answer that a backend gets.
  [[nodiscard]] constexpr decision network() const noexcept {
    return decide_network(open_, present_, labels_);
  }
  [[nodiscard]] constexpr bool is_network_allowed() const noexcept {
    return network_allowed(open_, present_, labels_);
  }

  [[nodiscard]] constexpr const grant& policy() const noexcept { return policy_; }
  [[nodiscard]] constexpr mode present() const noexcept { return present_; }
  [[nodiscard]] constexpr enforcement boundary() const noexcept { return boundary_; }
  /// The list, or nothing when none was given.
  [[nodiscard]] constexpr std::optional<std::span<const egress_entry>> egress() const noexcept {
    return egress_;
  }

 private:
  [[nodiscard]] constexpr verdict answer(verdict::answer says, code reason, const call& asked,
                                         std::string_view at,
                                         std::string_view boundary) const noexcept {
    return {says, reason, asked, at, boundary, policy_.workspace()};
  }

  /// One path of a call. Decided in this order; the last line denies:
  ///  1. not in canonical form -> refuse: it may lead anywhere
  ///  2. replaces the whole workspace, what holds it, or a whole root -> refuse
  ///  3. replaces a directory with a carve-out or a read root below it -> refuse
  ///  4. the rule of the table for its region
  [[nodiscard]] constexpr verdict check_path(const call& asked,
                                             std::string_view path) const noexcept {
    const auto refuse = [&](code reason, std::string_view boundary) {
      return answer(verdict::refuse, reason, asked, path, boundary);
    };
    if (!is_canonical_form(path)) {
      return refuse(misspelling_of(path).value_or(code::invalid_path), {});
    }
    const auto where = policy_.region_of_unchecked(path);
    if (detail::replaces_its_path(asked.op())) {
      if (where == region::outside && contains(path, policy_.workspace())) {
        return refuse(code::outside_workspace, policy_.workspace());
      }
      if (policy_.is_a_root(path)) return refuse(code::permission_denied, path);
      if (const auto* carve = policy_.carve_out_inside(path)) {
        return refuse(code_for(carve->kind), carve->path);
      }
      if (const auto* kept = policy_.read_root_below(path)) {
        return refuse(code::read_only_root, kept->path);
      }
    }
    return apply(asked, path, where);
  }

  [[nodiscard]] constexpr verdict apply(const call& asked, std::string_view path,
                                        region where) const noexcept {
    switch (detail::rule_for(asked.op(), present_, where)) {
      case detail::rule::allow:
        return answer(verdict::allow, {}, asked, path, {});
      case detail::rule::ask:
        return answer(verdict::ask, reason_for(where), asked, path, policy_.workspace());
      case detail::rule::root:
        if (policy_.is_writable(path)) return answer(verdict::allow, {}, asked, path, {});
        return answer(verdict::refuse, code::read_only_root, asked, path,
                      policy_.root_of(path)->path);
      case detail::rule::kernel:
        return check_command(asked);
      case detail::rule::refuse:
      case detail::rule::network:
        break;
    }
    return answer(verdict::refuse, reason_for(where), asked, path, boundary_at(path, where));
  }

  /// A command that may start where it wants to. Decided in this order; the last line denies:
  ///  1. the kernel holds it                         -> allow, whatever it says
  ///  2. nothing may be written                      -> refuse: nothing holds it to that
  ///  3. a person is there                           -> ask
  ///  4. nobody is there, the token was passed       -> allow
  ///  5. nobody is there                             -> refuse
  [[nodiscard]] constexpr verdict check_command(const call& asked) const noexcept {
    const auto command = asked.subject().as_the_call_says();
    const auto say = [&](verdict::answer says, code reason) {
      return answer(says, reason, asked, command, {});
    };
    if (boundary_ == enforcement::enforced) return say(verdict::allow, {});
    if (present_ == mode::plan) return say(verdict::refuse, code::mode_forbids_writing);
    if (present_ == mode::ask) return say(verdict::ask, code::unconfined_forbidden);
    if (present_ == mode::autonomous && allows_unconfined_) return say(verdict::allow, {});
    return say(verdict::refuse, code::unconfined_forbidden);
  }

  /// A connection. Decided in this order; the last line denies:
  ///  1. no host or no port                          -> refuse
  ///  2. the network is closed                       -> refuse
  ///  3. there is a list and it does not hold the pair -> refuse; a person widens the list instead
  ///  4. the network decision asks                   -> ask
  ///  5. the network decision allows                 -> allow
  ///  6. anything else                               -> refuse
  [[nodiscard]] constexpr verdict check_host(const call& asked,
                                             std::string_view host) const noexcept {
    using listed = egress_decision::answer;
    const auto say = [&](verdict::answer says, code reason) {
      return answer(says, reason, asked, host, {});
    };
    const auto on_list =
        decide_egress(egress_.value_or(std::span<const egress_entry>{}), host, asked.port());
    if (on_list == listed::invalid) return say(verdict::refuse, code::invalid_host);
    if (network() == decision::deny) return say(verdict::refuse, code::network_denied);
    if (egress_ && on_list == listed::deny) return say(verdict::refuse, code::network_denied);
    if (network() == decision::ask) return say(verdict::ask, code::network_denied);
    if (network() == decision::allow) return say(verdict::allow, {});
    return say(verdict::refuse, code::network_denied);
  }

  [[nodiscard]] static constexpr code code_for(carve_kind kind) noexcept {
    return kind == carve_kind::harness_state ? code::harness_state : code::host_run_file;
  }

  /// Why a path in this region is refused.
  [[nodiscard]] static constexpr code reason_for(region where) noexcept {
    switch (where) {
      case region::workspace:
      case region::extra_root:
        return code::mode_forbids_writing;
      case region::harness_state:
        return code::harness_state;
      case region::host_run:
        return code::host_run_file;
      case region::outside:
        return code::outside_workspace;
    }
    return code::outside_workspace;
  }

  [[nodiscard]] constexpr std::string_view boundary_at(std::string_view path,
                                                       region where) const noexcept {
    if (where != region::harness_state && where != region::host_run) return policy_.workspace();
    return policy_.carve_out_at(*tail_below(policy_.workspace(), path))->path;
  }

  grant policy_;
  mode present_;
  gate open_;
  taint labels_;
  enforcement boundary_;
  bool allows_unconfined_{false};
  std::optional<std::span<const egress_entry>> egress_;
};

}  // namespace pinfold
