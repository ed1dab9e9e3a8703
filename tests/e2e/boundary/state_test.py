"""The harness's own data: hidden whether it is there or not, and nothing of it left behind."""
import os
import random
import time
import unittest

import ground
from ground import support

NAMES = (".efferent", ".foundry")
RUNS = int(os.environ.get("PINFOLD_RUNS", "20"))  # tests/load.sh makes it 200


@support.as_each_user
class State(ground.Boundary):
    def assert_out_of_reach(self, name):
        self.assertEqual(self.inside(f"ls -A {name}"), "")
        for act in ("echo x > {n}/f", "mkdir {n}/d", "rmdir {n}", "rm -rf {n}", "mv {n} other",
                    "mkdir other && mv -T other {n}", "ln -sfnT /tmp {n}", "chmod 777 {n}",
                    "touch -d 2001-01-01 {n}", "cat {n}/state"):
            self.assert_fails(act.replace("{n}", name))

    def listing(self):
        return sorted(name for name in os.listdir(self.project) if name not in ("other",))

    def test_absent_state_is_out_of_reach_and_leaves_no_ghost(self):
        for name in NAMES:
            self.assert_out_of_reach(name)
        self.assertEqual(self.listing(), ["src"])

    def test_present_state_is_out_of_reach_and_stays_as_it_was(self):
        for name in NAMES:
            os.mkdir(self.path("project", name))
            self.write(f"project/{name}/state", support.SECRET)
        self.own()
        before = self.tree_without_caches()
        for name in NAMES:
            self.assert_out_of_reach(name)
        os.path.isdir(self.path("project/other")) and os.rmdir(self.path("project/other"))
        self.assertEqual(self.tree_without_caches(), before)
        for name in NAMES:
            self.assertEqual(self.read(f"project/{name}/state"), support.SECRET)

    def test_an_empty_directory_of_the_harness_is_never_removed(self):
        for name in NAMES:
            os.mkdir(self.path("project", name))
        self.own()
        self.inside("true")
        self.assertEqual(self.listing(), [*NAMES, "src"])

    def test_what_the_harness_puts_there_during_a_run_stays(self):
        child = self.start("run", "-c", "touch started; while [ ! -e over ]; do sleep 0.05; done; "
                           "ls -A .foundry")
        ground.wait_for(self.path("project/started"))
        self.write("project/.foundry/state", support.SECRET)
        self.write("project/over", "")
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(out, b"")
        self.assertEqual(self.read("project/.foundry/state"), support.SECRET)

    def test_many_concurrent_runs_leave_nothing(self):
        runs = [self.start("run", "-c", "mkdir .foundry/x .efferent/x; sleep 0.0$((RANDOM % 10))")
                for _ in range(RUNS)]
        for child in runs:
            _, err = child.communicate(timeout=support.HANG)
            self.assertNotIn(b"pinfold:", err)
        self.assertEqual(self.listing(), ["src"])

    def test_runs_killed_hard_among_others_leave_nothing_that_the_next_does_not_clean_up(self):
        os.mkdir(self.path("project/.foundry"))  # the harness's own, and it has to stay
        self.own()
        chance = random.Random(7)
        runs = []
        for number in range(RUNS):
            child = self.start("run", "-c", "while :; do rmdir .efferent; mkdir .efferent && touch "
                               "FORGED; done 2>/dev/null" if number % 2 else "sleep 0.2")
            runs.append(child)
            if number % 2:
                time.sleep(chance.random() * 0.03)
                child.kill()
        for child in runs:
            child.communicate(timeout=support.HANG)
        self.assert_nobody_in(self.project)
        self.inside("true")
        self.assertEqual(self.listing(), [".foundry", "src"])

    def test_a_run_that_ends_does_not_uncover_the_state_of_one_that_goes_on(self):
        child = self.start("run", "-c", "touch started; while [ ! -e over ]; do sleep 0.05; done; "
                           "mkdir .foundry && echo FORGED; echo x > .foundry/x && echo FORGED")
        ground.wait_for(self.path("project/started"))
        self.inside("true")
        self.assertTrue(os.path.isdir(self.path("project/.foundry")))
        self.write("project/over", "")
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(out, b"")
        self.assertFalse(os.path.exists(self.path("project/.foundry")))

    def test_state_that_is_a_link_or_a_file_is_refused_before_the_start(self):
        for name in NAMES:
            at = self.path("project", name)
            for make in (lambda: os.symlink("src", at), lambda: os.symlink("nowhere", at),
                         lambda: os.symlink("/etc", at), lambda: open(at, "wb").close(),
                         lambda: os.mkfifo(at)):
                make()
                self.own()
                self.assert_refused("CarveOutUnusable", "-c", "touch started")
                self.assertFalse(os.path.exists(self.path("project/started")))
                os.unlink(at)
            self.assertEqual(self.listing(), ["src"])

    def test_names_that_only_look_alike_are_ordinary(self):
        self.inside("for n in .efferent-old .foundry2 .Foundry src/.foundry src/.efferent; do "
                    "mkdir $n && echo x > $n/f || exit 1; done")

    def test_state_is_hidden_under_the_minimal_root_too(self):
        self.assert_fails("mkdir .foundry/x", "--root", "minimal", because="Read-only")


if __name__ == "__main__":
    unittest.main()
