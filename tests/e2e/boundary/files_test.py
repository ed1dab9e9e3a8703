"""Files: what lies outside the workspace cannot be written, and what is hidden is not there."""
import json
import os
import pwd
import subprocess
import tempfile
import unittest

import ground
from ground import support

SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/proc", "/root", "/run", "/sbin",
          "/sys", "/usr")


@support.as_each_user
class Writing(ground.Boundary):
    def setUp(self):
        super().setUp()
        self.open = self.open_directory()

    def assert_open_is_clean(self):
        self.assertEqual(os.listdir(self.open), ["file"])
        with open(f"{self.open}/file", encoding="utf-8") as file:
            self.assertEqual(file.read(), "clean\n")

    def test_a_write_inside_lands(self):
        self.inside("mkdir -p a/b && echo x > a/b/c && mv a/b/c d && chmod 600 d && ln d e")
        self.assertEqual(self.read("project/d"), "x\n")
        self.assertEqual(os.stat(self.path("project/d")).st_uid, self.uid)

    def test_a_write_outside_is_refused_by_the_kernel_where_permissions_allow_it(self):
        control = subprocess.run(["sh", "-c", f": >> {self.open}/file"], check=False,
                                 **self.as_user())
        self.assertEqual(control.returncode, 0, "outside the sandbox it must work")
        for act in ("echo x > %s/new", "echo x >> %s/file", "rm -f %s/file", "mkdir %s/d",
                    "mv %s/file %s/moved", "chmod 600 %s/file", "ln -s x %s/link",
                    "touch -d 2001-01-01 %s/file", "truncate -s 0 %s/file", "mkfifo %s/pipe"):
            self.assert_fails(act.replace("%s", self.open), because="Read-only file system")
        self.assert_open_is_clean()

    def test_a_write_to_a_system_directory_is_refused(self):
        for place in ("/", "/etc", "/usr", "/usr/local/bin", "/var", "/var/log", "/srv", "/opt",
                      "/boot", "/mnt"):
            if os.path.isdir(place):
                self.assert_fails(f"echo x > {place}/pinfold-was-here")
                self.assertFalse(os.path.exists(f"{place}/pinfold-was-here"))

    def test_a_sibling_that_shares_the_prefix_is_out_of_reach(self):
        self.assert_fails(f"cat {self.home}/project-old/file", because="No such file")
        self.assert_fails("echo x > ../project-old/file")
        self.assert_fails("mkdir ../project-new")
        self.assertEqual(self.read("project-old/file"), "clean\n")
        self.assertFalse(os.path.exists(self.path("project-new")))

    def test_a_link_leads_nowhere_that_is_writable(self):
        for name, target in (("file", f"{self.open}/file"), ("new", f"{self.open}/new"),
                             ("sibling", "../project-old/file"), ("key", "../.ssh/id_rsa"),
                             ("proc", f"/proc/self/root{self.open}/file")):
            os.symlink(target, self.path("project", name))
            self.assert_fails(f"echo x > {name}")
            self.assert_fails(f"ln -sfn {target} again && echo x > again")
        os.symlink(self.open, self.path("project", "folder"))
        self.assert_fails("echo x > folder/new", because="Read-only file system")
        self.assert_open_is_clean()
        self.assertEqual(self.read(".ssh/id_rsa"), support.SECRET)

    def test_no_hard_link_and_no_rename_crosses_the_boundary(self):
        self.assert_fails(f"ln {self.open}/file stolen")
        self.assert_fails(f"python3 -c 'import os; os.rename(\"{self.open}/file\", \"stolen\")'")
        self.assert_fails(f"python3 -c 'import os; os.rename(\"src\", \"{self.open}/src\")'")
        self.assertTrue(os.path.isdir(self.path("project/src")))
        self.assert_open_is_clean()

    def test_the_workspace_itself_cannot_be_moved_or_removed(self):
        self.assert_fails("mv ../project ../moved")
        self.assert_fails("rmdir ../project")
        self.assertTrue(os.path.isdir(self.project))


@support.as_each_user
class Hidden(ground.Boundary):
    def listing(self, place, **more):
        return json.loads(self.python("import os, sys, json; print(json.dumps(os.listdir(sys.argv[1])"
                                      " if os.path.isdir(sys.argv[1]) else []))", place, **more))

    def test_the_home_holds_nothing_but_the_way_to_the_workspace(self):
        self.assertEqual(self.listing(self.home), ["project"])
        self.assert_fails(f"cat {self.home}/.ssh/id_rsa", because="No such file")

    def test_other_homes_are_empty(self):
        for place in ("/root", "/home"):
            self.assertEqual(self.listing(place), [], place)

    def test_a_false_home_does_not_show_the_true_one(self):
        other = self.path("project-old")
        record = self.record("-c", f"ls -A {other} /root /home; cat {other}/file",
                             env=self.environment(HOME=other))
        self.assertNotIn("clean", record["stdout"]["text"])
        self.assertNotIn("file\n", record["stdout"]["text"].replace("No such file", ""))

    def test_password_hashes_are_not_there(self):
        for name in ("/etc/shadow", "/etc/gshadow", "/etc/shadow-"):
            self.assertEqual(self.inside(f"cat {name} 2>/dev/null | wc -c").strip(), "0")
        self.assertIn("root:", self.inside("cat /etc/passwd"))

    def test_hidden_places_are_read_only_and_hold_no_byte(self):
        for place in ("/run", "/root", "/home", self.home):
            if os.path.isdir(place):
                self.assert_fails(f"head -c 1 /dev/zero > {place}/fill",
                                  because="Read-only file system")
                self.assert_fails(f"mkdir {place}/fill", because="Read-only file system")

    def test_scratch_places_are_writable_bounded_and_gone_afterwards(self):
        name = os.path.basename(self.home)
        for place in ("/tmp", "/var/tmp", "/dev/shm"):
            size = self.python("import os, sys; s = os.statvfs(sys.argv[1]); "
                               "print(s.f_blocks * s.f_frsize)", place)
            self.assertLessEqual(int(size), 1 << 30, place)
            self.assertEqual(self.inside(f"echo x > {place}/{name}; cat {place}/{name}"), "x\n")
            self.assertFalse(os.path.exists(f"{place}/{name}"))

    def test_scratch_places_do_not_show_what_the_host_has_there(self):
        for place in ("/tmp", "/var/tmp", "/dev/shm"):
            with tempfile.NamedTemporaryFile(prefix="pinfold-e2e-", dir=place) as file:
                os.chmod(file.name, 0o666)
                self.assert_fails(f"cat {file.name}", because="No such file")


@support.as_each_user
class Shown(ground.Boundary):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("tools/bin"))
        self.write("tools/bin/tool", "#!/bin/sh\necho ran\n", 0o755)
        for name in (".config/git", ".aws", ".gnupg", ".ssh/sub"):
            os.makedirs(self.path(name))
        self.own()

    def test_a_read_root_is_shown_read_only_and_nothing_beside_it(self):
        tools = self.path("tools")
        self.assertEqual(self.inside(f"{tools}/bin/tool", "--read", tools), "ran\n")
        self.assert_fails(f"echo x > {tools}/bin/tool", "--read", tools,
                          because="Read-only file system")
        self.assert_fails(f"touch {tools}/new", "--read", tools, because="Read-only file system")
        self.assert_fails(f"cat {self.home}/.ssh/id_rsa", "--read", tools)
        self.assert_fails(f"touch {self.home}/new", "--read", tools)

    def test_credentials_and_whole_homes_are_never_shown(self):
        os.symlink(".ssh", self.path("innocent"))
        for name in (".ssh", ".ssh/sub", ".aws", ".gnupg", ".config", "", "innocent", "../"):
            with self.subTest(name=name):
                self.assert_refused("InvalidArgument", "--read", self.path(name), "--", "true")
        for place in ("/", "/run", "/proc", "/sys", "/dev", "/tmp"):
            with self.subTest(place=place):
                self.assert_refused("InvalidArgument", "--read", place, "--", "true")

    def test_a_folder_of_the_configuration_may_be_shown(self):
        self.inside(f"test -d {self.home}/.config/git", "--read", self.path(".config/git"))


WALK = """
import json, os, sys
shown = set(json.load(open(sys.argv[1])))
def is_way(path):
    return any(one.startswith(path.rstrip('/') + '/') for one in shown)
def walk(path):
    for name in os.listdir(path):
        at = path.rstrip('/') + '/' + name
        if at in shown:
            continue
        if not is_way(at) or not os.path.isdir(at) or os.path.islink(at):
            print(at)
        else:
            walk(at)
walk('/')
"""


@support.as_each_user
class Minimal(ground.Boundary):
    def test_nothing_is_visible_outside_the_list_that_explain_prints(self):
        answer = self.pinfold("explain", "--json", "--root", "minimal", "--", "true")
        shown = [one["target"] for one in answer.json["mounts"] if one["kind"] != "remount_ro"]
        self.assertNotIn("/", shown)
        self.write("project/shown", json.dumps(shown))
        self.own()
        out = self.python(WALK, "shown", options=("--root", "minimal"))
        self.assertEqual(out, "")

    def test_the_list_is_short(self):
        for place in ("/etc/hostname", "/etc/shadow", "/etc/ssh", "/etc/sudoers", "/var/log",
                      "/var/lib", "/opt", "/boot", "/sys", "/mnt", "/root/.bashrc"):
            self.assert_fails(f"ls -d {place}", "--root", "minimal", because="No such file")

    def test_it_is_read_only_and_work_is_possible(self):
        for place in ("/", "/etc", "/usr", "/var"):
            self.assert_fails(f"touch {place}/new", "--root", "minimal",
                              because="Read-only|No such file")
        self.assertEqual(self.inside("id -u; echo x > here; cat here", "--root", "minimal"),
                         f"{self.uid}\nx\n")


@unittest.skipUnless(os.geteuid() == 0, "only root can become a system user")
class PasswordDatabase(ground.Boundary):
    """A user whose true home lies neither in /home nor in $HOME."""

    def setUp(self):
        for entry in pwd.getpwall():
            if entry.pw_uid and os.path.isdir(entry.pw_dir) and entry.pw_dir != "/" and not any(
                    (entry.pw_dir + "/").startswith(tree + "/") for tree in SYSTEM):
                self.uid, self.gid, self.true_home = entry.pw_uid, entry.pw_gid, entry.pw_dir
                break
        super().setUp()

    def test_the_home_of_the_password_database_is_hidden_whatever_the_environment_says(self):
        with tempfile.NamedTemporaryFile(prefix="pinfold-e2e-", dir=self.true_home) as file:
            os.chmod(file.name, 0o666)
            self.assert_fails(f"cat {file.name}", because="No such file")
            self.assert_fails(f"touch {self.true_home}/new", because="Read-only file system")


if __name__ == "__main__":
    unittest.main()
