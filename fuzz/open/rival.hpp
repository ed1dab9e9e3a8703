// A second thread that renames, swaps and relinks inside the workspace while operations run, as a
// confined command could: it touches nothing by a path, only names in directories that it holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "open/ground.hpp"
#include "support/bytes.hpp"

namespace pinfold_fuzz {

/// One step; all of them are done over and over, in order.
struct rival_step {
  enum class kind : std::uint8_t { exchange, move, link, directory, file } what{kind::exchange};
  int from{-1};
  std::string name{};
  int to{-1};
  std::string other{};  ///< the second name, or the text of a link
};

std::vector<rival_step> read_steps(bytes& input, const ground& on);

/// The thread lives as long as the process; it works between `start` and `stop`.
class rival {
 public:
  static rival& of_this_process();
  rival(const rival&) = delete;
  rival& operator=(const rival&) = delete;
  ~rival();

  void start(const std::vector<rival_step>& steps);
  void stop();

 private:
  enum state : int { idle, working, stopping, ending };
  rival();
  void run();
  void wait_for(int wanted) const;

  const std::vector<rival_step>* steps_{nullptr};
  std::atomic<int> state_{idle};
  std::thread thread_;
};

}  // namespace pinfold_fuzz
