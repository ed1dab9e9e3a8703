"""The runner killed hard, at any moment, its first two milliseconds among them: nothing runs on,
nothing is forged, and the next run cleans up. PINFOLD_KILLS says how many times (tests/load.sh: 300)."""
import os
import random
import signal
import time
import unittest

import ground
from ground import support

KILLS = int(os.environ.get("PINFOLD_KILLS", "40"))
FORGE = ("touch {word}; while :; do rmdir .foundry && mkdir .foundry && echo x > .foundry/forged; "
         "mkdir .efferent && echo x > .efferent/forged; done 2>/dev/null # {word}")


@support.as_each_user
class Killed(ground.Boundary):
    def moment(self, i, chance):
        """Every other one within the first two milliseconds; of the rest some while the command runs."""
        if i % 2:
            return chance.uniform(0, 0.002)
        return chance.uniform(0, 0.03)

    def test_runners_killed_at_random_moments_leave_nothing(self):
        chance = random.Random(20240229)
        started = 0
        for i in range(KILLS):
            word = f"pinfold-killed-{os.getpid()}-{self.uid}-{i}"
            child = self.start("run", "-c", FORGE.format(word=word))
            if i % 4 == 0:
                ground.wait_for(self.path("project", word))
            time.sleep(self.moment(i, chance))
            os.kill(child.pid, signal.SIGKILL)
            child.communicate(timeout=support.HANG)
            self.assert_gone(word)
            self.assert_nobody_in(self.project)
            started += os.path.exists(self.path("project", word))
            for name in (".foundry", ".efferent"):
                left = self.path("project", name)
                self.assertEqual(os.listdir(left) if os.path.exists(left) else [], [], i)
        self.assertGreaterEqual(started, KILLS // 4, "too few commands ever ran")
        self.inside("rm -f pinfold-killed-*")
        self.assertEqual(os.listdir(self.project), ["src"])

    def test_thirty_runners_asked_to_end_at_random_moments_leave_nothing(self):
        chance = random.Random(20240301)
        for i in range(30):
            word = f"pinfold-ended-{os.getpid()}-{self.uid}-{i}"
            child = self.start("run", "--grace", "50ms", "-c", FORGE.format(word=word))
            time.sleep(chance.uniform(0, 0.03))
            child.send_signal((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[i % 3])
            child.communicate(timeout=support.HANG)
            self.assertNotEqual(child.returncode, 0)
            self.assert_gone(word)
            self.assert_nobody_in(self.project)
        self.inside("rm -f pinfold-ended-*")
        self.assertEqual(os.listdir(self.project), ["src"])

    def test_a_killed_runner_without_a_sandbox_leaves_no_process(self):
        word = f"pinfold-killed-{os.getpid()}-{self.uid}-none"
        child = self.start("run", "--no-sandbox", "-c",
                           f"setsid sh -c 'sleep 300 # {word}' & touch started; sleep 300 # {word}")
        ground.wait_for(self.path("project/started"))
        os.kill(child.pid, signal.SIGKILL)
        child.communicate(timeout=support.HANG)
        self.assert_gone(word)


if __name__ == "__main__":
    unittest.main()
