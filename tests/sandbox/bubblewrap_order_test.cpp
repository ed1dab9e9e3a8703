// The order of the mounts is the boundary: laws that hold for every confinement, over a few hundred
// generated ones.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <pinfold/path.hpp>
#include <pinfold/sandbox/bubblewrap.hpp>

#include "support/catch.hpp"

namespace {

using namespace pinfold;

/// Confinements by a fixed seed, so that a failure comes back.
class generator {
 public:
  explicit generator(unsigned seed) : chance_{seed} {}

  confinement make() {
    confinement facts;
    facts.workspace = pick({"/home/u/w", "/srv/w", "/tmp/w", "/home/u/a/b/w", "/w", "/run/x/w"});
    facts.directory = facts.workspace;
    facts.command = {"true"};
    facts.access = coin() ? workspace_access::read_only : workspace_access::read_write;
    facts.network = coin() ? network_access::on : network_access::off;
    facts.root = coin() ? root_profile::minimal : root_profile::host;
    if (facts.root == root_profile::minimal) {
      facts.visible = {{"/usr", file_kind::directory, ""}, {"/bin", file_kind::link, "usr/bin"}};
    }
    for (const std::string place : {"/home", "/root", "/run", "/tmp", "/var/tmp"}) {
      if (coin()) facts.hidden.push_back({place, place.ends_with("tmp") ? scratch : closed});
    }
    if (coin()) facts.hidden_files.emplace_back("/etc/shadow");
    add_shared(facts);
    add_carve_outs(facts);
    return facts;
  }

 private:
  static constexpr auto closed = hidden_path::use::closed;
  static constexpr auto scratch = hidden_path::use::scratch;

  bool coin() { return std::uniform_int_distribution{0, 1}(chance_) == 1; }
  std::string pick(std::vector<std::string> from) {
    return from[std::uniform_int_distribution<std::size_t>{0, from.size() - 1}(chance_)];
  }

  void add_shared(confinement& facts) {
    for (const std::string path :
         {"/home/u/.cargo", "/home/u/a", "/srv", "/opt/tools", "/run/resolv.conf", "/home/u/w/sub",
          "/tmp/blobs"}) {
      if (!coin()) continue;
      facts.shared.push_back({path, path, coin() ? root_access::read : root_access::write});
    }
    std::ranges::shuffle(facts.shared, chance_);
  }

  void add_carve_outs(confinement& facts) {
    if (coin()) facts.pinned.push_back(facts.workspace + "/.git");
    for (const std::string name : {".efferent", ".foundry", ".git/hooks", ".git/config", "a/b/c"}) {
      if (!coin()) continue;
      auto& carve = facts.carve_outs.emplace_back();
      carve.path = facts.workspace + "/" + name;
      carve.kind = coin() ? carve_kind::host_run : carve_kind::harness_state;
      carve.type = coin() ? file_kind::file : file_kind::directory;
      carve.shell = coin() ? carved_path::shown::hidden : carved_path::shown::visible;
    }
    std::ranges::shuffle(facts.carve_outs, chance_);
  }

  std::mt19937 chance_;
};

/// What holds at `path` when all mounts are made: the last mount at or above it.
const mount* mount_over(const std::vector<mount>& mounts, const std::string& path) {
  const mount* last = nullptr;
  for (const auto& one : mounts) {
    const bool changes_nothing =
        one.kind == mount_kind::remount_ro || one.kind == mount_kind::directory;
    if (!changes_nothing && contains(one.target, path)) last = &one;
  }
  return last;
}

bool is_writable(const std::vector<mount>& mounts, const std::string& path) {
  const auto* over = mount_over(mounts, path);
  if (over == nullptr) return false;
  const auto closes = [&](const mount& one) {
    return one.kind == mount_kind::remount_ro && one.target == over->target;
  };
  const auto after = std::vector<mount>(mounts.begin() + (over - mounts.data()), mounts.end());
  return (over->kind == mount_kind::bind || over->kind == mount_kind::tmpfs) &&
         std::ranges::none_of(after, closes);
}

template <class Law>
void for_all(Law law) {
  generator next{20240229};
  int planned = 0;
  for (int i = 0; i < 600; ++i) {
    INFO("confinement " << i);
    const auto facts = next.make();
    const auto plan = bubblewrap{}.wrap(facts);
    if (!plan) {  // only a hidden place that would be uncovered
      REQUIRE(plan.error().error == code::workspace_too_broad);
      continue;
    }
    ++planned;
    law(facts, plan->mounts);
  }
  REQUIRE(planned > 300);
}

std::size_t last_at(const std::vector<mount>& mounts, const std::string& target) {
  std::size_t found = mounts.size();
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (mounts[i].target == target) found = i;
  }
  REQUIRE(found < mounts.size());
  return found;
}

std::size_t first_at(const std::vector<mount>& mounts, const std::string& target) {
  const auto found = std::ranges::find(mounts, target, &mount::target);
  REQUIRE(found != mounts.end());
  return static_cast<std::size_t>(found - mounts.begin());
}

}  // namespace

TEST_CASE("a carve-out comes after every mount at or above it that could show it again") {
  for_all([](const confinement& facts, const std::vector<mount>& mounts) {
    for (const auto& carve : facts.carve_outs) {
      INFO(carve.path);
      const auto own = last_at(mounts, carve.path);
      CHECK(mounts[own].role == mount_role::carve_out);
      for (std::size_t i = own; i < mounts.size(); ++i) {
        const bool above = contains(mounts[i].target, carve.path);
        CHECK((i == own || !above || mounts[i].kind == mount_kind::remount_ro));
      }
      CHECK_FALSE(is_writable(mounts, carve.path));
      CHECK_FALSE(is_writable(mounts, carve.path + "/below"));
    }
  });
}

TEST_CASE("hidden harness state shows nothing of the host, visible state only itself") {
  for_all([](const confinement& facts, const std::vector<mount>& mounts) {
    for (const auto& carve : facts.carve_outs) {
      const auto* over = mount_over(mounts, carve.path);
      const bool hidden = carve.kind == carve_kind::harness_state &&
                          carve.shell == carved_path::shown::hidden;
      REQUIRE(over != nullptr);
      CHECK((over->source == carve.path) == !hidden);
    }
  });
}

TEST_CASE("a hidden place comes before what is bound back into it") {
  for_all([](const confinement& facts, const std::vector<mount>& mounts) {
    for (const auto& place : facts.hidden) {
      const auto cover = first_at(mounts, place.path);
      for (std::size_t i = 0; i < mounts.size(); ++i) {
        if (mounts[i].target == place.path || !contains(place.path, mounts[i].target)) continue;
        CHECK(cover < i);
      }
      CHECK(mounts[cover].kind == mount_kind::tmpfs);
      CHECK(mounts[cover].size > 0);
    }
  });
}

TEST_CASE("a place is closed only after everything in it is made, and nothing opens it again") {
  for_all([](const confinement& facts, const std::vector<mount>& mounts) {
    for (std::size_t i = 0; i < mounts.size(); ++i) {
      if (mounts[i].kind != mount_kind::remount_ro) continue;
      for (std::size_t j = i + 1; j < mounts.size(); ++j) {
        INFO(mounts[i].target << " and then " << mounts[j].target);
        CHECK((mounts[j].kind == mount_kind::remount_ro ||
               !contains(mounts[i].target, mounts[j].target)));
      }
    }
    for (const auto& place : facts.hidden) {
      const bool is_scratch = place.contents == hidden_path::use::scratch;
      CHECK(is_writable(mounts, place.path + "/new") == is_scratch);
    }
    CHECK_FALSE(is_writable(mounts, "/new"));
    CHECK_FALSE(is_writable(mounts, "/dev/new"));
  });
}

TEST_CASE("/proc/sys is bound read-only after /proc is made, and stays so") {
  for_all([](const confinement&, const std::vector<mount>& mounts) {
    CHECK(first_at(mounts, "/proc") < first_at(mounts, "/proc/sys"));
    CHECK(mounts[last_at(mounts, "/proc/sys")].kind == mount_kind::ro_bind);
    CHECK_FALSE(is_writable(mounts, "/proc/sys/kernel/core_pattern"));
    const auto* over = mount_over(mounts, "/proc/1/environ");
    REQUIRE(over != nullptr);
    CHECK(over->kind == mount_kind::proc);
  });
}

TEST_CASE("no write bind lies outside the workspace and the write roots") {
  for_all([](const confinement& facts, const std::vector<mount>& mounts) {
    for (const auto& one : mounts) {
      if (one.kind != mount_kind::bind) continue;
      const bool in_workspace = facts.access == workspace_access::read_write &&
                                contains(facts.workspace, one.source);
      const bool is_root = std::ranges::any_of(facts.shared, [&](const shared_path& path) {
        return path.access == root_access::write && path.target == one.target &&
               path.source == one.source;
      });
      INFO(one.target);
      CHECK((in_workspace || is_root));
      CHECK(one.source == one.target);
    }
  });
}

TEST_CASE("the workspace is what the workspace's path shows, with the access that was decided") {
  for_all([](const confinement& facts, const std::vector<mount>& mounts) {
    const auto* over = mount_over(mounts, facts.workspace);
    REQUIRE(over != nullptr);
    CHECK(over->role == mount_role::workspace);
    CHECK(is_writable(mounts, facts.workspace + "/new") ==
          (facts.access == workspace_access::read_write));
    for (const auto& path : facts.pinned) CHECK(mounts[last_at(mounts, path)].target == path);
  });
}

TEST_CASE("a hidden file stays covered whatever is shown") {
  for_all([](const confinement& facts, const std::vector<mount>& mounts) {
    for (const auto& path : facts.hidden_files) {
      const auto* over = mount_over(mounts, path);
      REQUIRE(over != nullptr);
      CHECK(over->source == "/dev/null");
    }
  });
}
