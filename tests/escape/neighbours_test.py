"""What a run can do to another one, or get from the host, while it lasts and when it has ended."""
import json
import os
import subprocess
import unittest

import escape
from escape import ground, support

GIVES = """
import os, socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1] + "/handed")
server.listen(1)
open("listening", "w")
to, _ = server.accept()
places = [os.open(place, os.O_RDONLY | os.O_DIRECTORY) for place in ("/", sys.argv[1], "/proc")]
socket.send_fds(to, [b"x"], places)
"""
TAKES = """
import json, os, socket, sys, time
workspace, home = sys.argv[1:]
end = socket.socket(socket.AF_UNIX)
end.connect(workspace + "/handed")
_, (root, work, proc), _, _ = socket.recv_fds(end, 1, 3)
open("taken", "w")
while not os.path.exists("over"):
    time.sleep(0.01)
time.sleep(0.5)  # until the kernel has put the other namespace away
def read(at, name):
    return os.read(os.open(name, os.O_RDONLY, dir_fd=at), 64)
def write(at, name, how):
    os.write(os.open(name, how | os.O_WRONLY, 0o755, dir_fd=at), b"evil")
won = []
for name, act in (("home", lambda: read(root, home[1:] + "/.ssh/id_rsa")),
                  ("run", lambda: os.listdir(os.open("run", os.O_RDONLY, dir_fd=root))[0]),
                  ("state", lambda: read(work, ".efferent/state")),
                  ("forged", lambda: write(work, ".efferent/new", os.O_CREAT)),
                  ("hook", lambda: write(work, ".git/hooks/pre-commit", os.O_CREAT)),
                  ("config", lambda: write(work, ".git/config", os.O_APPEND)),
                  ("sysctl", lambda: os.open("sys/kernel/core_pattern", os.O_WRONLY, dir_fd=proc))):
    try:
        act()
        won.append(name)
    except (OSError, IndexError):
        pass
print(json.dumps(won))
"""


@support.as_each_user
class Neighbours(escape.Escape):
    def visible(self):
        """A workspace of this user that other runs see too: it lies in no home."""
        place = self.open_directory()
        os.unlink(f"{place}/file")
        os.chown(place, self.uid, self.gid)
        return place

    def test_directories_that_were_handed_over_keep_their_covers_when_their_run_ends(self):
        """A mount namespace that ends lets go of mounts that are not locked together."""
        given = self.visible()
        os.mkdir(f"{given}/.efferent")
        with open(f"{given}/.efferent/state", "w", encoding="utf-8") as state:
            state.write(support.SECRET)
        subprocess.run(["git", "init", "-q", given], env=self.environment(), check=True)
        subprocess.run(["chown", "-R", f"{self.uid}:{self.gid}", given], check=True)
        gives = self.start("run", "--", ground.PYTHON, "-I", "-c", GIVES, given, cwd=given)
        ground.wait_for(f"{given}/listening")
        takes = self.start("run", "--", ground.PYTHON, "-I", "-c", TAKES, given, self.home)
        ground.wait_for(self.path("project/taken"))
        gives.communicate(timeout=support.HANG)
        self.write("project/over", "")
        out, err = takes.communicate(timeout=support.HANG)
        self.assertEqual(json.loads(out), [], err)

    @unittest.skipUnless(os.geteuid() == 0, "mounts of the host")
    def test_what_the_host_mounts_during_a_run_does_not_come_in(self):
        """systemd makes the root shared, and what it gets reaches each namespace that follows it."""
        place = self.open_directory()
        host = ('mount --make-rshared / && shift && "$@" & until [ -e "$0/started" ]; do sleep 0.01; done; '
                f'mount -t tmpfs -o mode=777 none {place}; echo clean > {place}/file; '
                f'chmod 666 {place}/file; touch "$0/mounted"; wait; cat {place}/file')
        inside = ("touch started; until [ -e mounted ]; do sleep 0.01; done; "
                  f"grep -c {place} /proc/self/mountinfo; echo evil > {place}/file")
        done = subprocess.run(["unshare", "-m", "sh", "-c", host, self.project, "-", "setpriv",
                               f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups",
                               support.PINFOLD, "run", "-c", inside], env=self.environment(),
                              cwd=self.project, capture_output=True, text=True, timeout=support.HANG)
        self.assertEqual(done.stdout.split(), ["0", "clean"], done)

    def test_a_lock_on_the_workspace_keeps_nobody_waiting_for_long(self):
        place = self.visible()
        holds = ("import fcntl, os, sys, time; at = os.open(sys.argv[1], os.O_RDONLY); "
                 "fcntl.flock(at, fcntl.LOCK_EX); open('held', 'w'); time.sleep(60)")
        rival = self.start("run", "--", ground.PYTHON, "-I", "-c", holds, place)
        try:
            ground.wait_for(self.path("project/held"))
            self.assert_refused("TryAgain", "-c", "touch started", cwd=place)
            self.assertIsNone(rival.poll())
        finally:
            rival.terminate()
            rival.communicate()

    def test_a_lease_on_a_file_of_the_host(self):
        place = self.open_directory()
        self.assert_error("EPERM", f"""
            import fcntl
            fcntl.fcntl(os.open('{place}/file', os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
            """)

    def test_the_first_process_is_not_put_behind(self):
        self.assert_error("EPERM", "os.setpriority(os.PRIO_PGRP, 1, 19)")
        self.assert_error("EPERM", "os.setpriority(os.PRIO_PGRP, 0, 19)")
        self.assert_error("EPERM", "os.setpriority(os.PRIO_PROCESS, 1, 19)")


if __name__ == "__main__":
    unittest.main()
