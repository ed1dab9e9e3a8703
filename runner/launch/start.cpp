// bwrap gets its options by descriptor (--args), so no path can be taken for an option and the
// process list shows none; stage two is started from a sealed memory file, so no path leads to it.
#include "launch/start.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "launch/memory_file.hpp"
#include "launch/specification.hpp"
#include "launch/stage_image.hpp"
#include "launch/stage_protocol.hpp"

namespace pinfold {
namespace {

struct pair_of_ends {
  descriptor ours;
  descriptor theirs;
};

std::expected<pair_of_ends, int> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected{errno};
  pair_of_ends made{descriptor{ends[0]}, descriptor{ends[1]}};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return std::unexpected{errno};
  return made;
}

/// What bwrap waits at before it starts stage two (--block-fd: it reads one byte). `ours` is the end
/// that is read, and goes to bwrap.
std::expected<pair_of_ends, int> make_block() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected{errno};
  return pair_of_ends{descriptor{ends[0]}, descriptor{ends[1]}};
}

std::expected<pair_of_ends, int> make_input_pipe() {
  auto made = make_pipe();
  if (!made) return made;
  std::swap(made->ours, made->theirs);
  if (::fcntl(made->theirs.get(), F_SETFL, 0) != 0 ||
      ::fcntl(made->ours.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected{errno};
  }
  return made;
}

std::expected<pair_of_ends, int> make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::unexpected{errno};
  }
  pair_of_ends made{descriptor{ends[0]}, descriptor{ends[1]}};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return std::unexpected{errno};
  return made;
}

/// bwrap's options as it reads them from --args: each with a NUL behind it.
std::string packed_options(const launch_plan& plan) {
  std::string packed;
  for (const auto& word : plan.options) {
    packed += word;
    packed.push_back('\0');
  }
  return packed;
}

std::string stage_path() {
  return "/proc/self/fd/" + std::to_string(stage::image_fd);
}

/// The environment of bwrap and of stage two is empty: /proc/1/environ inside shows nothing.
process_image image_of(const launch_plan& plan, const launch_extras& extras) {
  if (plan.backend == backend_name::none) return {stage_path(), {"pinfold-stage"}, {}};
  process_image image{plan.program, {plan.program}, {}};
  auto add = [&image](std::string word) { image.arguments.push_back(std::move(word)); };
  add("--args");
  add(std::to_string(stage::args_fd));
  add("--as-pid-1");
  if (::geteuid() == 0) {  // or stage two could not map uid 0 in the namespace in which it locks its mounts
    add("--cap-add");
    add("CAP_SETFCAP");
  }
  add("--info-fd");
  add(std::to_string(stage::info_fd));
  add("--block-fd");
  add(std::to_string(stage::block_fd));
  for (std::size_t i = 0; i < extras.held.size(); ++i) {
    add("--sync-fd");
    add(std::to_string(stage::held_fd + static_cast<int>(i)));
  }
  add("--");
  add(stage_path());
  return image;
}

/// Everything that is passed, kept open until the child has it.
struct handover {
  descriptor null;
  pair_of_ends in;  ///< ours is the one that is written to
  descriptor specification;
  descriptor image;
  descriptor options;
  pair_of_ends out;
  pair_of_ends err;
  pair_of_ends channel;
  descriptor info;
  pair_of_ends block;

  [[nodiscard]] std::vector<passed_descriptor> passed(const launch_extras& extras) const {
    std::vector<passed_descriptor> all{{in.theirs ? in.theirs.get() : null.get(), 0},
                                       {out.theirs.get(), 1},
                                       {err.theirs.get(), 2},
                                       {specification.get(), stage::spec_fd},
                                       {channel.theirs.get(), stage::channel_fd},
                                       {image.get(), stage::image_fd}};
    if (options) {
      all.push_back({options.get(), stage::args_fd});
      all.push_back({info.get(), stage::info_fd});
      all.push_back({block.ours.get(), stage::block_fd});
      for (std::size_t i = 0; i < extras.held.size(); ++i) {
        all.push_back({extras.held[i], stage::held_fd + static_cast<int>(i)});
      }
    }
    return all;
  }
};

template <class T>
int keep(T& to, std::expected<T, int> made) {
  if (!made) return made.error();
  to = std::move(*made);
  return 0;
}

/// 0 or the errno of the first thing that could not be made.
int prepare(handover& all, const launch_plan& plan, const resource_limits& limits,
            const sinks& events, const launch_extras& extras) {
  all.null.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!all.null) return errno;
  const bool has_backend = plan.backend != backend_name::none;
  int wrong = keep(all.out, make_pipe());
  if (wrong == 0) wrong = keep(all.err, make_pipe());
  if (wrong == 0) wrong = keep(all.channel, make_channel());
  const bool has_input_pipe = events.input_descriptor >= 0 && !events.terminal;
  if (wrong == 0 && has_input_pipe) wrong = keep(all.in, make_input_pipe());
  if (wrong == 0) {
    const auto kind = events.terminal ? stage_streams::terminal : stage_streams::as_given;
    wrong = keep(all.specification, make_memory_file("pinfold-specification",
                                                     pack_specification(plan, limits, kind, extras),
                                                     memory_file_use::data));
  }
  if (wrong == 0) {
    wrong = keep(all.image, open_memory_file("pinfold-stage", memory_file_use::program));
  }
  if (wrong == 0 && has_backend) {
    wrong = keep(all.options,
                 make_memory_file("pinfold-options", packed_options(plan), memory_file_use::data));
  }
  if (wrong == 0 && has_backend) wrong = keep(all.info, make_mailbox("pinfold-info"));
  if (wrong == 0 && has_backend) wrong = keep(all.block, make_block());
  if (wrong == 0 && !has_backend) wrong = fill_memory_file(all.image, stage_image());
  return wrong;
}

/// Stage two is copied while bwrap makes the boundary, which takes longer; then bwrap may start it.
/// Whatever goes wrong, also the end of this process, leaves an empty or headless file, which bwrap
/// cannot execute: it gives up. Returns 0 or an errno; then bwrap is on its way out.
int let_go(handover& all) {
  const int wrong = fill_memory_file(all.image, stage_image());
  all.block.theirs.reset();
  return wrong;
}

/// Started now, so that it is there when the sandbox stands.
std::expected<std::optional<attacher>, int> attacher_for(const launch_plan& plan,
                                                         const handover& all) {
  if (plan.backend == backend_name::none) return std::nullopt;
  auto started = attacher::start(plan, all.image);
  if (!started) return std::unexpected{started.error()};
  return std::move(*started);
}

/// The mounts without which there is no boundary any more: what stage two proves one by one, and the covers
/// of single files, which a program of the host may rename over (passwd(1) does). A socket's cover goes
/// with its socket.
std::vector<std::string> mounts_that_hold(const launch_plan& plan, const launch_extras& extras) {
  std::vector<std::string> places;
  for (const auto& proof : extras.proofs) {
    if (proof.is_watched) places.push_back(proof.path);
  }
  for (const auto& one : plan.attached) {
    struct stat about {};
    const bool is_cover = one.role == mount_role::hidden && one.source == "/dev/null";
    if (is_cover && ::lstat(one.target.c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
      places.push_back(one.target);
    }
  }
  return places;
}

bool means_exhausted(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

refusal cannot_start(const launch_plan& plan, const char* what, int error) {
  const auto why = means_exhausted(error) ? code::resource_exhausted : code::sandbox_unavailable;
  return runner_refusal(plan, why, std::string{what} + ": " + std::strerror(error));
}

}  // namespace

refusal runner_refusal(const launch_plan& plan, code error, std::string detail) {
  return refusal{.error = error,
                 .op = operation::execute,
                 .path = plan.command.empty() ? std::string{} : plan.command.front(),
                 .resolved = {},
                 .boundary = plan.workspace,
                 .detail = std::move(detail)};
}

std::expected<started_stage, refusal> start_stage(const launch_plan& plan,
                                                  const resource_limits& limits,
                                                  const sinks& events,
                                                  const launch_extras& extras) {
  if (plan.command.empty()) {
    return std::unexpected{runner_refusal(plan, code::invalid_argument, "the command is empty")};
  }
  if (plan.backend == backend_name::none && limits.is_any()) {
    return std::unexpected{not_enforceable("a limit of memory, processes, processor time or files",
                                           backend_name::none)};
  }
  if (extras.listeners.size() > stage::most_listeners) {
    return std::unexpected{runner_refusal(plan, code::invalid_argument, "too many ports")};
  }
  handover all;
  if (const int wrong = prepare(all, plan, limits, events, extras); wrong != 0) {
    return std::unexpected{cannot_start(plan, "preparing descriptors", wrong)};
  }
  auto child = spawn(image_of(plan, extras), all.passed(extras));
  if (!child) return std::unexpected{cannot_start(plan, "starting the sandbox", child.error())};
  if (all.options) {
    if (const int wrong = let_go(all); wrong != 0) {
      reap(*child);
      return std::unexpected{cannot_start(plan, "stage two", wrong)};
    }
  }
  auto attaches = attacher_for(plan, all);
  if (!attaches) {
    all.channel.ours.reset();  // stage two comes up, finds nobody there and goes
    reap(*child);
    return std::unexpected{cannot_start(plan, "attaching mounts", attaches.error())};
  }
  return started_stage{std::move(*child),       std::move(all.channel.ours),
                       std::move(all.out.ours), std::move(all.err.ours),
                       std::move(all.in.ours),  std::move(all.in.theirs),
                       std::move(all.info),     mounts_that_hold(plan, extras),
                       std::move(*attaches)};
}

}  // namespace pinfold
