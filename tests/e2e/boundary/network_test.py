"""The network: with it off there is no way out, and no socket of the host to talk to."""
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


if __name__ == "__main__":
    unittest.main()
