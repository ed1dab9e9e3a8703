// What `git cat-file --batch-check` says about objects, line by line as it comes, held against bounds.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace pinfold {

class object_scale {
 public:
  struct bounds {
    std::uint64_t structure;  ///< bytes of one commit, tree or tag
    std::uint64_t file;
    std::uint64_t all;
  };

  explicit object_scale(bounds most) : most_{most} {}

  /// Lines "TYPE SIZE", cut anywhere.
  void take(std::string_view text) {
    while (!text.empty() && why_.empty()) {
      const auto end = text.find('\n');
      line_ += text.substr(0, end);
      if (end == text.npos) {
        if (line_.size() > longest_line) why_ = "git says too much about its objects";
        return;
      }
      weigh(line_);
      line_.clear();
      text.remove_prefix(end + 1);
    }
  }

  /// Whether nothing that comes can change what is complained about.
  [[nodiscard]] bool has_stopped() const { return !why_.empty(); }

  /// A clause, or nothing.
  [[nodiscard]] std::string complaint() const {
    return why_.empty() && !line_.empty() ? "git ended in the middle of a line" : why_;
  }

 private:
  static constexpr std::size_t longest_line = 256;

  void weigh(std::string_view line) {
    const auto space = line.find(' ');
    const auto type = line.substr(0, space);
    const auto digits = space == line.npos ? std::string_view{} : line.substr(space + 1);
    std::uint64_t size = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    const bool is_file = type == "blob";
    const bool is_known = is_file || type == "tree" || type == "commit" || type == "tag";
    if (!is_known || digits.empty() || wrong != std::errc{} || end != digits.data() + digits.size()) {
      why_ = "an object of it is damaged";
    } else if (size > (is_file ? most_.file : most_.structure) || size > most_.all) {
      why_ = "an object of it is too large: a " + std::string{type} + " of " + std::to_string(size) +
             " bytes";
    } else {
      most_.all -= size;
    }
  }

  bounds most_;
  std::string line_;
  std::string why_;
};

}  // namespace pinfold
