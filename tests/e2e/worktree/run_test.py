"""`pinfold run --worktree`: made, run inside, finished, and told in the record; the parent's files are
outside."""
import json
import os
import subprocess
import time
import unittest

import ground
from ground import support


@support.as_each_user
class Run(ground.Confined):
    def test_a_command_runs_in_a_worktree_that_is_gone_afterwards(self):
        before = self.state()
        record = self.record("--worktree", "fix", "--", "sh", "-c", "pwd; cat one")
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 0), record)
        own = record["worktree"]
        self.assertEqual(record["stdout"]["text"], f"{own['path']}\none\n")
        self.assertEqual(record["workspace"], own["path"])
        self.assertEqual((own["end"], own["branch_kept"], own["reasons"]), ("removed", False, []), own)
        self.assertEqual(self.state(), before)
        self.assertEqual(self.left(), [])
        self.assertEqual(record["host_run"]["found"], [])
        self.assertIsNone(self.record("--", "true")["worktree"])

    def test_what_a_command_leaves_is_kept_and_told(self):
        answer = self.pinfold("run", "--worktree", "fix", "--", "sh", "-c", "echo x > new; exit 3")
        self.assertEqual(answer.code, 3)
        self.assertIn("worktree fix: kept at", answer.err)
        self.assertIn("?? new", answer.err)
        path = self.worktree("list", "--json").json["worktrees"][0]["path"]
        self.assertEqual(self.text("new", path), "x\n")
        self.assertFalse(os.path.exists(self.path("project/new")))

    def test_the_parents_files_are_outside(self):
        self.put("one", "half an edit\n")
        script = (f"cat {self.project}/one; echo x > {self.project}/one; rm -rf {self.project}; "
                  f"ls {self.place()} {os.path.dirname(self.place())}; true")
        record = self.record("--worktree", "fix", "--", "sh", "-c", script)
        self.assertNotIn("half an edit", record["stdout"]["text"])
        self.assertEqual(self.text("one"), "half an edit\n")
        made = self.create()
        answer = self.pinfold("check", "write", self.path("project/one"), "--workspace", made["path"],
                              "--json")
        self.assertEqual(answer.json["refusal"]["error"], "OutsideWorkspace")
        self.assertEqual(self.pinfold("check", "write", "one", "--workspace", made["path"]).code, 0)

    def test_its_own_record_and_its_neighbours_are_out_of_reach(self):
        other = self.create("other")
        script = (f"cat ../.pinfold/record; echo x > ../.pinfold/record; rm -rf ../.pinfold; "
                  f"cat {other['path']}/one; echo x > {other['path']}/one; true")
        record = self.record("--worktree", "fix", "--", "sh", "-c", script)
        self.assertEqual(record["stdout"]["text"], "")
        self.assertEqual(record["worktree"]["end"], "removed")
        self.assertEqual(self.text("one", other["path"]), "one\n")

    def test_harness_state_that_a_run_made_is_no_work(self):
        record = self.record("--worktree", "fix", "--", "sh", "-c", "ls -a")
        self.assertIn(".efferent", record["stdout"]["text"])
        self.assertEqual(record["worktree"]["end"], "removed")

    def test_what_cannot_be_made_is_refused_and_nothing_runs(self):
        self.create("taken")
        rows = [("AlreadyExists", "taken", self.project), ("InvalidArgument", "a/b", self.project),
                ("NoRepository", "fix", self.path("project-old"))]
        for error, name, where in rows:
            with self.subTest(error=error):
                record = self.record("--worktree", name, "--workspace", where, "--", "touch", "ran")
                self.assertEqual((record["ended"], record["refusal"]["error"]), ("refused", error))
                self.assertFalse(os.path.exists(os.path.join(where, "ran")))
        self.assertEqual(self.left(), ["taken"])
        self.assertEqual(self.pinfold("run", "--worktree", "", "--", "true").code, 125)

    def test_a_run_that_is_refused_leaves_no_worktree(self):
        record = self.record("--worktree", "fix", "--cwd", "nowhere", "--", "true")
        self.assertEqual(record["ended"], "refused")
        self.assertEqual(record["worktree"]["end"], "removed")
        self.assertEqual((self.left(), self.git("for-each-ref", "refs/heads/pinfold")), ([], ""))

    def test_the_last_event_holds_what_became_of_it(self):
        answer = self.pinfold("run", "--events", "--worktree", "fix", "--", "touch", "new")
        self.assertEqual(answer.json_lines[-1]["record"]["worktree"]["end"], "kept")

    def test_an_interrupted_run_is_finished_too(self):
        run = self.start("run", "--json", "--worktree", "fix", "--", "sh", "-c",
                         f"touch new; sleep {support.HANG}")
        path = os.path.join(self.place(), "*")
        deadline = support.HANG
        while not subprocess.run(["sh", "-c", f"test -e {path}/fix/project/new"], check=False,
                                 ).returncode == 0 and deadline > 0:
            self.assertIsNone(run.poll())
            deadline -= 0.05
            time.sleep(0.05)
        run.terminate()
        record = json.loads(run.communicate(timeout=support.HANG)[0])
        self.assertEqual((record["ended"], record["worktree"]["end"]), ("cancelled", "kept"))


if __name__ == "__main__":
    unittest.main()
