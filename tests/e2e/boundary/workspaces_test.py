"""Which folder may be a workspace, and that its name can be anything."""
import os
import unittest

import ground
from ground import support

TOO_BROAD = ("/", "/bin", "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc",
             "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/usr/bin", "/usr/local",
             "/var", "/var/tmp", "/proc/self", "/sys/kernel", "/dev/pts", "/..", "//tmp/", "/lib")

NAMES = ("--bind", "--", "-c", "two words", "line\nbreak", "tab\there", "it's", 'say "x"', "a:b",
         "$(touch pwned)", "`id`", "*", "back\\slash", "%s", "#", "~", "...", "{a,b}", "\u00e4\u4e2d",
         b"not\xff\xfeutf8", "x" * 255)


@support.as_each_user
class Breadth(ground.Boundary):
    def test_a_workspace_that_is_too_much_of_the_machine_is_refused(self):
        for place in (*TOO_BROAD, self.home, os.path.dirname(self.home), self.path(".ssh")):
            if os.path.isdir(place) and (os.access(place, os.X_OK) and
                                         (self.uid == 0 or place not in ("/root",))):
                with self.subTest(place=place):
                    self.assert_refused("WorkspaceTooBroad", "--workspace", place, "-c", "true",
                                        cwd="/")

    def test_a_link_to_too_much_is_refused_as_well(self):
        os.symlink("/", self.path("all"))
        os.symlink(".", self.path("again"))
        for name in ("all", "again", "again/again"):
            self.assert_refused("WorkspaceTooBroad", "--workspace", self.path(name), "--", "true")

    def test_a_start_outside_the_workspace_is_refused(self):
        os.symlink("/etc", self.path("project/out"))
        for place in ("/etc", "..", "../project-old", "/", "out", self.path(".ssh")):
            with self.subTest(place=place):
                self.assert_refused("OutsideWorkspace", "--cwd", place, "-c", "touch started")
        self.assertFalse(os.path.exists(self.path("project/started")))


@support.as_each_user
class Names(ground.Boundary):
    def assert_confined_in(self, workspace, words, cwd):
        answer = self.pinfold("run", *words, "-c",
                              "pwd; echo x > inside; echo x > ../outside; mkdir .foundry/x", cwd=cwd)
        self.assertEqual(answer.raw_out.rstrip(b"\n"), os.fsencode(workspace).rstrip(b"\n"), answer)
        self.assertEqual(os.listdir(workspace), ["inside"])
        self.assertFalse(os.path.exists(os.path.join(os.path.dirname(workspace), "outside")))
        os.unlink(os.path.join(workspace, "inside"))

    def test_a_workspace_may_have_any_name(self):
        for name in NAMES:
            with self.subTest(name=name):
                at = os.path.join(self.path("project"), os.fsdecode(name))
                os.mkdir(at)
                self.own()
                self.assert_confined_in(at, (), at)
                self.assert_confined_in(at, (b"--workspace=" + os.fsencode(at),), "/")
        self.assertFalse(os.path.exists(self.path("project/pwned")))

    def test_a_workspace_may_lie_two_hundred_directories_deep(self):
        at = self.path("project", *["d"] * 200)
        os.makedirs(at)
        self.own()
        self.assert_confined_in(at, ("--workspace", at), "/")

    def test_a_workspace_below_a_link_is_the_folder_that_the_link_names(self):
        os.makedirs(self.path("project/real/deep"))
        os.symlink("project/real", self.path("link"))
        self.own()
        self.assert_confined_in(self.path("project/real/deep"),
                                ("--workspace", self.path("link/deep")), "/")
        self.assert_confined_in(self.path("project/real/deep"), (), self.path("link/deep"))

    def test_a_workspace_in_a_scratch_place_is_shown_and_its_neighbours_are_not(self):
        for base in ("/tmp", "/var/tmp", "/dev/shm"):
            root = support.tempfile.mkdtemp(prefix="pinfold-e2e-", dir=base)
            self.addCleanup(support.shutil.rmtree, root, ignore_errors=True)
            os.chmod(root, 0o755)
            os.mkdir(f"{root}/work")
            if os.geteuid() == 0:
                os.chown(f"{root}/work", self.uid, self.gid)
            with self.subTest(base=base):
                out = self.inside(f"echo x > inside; ls {root}", cwd=f"{root}/work")
                self.assertEqual(out, "work\n")
                self.assertEqual(os.listdir(f"{root}/work"), ["inside"])


@unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
class OtherOwners(ground.Boundary):
    uid = gid = 0

    def test_a_workspace_that_root_could_not_write_without_privilege_is_refused(self):
        user, group = support.ordinary_user()
        for mode in (0o755, 0o700):
            os.chown(self.project, user, group)
            os.chmod(self.project, mode)
            record = self.record("-c", "touch started")
            self.assertEqual(record["ended"], "refused", record)
            self.assertEqual(record["refusal"]["error"], "WorkspaceNotWritable", record)
            self.assertEqual(os.listdir(self.project), ["src"])

    def test_one_that_everybody_may_write_is_not(self):
        user, group = support.ordinary_user()
        os.chown(self.project, user, group)
        os.chmod(self.project, 0o777)
        self.inside("touch made")
        self.assertEqual(sorted(os.listdir(self.project)), ["made", "src"])


if __name__ == "__main__":
    unittest.main()
