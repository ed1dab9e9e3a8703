"""The place of worktrees is no workspace, and what somebody wrote into a record or a view of it leads
neither git nor a removal anywhere."""
import os
import stat
import unittest

import ground
from ground import support


@support.as_each_user
class Workspace(ground.Confined):
    def places(self):
        """What holds the runner's own state or lies in it, and is no tree of a worktree."""
        made = self.create()
        folder = os.path.dirname(made["path"])
        self.put(".local/state/pinfold/commits/x/file", "x", self.home)
        self.put(".local/state/pinfold/other/file", "x", self.home)
        self.put(".cache/pinfold/x/file", "x", self.home)
        os.chmod(self.path(".cache/pinfold"), 0o700)
        os.symlink(folder, self.path("link"))
        self.own()
        return [self.path(".local/state"), self.path(".local/state/pinfold"), self.place(),
                os.path.dirname(folder), folder, folder + "/.pinfold", folder + "/.pinfold/view",
                self.path("link"), self.path(".local/state/pinfold/commits"),
                self.path(".local/state/pinfold/commits/x"), self.path(".local/state/pinfold/other"),
                self.path(".cache/pinfold"), self.path(".cache/pinfold/x")]

    def test_the_runners_own_places_are_no_workspace_of_any_subcommand(self):
        ways = {"run": ("run", "-c", "touch made"),
                "explain": ("explain", "-c", "true"),
                "mcp": ("mcp",),
                "run unconfined": ("run", "--no-sandbox", "-c", "touch made"),
                "mcp unconfined": ("mcp", "--no-sandbox")}
        for place in self.places():
            before = self.tree()
            for way, words in ways.items():
                with self.subTest(place=place, way=way):
                    answer = self.pinfold(words[0], "--workspace", place, *words[1:], cwd="/")
                    self.assertNotEqual(answer.code, 0, answer)
                    self.assertIn("WorkspaceTooBroad", answer.err)
                    self.assertEqual(self.tree(), before)

    def test_a_tree_and_a_folder_of_one_are_workspaces(self):
        made = self.create()
        for place in (made["path"], made["path"] + "/src"):
            answer = self.pinfold("run", "--workspace", place, "-c", "echo x", cwd="/")
            self.assertEqual((answer.code, answer.out), (0, "x\n"), answer)
            self.assertEqual(self.pinfold("mcp", "--workspace", place, cwd="/").code, 0)


@support.as_each_user
class Forged(ground.Repository):
    def own_file(self, made, name):
        return os.path.join(os.path.dirname(made["path"]), ".pinfold", name)

    def test_a_record_that_does_not_follow_from_where_it_lies_is_none(self):
        self.put("victim/worktrees/pinfold-fix/gitdir", "x\n", self.home)
        self.put("victim/worktrees/pinfold-x/gitdir", "x\n", self.home)
        made = self.create()
        record = self.text(self.own_file(made, "record"))
        rows = {"name fix": ("name x", "name ../../x", "name --all"),
                "branch pinfold/fix/work": ("branch main", "branch pinfold/x/work"),
                f"base {made['base']}": ("base --output=/x", "base HEAD"),
                "parent-branch refs/heads/main": ("parent-branch --all",),
                f"common-dir {self.project}/.git": (
                    f"common-dir {self.path('victim')}", f"common-dir {self.project}/../project/.git",
                    "common-dir .git")}
        for true, others in rows.items():
            for other in others:
                with self.subTest(other=other):
                    self.assertIn(true + "\n", record)
                    self.put(self.own_file(made, "record"), record.replace(true + "\n", other + "\n"))
                    before = self.tree()
                    self.refused("NotFound", "finish", made["path"])
                    self.assertEqual(self.worktree("list", "--json").json["worktrees"], [])
                    self.assertEqual(self.tree(), before)
        self.put(self.own_file(made, "record"), record)
        self.assertEqual(self.finish(made)["end"], "removed")
        self.assertEqual(self.text("victim/worktrees/pinfold-x/gitdir", self.home), "x\n")

    def test_what_git_keeps_of_another_worktree_is_not_removed(self):
        made = self.create()
        admin = os.path.join(self.project, ".git/worktrees/pinfold-fix")
        self.put(admin + "/gitdir", self.path("elsewhere/.git") + "\n")
        done = self.finish(made)
        self.assertEqual((done["end"], done["reasons"]), ("kept", [admin + " is not of this worktree"]))
        self.assertTrue(os.path.exists(admin + "/HEAD"))
        self.put(admin + "/gitdir", made["path"] + "/.git\n")
        self.assertEqual(self.finish(made)["end"], "removed")

    def test_a_worktree_that_a_person_moved_keeps_what_git_knows_of_it(self):
        made = self.create()
        self.git("worktree", "move", made["path"], self.path("moved"))
        done = self.finish(made)
        self.assertEqual(done["end"], "kept", done)
        self.assertEqual(self.git("status", "--porcelain", cwd=self.path("moved")), "")

    def test_git_is_not_started_in_a_view_that_somebody_wrote_to(self):
        made = self.create()
        canary = self.path("canary")
        self.write("trap", f"#!/bin/sh\necho x >> {canary}\ncat\n", 0o755)
        self.own()
        view = self.own_file(made, "view")
        config = self.text(view + "/config")
        evil = config + f'[filter "x"]\n\tclean = {self.path("trap")}\n'
        self.put("info/attributes", "* filter=x\n", view)
        self.put("one", "one\n", made["path"])

        def is_kept(reason):
            listed = self.worktree("list", "--json").json["worktrees"][0]
            self.assertTrue([one for one in listed["reasons"] if reason in one], listed)
            done = self.finish(made)
            self.assertEqual((done["end"], os.path.exists(canary)), ("kept", False), done)
            self.assertTrue([one for one in done["reasons"] if reason in one], done)

        self.put("config", evil, view)
        is_kept("view/config is not what was made")
        os.rename(view + "/config", self.path("config"))
        os.symlink(self.path("config"), view + "/config")
        is_kept("view/config is not what was made")
        os.unlink(view + "/config")
        self.put("config", config, view)
        self.put("evil/config", evil, self.home)
        self.put("commondir", self.path("evil") + "\n", view)
        is_kept("view/commondir is not what was made")
        os.unlink(view + "/commondir")
        os.unlink(view + "/objects")
        os.symlink(self.path("project/.git/refs"), view + "/objects")
        is_kept("view/objects is not what was made")
        os.unlink(view + "/objects")
        os.symlink(self.path("project/.git/objects"), view + "/objects")
        os.unlink(view + "/info/attributes")
        self.assertEqual(self.finish(made)["end"], "removed")

    def test_a_pipe_in_the_repository_keeps_nobody_waiting(self):
        made = self.create()
        pipe = os.path.join(self.project, ".git/shallow")
        os.mkfifo(pipe, 0o666)
        self.own()
        self.assertEqual(self.refused("GitFailed", "create", "--name", "other")["error"], "GitFailed")
        listed = self.worktree("list", "--json").json["worktrees"][0]
        self.assertIn("shallow is not what git makes there", listed["reasons"][0])
        self.assertTrue(stat.S_ISFIFO(os.lstat(pipe).st_mode))
        os.unlink(pipe)
        self.assertEqual(self.finish(made)["end"], "removed")


if __name__ == "__main__":
    unittest.main()
