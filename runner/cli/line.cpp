// In bounded memory where that is possible.
#include "cli/line.hpp"

#include <sys/stat.h>

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"

namespace pinfold {
namespace {

bool is_file(int fd) {
  struct stat about{};
  return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

/// Measured first: a string that grows by doubling takes up to three times its size on the way.
std::string whole_line(const json& object) {
  std::size_t size = 0;
  put_line(object, [&size](std::string_view piece) { size += piece.size(); });
  std::string line;
  line.reserve(size);
  put_line(object, [&line](std::string_view piece) { line += piece; });
  return line;
}

}  // namespace

bool write_line(int fd, const json& object) {
  if (is_file(fd)) return write_all(fd, whole_line(object));
  bool is_read = true;
  put_line(object, [&](std::string_view piece) { is_read = is_read && write_all(fd, piece); });
  return is_read;
}

}  // namespace pinfold
