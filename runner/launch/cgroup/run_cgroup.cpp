#include "launch/cgroup/run_cgroup.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include <pinfold/disk/kernel.hpp>

namespace pinfold {
namespace {

constexpr std::chrono::milliseconds empty_limit{2000};  ///< from the last SIGKILL to an empty cgroup

/// A file whose changes are waited for; the kernel tells only who has read it before.
descriptor open_events(int cgroup, const char* file) {
  return descriptor{beneath::open_name(cgroup, file, O_RDONLY)};
}

/// From its start; empty when there is none.
std::string reread(const descriptor& events) {
  std::string text(1024, '\0');
  const auto got = events ? ::pread(events.get(), text.data(), text.size(), 0) : -1;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

/// What the kernel makes of a number of bytes.
std::uint64_t whole_pages(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes / page * page;
}

/// Whether a list of numbers, one in a line, holds this one.
bool lists(std::string_view text, const std::string& number) {
  return ("\n" + std::string{text}).contains("\n" + number + "\n");
}

}  // namespace

/// What was made is removed again by the destructor when a step fails.
std::expected<run_cgroup, std::string> run_cgroup::make(const cgroup_search& search,
                                                        const resource_limits& limits) {
  const auto& files = *search.files;
  auto place = find_cgroup_place(search, controllers::for_limits(limits));
  if (!place) return std::unexpected{std::move(place.error())};
  if (place->is_our_seat) {
    return std::unexpected{"this process itself sits in " + place->path + ", not in a leaf of it"};
  }
  remove_left_behind(*place, files);
  if (auto enabled = enable_controllers(*place, files); !enabled) {
    return std::unexpected{place->path + ": " + enabled.error()};
  }
  auto outer = held_cgroup::make_in(*place, files);
  if (!outer) return std::unexpected{std::move(outer.error())};
  run_cgroup made{files, std::move(*outer), place->offered};
  if (auto done = made.set_up(search, limits); !done) {
    return std::unexpected{made.path() + ": " + done.error()};
  }
  return made;
}

/// The limits first, then the place to sit in. Stage two counts as a task too.
std::expected<void, std::string> run_cgroup::set_up(const cgroup_search& search,
                                                    const resource_limits& limits) {
  std::expected<void, std::string> done;
  if (held_.memory) {
    // A kernel without swap has no such file, and no list of swaps either.
    const bool has_swap = ::access((search.proc + "/swaps").c_str(), F_OK) == 0;
    if (has_swap) done = set("memory.swap.max", "0");
    if (done) done = set("memory.oom.group", "1");
    if (done) done = set("memory.max", std::to_string(whole_pages(*limits.memory)));
    memory_events_ = open_events(outer_.get(), "memory.events");
    if (done && !memory_events_) done = std::unexpected{std::string{"no memory.events"}};
  }
  if (held_.pids && done) {
    done = set("pids.max", std::to_string(*limits.processes + 1));
    pids_events_ = open_events(outer_.get(), "pids.events");
    if (done && !pids_events_) done = std::unexpected{std::string{"no pids.events"}};
  }
  if (!done) return done;
  if (const int wrong = files_->make(outer_.get(), inner_cgroup); wrong != 0) {
    return std::unexpected{std::string{"no cgroup can be made in it"}};
  }
  inner_.reset(beneath::open_name(outer_.get(), inner_cgroup, O_RDONLY | O_DIRECTORY));
  if (!inner_) return std::unexpected{std::string{"the cgroup in it cannot be opened"}};
  (void)met();  // read once, so that changes show
  return {};
}

/// Written, and read again: what the kernel did not take is no limit.
std::expected<void, std::string> run_cgroup::set(const char* file, const std::string& word) const {
  if (auto done = write_control(*files_, outer_.get(), file, word); !done) return done;
  if (read_control(outer_.get(), file) == word + "\n") return {};
  return std::unexpected{std::string{file} + " does not say " + word};
}

std::expected<void, std::string> run_cgroup::take_in(pid_t process) const {
  const auto number = std::to_string(process);
  if (auto done = write_control(*files_, inner_.get(), "cgroup.procs", number); !done) {
    return std::unexpected{path() + ": " + done.error()};
  }
  if (const auto list = read_control(inner_.get(), "cgroup.procs"); list && lists(*list, number)) {
    return {};
  }
  return std::unexpected{path() + " does not list the process that was put in"};
}

/// `oom` counts our own limit, `oom_kill` whatever the kernel killed for: when the whole machine is
/// out of memory that is no limit of ours. (Before Linux 6.11 a fork that a limit further up refused
/// is counted here too.)
std::optional<run_limit> run_cgroup::met() const {
  const auto memory = reread(memory_events_);
  if (number_in(memory, "oom") > 0 && number_in(memory, "oom_kill") > 0) return run_limit::memory;
  if (number_in(reread(pids_events_), "max") > 0) return run_limit::processes;
  return std::nullopt;
}

unsigned run_cgroup::killed_for_memory() const {
  return static_cast<unsigned>(number_in(reread(memory_events_), "oom_kill"));
}

void run_cgroup::kill() const noexcept {
  (void)files_->write(outer_.get(), "cgroup.kill", "1");
}

void run_cgroup::wait_until_empty() const noexcept {
  const auto events = open_events(outer_.get(), "cgroup.events");
  const auto end = std::chrono::steady_clock::now() + empty_limit;
  for (;;) {
    if (number_in(reread(events), "populated") == 0) return;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    pollfd on{events.get(), POLLPRI, 0};
    (void)::poll(&on, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 100)));
  }
}

run_cgroup::~run_cgroup() {
  if (!inner_) return;  // moved away, or never filled
  kill();
  wait_until_empty();
}

}  // namespace pinfold
