"""Names, options and configuration as a way out."""
import json
import os
import subprocess
import unittest

import escape
from escape import support


@support.as_each_user
class Names(escape.Escape):
    def test_a_workspace_named_like_an_option_or_with_odd_characters(self):
        for name in ("--bind", "-c", "--", "a\nb", "a'b", 'a"b', "a b", "$(touch x)", "`id`", "%s",
                     "\\x", "*", "ä", "\x01"):
            with self.subTest(name=name):
                folder = os.path.join(self.project, name)
                os.mkdir(folder)
                self.own()
                record = self.record("--workspace", folder, "-c", "touch made; pwd", cwd="/")
                self.assertEqual(record["ended"], "exited", record)
                self.assertTrue(os.path.exists(os.path.join(folder, "made")))

    def test_a_workspace_two_hundred_components_deep(self):
        folder = os.path.join(self.project, *["d"] * 200)
        os.makedirs(folder)
        self.own()
        self.inside("touch made", cwd=folder)
        self.assertTrue(os.path.exists(os.path.join(folder, "made")))

    def test_a_workspace_at_the_longest_path(self):
        folder, at = self.project, os.open(self.project, os.O_PATH)
        while len(folder) + 201 < 4000:
            os.mkdir("d" * 200, dir_fd=at)
            at, old = os.open("d" * 200, os.O_PATH, dir_fd=at), at
            os.close(old)
            folder += "/" + "d" * 200
        os.close(at)
        subprocess.run(["chown", "-R", f"{self.uid}:{self.gid}", self.project], check=False)
        record = self.record("--workspace", folder, "-c", "touch made", cwd="/")
        self.assertIn(record["ended"], ("exited", "refused"), record)
        self.assertEqual(os.path.exists(f"{folder}/made"), record["ended"] == "exited")

    def test_a_workspace_below_a_link_and_a_bind_mount(self):
        os.symlink("project", self.path("link"))
        self.assertEqual(self.record("--workspace", self.path("link/src"), "--", "pwd",
                                     cwd="/")["stdout"]["text"], f"{self.project}/src\n")

    @unittest.skipUnless(os.geteuid() == 0, "mounts of the host")
    def test_a_workspace_that_holds_mounts_of_the_host(self):
        """What the host has mounted read-only stays so, the rest of the workspace does not become it; a
        carve-out takes what is mounted in it along."""
        for name in ("odd name\n", "closed", ".git/hooks"):
            os.makedirs(self.path("project", name))
        self.own()
        mounts = (f'set -e; cd {self.project}; o="mode=777"; mount -t tmpfs -o $o none "odd name\n"; '
                  'mount -t tmpfs -o $o none closed; mkdir -m 777 closed/open; '
                  'mount -t tmpfs -o $o none closed/open; mount -o remount,bind,ro closed; '
                  'mkdir -m 777 .git/hooks/in; mount -t tmpfs -o $o none .git/hooks/in; exec "$@"')
        inside = ('touch "odd name\n/a" closed/open/a && echo made; touch closed/a; '
                  'touch .git/hooks/in/a; echo end')
        user = ("setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups")
        done = subprocess.run(["unshare", "-m", "sh", "-c", mounts, "sh", *user, support.PINFOLD, "run",
                               "--json", "-c", inside], env=self.environment(), cwd=self.project,
                              capture_output=True, text=True, timeout=support.HANG)
        record = json.loads(done.stdout)
        self.assertEqual(record["stdout"]["text"], "made\nend\n", record)
        self.assertEqual(record["stderr"]["text"].count("Read-only file system"), 2, record)

    def test_a_workspace_that_is_too_much_of_the_machine(self):
        os.symlink(self.home, self.path("project/home"))
        for workspace in ("/", self.home, self.path("project/home"), "/usr", "/etc"):
            with self.subTest(workspace=workspace):
                self.assert_refused("WorkspaceTooBroad", "--workspace", workspace, "--", "true")

    def test_quotes_and_line_ends_in_the_command(self):
        for word in ("'; touch /tmp/x; '", "a\nb", "$(id)", "`id`", "\\", '"', "--bind", "-c"):
            record = self.record("--", "printf", "%s", word)
            self.assertEqual(record["stdout"]["text"], word)

    def test_a_start_directory_outside(self):
        for place in ("/etc", "..", "../project-old", self.home, "src/../.."):
            self.assert_refused("OutsideWorkspace", "--cwd", place, "--", "true")

    def test_a_bwrap_of_the_checkout_in_path(self):
        self.write("project/bin/bwrap", f"#!/bin/sh\ntouch {self.project}/FAKE\n", mode=0o755)
        self.own()
        self.inside("true", env=self.environment(PATH=f"{self.project}/bin:{os.defpath}"))
        self.assertFalse(os.path.exists(self.path("project/FAKE")))

    def test_a_configuration_of_the_checkout_widens_nothing(self):
        for name in (".pinfold", ".pinfold.json", "pinfold.toml", ".env"):
            self.write(f"project/{name}", '{"network":"on","read":["/"],"PINFOLD_NETWORK":"on"}\n')
        self.own()
        self.assert_fails(f"cat {self.home}/.ssh/id_rsa")
        self.assertEqual(self.record("--", "true", env=self.environment(
            PINFOLD_NETWORK="on", PINFOLD_NO_SANDBOX="1"))["network"], "off")

    def test_no_word_of_the_command_is_an_option(self):
        record = self.record("--", "echo", "--no-sandbox", "--network", "on")
        self.assertEqual((record["backend"], record["network"]), ("bubblewrap", "off"))


if __name__ == "__main__":
    unittest.main()
