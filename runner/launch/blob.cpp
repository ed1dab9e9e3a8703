// write(2) until it is done, or until the file system says no.
#include "launch/blob.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launch/random_digits.hpp"

namespace pinfold {
namespace {

/// A name that is not there yet, whoever else writes into the directory.
std::string new_name(std::string_view stream) {
  const auto digits = random_digits();
  if (digits.empty()) return {};
  return "pinfold-" + digits + "-" + std::string{stream};
}

/// A write beyond RLIMIT_FSIZE would kill the whole process with SIGXFSZ (setrlimit(2)).
std::uint64_t allowed_size() {
  rlimit bound{};
  if (::getrlimit(RLIMIT_FSIZE, &bound) != 0 || bound.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return bound.rlim_cur;
}

}  // namespace

blob::blob(const blob_place& where, std::string_view stream) : where_{where} {
  if (is_wanted()) name_ = new_name(stream);
}

void blob::write(std::string_view bytes) {
  if (!is_wanted()) return;
  if (!told_) open();
  if (!file_ || bytes.empty()) return;
  const auto room = std::min(where_.most, most_) - told_->bytes;
  write_some(bytes.substr(0, room));
  if (!file_ || bytes.size() <= room) return;
  told_->is_whole = false;
  if (most_ < where_.most) return fail(EFBIG);
  if (::close(file_.release()) != 0) fail(errno);
}

void blob::open() {
  told_.emplace();
  if (name_.empty()) return fail(EAGAIN);
  file_.reset(::openat(where_.directory, name_.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file_) return fail(errno);
  told_->path = where_.path + "/" + name_;
  told_->is_whole = true;
  most_ = allowed_size();
}

void blob::write_some(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(written == 0 ? EIO : errno);
    told_->bytes += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void blob::fail(int error) {
  told_->is_whole = false;
  if (told_->error.empty()) told_->error = std::strerror(error);
  file_.reset();
}

/// close(2): an error here may be the first word of a full or broken disk.
std::optional<kept_blob> blob::finish() {
  if (file_ && ::close(file_.release()) != 0) fail(errno);
  return told_;
}

}  // namespace pinfold
