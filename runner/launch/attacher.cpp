// A process of its own, since only one without other threads may enter a user namespace (setns(2)).
#include "launch/attacher.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launch/attach_protocol.hpp"
#include "launch/boundary.hpp"
#include "launch/memory_file.hpp"
#include "launch/packed.hpp"

namespace pinfold {
namespace {

bool has_source(const mount& one) {
  const bool is_bind = one.kind == mount_kind::bind || one.kind == mount_kind::ro_bind;
  return one.role == mount_role::replaced && is_bind && one.source != one.target;
}

attach::kind kind_of(const mount& one) {
  if (one.kind == mount_kind::tmpfs) return attach::kind::empty;
  if (one.kind == mount_kind::remount_ro) return attach::kind::close;
  if (has_source(one)) {
    return one.kind == mount_kind::bind ? attach::kind::writable_from : attach::kind::read_only_from;
  }
  if (one.kind == mount_kind::bind) return attach::kind::writable;
  return one.source == one.target ? attach::kind::read_only : attach::kind::null_device;
}

std::string packed(const launch_plan& plan) {
  const auto places = open_places(plan);
  std::string text;
  append_bytes(text, attach::head{.magic = attach::magic,
                                  .open_places = static_cast<std::uint32_t>(places.size()),
                                  .entries = static_cast<std::uint32_t>(plan.attached.size()),
                                  .may_nest = plan.nesting == nested_namespaces::allowed ? 1U : 0U});
  for (const auto& place : places) append_text(text, place);
  for (const auto& one : plan.attached) {
    append_bytes(text, attach::entry{.what = kind_of(one), .mode = one.mode, .size = one.size});
    append_text(text, one.target);
    if (has_source(one)) append_text(text, one.source);
  }
  return text;
}

}  // namespace

std::expected<attacher, int> attacher::start(const launch_plan& plan, const descriptor& image) {
  const descriptor null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  if (!null) return std::unexpected{errno};
  auto list = make_memory_file("pinfold-mounts", packed(plan), memory_file_use::data);
  if (!list) return std::unexpected{list.error()};
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::unexpected{errno};
  }
  descriptor ours{ends[0]};
  const descriptor theirs{ends[1]};
  const std::vector<passed_descriptor> passed{
      {null.get(), 0},           {null.get(), 1},
      {null.get(), 2},           {list->get(), stage::spec_fd},
      {theirs.get(), stage::channel_fd}, {image.get(), stage::image_fd}};
  auto child = spawn({"/proc/self/fd/" + std::to_string(stage::image_fd),
                      {attach::program_name},
                      {}},
                     passed);
  if (!child) return std::unexpected{child.error()};
  return attacher{std::move(*child), std::move(ours)};
}

attacher::~attacher() {
  if (!child_.ended) return;
  kill_now(child_.ended);
  reap(child_);
}

bool attacher::attach_to(pid_t init) const noexcept {
  const attach::target where{.init = init};
  return ::send(channel_.get(), &where, sizeof where, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof where);
}

std::optional<stage::message> attacher::answer() const noexcept {
  stage::message said{};
  ssize_t got = 0;
  do {
    got = ::recv(channel_.get(), &said, sizeof said, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof said)) return std::nullopt;
  return said;
}

}  // namespace pinfold
