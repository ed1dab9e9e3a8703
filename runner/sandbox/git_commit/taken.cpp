#include "sandbox/git_commit/taken.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "sandbox/git_commit/conditions.hpp"
#include "sandbox/git_commit/files.hpp"

namespace pinfold {
namespace {

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_pack(std::string_view name) {
  constexpr std::string_view before = "pack-";
  constexpr std::string_view after = ".pack";
  if (!name.starts_with(before) || !name.ends_with(after)) return false;
  name.remove_prefix(before.size());
  name.remove_suffix(after.size());
  return (name.size() == 40 || name.size() == 64) && is_hexadecimal(name);
}

class taking {
 public:
  taking(int from, int to, std::string_view format, const taken_bounds& most,
         const ask_to_stop& stopped)
      : from_{from}, to_{to}, format_{format}, left_{most}, stopped_{stopped} {}

  std::expected<std::vector<std::string>, not_taken> run() {
    const int wrong = for_each_name(from_, [this](const std::string& name) {
      if (name == "pack") return take_directory(name, &taking::take_pack);
      if (name.size() != 2 || !is_hexadecimal(name)) return count_name();
      fan_ = name;
      return take_directory(name, &taking::take_loose);
    });
    if (wrong == 0) return std::move(packs_);
    if (!why_.empty()) return std::unexpected{not_taken{std::move(why_), whose_}};
    return std::unexpected{not_taken{std::string{"copying its objects: "} + std::strerror(wrong),
                                     not_taken::fault::of_the_disk}};
  }

 private:
  int give_up(std::string why) {
    why_ = std::move(why);
    return ECANCELED;
  }

  int count_name() {
    if (stopped_) {
      if (auto why = stopped_(); !why.empty()) {
        whose_ = not_taken::fault::of_the_disk;
        return give_up(std::move(why));
      }
    }
    if (left_.names == 0) return give_up("there are too many files among its objects");
    --left_.names;
    return 0;
  }

  int take_directory(const std::string& name, int (taking::*take)(int, int, const std::string&)) {
    if (const int wrong = count_name(); wrong != 0) return wrong;
    const auto from = open_directory(from_, name, absent_directory::is_an_error);
    if (!from && (from.error() == ENOTDIR || from.error() == ELOOP)) {
      return give_up("objects/" + name + " is a link or no directory");
    }
    if (!from) return from.error();
    const auto to = open_directory(to_, name, absent_directory::is_made);
    if (!to) return to.error();
    return for_each_name(from->get(), [&](const std::string& one) {
      if (const int wrong = count_name(); wrong != 0) return wrong;
      return (this->*take)(from->get(), to->get(), one);
    });
  }

  int take_loose(int from, int to, const std::string& name) {
    return is_object_name(fan_ + name, format_) ? take_file(from, to, name) : 0;
  }

  int take_pack(int from, int to, const std::string& name) {
    if (!is_pack(name)) return 0;
    if (packs_.size() == left_.packs) return give_up("there are too many packs among its objects");
    packs_.push_back(name);
    return take_file(from, to, name);
  }

  int take_file(int from, int to, const std::string& name) {
    const auto copied = copy_file(from, name, to, name, left_.bytes);
    if (copied && *copied == 0) return give_up("the object " + name + " is empty");
    if (copied) {
      left_.bytes -= *copied;
      return 0;
    }
    if (copied.error() == EFBIG) return give_up("its objects are more than is taken in at once");
    if (copied.error() == EINVAL || copied.error() == ELOOP || copied.error() == ENXIO) {
      return give_up("the object " + name + " is a link or a special file");
    }
    return copied.error();
  }

  int from_;
  int to_;
  std::string_view format_;
  taken_bounds left_;
  std::string fan_;
  std::vector<std::string> packs_;
  std::string why_;
  not_taken::fault whose_{not_taken::fault::of_the_command};
  const ask_to_stop& stopped_;
};

}  // namespace

std::expected<std::vector<std::string>, not_taken> take_objects(int from, int to,
                                                                std::string_view format,
                                                                const taken_bounds& most,
                                                                const ask_to_stop& stopped) {
  return taking{from, to, format, most, stopped}.run();
}

}  // namespace pinfold
