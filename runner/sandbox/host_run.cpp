// What is looked at before the run, so that the walk after it knows what is news.
#include "sandbox/host_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <pinfold/disk/kernel.hpp>

#include "sandbox/host_run/names.hpp"
#include "sandbox/host_run/step.hpp"

namespace pinfold {

std::vector<std::string> ignored_directories(std::string_view gitignore) {
  std::vector<std::string> names;
  while (!gitignore.empty()) {
    const auto end = std::min(gitignore.find('\n'), gitignore.size());
    auto line = gitignore.substr(0, end);
    gitignore.remove_prefix(std::min(end + 1, gitignore.size()));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with('!')) return {};
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.ends_with('/')) line.remove_suffix(1);
    const bool is_plain =
        !line.empty() && !line.starts_with('#') && line.find_first_of("/*?[\\") == line.npos;
    if (is_plain && !is_known_directory(line)) names.emplace_back(line);
  }
  std::ranges::sort(names);
  return names;
}

host_run_search begin_host_run_search(std::string workspace, int directory) {
  host_run_search search;
  search.workspace = std::move(workspace);
  ::clock_gettime(CLOCK_REALTIME_COARSE, &search.since);
  const descriptor file{beneath::open_below(beneath::lookup::openat2, directory, ".gitignore",
                                            {.flags = O_RDONLY | O_NONBLOCK})};
  if (!file.is_open()) return search;
  std::string text(64 * 1024, '\0');
  const auto got = ::read(file.get(), text.data(), text.size());
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  search.ignored = ignored_directories(text);
  return search;
}

namespace {

void read_ahead(host_run_search& search, int directory, const git_index_place& place,
                std::vector<to_visit>& pending) {
  if (search.ignored.empty() || search.gitlinks.contains(place.index)) return;
  auto found = hidden_gitlinks_of(search, directory, place);
  if (!found.is_whole) return;
  search.gitlinks.insert(place.index);
  for (auto& path : found.paths) {
    pending.push_back({path, room::plain});
    search.gitlinks.insert(std::move(path));
  }
}

}  // namespace

void list_ahead(host_run_search& search, int directory) {
  const auto set_id = std::exchange(search.set_id, set_id_files::barred);
  auto pending = beginnings(search);
  for (const auto& place : search.indexes) read_ahead(search, directory, place, pending);
  std::size_t left = host_run_search::ahead_budget;
  while (!pending.empty()) {
    const auto at = std::move(pending.back());
    pending.pop_back();
    const int fd = open_in(directory, at.path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) continue;
    if (const auto place = index_of(at)) read_ahead(search, directory, *place, pending);
    auto listed = list(fd, choice_for(search, at.kind, left));
    if (!listed) break;
    if (!listed->is_whole) continue;
    left -= listed->count;
    for (const auto& entry : listed->entries) {
      if (!entry.is_directory) continue;
      if (auto next = entered(search, at, listed->is_repository(), entry.name)) {
        pending.push_back(std::move(*next));
      }
    }
    search.ahead.emplace(at.path, std::move(*listed));
  }
  search.set_id = set_id;
}

host_run_report look_for_host_run(const host_run_search& search, int directory) {
  return walk_all(search, directory);
}

}  // namespace pinfold
