"""A repository that an agent wrote to executes nothing when worktrees are made, looked at and removed.
Each way is first shown to work: git, as a person starts it, runs the canary."""
import os
import shutil
import unittest

import ground
from ground import support

HOOKS = ("post-checkout", "reference-transaction", "post-index-change", "pre-commit", "fsmonitor-watchman")


@support.as_each_user
class Hostile(ground.Repository):
    def setUp(self):
        super().setUp()
        self.canary = self.path("canary")
        self.program = self.path("trap")
        self.transport = self.path("transport")  # it says nothing, which ends a connection
        self.write("transport", f'#!/bin/sh\necho "$0 $*" >> {self.canary}\nexit 1\n', 0o755)
        self.write("trap", f'#!/bin/sh\necho "$0 $*" >> {self.canary}\ncat\nexit 0\n', 0o755)
        self.own()

    def is_sung(self):
        """Whether the canary was started since the last question."""
        there = os.path.exists(self.canary)
        if there:
            os.unlink(self.canary)
        return there

    def hooks(self):
        for name in HOOKS:
            shutil.copy(self.program, self.path("project/.git/hooks", name))
        self.own()

    def hooks_path(self):
        self.hooks()
        os.rename(self.path("project/.git/hooks"), self.path("project/team"))
        self.git("config", "core.hooksPath", self.path("project/team"))

    def filters(self):
        self.git("config", "filter.trap.clean", self.program)
        self.git("config", "filter.trap.smudge", self.program)
        self.git("config", "filter.trap.required", "true")
        self.attributes("* filter=trap\n")

    def process_filter(self):
        self.git("config", "filter.trap.process", self.program)
        self.attributes("* filter=trap\n")

    def attributes(self, text):
        self.put(".gitattributes", text)
        self.try_git("add", ".gitattributes")
        self.try_git("commit", "-qm", "attributes")
        os.makedirs(self.path("project/.git/info"), exist_ok=True)
        self.put(".git/info/attributes", text)

    def fsmonitor(self):
        self.git("config", "core.fsmonitor", self.program)

    def included(self):
        self.put(".git/more", f"[core]\n\tfsmonitor = {self.program}\n")
        self.git("config", "include.path", "more")

    def worktree_config(self):
        self.git("config", "extensions.worktreeConfig", "true")
        self.git("config", "--worktree", "core.fsmonitor", self.program)

    def alternate(self):
        """A repository that lacks what it needs, and a way to fetch it that is a program."""
        self.git("config", "uploadpack.allowFilter", "true")
        self.git("config", "extensions.partialClone", "origin")
        self.git("config", "remote.origin.url", f"ext::{self.transport}")
        self.git("config", "remote.origin.promisor", "true")
        self.git("config", "protocol.ext.allow", "always")
        blob = self.git("rev-parse", "HEAD:one")
        os.unlink(self.path("project/.git/objects", blob[:2], blob[2:]))

    def ssh(self):
        self.alternate()
        self.git("config", "remote.origin.url", "ssh://host.invalid/x")
        self.git("config", "core.sshCommand", self.transport)

    def others(self):
        """Ways that the subcommands used here have none of, as far as is known."""
        for name, value in (("diff.external", self.program), ("core.pager", self.program),
                            ("pager.status", self.program), ("core.editor", self.program),
                            ("alias.status", f"!{self.program}"), ("alias.read-tree", f"!{self.program}"),
                            ("alias.rev-parse", f"!{self.program}"), ("core.askPass", self.program),
                            ("diff.trap.textconv", self.program), ("diff.trap.command", self.program),
                            ("merge.trap.driver", self.program), ("gpg.program", self.program),
                            ("credential.helper", f"!{self.program}"), ("core.gitProxy", self.program),
                            ("core.alternateRefsCommand", self.program), ("status.submoduleSummary", "true"),
                            ("submodule.recurse", "true"), ("log.showSignature", "true")):
            self.git("config", name, value)
        self.attributes("* diff=trap merge=trap\n")

    def whole_life(self, name):
        """A worktree is made, changed, listed, finished and kept, mended, and finished."""
        answer = self.worktree("create", "--name", name, "--json")
        if answer.code != 0:
            self.assertEqual(answer.code, 1, answer)
            return None
        made = answer.json
        self.put("one", "changed\n", made["path"])
        self.worktree("list")
        self.assertEqual(self.finish(made)["end"], "kept")
        self.put("one", "one\n", made["path"])
        os.utime(os.path.join(made["path"], "one"), (1, 1))
        self.assertEqual(self.finish(made)["end"], "removed")
        return made

    def control(self):
        """What a person's git would have started in the same places."""
        self.try_git("worktree", "add", "-q", "-b", "control", self.path("control"), "HEAD")
        if os.path.isdir(self.path("control")):
            self.try_git("status", cwd=self.path("control"))
            self.try_git("worktree", "remove", "--force", self.path("control"))
        self.try_git("worktree", "prune")
        self.try_git("branch", "-D", "control")
        return self.is_sung()

    def test_the_parents_repository_executes_nothing(self):
        rows = {"hooks": self.hooks, "core.hooksPath": self.hooks_path,
                "clean and smudge filters": self.filters, "a filter process": self.process_filter,
                "fsmonitor": self.fsmonitor, "include.path": self.included,
                "config.worktree": self.worktree_config, "a transport": self.alternate,
                "core.sshCommand": self.ssh}
        for what, spoil in rows.items():
            with self.subTest(what=what):
                shutil.copytree(self.project, self.path("kept"), symlinks=True)
                self.own()
                spoil()
                self.own()
                self.is_sung()
                self.assertTrue(self.control(), "the control did not run the canary")
                self.is_sung()
                self.whole_life("fix")
                self.assertFalse(self.is_sung())
                shutil.rmtree(self.project)
                os.rename(self.path("kept"), self.project)

    def test_nothing_else_that_a_configuration_can_name_is_executed(self):
        self.others()
        self.is_sung()
        self.assertIsNotNone(self.whole_life("fix"))
        self.assertFalse(self.is_sung())

    def test_the_worktree_itself_executes_nothing(self):
        """What a command in the sandbox can write: attributes, `.git`, nested repositories."""
        def nested(made, path):
            at = os.path.join(made["path"], path)
            self.git("init", "-q", at)
            for name, value in (("core.fsmonitor", self.program), ("filter.trap.clean", self.program),
                                ("core.hooksPath", self.path("project"))):
                self.git("config", name, value, cwd=at)
            self.put("file", "x\n", at)
            self.put(".gitattributes", "* filter=trap\n", at)

        def rewritten(made):
            """`.git` leads to a repository of the agent's own, in which everything is a trap."""
            nested(made, "evil")
            self.put(".git", f"gitdir: {made['path']}/evil/.git\n", made["path"])

        def replaced(made):
            os.unlink(os.path.join(made["path"], ".git"))
            nested(made, ".")

        def gitlink(made):
            nested(made, "sub")
            inner = os.path.join(made["path"], "sub")
            self.git("-c", "core.fsmonitor=false", "-c", "filter.trap.clean=cat", "add", ".", cwd=inner)
            self.git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "commit", "-qm",
                     "x", cwd=inner)
            head = self.git("rev-parse", "HEAD", cwd=inner)
            self.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub", cwd=made["path"])
            self.git("commit", "-qm", "gitlink", cwd=made["path"])

        rows = {"a nested repository": lambda made: nested(made, "nested"), "a rewritten .git": rewritten,
                "a repository in place of .git": replaced, "a gitlink": gitlink}
        for what, spoil in rows.items():
            with self.subTest(what=what):
                made = self.create()
                spoil(made)
                self.own()
                self.is_sung()
                self.worktree("list")
                done = self.finish(made)
                self.assertEqual(done["end"], "kept", done)
                self.assertFalse(self.is_sung())
                self.try_git("-c", "core.fsmonitor=", "worktree", "remove", "--force", made["path"])
                shutil.rmtree(os.path.dirname(made["path"]))
                self.try_git("worktree", "prune")
                self.git("branch", "-D", "pinfold/fix/work")

    def test_a_git_that_somebody_else_could_have_written_is_not_started(self):
        """It is found at fixed places and never by PATH."""
        os.makedirs(self.path("bin"))
        shutil.copy(self.program, self.path("bin/git"))
        self.own()
        answer = self.worktree("create", "--name", "fix",
                               env=self.environment(PATH=self.path("bin") + ":/usr/bin:/bin"))
        self.assertEqual(answer.code, 0, answer)
        self.assertFalse(self.is_sung())

    def test_the_callers_own_git_settings_count_for_nothing(self):
        self.write(".gitconfig", ground.IDENTITY + f"[core]\n\tfsmonitor = {self.program}\n\thooksPath = "
                   f"{self.path('hooks')}\n\tattributesFile = {self.path('attributes')}\n"
                   f"[filter \"trap\"]\n\tclean = {self.program}\n\tsmudge = {self.program}\n")
        self.write("attributes", "* filter=trap\n")
        os.makedirs(self.path("hooks"))
        for name in HOOKS:
            shutil.copy(self.program, self.path("hooks", name))
        self.own()
        self.assertTrue(self.control())
        env = self.environment(GIT_DIR=self.path("project-old"), GIT_SSH_COMMAND=self.program,
                               GIT_EXTERNAL_DIFF=self.program, GIT_CONFIG_COUNT="1",
                               GIT_CONFIG_KEY_0="core.fsmonitor", GIT_CONFIG_VALUE_0=self.program,
                               GIT_TRACE=self.canary)
        made = self.create(env=env)
        self.assertEqual(self.finish(made, env=env)["end"], "removed")
        self.assertFalse(self.is_sung())


if __name__ == "__main__":
    unittest.main()
