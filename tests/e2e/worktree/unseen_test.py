"""`pinfold worktree finish` keeps what `git status` never shows: anything below a name `.git`, and what
an ignore file hides that no commit holds."""
import os
import shutil
import unittest

import ground
from ground import support


@support.as_each_user
class Unseen(ground.Repository):
    def setUp(self):
        super().setUp()
        self.put(".gitignore", "build/\n*.o\n")
        self.git("add", ".")
        self.git("commit", "-qm", "ignore")

    def nested(self, made, name):
        """A repository with a commit in a directory of the worktree."""
        self.git("init", "-q", name, cwd=made["path"])
        self.put(name + "/a", "precious\n", made["path"])
        top = os.path.join(made["path"], name)
        self.git("add", "a", cwd=top)
        self.git("commit", "-qm", "precious", cwd=top)
        os.unlink(os.path.join(top, "a"))

    @staticmethod
    def files_of(made):
        """Where each file of the tree lies; by descriptors, since a path may be too long."""
        return sorted(os.path.join(root, name) for root, _, files, _ in os.fwalk(made["path"])
                      for name in files)

    def rows(self):
        """What is done in a fresh worktree, and what the reason names."""
        put = lambda name, text="precious\n": lambda made: self.put(name, text, made["path"])

        def damaged(made):
            self.nested(made, "src")
            self.put("src/.git/HEAD", "x\n", made["path"])

        def hidden(made):
            self.put("src/.gitignore", "*\n", made["path"])
            self.put("src/work", "precious\n", made["path"])

        def hidden_by_another(made):
            self.put("docs/.gitignore", "*\n", made["path"])
            self.put("docs/deep/.gitignore", "x\n", made["path"])
            self.put("docs/deep/work", "precious\n", made["path"])

        def too_deep(made):
            """Nobody can name it by its path, so git shows nothing of it."""
            at = os.open(made["path"], os.O_RDONLY)
            for _ in range(30):
                os.mkdir("d" * 200, dir_fd=at)
                os.chown("d" * 200, self.uid, self.gid, dir_fd=at)
                inner = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
                os.close(at)
                at = inner
            file = os.open("work", os.O_WRONLY | os.O_CREAT, dir_fd=at)
            os.fchown(file, self.uid, self.gid)
            os.close(file)
            os.close(at)

        return {
            "a repository in a tracked directory": (lambda made: self.nested(made, "src"), "src/.git"),
            "one whose HEAD is damaged": (damaged, "src/.git"),
            "one in an ignored directory": (lambda made: self.nested(made, "build/x"), "build/x/.git"),
            "files below a directory .git": (put("x/.git/work"), "x/.git"),
            "a file .git": (put("n/.git"), "n/.git"),
            "a directory of another case": (put("x/.GIT/work"), "x/.GIT"),
            "an ignore file that hides itself": (put("new/.gitignore", "*\n"), "new/.gitignore"),
            "an ignore file that hides itself and work": (hidden, "src/.gitignore"),
            "two of them": (hidden_by_another, "docs/.gitignore"),
            "a path that is too long": (too_deep, "too deep"),
        }

    def test_what_git_never_shows_is_kept(self):
        for number, (what, (do, reason)) in enumerate(self.rows().items()):
            with self.subTest(what=what):
                made = self.create(f"row{number}")
                do(made)
                before = self.files_of(made)
                done = self.finish(made)
                self.assertEqual(done["end"], "kept", done)
                self.assertTrue([one for one in done["reasons"] if reason in one], done)
                self.assertEqual(self.files_of(made), before)
                shutil.rmtree(made["path"])
                self.assertEqual(self.finish(made)["end"], "removed")

    def test_an_ignore_file_below_what_the_commit_ignores_hides_nothing_more(self):
        made = self.create()
        self.put("build/.gitignore", "*\n", made["path"])
        self.put("build/deep/.gitignore", "*\n", made["path"])
        self.put("build/out", "x\n", made["path"])
        self.assertEqual(self.finish(made)["reasons"], [])

    def test_ignore_files_of_the_commit_may_hide(self):
        self.put("src/.gitignore", "*.log\n")
        self.put("lib/.gitignore", "cache\n")
        self.git("add", ".")
        self.git("commit", "-qm", "more of them")
        made = self.create()
        self.put("src/a.log", "x\n", made["path"])
        self.put("lib/cache/.gitignore", "*\n", made["path"])
        self.put("lib/cache/x", "x\n", made["path"])
        self.assertEqual(self.finish(made)["end"], "removed")

    def test_a_run_leaves_what_git_never_shows_in_its_worktree(self):
        self.need_sandbox()
        record = self.record("--worktree", "fix", "--", "sh", "-c",
                             "mkdir -p src/.git; echo precious > src/.git/work")
        self.assertEqual(record["worktree"]["end"], "kept", record)
        self.assertEqual(self.text("src/.git/work", record["worktree"]["path"]), "precious\n")


if __name__ == "__main__":
    unittest.main()
