"""Caches: kept for one workspace and out of every other's reach, never a way to somewhere else."""
import os
import shutil
import tempfile
import unittest

from ground import Boundary
import support

KEPT = (".cache", ".npm", ".cargo", ".local/share", ".local/state")


class Caches(Boundary):
    def setUp(self):
        super().setUp()
        self.other = self.path("other")
        os.makedirs(self.other)
        self.own()

    def directory(self, *words, **more):
        """What holds the workspace's own caches, as the record says it."""
        record = self.record(*words, "--", "true", **more)
        self.assertEqual((record["ended"], record["cache"]), ("exited", "own"), record)
        return record["cache_directory"]

    def refused(self, *words, error="PermissionDenied", **more):
        record = self.record(*words, "--", "touch", "started", **more)
        self.assertEqual((record["ended"], (record["refusal"] or {}).get("error")),
                         ("refused", error), record)
        self.assertFalse(os.path.exists(f"{self.project}/started"))
        return record["refusal"]


@support.as_each_user
class Own(Caches):
    def test_it_survives_from_run_to_run_and_an_empty_one_does_not(self):
        self.inside("for d in %s; do echo kept > ~/$d/file; done" % " ".join(KEPT))
        for name in KEPT:
            self.assertEqual(self.inside(f"cat ~/{name}/file"), "kept\n")
        self.assertEqual(self.inside("cat ~/.cache/file ~/.npm/file 2>/dev/null; echo end",
                                     "--no-cache"), "end\n")
        self.inside("mkdir -p ~/.cache; echo gone > ~/.cache/other", "--no-cache")
        self.assertEqual(self.inside("ls ~/.cache"), "file\n")

    def test_it_lies_outside_the_workspace_and_is_the_callers_alone(self):
        directory = self.directory()
        self.assertEqual(os.path.dirname(directory), self.path(".cache/pinfold"))
        for path in (directory, os.path.dirname(directory)):
            about = os.lstat(path)
            self.assertEqual((about.st_mode & 0o7777, about.st_uid), (0o700, self.uid))

    def test_nothing_else_in_the_home_survives(self):
        self.inside("echo x > ~/file; mkdir ~/.config; echo x > ~/.config/x; echo x > ~/.profile; "
                    "echo x > ~/.local/bin-file")
        self.assertEqual(self.inside("ls -A ~ ~/.local").split(),
                         ["/tmp/home:", ".cache", ".cargo", ".gitconfig", ".local", ".npm",
                          "/tmp/home/.local:", "share", "state"])
        self.assertFalse(os.path.exists(self.path(".profile")))

    def test_another_workspace_neither_reads_nor_writes_it(self):
        self.inside("echo secret > ~/.cache/file")
        directory = self.directory()
        kept = f"{directory}/.cache/file"
        inside = {"cwd": self.other}
        for root in ("host", "minimal"):
            for script in (f"cat {kept}", f"ls {directory}", f"ls {os.path.dirname(directory)}",
                           f"echo x > {kept}", "cat ~/.cache/file", "cat /tmp/home/../../" + kept,
                           f"cat /proc/1/root{kept}", f"ln -s {kept} l; cat l"):
                self.assert_fails(script, "--root", root, **inside)
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(file.read(), "secret\n")

    def test_no_option_shows_the_caches_of_workspaces(self):
        directory = self.directory()
        for path in (directory, os.path.dirname(directory), f"{directory}/.cache",
                     self.path(".cache")):
            for words in (("--read", path), ("--read", path, "--no-cache"), ("--blob-dir", path),
                          ("--read", path, "--share-caches")):
                with self.subTest(words=words):
                    self.refused(*words, error="InvalidArgument", cwd=self.other)
            for more in ((), ("--no-cache",), ("--mode", "plan")):
                with self.subTest(workspace=path, more=more):
                    self.refused("--workspace", path, *more, error="WorkspaceTooBroad")

    def test_a_cache_directory_outside_the_homes_is_hidden_too(self):
        place = tempfile.mkdtemp(prefix="pinfold-xdg-", dir="/srv" if os.geteuid() == 0 else None)
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        if os.geteuid() == 0:
            os.chown(place, self.uid, self.gid)
        env = self.environment(XDG_CACHE_HOME=place)
        self.inside("echo secret > ~/.cache/file", env=env)
        kept = self.directory(env=env) + "/.cache/file"
        self.assertTrue(kept.startswith(place))
        self.assertTrue(os.path.exists(kept))
        for words in ((), ("--no-cache",), ("--share-caches",), ("--mode", "plan")):
            record = self.record(*words, "-c", f"cat {kept}", cwd=self.other, env=env)
            self.assertEqual((record["exit_code"], record["stdout"]["text"]), (1, ""), record)
        self.refused("--workspace", place, error="WorkspaceTooBroad", env=env)

    def test_a_workspace_keeps_its_cache_when_it_is_moved_and_leaves_none_at_its_path(self):
        self.inside("echo secret > ~/.cache/file")
        before = self.directory()
        os.rename(self.project, self.path("moved"))
        os.rename(self.other, self.project)
        self.assertEqual(self.inside("ls -A ~/.cache", cwd=self.project), "")
        self.assertNotEqual(self.directory(cwd=self.project), before)
        self.assertEqual(self.inside("cat ~/.cache/file", cwd=self.path("moved")), "secret\n")
        os.symlink("moved", self.path("link"))
        self.assertEqual(self.directory("--workspace", self.path("link"), cwd="/"), before)

    def test_a_workspace_that_is_made_anew_starts_with_nothing(self):
        self.inside("echo secret > ~/.cache/file")
        for _ in range(5):
            shutil.rmtree(self.project)
            os.makedirs(self.project)
            self.own_one(self.project)
            self.assertEqual(self.inside("ls -A ~/.cache"), "")

    def own_one(self, path):
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid)

    def test_a_folder_inside_a_workspace_is_another_workspace(self):
        self.inside("echo secret > ~/.cache/file")
        self.assertEqual(self.inside("ls -A ~/.cache", cwd=f"{self.project}/src"), "")

    def test_explain_makes_nothing(self):
        before = self.tree()
        self.assertEqual(self.pinfold("explain", "--", "true").code, 0)
        self.assertEqual(self.pinfold("explain", "--share-caches", "--", "true").code, 0)
        self.assertEqual(self.tree(), before)

    def test_what_is_refused_for_another_reason_makes_nothing(self):
        before = self.tree()
        for words in (("--read", self.path(".ssh")), ("--cwd", "/etc"), ("--blob-dir", "src")):
            self.record(*words, "--", "true")
            self.assertFalse(os.path.exists(self.path(".cache")), words)
        self.assertEqual({path for path in self.tree() if "/.efferent" not in path}, set(before))

    def test_a_caller_without_a_home_has_an_empty_one(self):
        record = self.record("--", "true", env={"HOME": "/nonexistent", "PATH": os.defpath})
        self.assertEqual((record["cache"], record["cache_directory"]), ("none", None))

    def test_doctor_leaves_no_cache_behind(self):
        before = self.tree()
        self.assertEqual(self.pinfold("doctor").code, 0)
        self.assertEqual(self.tree(), before)
        self.inside("echo kept > ~/.cache/file")
        self.assertEqual(self.pinfold("doctor").code, 0)
        self.assertEqual(self.inside("cat ~/.cache/file"), "kept\n")
        self.assertEqual(len(os.listdir(self.path(".cache/pinfold"))), 1)

    def test_doctor_says_when_no_cache_could_be_kept(self):
        self.directory()
        os.chmod(self.path(".cache"), 0o777)
        answer = self.pinfold("doctor")
        self.assertEqual(answer.code, 1)
        self.assertIn("other users may write to this directory", answer.out)


@support.as_each_user
class Hijack(Caches):
    """A cache is what a command may write to: nothing that it leaves there decides about a bind."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("precious"))
        self.write("precious/file", "precious\n")
        self.own()

    def unharmed(self):
        self.assertEqual(os.listdir(self.path("precious")), ["file"])
        self.assertEqual(self.read("precious/file"), "precious\n")

    def test_what_is_bound_cannot_be_replaced_from_inside(self):
        for name in KEPT:
            for script in (f"rm -rf ~/{name} && ln -s {self.path('precious')} ~/{name}",
                           f"mv ~/{name} ~/gone", f"rmdir ~/{name}", f"umount ~/{name}",
                           f"mount --bind /usr ~/{name}"):
                self.assert_fails(script)
        directory = self.directory()
        for name in KEPT:
            self.assertFalse(os.path.islink(f"{directory}/{name}"))
        self.unharmed()

    def test_links_left_in_a_cache_lead_no_later_run_anywhere(self):
        precious = self.path("precious")
        self.inside(f"for d in {' '.join(KEPT)}; do ln -s {precious} ~/$d/link; "
                    f"ln -s {precious} ~/$d/registry; ln -s {precious} ~/$d/_cacache; "
                    f"ln -s ../../../.. ~/$d/up; done; ln -s {precious} ~/.cache/pip")
        for words in ((), ("--share-caches",), ("--mode", "plan"), ("--root", "minimal")):
            self.pinfold("run", *words, "-c", "for d in ~/.*/*; do echo x > $d/new; rm -f $d/file; "
                                              "done; echo x > ~/.cargo/registry/y; true")
            self.unharmed()
        self.assertFalse(os.path.exists(self.path("x")))

    def test_a_command_that_spoils_the_modes_of_its_cache_spoils_no_later_run(self):
        for mode in ("000", "777", "1777", "500"):
            self.inside(f"chmod {mode} ~/.cache ~/.npm ~/.local/share")
            self.assertEqual(self.record("--", "true")["exit_code"], 0)
        self.inside("chmod 700 ~/.cache; echo back > ~/.cache/x")

    def test_a_cache_that_is_a_link_or_another_thing_is_refused(self):
        directory = self.directory()
        for place in (f"{directory}/.cache", f"{directory}/.local", directory,
                      os.path.dirname(directory)):
            for make in (lambda path: os.symlink(self.path("precious"), path),
                         lambda path: os.close(os.open(path, os.O_CREAT))):
                with self.subTest(place=place):
                    self.directory()
                    shutil.rmtree(place)
                    make(place)
                    if place.endswith("/pinfold") and os.path.islink(place):
                        # the resolver follows it: what it leads to is not the caller's alone
                        os.chmod(self.path("precious"), 0o755)
                    self.assertNotEqual(self.record("--", "touch", "started")["ended"], "exited")
                    self.assertFalse(os.path.exists(f"{self.project}/started"))
                    os.unlink(place)
        self.unharmed()

    def test_a_cache_that_somebody_else_could_take_over_is_refused_with_a_way_out(self):
        directory = self.directory()
        root = os.path.dirname(directory)
        for place, mode in ((root, 0o755), (root, 0o770), (directory, 0o711),
                            (self.path(".cache"), 0o777), (self.path(".cache"), 0o770)):
            with self.subTest(place=place, mode=oct(mode)):
                os.chmod(place, mode)
                refusal = self.refused()
                self.assertIn("--no-cache", refusal["message"])
                self.assertEqual(self.record("--no-cache", "--", "true")["exit_code"], 0)
                os.chmod(place, 0o700)
        if os.geteuid() == 0:
            for place in (root, directory, f"{directory}/.npm"):
                with self.subTest(stranger=place):
                    os.chown(place, 12399, 12399)
                    self.refused()
                    os.chown(place, self.uid, self.gid)
        self.assertEqual(self.record("--", "true")["exit_code"], 0)

    def test_the_home_of_the_sandbox_is_no_workspace(self):
        if os.path.lexists("/tmp/home"):
            self.skipTest("/tmp/home is there already")
        os.makedirs("/tmp/home/.npm/x")
        self.addCleanup(shutil.rmtree, "/tmp/home", ignore_errors=True)
        if os.geteuid() == 0:
            for path in ("/tmp/home", "/tmp/home/.npm", "/tmp/home/.npm/x"):
                os.chown(path, self.uid, self.gid)
        for words in (("--workspace", "/tmp/home"), ("--workspace", "/tmp/home", "--no-cache"),
                      ("--workspace", "/tmp/home/.npm"), ("--workspace", "/tmp/home/.npm/x"),
                      ("--read", "/tmp/home/.npm"), ("--blob-dir", "/tmp/home/.npm")):
            with self.subTest(words=words):
                self.assertEqual(self.record(*words, "--", "true")["ended"], "refused")
        self.assertEqual(os.listdir("/tmp/home"), [".npm"])


@support.as_each_user
class Shared(Caches):
    DATA = (".npm/_cacache", ".cargo/registry/cache", ".cache/pip", ".cache/ccache",
            "go/pkg/mod/cache/download")
    OBEYED = (".cargo/registry/index", ".cargo/git/db", ".cache/go-build")
    NEVER = (".cargo/bin/cargo", ".cargo/env", ".cargo/credentials.toml", ".cargo/config.toml",
             ".npmrc", ".local/share/keyrings/login", ".local/share/systemd/user/x.service",
             ".local/bin/x", ".cargo/registry/src/x", ".npm/_npx/x", "go/bin/x",
             "go/pkg/mod/cache/vcs/x/config", ".ssh/id_rsa", ".bashrc")

    def setUp(self):
        super().setUp()
        for name in self.DATA + self.OBEYED:
            os.makedirs(self.path(name))
            self.write(f"{name}/there", "there\n")
        for name in self.NEVER:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, "own\n")
        self.own()

    def test_data_is_read_and_written_where_the_user_has_it(self):
        for name in self.DATA:
            self.assertEqual(self.inside(f"cat ~/{name}/there; echo new > ~/{name}/new",
                                         "--share-caches"), "there\n")
            self.assertEqual(self.read(f"{name}/new"), "new\n")

    def test_what_a_program_of_the_host_obeys_is_read_only(self):
        for name in self.OBEYED:
            self.assertEqual(self.inside(f"cat ~/{name}/there", "--share-caches"), "there\n")
            self.assert_fails(f"echo x > ~/{name}/new", "--share-caches", because="Read-only")

    def test_what_a_login_or_a_host_tool_runs_or_trusts_is_neither_seen_nor_changed(self):
        before = self.tree()
        for name in self.NEVER:
            self.assertEqual(self.inside(f"cat ~/{name} {self.path(name)} 2>/dev/null; "
                                         f"mkdir -p $(dirname ~/{name}); echo bad > ~/{name}; "
                                         f"echo bad > {self.path(name)}; echo end",
                                         "--share-caches"), "end\n")
            self.assertEqual(self.read(name), "own\n")
        self.assertEqual(self.tree(), before)

    def test_in_plan_mode_all_of_it_is_read_only(self):
        for name in self.DATA:
            record = self.record("--share-caches", "--mode", "plan", "-c",
                                 f"cat ~/{name}/there; echo x > ~/{name}/new")
            self.assertEqual((record["stdout"]["text"], record["exit_code"]), ("there\n", 1))

    def test_a_link_to_what_is_never_shared_is_refused(self):
        for target in (".cargo/bin", ".local/bin", ".ssh", ".local/share/systemd", "project",
                       ".cargo", "."):
            with self.subTest(target=target):
                shutil.rmtree(self.path(".cache/pip"))
                os.symlink(self.path(target), self.path(".cache/pip"))
                self.refused("--share-caches", error="InvalidArgument")
                os.unlink(self.path(".cache/pip"))
                os.makedirs(self.path(".cache/pip"))

    def test_a_workspace_that_overlaps_a_shared_cache_is_refused(self):
        for place in (".npm", ".npm/_cacache", ".cargo/registry", ".cache/pip"):
            with self.subTest(place=place):
                self.refused("--share-caches", "--workspace", self.path(place),
                             error="InvalidArgument")

    def test_it_is_recorded_and_the_workspaces_own_is_neither_used_nor_made(self):
        record = self.record("--share-caches", "--", "true")
        self.assertEqual((record["cache"], record["cache_directory"]), ("shared", None))
        self.assertFalse(os.path.exists(self.path(".cache/pinfold")))


if __name__ == "__main__":
    unittest.main()
