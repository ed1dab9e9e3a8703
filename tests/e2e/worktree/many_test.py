"""Fifty worktrees made, used and finished at once on one repository, and kills at random moments: the
repository stays whole, and no work is lost. The long form is tests/worktrees.sh."""
import json
import os
import random
import time
import unittest

import ground
from ground import support

MANY = 50
KILLS = int(os.environ.get("PINFOLD_WORKTREE_KILLS", "20"))
SEED = int(os.environ.get("PINFOLD_SEED", "1"))


@support.as_each_user
class Many(ground.Confined):
    def test_fifty_made_used_and_finished_at_once_disturb_neither_each_other_nor_the_parent(self):
        self.put("one", "half an edit\n")
        before = self.state()
        started = [self.start("run", "--json", "--timeout", "300s", "--worktree", f"w{i}", "--", "sh", "-c",
                              "cat one src/main.c >all; test $(wc -l <all) = 2 && rm all"
                              + (f"; echo {i} >work" if i % 5 == 0 else ""))
                   for i in range(MANY)]
        records = [json.loads(one.communicate(timeout=600)[0]) for one in started]
        for i, record in enumerate(records):
            with self.subTest(i=i):
                self.assertEqual((record["ended"], record["exit_code"]), ("exited", 0), record)
                own = record["worktree"]
                self.assertEqual(own["end"], "kept" if i % 5 == 0 else "removed", own)
                if i % 5 == 0:
                    self.assertEqual(self.text("work", own["path"]), f"{i}\n")
                    os.unlink(os.path.join(own["path"], "work"))
        kept = [record["worktree"] for record in records[::5]]
        ends = [self.start("worktree", "finish", one["path"], "--json") for one in kept]
        self.assertEqual([json.loads(one.communicate(timeout=600)[0])["end"] for one in ends],
                         ["removed"] * len(kept))
        self.assertEqual(self.state(), before)
        self.assertEqual(self.left(), [])
        self.assert_sound()


@support.as_each_user
class Killed(ground.Repository):
    """Every kill is followed by what a person does next: a finish. Work that was there before the kill
    is there after it, and where there was none everything goes."""

    files = 300

    def setUp(self):
        super().setUp()
        for i in range(self.files):
            self.put(f"many/{i}", f"{i}\n" * 50)
        self.git("add", ".")
        self.git("commit", "-qm", "many")
        self.chance = random.Random(SEED)

    def killed(self, *words, most):
        """Starts it and kills it somewhere within that many seconds; whether it was alive still."""
        child = self.start(*words)
        time.sleep(self.chance.random() * most)
        was_alive = child.poll() is None
        child.kill()
        child.communicate()
        self.settle()
        return was_alive

    def settle(self):
        """A git that was started ends with its pinfold, but not in the same moment, and one that was
        told to start may be seen a moment later only."""
        end = time.monotonic() + support.HANG
        quiet = 0
        while quiet < 5 and time.monotonic() < end:
            quiet = 0 if support.processes_with(self.home) else quiet + 1
            time.sleep(0.01)
        self.assertEqual(quiet, 5)

    def time_of(self, *words):
        begin = time.monotonic()
        self.assertEqual(self.worktree(*words).code, 0)
        return time.monotonic() - begin

    def paths(self):
        return [one["path"] for one in self.worktree("list", "--json").json["worktrees"]]

    def test_a_create_that_is_killed_leaves_a_whole_repository_and_can_be_finished(self):
        most = self.time_of("create", "--name", "measured")
        self.finish({"path": self.paths()[0]})
        before = self.state()
        alive = 0
        for i in range(KILLS // 2):
            alive += self.killed("worktree", "create", "--name", f"k{i}", most=most)
            self.assert_sound()
            for path in self.paths():
                self.assertEqual(self.finish({"path": path})["end"], "removed")
            self.assertEqual(self.state(), before)
            self.assertEqual([one for one in self.left() if not one.startswith(".new-")], [])
        self.assertGreater(alive, KILLS // 8)

    def test_a_finish_that_is_killed_loses_no_work_and_can_be_begun_again(self):
        self.create("measured")
        most = self.time_of("finish", self.paths()[0])
        before = self.state()
        alive = 0
        for i in range(KILLS // 2):
            made = self.create(f"k{i}")
            if i % 3 == 0:
                self.put("work", "only here\n", made["path"])
            alive += self.killed("worktree", "finish", made["path"], most=most)
            self.assert_sound()
            if i % 3 == 0:
                self.finish_to_the_end(made, "kept")
                self.assertEqual(self.text("work", made["path"]), "only here\n")
                os.unlink(os.path.join(made["path"], "work"))
            if self.paths():
                self.finish_to_the_end(made, "removed")
            self.assertEqual(self.state(), before)
            self.assertEqual([one for one in self.left() if not one.startswith(".gone-")], [])
        self.assertGreater(alive, KILLS // 8)

    def finish_to_the_end(self, made, end):
        self.assertEqual(self.finish(made)["end"], end)

    def test_what_killed_calls_left_is_swept_away(self):
        self.finish(self.create())
        folder = os.path.join(self.place(), os.listdir(self.place())[0])
        for name in (".new-old", ".gone-old", ".new-young", ".gone-young"):
            os.makedirs(os.path.join(folder, name, ".pinfold/view"))
        self.own()
        for name in (".new-old", ".gone-old"):
            os.utime(os.path.join(folder, name), (1, 1))
        self.finish(self.create())
        self.assertEqual(self.left(), [".gone-young", ".new-young"])  # they may be somebody's still


if __name__ == "__main__":
    unittest.main()
