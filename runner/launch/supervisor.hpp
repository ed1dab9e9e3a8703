// Watching one run from its start to its end: reports, output, deadlines, cancellation. One object
// for one run; it owns nothing but that run's state.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/cgroup/run_cgroup.hpp"
#include "launch/drain.hpp"
#include "launch/input_relay.hpp"
#include "launch/mount_watch.hpp"
#include "launch/run.hpp"
#include "launch/stage_protocol.hpp"
#include "launch/start.hpp"

namespace pinfold {

class supervisor {
 public:
  using clock = std::chrono::steady_clock;

  /// `cgroup`: the run's own, or why there is none.
  supervisor(const launch_plan& plan, const limits& bounds, const sinks& events,
             const launch_extras& extras, started_stage started,
             std::expected<run_cgroup, std::string> cgroup, clock::time_point asked);
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;
  /// Ends what a `watch` that threw has left.
  ~supervisor();

  /// Watches to the end, whatever it takes (bounded by the limits and a few seconds), and returns
  /// the record. Call once. What a sink throws cancels the run and is thrown on at the end.
  [[nodiscard]] run_record watch();

 private:
  static constexpr std::chrono::seconds setup_limit{30};    ///< from the call to `ready`
  static constexpr std::chrono::seconds report_limit{5};    ///< from SIGKILL to the last report
  static constexpr std::chrono::seconds abandon_limit{10};  ///< from our own SIGKILL to PID 1's end
  static constexpr std::chrono::seconds pipe_limit{1};      ///< from the end of all to that of the pipes

  /// The life of a run; it only ever moves down this list.
  enum class phase : std::uint8_t {
    starting,     ///< until stage two reports that the command runs
    running,      ///< until the time limit, a cancellation or the end
    terminating,  ///< SIGTERM was asked for; until the grace is over
    killing,      ///< SIGKILL was asked for; until stage two had time to report
    abandoning,   ///< everything was killed from here; until the kernel is done
    over,
  };

  void poll_once();
  [[nodiscard]] int poll_timeout() const;
  void read_stream(stream which);
  void carry_input();
  void tell(const std::function<void()>& sink);
  void beat();
  void tell_progress(const stage::message* measured);
  void read_channel();
  void take_passed(const stage::message& report, descriptor passed);
  void take_report(const stage::message& report);
  void on_present();
  void read_attacher();
  void on_locked();
  void refuse_the_nameless();
  void on_ready(const stage::message& report);
  void take_terminal(descriptor master);
  void take_size();
  void take_listener(descriptor socket);
  [[nodiscard]] std::optional<refusal> open_listeners();
  void on_resized();
  void on_started();
  void on_limited(const stage::message& report);
  void on_ended(const stage::message& report);
  void on_stage_failed(const stage::message& report);
  void on_not_started(int error);
  void on_deadline();
  void begin_ending(ending cause);
  void hang_up();
  void ask_to_kill();
  void kill_from_here();
  void say(char word);
  void refuse(refusal why);
  void find_init();
  void take_into_cgroup();
  void check_mounts();
  void say_that_all_are_gone();
  [[nodiscard]] bool is_counted() const;
  void check_cgroup();
  [[nodiscard]] bool is_done() const;
  void finish();

  const launch_plan& plan_;
  const limits& bounds_;
  const sinks& events_;
  const launch_extras& extras_;
  int cancelled_;  ///< borrowed; as the one in `events_`
  started_stage stage_;
  std::optional<input_relay> input_;
  std::expected<run_cgroup, std::string> cgroup_;
  pid_t init_number_{-1};  ///< of PID 1 inside, while it waits for its go
  descriptor init_;        ///< pidfd of PID 1 inside, once it is known
  std::optional<mount_watch> mounts_;  ///< its mount table, once it is known
  clock::time_point asked_;
  clock::time_point command_started_{};
  std::optional<clock::time_point> deadline_;
  std::optional<clock::time_point> next_beat_;
  std::vector<descriptor> listeners_;
  phase phase_{phase::starting};
  blob out_blob_;
  blob err_blob_;
  drain out_;
  drain err_;
  bool is_channel_open_{true};
  bool is_out_open_{true};
  bool is_err_open_{true};
  bool is_child_alive_{true};
  bool has_reported_end_{false};
  bool is_nameless_{false};  ///< stage two is there and bwrap has not said which process it is
  bool is_whole_{false};  ///< every mount of the boundary was there when stage two had come up
  bool has_gone_{false};  ///< stage two was told to start the command
  bool has_started_{false};
  bool are_all_gone_{false};  ///< and it was said
  bool has_terminal_{false};
  bool is_measuring_{false};  ///< stage two was asked and has not answered
  bool is_finished_{false};
  std::exception_ptr thrown_;  ///< by a sink; nobody is told anything after it
  run_record record_;
};

}  // namespace pinfold
