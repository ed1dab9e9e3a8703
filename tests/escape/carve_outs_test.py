"""Harness state and host-run files: reached by another name, another way, another time."""
import json
import os
import socket
import subprocess
import threading
import unittest

import escape
from escape import ground, support


@support.as_each_user
class State(escape.Escape):
    def test_a_state_directory_that_is_a_link_and_could_be_replaced(self):
        os.mkdir(self.path("project/real"))
        os.symlink("real", self.path("project/.foundry"))
        self.own()
        self.assert_refused("CarveOutUnusable", "-c", "rm .foundry; mkdir .foundry; touch started")
        self.assertTrue(os.path.islink(self.path("project/.foundry")))

    def test_a_directory_swapped_with_a_link_between_check_and_mount(self):
        """The workspace itself is swapped with a link to /etc while runs start."""
        spare, link = self.path("spare"), self.path("link")
        os.symlink("/etc", link)
        over = threading.Event()

        def swap():
            while not over.is_set():
                for a, b in ((self.project, spare), (link, self.project), (self.project, link),
                             (spare, self.project)):
                    try:
                        os.rename(a, b)
                    except OSError:
                        pass
        rival = threading.Thread(target=swap)
        rival.start()
        try:
            for _ in range(60):
                record = self.record("--workspace", self.project, "-c", "pwd; ls; cat passwd",
                                     cwd="/")
                self.assertNotIn("root:", record["stdout"]["text"], record)
                self.assertNotEqual(record["workspace"], "/etc" if record["ended"] == "exited" else "")
        finally:
            over.set()
            rival.join()

    SWAP = ("import ctypes, random, sys, time; libc = ctypes.CDLL(None); open('swaps', 'w')\n"
            "while True: libc.renameat2(-100, sys.argv[1].encode(), -100, b'aside', 2); "
            "time.sleep(random.random() ** 4 / 50)")

    def assert_no_mount_point_made(self, prepare, swapped, *options, outcomes):
        """While a run in the project exchanges `swapped` with a link to `outside` all the time, others
        start with `options`. bwrap's own mount points follow links, and "/oldroot" is the host while it
        makes them."""
        outside = self.path("outside")
        os.mkdir(outside)
        self.own()
        script = f'{prepare}; ln -s /oldroot{outside} aside; exec python3 -c "$0" {swapped}'
        rival = self.start("run", "--timeout", "60s", "--", "sh", "-c", script, self.SWAP)
        try:
            ground.wait_for(self.path("project/swaps"))
            seen = set()
            for _ in range(60):
                record = self.record(*options, "-c", "true")
                seen.add((record["refusal"] or {}).get("error") or record["ended"])
                self.assertEqual(os.listdir(outside), [], record)
            self.assertIsNone(rival.poll(), "the rival has to be there all the time")
        finally:
            rival.terminate()
            rival.communicate()
        self.assertLessEqual(seen, outcomes)

    def test_a_directory_on_the_way_to_a_carve_out_swapped_by_another_run(self):
        """The other run's .git is its own work, so nothing there pins it."""
        self.assert_no_mount_point_made(
            "mkdir .git .git/hooks .git/objects .git/refs; echo 'ref: refs/heads/x' > .git/HEAD; "
            "echo > .git/config", ".git",
            outcomes={"exited", "SandboxUnavailable", "BoundaryLost", "CarveOutUnusable",
                      "WorkspaceGone"})

    def test_a_directory_on_the_way_to_a_workspace_swapped_by_a_run_around_it(self):
        os.makedirs(self.path("project/way/inner"))
        self.assert_no_mount_point_made(
            "true", "way", "--workspace", self.path("project/way/inner"),
            outcomes={"exited", "SandboxUnavailable", "BoundaryLost", "NotFound", "WorkspaceGone",
                      "OutsideWorkspace"})

    def test_a_directory_on_the_way_to_a_socket_swapped_by_a_run_around_it(self):
        """It is covered in a sandbox that shows its path, whoever's workspace that is."""
        os.mkdir(self.path("project/way"))
        os.mkdir(self.path("other"))
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(self.path("project/way/made"))
        self.assert_no_mount_point_made(
            "true", "way", "--workspace", self.path("other"),
            outcomes={"exited", "SandboxUnavailable"})

    def test_settings_that_were_absent_at_the_start(self):
        self.assert_error("EROFS", "write('.efferent/settings.json')")
        self.assert_error("EROFS", "os.mkdir('.foundry/hooks')")

    def test_a_hard_link_out_of_harness_state(self):
        os.mkdir(self.path("project/.foundry"))
        self.write("project/.foundry/state", support.SECRET)
        self.own()
        self.assert_error("ENOENT EXDEV", "os.link('.foundry/state', 'copy')")
        self.assert_error("EXDEV ENOENT", f"os.link('{self.home}/.ssh/id_rsa', 'key')")
        self.assertEqual(self.read("project/.foundry/state"), support.SECRET)

    def test_a_hard_link_that_was_there_before_is_named(self):
        """It shares its content with the state whatever is mounted: nothing but the report helps."""
        os.mkdir(self.path("project/.foundry"))
        self.write("project/.foundry/state", "x")
        os.link(self.path("project/.foundry/state"), self.path("project/alias"))
        self.own()
        record = self.record("--", "true")
        held = record["enforced"]["harness_state"]
        self.assertEqual(held["held"], "partial", record)
        self.assertIn(".foundry/state", held["reason"])

    def test_a_hard_link_deep_in_the_state_is_named(self):
        self.write("project/.foundry/a/b/state", "x")
        os.link(self.path("project/.foundry/a/b/state"), self.path("project/alias"))
        self.own()
        held = self.record("--", "true")["enforced"]["harness_state"]
        self.assertEqual(held["held"], "partial", held)
        self.assertIn(".foundry/a/b/state", held["reason"])

    def test_state_that_is_too_much_to_look_through_is_said(self):
        os.mkdir(self.path("project/.foundry"))
        for number in range(20_001):
            os.mknod(self.path(f"project/.foundry/{number}"))
        held = self.record("--", "true")["enforced"]["harness_state"]
        self.assertEqual((held["held"], "too much" in held["reason"]), ("partial", True), held)

    def test_a_state_directory_forged_while_a_killed_run_dies(self):
        for wait in range(12):
            child = self.start("run", "-c", "while :; do rmdir .foundry && mkdir .foundry && "
                               "touch FORGED; done 2>/dev/null")
            threading.Event().wait(0.01 + wait * 0.004)
            child.kill()
            child.communicate()
        self.assert_nobody_in(self.project)
        self.assertFalse(os.path.exists(self.path("project/FORGED")))
        self.inside("true")
        self.assertEqual(sorted(os.listdir(self.project)), ["src"])

    @unittest.skipUnless(os.geteuid() == 0, "nobody else can read one")
    def test_a_secret_that_a_host_program_renames_over(self):
        """As passwd does. The kernel takes the cover out of its place, so the run is ended."""
        if self.uid != 0:
            return
        host = ('set -e; cp -a /etc "$1"; mount --bind "$1" /etc; shift; "$@" & '
                'until [ -e started ]; do sleep 0.01; done; '
                'cp /etc/shadow /etc/new; mv /etc/new /etc/shadow; wait')
        done = subprocess.run(["unshare", "-m", "sh", "-c", host, "sh", self.path("etc"), support.PINFOLD,
                               "run", "--json", "-c", "touch started; sleep 60; cat /etc/shadow"],
                              env=self.environment(), cwd=self.project, capture_output=True, text=True,
                              timeout=support.HANG)
        record = json.loads(done.stdout)
        self.assertEqual((record["refusal"] or {}).get("error"), "BoundaryLost", record)
        self.assertEqual(record["stdout"]["text"], "")

    def test_a_carve_out_that_a_host_program_renames_over(self):
        subprocess.run(["git", "init", "-q"], cwd=self.project, env=self.environment(), check=True,
                       **self.as_user())
        child = self.start("run", "--json", "-c", "touch started; while :; do echo evil >> "
                           ".git/config; sleep 0.02; done 2>/dev/null")
        ground.wait_for(self.path("project/started"))
        subprocess.run(["git", "config", "color.ui", "auto"], cwd=self.project, check=True,
                       env=self.environment(), **self.as_user())
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(json.loads(out)["refusal"]["error"], "BoundaryLost")


@support.as_each_user
class Tools(escape.Escape):
    """What a sandboxed command plants for the tools that run outside."""

    def check(self, op, *paths):
        answer = self.pinfold("check", op, "--json", *paths)
        return [line["refusal"]["error"] if line["refusal"] else "inside"
                for line in answer.json_lines]

    def test_a_link_planted_inside_for_a_tool_outside(self):
        self.inside("ln -s ~/.bashrc notes.md; ln -s /etc/passwd x; ln -s ../project-old/file y; "
                    "ln -s .efferent z; ln -s x w")
        self.assertEqual(self.check("write", "notes.md", "x", "y", "w"), ["OutsideWorkspace"] * 4)
        self.assertEqual(self.check("read", "x", "y", "w"), ["OutsideWorkspace"] * 3)
        self.assertEqual(self.check("read", "z/state"), ["HarnessState"])

    def test_what_mounts_hold_tools_are_kept_from(self):
        """By the same look at the repository."""
        for words in (("init", "-q", "--separate-git-dir", "store"),
                      ("config", "include.path", "../team.inc"),
                      ("config", "core.hooksPath", "tools/hooks")):
            subprocess.run(["git", *words], cwd=self.project, env=self.environment(), check=True,
                           **self.as_user())
            self.write("project/team.inc", "")
            self.own()
        self.write(".gitconfig", "[include]\n\tpath = project/mine.inc\n")
        self.write("project/mine.inc", "")
        self.own()
        names = ("store/hooks/x", "store/config", "store/config.worktree", "store/commondir",
                 "team.inc", "mine.inc", "tools/hooks/x", ".git")
        self.assertEqual(self.check("write", *names), ["HostRunFile"] * len(names))
        self.assertEqual(self.check("read", "team.inc"), ["inside"])
        self.assertEqual(self.check("write", "tools/x", "store/HEAD", "src/x"), ["inside"] * 3)

    def test_a_repository_that_no_run_is_started_in_has_no_verdict(self):
        self.write("project/.git/config", "[include]\n\tpath = ../gone\n")
        self.own()
        answer = self.pinfold("check", "write", "src/x")
        self.assertEqual(answer.code, 2, answer)
        self.assertIn("CarveOutUnusable", answer.err)

    def test_another_name_for_the_root_in_proc(self):
        self.assertEqual(self.check("read", "/proc/self/root/etc/passwd", "/proc/self/cwd/src",
                                    "/proc/self/fd/0"), ["MagicLink"] * 3)


if __name__ == "__main__":
    unittest.main()
