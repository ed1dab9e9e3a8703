"""`pinfold worktree finish` and `list`: what holds anything is kept, what is clean goes, and nothing is
ever lost with it."""
import os
import shutil
import subprocess
import time
import unittest

import ground
from ground import support


@support.as_each_user
class Clean(ground.Repository):
    def test_a_clean_worktree_goes_with_its_branch_and_all_that_belonged_to_it(self):
        before = self.state()
        done = self.finish(self.create())
        self.assertEqual((done["end"], done["branch_kept"], done["commits"], done["reasons"]),
                         ("removed", False, 0, []))
        self.assertIsNone(done["deletes"])
        self.assertEqual(self.state(), before)
        self.assertEqual((self.left(), os.path.exists(done["path"])), ([], False))
        self.assert_sound()

    def test_a_branch_with_commits_of_its_own_is_kept_and_counted(self):
        made = self.create()
        for text in ("two\n", "three\n"):
            self.put("one", text, made["path"])
            self.git("commit", "-qam", text, cwd=made["path"])
        tip = self.git("rev-parse", "HEAD", cwd=made["path"])
        done = self.finish(made)
        self.assertEqual((done["end"], done["branch_kept"], done["commits"]), ("removed", True, 2))
        self.assertIn("holds 2 commits that main does not", done["summary"])
        self.assertEqual(self.git("rev-parse", "pinfold/fix/work"), tip)
        self.assertEqual(self.left(), [])
        self.assert_sound()

    def test_a_branch_whose_commits_the_parent_has_is_not_kept(self):
        made = self.create()
        self.put("one", "two\n", made["path"])
        self.git("commit", "-qam", "two", cwd=made["path"])
        self.git("merge", "-q", "--ff-only", "pinfold/fix/work")
        done = self.finish(made)
        self.assertEqual((done["end"], done["branch_kept"], done["commits"]), ("removed", False, 0))

    def test_packed_branches_are_told_and_removed_like_others(self):
        made = self.create()
        self.git("pack-refs", "--all")
        self.git("gc", "-q")
        self.assertEqual(self.finish(made)["branch_kept"], False)
        self.assertEqual(self.git("for-each-ref", "refs/heads/pinfold"), "")

    def test_ignored_files_and_empty_directories_are_no_work(self):
        self.put(".gitignore", "build/\n")
        self.git("add", ".gitignore")
        self.git("commit", "-qm", "ignore")
        made = self.create()
        self.put("build/deep/er/out.o", "x", made["path"], 0o444)
        os.chmod(os.path.join(made["path"], "build/deep/er"), 0o555)
        os.mkdir(os.path.join(made["path"], "empty"))
        self.assertEqual(self.finish(made)["end"], "removed")
        self.assertEqual(self.left(), [])

    def test_a_link_that_leads_out_is_not_followed_when_the_tree_is_removed(self):
        self.put(".gitignore", "out\n")
        self.git("add", ".gitignore")
        self.git("commit", "-qm", "ignore")
        made = self.create()
        os.symlink(self.path("project-old"), os.path.join(made["path"], "out"))
        self.assertEqual(self.finish(made)["end"], "removed")
        self.assertEqual(self.read("project-old/file"), "clean\n")

    def test_what_a_person_removed_is_brought_to_its_end(self):
        rows = {"by git": lambda made: self.git("worktree", "remove", made["path"]),
                "by rm": lambda made: shutil.rmtree(made["path"])}
        for how, remove in rows.items():
            with self.subTest(how=how):
                made = self.create()
                remove(made)
                self.assertEqual(self.worktree("list", "--json").json["worktrees"][0]["state"],
                                 "stale")
                self.assertEqual(self.finish(made)["end"], "removed")
                self.assertEqual(self.left(), [])
                self.assertEqual(self.git("for-each-ref", "refs/heads/pinfold"), "")
                self.assert_sound()

    def test_the_name_can_be_used_again(self):
        for _ in range(3):
            self.finish(self.create())


@support.as_each_user
class Dirty(ground.Repository):
    def rows(self):
        """What is done in a fresh worktree, and a part of a reason that is then given."""
        at = lambda made, name: os.path.join(made["path"], name)
        git = lambda made, *words: self.git(*words, cwd=made["path"])

        def lock(made):
            self.git("worktree", "lock", made["path"])

        def staged_alone(made):
            self.put("one", "staged\n", made["path"])
            git(made, "add", "one")
            self.put("one", "one\n", made["path"])

        def flagged(flag):
            def do(made):
                git(made, "update-index", flag, "one")
                self.put("one", "hidden\n", made["path"])
            return do

        def forged_times(made):
            about = os.stat(at(made, "one"))
            self.put("one", "two\n", made["path"])
            os.utime(at(made, "one"), ns=(about.st_atime_ns, about.st_mtime_ns))

        def detached(made):
            git(made, "checkout", "-q", "--detach")
            self.put("one", "x\n", made["path"])
            git(made, "commit", "-qam", "on no branch")

        def nested(made):
            git(made, "init", "-q", "nested")
            self.put("nested/file", "x\n", made["path"])
            self.git("add", ".", cwd=at(made, "nested"))
            self.git("commit", "-qm", "nested", cwd=at(made, "nested"))

        def gitlink(made):
            nested(made)
            git(made, "add", "nested")
            git(made, "commit", "-qm", "a gitlink")

        def rewritten(made):
            self.put(".git", "gitdir: /nowhere\n", made["path"])

        def own_repository(made):
            os.unlink(at(made, ".git"))
            git(made, "init", "-q")
            git(made, "add", ".")
            git(made, "commit", "-qm", "work that only lies here")

        def merging(made):
            git(made, "checkout", "-qb", "other")
            self.put("one", "other\n", made["path"])
            git(made, "commit", "-qam", "other")
            git(made, "checkout", "-q", "pinfold/fix/work")
            git(made, "merge", "-q", "--no-commit", "--no-ff", "other")

        def self_ignored(made):
            self.put(".gitignore", "*\n", made["path"])
            git(made, "add", "-f", ".gitignore")
            self.put("work", "x\n", made["path"])

        return {
            "a change": (lambda made: self.put("one", "x\n", made["path"]), " M one"),
            "a new file": (lambda made: self.put("new", "x\n", made["path"]), "?? new"),
            "a file in a new folder": (lambda made: self.put("a/b", "x\n", made["path"]), "?? a/"),
            "a deleted file": (lambda made: os.unlink(at(made, "one")), " D one"),
            "another mode": (lambda made: os.chmod(at(made, "one"), 0o755), " M one"),
            "a new link": (lambda made: os.symlink("one", at(made, "link")), "?? link"),
            "all files gone": (lambda made: shutil.rmtree(at(made, "src")), " D src/main.c"),
            "what only the index holds": (staged_alone, "something is staged"),
            "assumed unchanged": (flagged("--assume-unchanged"), " M one"),
            "said to be skipped": (flagged("--skip-worktree"), " M one"),
            "the times of before": (forged_times, " M one"),
            "commits on no branch": (detached, "its HEAD is not on its branch"),
            "a repository": (nested, "?? nested/"),
            "a repository added as a gitlink": (gitlink, "the submodule nested holds something"),
            "another file .git": (rewritten, "its file .git is not what was made"),
            "a repository in place of .git": (own_repository, "its file .git is not what was made"),
            "a merge that waits": (merging, "a merge is under way"),
            "what an ignore file that is new and staged hides": (self_ignored, "something is staged"),
            "a person's lock": (lock, "a person locked it"),
        }

    def test_a_dirty_worktree_is_never_removed(self):
        for what, (do, reason) in self.rows().items():
            with self.subTest(what=what):
                made = self.create()
                do(made)
                before = {path: seen for path, seen in self.tree().items()
                          if path.startswith(made["path"])}
                self.assertEqual(self.worktree("list", "--json").json["worktrees"][0]["state"],
                                 "dirty")
                done = self.finish(made)
                self.assertEqual((done["end"], done["branch_kept"]), ("kept", True), done)
                self.assertTrue([one for one in done["reasons"] if reason in one], done)
                after = {path: seen for path, seen in self.tree().items()
                         if path.startswith(made["path"])}
                self.assertEqual(after, before)
                self.try_git("worktree", "unlock", made["path"])
                self.delete(made, done)

    def delete(self, made, done):
        """The line that the summary gives leaves nothing."""
        for word in (made["path"], made["branch"], done["deletes"]):
            self.assertIn(word, done["summary"])
        self.assertNotIn("--force", done["summary"])
        subprocess.run(["sh", "-c", done["deletes"]], env=self.environment(), check=True, cwd="/",
                       stdout=subprocess.DEVNULL, **self.as_user())
        self.assertEqual(self.left(), [])
        self.try_git("branch", "-D", "other")
        self.assertEqual(self.git("for-each-ref", "refs/heads/pinfold"), "")
        self.assert_sound()

    def test_a_submodule_that_holds_anything_is_kept_and_an_empty_one_is_not(self):
        self.git("init", "-q", self.path("library"))
        self.put("file", "x\n", self.path("library"))
        self.git("add", ".", cwd=self.path("library"))
        self.git("commit", "-qm", "x", cwd=self.path("library"))
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", self.path("library"),
                 "sub")
        self.git("commit", "-qm", "submodule")
        self.assertEqual(self.finish(self.create())["end"], "removed")
        made = self.create()
        self.put("sub/work", "x\n", made["path"])
        done = self.finish(made)
        self.assertEqual((done["end"], done["reasons"]), ("kept", ["the submodule sub holds something"]))

    def test_what_cannot_be_looked_at_is_kept(self):
        if self.uid == 0:
            self.skipTest("root can look at everything")
        self.put(".gitignore", "build/\n")
        self.git("add", ".gitignore")
        self.git("commit", "-qm", "ignore")
        made = self.create()
        self.put("build/file", "x", made["path"])
        os.chmod(os.path.join(made["path"], "build"), 0)
        done = self.finish(made)
        self.assertEqual((done["end"], "cannot be looked at: build" in done["summary"]), ("kept", True))
        os.chmod(os.path.join(made["path"], "build"), 0o755)
        self.assertEqual(self.text("build/file", made["path"]), "x")

    def test_the_first_reasons_are_listed_and_the_others_counted(self):
        made = self.create()
        for i in range(60):
            self.put(f"new{i:02}", "x\n", made["path"])
        done = self.finish(made)
        self.assertEqual(len(done["reasons"]), 50)
        self.assertIn("and 10 more", done["summary"])
        self.assertEqual(self.text("new59", made["path"]), "x\n")

    def test_where_the_repository_is_gone_the_files_are_kept(self):
        made = self.create()
        os.rename(self.project, self.path("moved"))
        self.assertEqual(self.worktree("list", "--json", cwd=self.home).json["worktrees"][0]["state"],
                         "stale")
        done = self.finish(made, cwd=self.home)
        self.assertEqual(done["end"], "kept")
        self.assertIn("its repository is gone", done["reasons"][0])
        os.rename(self.path("moved"), self.project)
        self.assertEqual(self.finish(made)["end"], "removed")

    def test_what_is_written_after_the_look_is_kept_too(self):
        """Somebody goes on writing into the tree, whatever it is called by then."""
        made = self.create()
        lost = 0
        for i in range(10):
            if not os.path.exists(made["path"]):
                made = self.create(f"again{i}")
            tree = os.open(made["path"], os.O_RDONLY | os.O_DIRECTORY)
            child = self.start("worktree", "finish", made["path"], "--json")
            written = f"late{i}"
            time.sleep(0.01 + 0.012 * i)
            try:
                file = os.open(written, os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=tree)
                os.write(file, b"x\n")
                os.fchown(file, self.uid, self.gid)
                os.close(file)
            except FileNotFoundError:  # it was gone: nothing was written
                written = None
            out = child.communicate(timeout=support.HANG)[0]
            os.close(tree)
            self.assertEqual(child.returncode, 0, out)
            is_kept = b'"end":"kept"' in out
            if written and not is_kept:
                lost += 1
            if is_kept:
                self.assertEqual(self.text(f"late{i}", made["path"]), "x\n")
                for name in os.listdir(made["path"]):
                    if name.startswith("late"):
                        os.unlink(os.path.join(made["path"], name))
        # Between the last look at a file and its removal there are microseconds that nobody can close.
        self.assertLessEqual(lost, 1)


@support.as_each_user
class Refused(ground.Confined):
    def test_what_is_no_worktree_of_this_place(self):
        made = self.create()
        before = self.tree()
        rows = [self.project, "/", "/nowhere", "", os.path.dirname(made["path"]), self.place(),
                made["path"] + "/src", made["path"] + "-old", self.path("project-old")]
        for path in rows:
            with self.subTest(path=path):
                if path == "":
                    self.assertEqual(self.worktree("finish", "").code, 2)
                else:
                    self.refused("NotFound", "finish", path)
        self.assertEqual(self.tree(), before)

    def test_a_record_that_an_agent_forged_in_its_workspace_is_none(self):
        made = self.create()
        fake = self.path("project/a/b")
        shutil.copytree(os.path.dirname(made["path"]), fake, symlinks=True)
        self.own()
        self.refused("NotFound", "finish", os.path.join(fake, "project"))

    def test_while_a_run_is_under_way_nothing_is_looked_at(self):
        made = self.create()
        run = self.start("run", "--workspace", made["path"], "--", "sh", "-c",
                         "echo x; while ! test -e go; do sleep 0.05; done; echo late > late")
        self.assertEqual(run.stdout.read(2), b"x\n")
        self.assertEqual(self.worktree("list", "--json").json["worktrees"][0]["state"], "in_use")
        why = self.refused("TryAgain", "finish", made["path"])
        self.assertIn("a run is under way", why["message"])
        self.put("go", "", made["path"])
        run.communicate(timeout=support.HANG)
        done = self.finish(made)
        self.assertEqual((done["end"], done["reasons"]), ("kept", ["?? go", "?? late"]))

    def test_a_run_that_was_killed_hard_leaves_nothing_that_counts(self):
        made = self.create()
        run = self.start("run", "--workspace", made["path"], "--", "sh", "-c", "echo x; sleep 100")
        self.assertEqual(run.stdout.read(2), b"x\n")
        run.kill()
        run.communicate()
        end = time.monotonic() + support.HANG
        answer = self.worktree("finish", made["path"], "--json")
        while answer.code == 1 and time.monotonic() < end:  # the sandbox is dying still
            time.sleep(0.05)
            answer = self.worktree("finish", made["path"], "--json")
        self.assertEqual(answer.json["end"], "removed", answer)


@support.as_each_user
class List(ground.Repository):
    def test_it_says_what_is_there_and_changes_nothing(self):
        self.assertEqual(self.worktree("list", "--json").json,
                         {"place": self.place(), "worktrees": []})
        self.assertFalse(os.path.exists(self.place()))
        clean, dirty = self.create("clean"), self.create("dirty")
        self.put("one", "x\n", dirty["path"])
        before = self.tree()
        answer = self.worktree("list", "--json").json
        self.assertEqual([(one["name"], one["state"], one["reasons"]) for one in answer["worktrees"]],
                         [("clean", "clean", []), ("dirty", "dirty", [" M one"])])
        for one, made in zip(answer["worktrees"], (clean, dirty)):
            self.assertEqual({name: one[name] for name in made}, made)
        self.assertEqual(self.worktree("list").out,
                         f"clean\t{clean['path']}\t{clean['branch']}\n"
                         f"dirty\t{dirty['path']}\t{dirty['branch']}\n   M one\n")
        self.assertEqual(self.tree(), before)


if __name__ == "__main__":
    unittest.main()
