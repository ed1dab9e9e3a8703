"""A program of the host takes a carve-out's mount away while a command runs: the run ends at once,
says so, and names what to look at."""
import json
import os
import subprocess
import unittest

import git_test
import ground
from ground import support

# Tries to get through the moment it can, for as long as it lives.
GRAB = ("touch started; for i in $(seq 400); do echo '[core] fsmonitor = evil' >> .git/config; "
        "echo evil > .git/hooks/pre-commit; sleep 0.05; done 2>/dev/null; touch survived")


@support.as_each_user
class Lost(git_test.Checkout):
    def lose(self, act, script=GRAB):
        """The record of a run during which `act` was done on the host."""
        child = self.start("run", "--json", "-c", script)
        ground.wait_for(self.path("project/started"))
        act()
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(child.returncode, 125)
        self.assertFalse(os.path.exists(self.path("project/survived")))
        record = json.loads(out)
        self.assertEqual((record["ended"], record["refusal"]["error"]), ("failed", "BoundaryLost"),
                         record)
        return record

    def test_git_config_on_the_host_ends_the_run(self):
        record = self.lose(lambda: self.host_git("config", "color.ui", "auto"))
        self.assertEqual(record["refusal"]["path"], self.path("project/.git/config"))
        self.assertIn(".git/config", record["refusal"]["message"])
        self.assertIn("git_config", [one["kind"] for one in record["host_run"]["found"]])

    def test_a_carve_out_that_is_moved_away_ends_the_run(self):
        hooks = self.path("project/.git/hooks")
        record = self.lose(lambda: os.rename(hooks, hooks + ".old") or os.mkdir(hooks))
        self.assertEqual(record["refusal"]["path"], hooks)

    def test_harness_state_that_is_replaced_ends_the_run(self):
        os.mkdir(self.path("project/.foundry"))
        os.mkdir(self.path("project/.new"))
        self.own()
        self.lose(lambda: subprocess.run(
            ["mv", "-T", ".new", ".foundry"], cwd=self.project, check=True, **self.as_user()))

    def test_a_loss_that_nobody_woke_up_for_is_still_found_at_the_end(self):
        """The command is over within the moment: the last look counts."""
        script = "touch started; while [ ! -e over ]; do :; done"
        child = self.start("run", "--json", "-c", script)
        ground.wait_for(self.path("project/started"))
        os.kill(child.pid, 19)  # SIGSTOP: the runner sees nothing now
        self.host_git("config", "color.ui", "auto")
        self.write("project/over", "")
        os.kill(child.pid, 18)
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(json.loads(out)["refusal"]["error"], "BoundaryLost")

    def test_mounts_elsewhere_and_writes_of_the_host_end_nothing(self):
        child = self.start("run", "--json", "-c", "touch started; while [ ! -e over ]; do sleep 0.02; done")
        ground.wait_for(self.path("project/started"))
        self.host_git("commit", "-q", "--allow-empty", "-m", "meanwhile")
        with open(self.path("project/.git/config"), "a", encoding="utf-8") as file:
            file.write("[color]\n\tui = auto\n")  # in place: the mount stays
        self.inside("true")
        self.write("project/over", "")
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(json.loads(out)["ended"], "exited", out)


if __name__ == "__main__":
    unittest.main()
