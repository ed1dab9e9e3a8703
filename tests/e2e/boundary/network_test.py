"""The network: with it off there is no way out, and no socket of the host to talk to."""
import ctypes
import os
import socket
import subprocess
import tempfile
import unittest

import ground
from ground import support

TALK = """
import socket, sys
family = {"unix": socket.AF_UNIX, "inet": socket.AF_INET}[sys.argv[1]]
kind = {"stream": socket.SOCK_STREAM, "dgram": socket.SOCK_DGRAM}[sys.argv[2]]
address = sys.argv[3]
if sys.argv[1] == "inet":
    host, port = address.rsplit(":", 1)
    address = (host, int(port))
elif address.startswith("@"):
    address = "\\0" + address[1:]
s = socket.socket(family, kind)
s.settimeout(10)
try:
    s.connect(address)
    s.send(b"hello")
    print("TALKED")
except OSError as error:
    print("refused", error.errno)
"""


@support.as_each_user
class Sockets(ground.Boundary):
    def listen(self, family, address):
        server = socket.socket(family, socket.SOCK_STREAM)
        self.addCleanup(server.close)
        server.bind(address)
        server.listen(8)
        return server

    def outside(self, *words):
        return subprocess.run([ground.PYTHON, "-I", "-c", TALK, *words], capture_output=True, text=True,
                              check=False, timeout=support.HANG, **self.as_user()).stdout

    def assert_unreachable(self, *words):
        with self.subTest(words=words):
            self.assertEqual(self.outside(*words), "TALKED\n", "outside it must work")
            self.assertIn("refused", self.python(TALK, *words))

    def test_sockets_with_a_path_in_hidden_places_are_not_there(self):
        places = ["/tmp", "/var/tmp", "/dev/shm", self.home]
        if os.geteuid() == 0:
            places += ["/run", "/root"] if self.uid == 0 else ["/run"]
        for place in places:
            folder = tempfile.mkdtemp(prefix="pinfold-e2e-", dir=place)
            self.addCleanup(support.shutil.rmtree, folder, ignore_errors=True)
            os.chmod(folder, 0o777)
            self.listen(socket.AF_UNIX, f"{folder}/socket")
            os.chmod(f"{folder}/socket", 0o777)
            self.assert_unreachable("unix", "stream", f"{folder}/socket")

    def test_abstract_sockets_of_the_host_are_not_there(self):
        name = f"pinfold-e2e-{os.getpid()}-{self.uid}"
        self.listen(socket.AF_UNIX, "\0" + name)
        self.assert_unreachable("unix", "stream", "@" + name)

    def test_the_loopback_of_the_host_is_another_one(self):
        server = self.listen(socket.AF_INET, ("127.0.0.1", 0))
        port = server.getsockname()[1]
        self.assert_unreachable("inet", "stream", f"127.0.0.1:{port}")

    def test_with_the_network_on_the_same_server_is_reached(self):
        server = self.listen(socket.AF_INET, ("127.0.0.1", 0))
        port = server.getsockname()[1]
        self.assertEqual(self.python(TALK, "inet", "stream", f"127.0.0.1:{port}",
                                     options=("--network", "on")), "TALKED\n")

    def test_there_is_no_route(self):
        unreachable = "refused 101\n"
        for kind in ("stream", "dgram"):
            for address in ("192.0.2.1:80", "8.8.8.8:53", "169.254.169.254:80", "10.0.0.1:1"):
                with self.subTest(kind=kind, address=address):
                    self.assertEqual(self.python(TALK, "inet", kind, address), unreachable)
        self.assertEqual(len(self.inside("cat /proc/net/route").splitlines()), 1)
        self.assertEqual(self.inside("ls /sys/class/net 2>/dev/null; sed 1,2d /proc/net/dev | "
                                     "cut -d: -f1 | tr -d ' '").split()[-1], "lo")

    def test_no_name_resolves(self):
        self.assert_fails("getent ahostsv4 example.org")

    def test_inside_its_own_loopback_works(self):
        self.assertEqual(self.python(
            "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
            "socket.create_connection(s.getsockname()); print('ok')"), "ok\n")

    def socket_in(self, place, name="socket"):
        self.listen(socket.AF_UNIX, f"{place}/{name}")
        os.chmod(f"{place}/{name}", 0o777)
        return f"{place}/{name}"

    def hidden_folder(self):
        place = tempfile.mkdtemp(prefix="pinfold-e2e-", dir="/run" if os.geteuid() == 0 else "/tmp")
        self.addCleanup(support.shutil.rmtree, place, ignore_errors=True)
        os.chmod(place, 0o777)
        return place

    def test_an_allowed_socket_answers_and_its_neighbour_does_not(self):
        place = self.hidden_folder()
        allowed, other = self.socket_in(place), self.socket_in(place, "other")
        for more in ((), ("--root", "minimal"), ("--network", "on")):
            options = ("--allow-socket", allowed, *more)
            self.assertEqual(self.python(TALK, "unix", "stream", allowed, options=options),
                             "TALKED\n")
            self.assertIn("refused 2", self.python(TALK, "unix", "stream", other, options=options))
            self.assertEqual(self.inside(f"ls {place}", *options), "socket\n")
        self.assertIn("refused", self.python(TALK, "unix", "stream", allowed))
        self.assert_fails(f"rm -f {allowed}; test ! -e {allowed}", "--allow-socket", allowed)
        table = self.pinfold("explain", "--allow-socket", allowed, "--", "true").out
        self.assertRegex(table, rf"(?m)^sockets within reach +{allowed}$")
        record = self.record("--allow-socket", allowed, "--", "true")
        self.assertIn(allowed, record["enforced"]["path_sockets"]["reason"])

    def test_only_a_socket_is_allowed_and_never_a_directory(self):
        place = self.hidden_folder()
        with open(f"{place}/file", "w", encoding="utf-8"):
            pass
        for path in (place, f"{place}/file", f"{place}/missing", "/run", "/", "", "@abstract"):
            self.assert_refused("InvalidArgument", "--allow-socket", path, "--", "true")
        self.assert_refused("NotEnforceable", "--no-sandbox", "--allow-socket",
                            self.socket_in(place), "--", "true")

    def test_a_socket_that_would_still_be_seen_is_covered(self):
        place = self.open_directory()
        os.mkdir(f"{place}/many")
        os.chmod(f"{place}/many", 0o777)
        seen = [self.socket_in(place), *(self.socket_in(f"{place}/many", str(n)) for n in range(6))]
        if os.geteuid() != 0:
            return  # an ordinary user has no such place: /var/tmp is hidden
        for path in seen:
            self.assert_unreachable("unix", "stream", path)
        self.assertEqual(self.inside(f"ls {place}/many"), "")
        self.assertEqual(self.inside(f"cat {place}/file"), "clean\n", "only the sockets are covered")
        self.assertEqual(self.python(TALK, "unix", "stream", seen[0],
                                     options=("--allow-socket", seen[0])), "TALKED\n")
        self.assertIn("refused", self.python(TALK, "unix", "stream", seen[1],
                                             options=("--allow-socket", seen[2])))

    def test_abstract_sockets_of_the_host_are_out_of_reach_with_the_network_on(self):
        name = f"pinfold-scope-{os.getpid()}-{self.uid}"
        self.listen(socket.AF_UNIX, "\0" + name)
        record = self.record("--network", "on", "--", ground.PYTHON, "-I", "-c", TALK, "unix",
                             "stream", "@" + name)
        held = record["enforced"]["abstract_sockets_and_signals"]
        self.assertEqual((held["held"], record["stdout"]["text"]),
                         ("full", "refused 1\n") if has_scopes() else ("partial", "TALKED\n"))

    def test_abstract_sockets_of_its_own_work_inside(self):
        for network in ("on", "off"):
            self.assertEqual(self.python(
                "import socket\ns = socket.socket(socket.AF_UNIX); s.bind('\\0own-%d' % __import__('os')"
                ".getpid()); s.listen()\nc = socket.socket(socket.AF_UNIX); "
                "c.connect(s.getsockname()); print('ok')", options=("--network", network)), "ok\n")

    def test_names_resolve_when_resolv_conf_is_a_link_into_run(self):
        """As with systemd's resolver: a link into /run, and a server on the loopback."""
        if os.geteuid() != 0:
            return  # only root can give this run an /etc of its own
        place = self.hidden_folder()
        with open(f"{place}/stub.conf", "w", encoding="utf-8") as file:
            file.write("nameserver 127.0.0.54\n")
        os.chmod(f"{place}/stub.conf", 0o644)
        resolver = subprocess.Popen([ground.PYTHON, "-I", "-c", RESOLVER], stdout=subprocess.PIPE)
        self.addCleanup(resolver.wait)
        self.addCleanup(resolver.kill)
        self.addCleanup(resolver.stdout.close)
        self.assertEqual(resolver.stdout.readline(), b"ready\n")
        user = [] if self.uid == 0 else ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}",
                                         "--clear-groups"]
        for root in ("host", "minimal"):
            script = (f"mkdir {place}/etc-{root} && cp -a /etc/. {place}/etc-{root} && "
                      f"ln -sfn {place}/stub.conf {place}/etc-{root}/resolv.conf && "
                      f"mount --bind {place}/etc-{root} /etc && exec \"$@\"")
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", script, "sh", *user, support.PINFOLD, "run", "--root",
                 root, "--network", "on", "--", "getent", "ahostsv4", "somewhere.example"],
                cwd=self.project, env=self.environment(), capture_output=True, text=True,
                timeout=support.HANG, check=False, stdin=subprocess.DEVNULL)
            self.assertIn("192.0.2.77", done.stdout, done)


RESOLVER = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.54", 53))
print("ready", flush=True)
while True:
    query, peer = s.recvfrom(512)
    end = query.index(b"\\0", 12) + 5
    is_a = query[end - 4:end - 2] == b"\\0\\1"
    answer = (b"\\xc0\\x0c" + query[end - 4:end] + b"\\0\\0\\0\\x05\\0\\4"
              + bytes([192, 0, 2, 77])) if is_a else b""
    s.sendto(query[:2] + b"\\x81\\x80\\0\\1\\0" + (b"\\1" if is_a else b"\\0")
             + b"\\0\\0\\0\\0" + query[12:end] + answer, peer)
"""


def has_scopes():
    """Whether the kernel scopes abstract sockets: Landlock's ABI 6 (Linux 6.12)."""
    version = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)
    return version >= 6


if __name__ == "__main__":
    unittest.main()
