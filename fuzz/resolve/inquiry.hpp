// What one input asks: a tree, a grant over it, and a few questions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <pinfold/grant.hpp>
#include <pinfold/refusal.hpp>

#include "resolve/tree.hpp"

namespace pinfold_fuzz {

struct question {
  pinfold::operation op;
  std::string input;
  std::string start;  ///< where a relative input begins; canonical
};

/// Whether the grant has carve-outs and extra roots, or is the workspace and nothing else.
enum class grants : std::uint8_t { any, plain };

/// Owns its texts; does not move, because the grant views them.
class inquiry {
 public:
  inquiry(bytes input, const std::string& scratch, grants kind);
  inquiry(const inquiry&) = delete;
  inquiry& operator=(const inquiry&) = delete;

  [[nodiscard]] const planned_tree& plan() const noexcept { return plan_; }
  [[nodiscard]] const tree& data() const noexcept { return plan_.data; }
  [[nodiscard]] pinfold::grant grant() const noexcept {
    return pinfold::grant{workspace_, carve_outs_, roots_};
  }
  [[nodiscard]] std::span<const question> questions() const noexcept { return questions_; }

  /// The whole of it in words, for whoever reads a find.
  [[nodiscard]] std::string described(const question& asked) const;

 private:
  planned_tree plan_;
  std::string workspace_;
  std::span<const pinfold::carve_out> carve_outs_;
  std::vector<std::string> root_paths_;
  std::vector<pinfold::extra_root> roots_;
  std::vector<question> questions_;
};

}  // namespace pinfold_fuzz
