// What goes through the runner while a command runs: its output, its input, and what the sinks are
// told.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "launch/supervisor.hpp"

namespace pinfold {

/// A sink that throws ends the run; the drains go on.
void supervisor::tell(const std::function<void()>& sink) {
  if (thrown_) return;
  try {
    sink();
  } catch (...) {
    thrown_ = std::current_exception();
    begin_ending(ending::cancelled);
  }
}

/// What comes before the go is bwrap's; what comes before the report that the command runs is
/// passed on with it.
void supervisor::read_stream(stream which) {
  const bool is_out = which == stream::out;
  std::function<void(std::string_view)> on_head;
  std::function<void(std::string_view)> on_piece;
  if (events_.on_output && has_started_) {
    on_head = [&](std::string_view text) { tell([&] { events_.on_output(which, text); }); };
  }
  if (events_.on_piece && has_gone_) {
    on_piece = [&](std::string_view text) { tell([&] { events_.on_piece(which, text); }); };
  }
  auto& from = is_out ? stage_.out : stage_.err;
  const auto state = (is_out ? out_ : err_).read_from(from.get(), on_head, on_piece);
  (is_out ? is_out_open_ : is_err_open_) = state == drain::state::open;
}

/// An input that cannot be read to its end is not given out as one that ended: the run is. The
/// command's pipe stays open meanwhile, or it would read an end before it is killed.
void supervisor::carry_input() {
  const int wrong = input_->move();
  if (wrong == 0) return;
  if (has_reported_end_ || record_.error) return;
  record_.error = runner_refusal(plan_, code::run_lost,
                                 std::string{"reading its input: "} + std::strerror(wrong));
  record_.ended = ending::failed;
  ask_to_kill();
}

/// The command writes to a pseudo-terminal instead of its pipe, whose other end stage two has
/// alone.
void supervisor::take_terminal(descriptor master) {
  ::fcntl(master.get(), F_SETFL, O_NONBLOCK);
  stage_.out = std::move(master);
  has_terminal_ = true;
  take_size();
  if (events_.input_descriptor < 0) return;
  descriptor to{::fcntl(stage_.out.get(), F_DUPFD_CLOEXEC, 0)};
  input_.emplace(events_.input_descriptor, std::move(to), input_relay::target::terminal);
}

void supervisor::on_resized() {
  std::uint64_t times = 0;
  const auto got = ::read(events_.terminal->resized, &times, sizeof times);
  (void)got;  // the size is taken in any case
  take_size();
}

/// A new size raises SIGWINCH inside (TIOCSWINSZ, tty_ioctl(4)).
void supervisor::take_size() {
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  if (events_.terminal->size_of >= 0) ::ioctl(events_.terminal->size_of, TIOCGWINSZ, &size);
  ::ioctl(stage_.out.get(), TIOCSWINSZ, &size);
}

/// Stage two is asked how much there is inside; where it has not answered since the last time, it
/// is told without.
void supervisor::beat() {
  *next_beat_ += events_.progress_interval;
  if (const auto now = clock::now(); *next_beat_ <= now)
    next_beat_ = now + events_.progress_interval;
  if (plan_.backend == backend_name::none || is_measuring_) return tell_progress(nullptr);
  is_measuring_ = true;
  say(stage::measure);
}

void supervisor::tell_progress(const stage::message* measured) {
  using std::chrono::ceil;
  using std::chrono::floor;
  using std::chrono::milliseconds;
  const auto now = clock::now();
  progress so_far{.elapsed = floor<milliseconds>(now - command_started_),
                  .left = {},
                  .out_bytes = out_.bytes(),
                  .err_bytes = err_.bytes(),
                  .processes = {},
                  .memory = {}};
  if (bounds_.time) {
    so_far.left = std::max(milliseconds{0}, ceil<milliseconds>(*bounds_.time - so_far.elapsed));
  }
  if (measured != nullptr) {
    so_far.processes = static_cast<std::uint64_t>(measured->value);
    so_far.memory = measured->extra;
  }
  tell([&] { events_.on_progress(so_far); });
}

}  // namespace pinfold
