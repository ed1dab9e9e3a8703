"""Ways round the proxy, tried from inside with a list in force: there is no other way out, and the
proxy decides about whatever comes to it."""
import os
import socket
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import outside  # noqa: E402
import support  # noqa: E402
from outside import PROXY, PYTHON  # noqa: E402

# Tries to send to each address it is given, by every means at hand; prints what went through.
SEND = r"""
import errno, socket, sys
for word in sys.argv[1:]:
    host, port = word.rsplit("/", 1)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(family, kind); s.settimeout(2)
        try:
            s.connect((host, int(port))); s.send(b"out"); print("went", word, kind.name)
        except OSError as why:
            print(errno.errorcode.get(why.errno, why))
        s.close()
for family, kind, protocol in ((socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
                               (socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP),
                               (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
                               (socket.AF_PACKET, socket.SOCK_RAW, 3)):
    try:
        s = socket.socket(family, kind, protocol)
        s.sendto(b"\x08\0\xf7\xff\0\0\0\0", ("192.0.2.1", 0)); print("went", family, kind)
    except (OSError, TypeError, ValueError) as why:
        print(type(why).__name__)
"""

# Says to the proxy what it is told, and prints the first line that comes back.
SAY = r"""
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); s.settimeout(5)
s.sendall(sys.argv[2].encode().decode("unicode_escape").encode("latin-1"))
try:
    print(s.recv(4096).split(b"\r\n")[0])
except OSError as why:
    print(why)
"""


def own_addresses():
    """This machine's addresses that are no loopback, by asking which one a way out would have."""
    found = []
    for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            try:
                one.connect((target, 9))
                found.append(one.getsockname()[0])
            except OSError:
                pass
    return found


@support.as_each_user
class WaysRound(outside.Outside):

    def listen(self, address):
        """A TCP and a UDP socket there; the list of what came to them."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        came, port = [], 0
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            one = socket.socket(family, kind)
            one.bind((address, port))
            port = one.getsockname()[1]
            self.addCleanup(one.close)
            if kind == socket.SOCK_STREAM:
                one.listen()

            def take(one=one, kind=kind):
                try:
                    while True:
                        came.append(one.accept() if kind == socket.SOCK_STREAM else one.recv(100))
                except OSError:
                    pass
            threading.Thread(target=take, daemon=True).start()
        return port, came

    def inside(self, program, *words, options=()):
        answer = self.pinfold("run", "--allow-host", "allowed.example:443", *options, "--", PYTHON, "-I",
                              "-c", program, *map(str, words))
        self.assertEqual(answer.code, 0, answer)
        return answer.out

    def test_no_packet_leaves_but_through_the_proxy(self):
        places = [(address, *self.listen(address)) for address in ["127.0.0.1", *own_addresses()]]
        targets = [f"{address}/{port}" for address, port, _ in places]
        shown = self.inside(SEND, *targets, "8.8.8.8/53", "169.254.169.254/80", "2001:db8::1/443",
                            "224.0.0.1/9", "255.255.255.255/9")
        # UDP to the loopback inside has nobody to refuse it in time: it went no further than lo.
        went = [line for line in shown.splitlines() if line.startswith("went")
                and not line.startswith("went 127.0.0.1/") ]
        self.assertEqual(went, [], shown)
        self.assertEqual([came for _, _, came in places if came], [])
        devices = self.inside("print(open('/proc/net/dev').read()); print(open('/proc/net/route').read())")
        self.assertEqual([line.split(":")[0].strip() for line in devices.splitlines() if ":" in line],
                         ["lo"])
        # And the listeners do hear: the same program with the network open.
        shown = self.pinfold("run", "--network", "on", "--", PYTHON, "-I", "-c", SEND, *targets).out
        self.assertEqual(shown.count("went"), 2 * len(targets), shown)

    def test_a_client_that_ignores_the_variables_reaches_nothing(self):
        server = self.serve()
        port = server.server_address[1]
        for command in (f"curl -sS -m 5 --noproxy '*' http://127.0.0.1:{port}/",
                        f"env -i /usr/bin/curl -sS -m 5 http://127.0.0.1:{port}/",
                        f"exec 3<>/dev/tcp/127.0.0.1/{port}", "exec 3<>/dev/tcp/192.0.2.1/80",
                        "exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3",
                        "curl -sS -m 5 --noproxy '*' http://192.0.2.1/",
                        "getent ahosts allowed.example", "getent ahosts example.org"):
            with self.subTest(command=command):
                answer = self.pinfold("run", *self.listing(server), "-c", command)
                self.assertNotEqual(answer.code, 0, answer)
        self.assertEqual(server.seen, [])

    def test_whoever_speaks_to_the_proxy_is_held_to_the_list(self):
        server = self.serve()
        port = server.server_address[1]
        options = self.listing(server)
        words = {f"CONNECT 127.0.0.1:{PROXY} HTTP/1.1\\r\\n\\r\\n": b"HTTP/1.1 403 Forbidden",
                 "CONNECT 127.0.0.1:22 HTTP/1.1\\r\\n\\r\\n": b"HTTP/1.1 403 Forbidden",
                 "CONNECT localhost:22 HTTP/1.1\\r\\n\\r\\n": b"HTTP/1.1 403 Forbidden",
                 f"CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\\r\\n\\r\\n": b"HTTP/1.1 403 Forbidden",
                 f"CONNECT 127.1:{port} HTTP/1.1\\r\\n\\r\\n": b"HTTP/1.1 400 Bad Request",
                 "GET / HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n": b"HTTP/1.1 400 Bad Request",
                 "GET http://denied.example/ HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n":
                 b"HTTP/1.1 403 Forbidden"}
        for word, expected in words.items():
            with self.subTest(word=word):
                self.assertEqual(self.inside(SAY, PROXY, word, options=options), f"{expected}\n")
        self.assertEqual(server.seen, [])

    def test_a_relay_inside_leads_to_the_same_proxy(self):
        server = self.serve()
        relay = ("import socket, threading\n"
                 f"to = ('127.0.0.1', {PROXY})\n"
                 "s = socket.create_server(('127.0.0.1', 5000))\n"
                 "def serve():\n"
                 "    a, b = s.accept()[0], socket.create_connection(to)\n"
                 "    b.sendall(a.recv(4096)); a.sendall(b.recv(4096)); a.close()\n"
                 "threading.Thread(target=serve, daemon=True).start()\n"
                 "c = socket.create_connection(('127.0.0.1', 5000))\n"
                 "c.sendall(b'CONNECT denied.example:443 HTTP/1.1\\r\\n\\r\\n'); print(c.recv(20))")
        self.assertEqual(self.inside(relay, options=self.listing(server)),
                         "b'HTTP/1.1 403 Forbidd'\n")

    def test_nothing_of_the_listeners_is_left_inside(self):
        look = ("import os, socket\n"
                "print(sorted(map(int, os.listdir('/proc/self/fd')))[:4])\n"
                "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
                "    try:\n"
                "        links = [os.readlink(f'/proc/{pid}/fd/{n}') for n in os.listdir(f'/proc/{pid}/fd')]\n"
                "    except OSError:\n"
                "        continue\n"
                "    assert not any('socket' in link for link in links), links\n"
                f"for options in ((), (socket.SO_REUSEADDR,), (socket.SO_REUSEPORT,)):\n"
                "    s = socket.socket()\n"
                "    for one in options: s.setsockopt(socket.SOL_SOCKET, one, 1)\n"
                "    try:\n"
                f"        s.bind(('127.0.0.1', {PROXY})); s.listen(); print('took the port')\n"
                "    except OSError as why:\n"
                "        print(why.errno)\n")
        self.assertEqual(self.inside(look), "[0, 1, 2, 3]\n98\n98\n98\n")

    def test_abstract_sockets_of_the_host_stay_out_of_reach(self):
        name = f"\0pinfold-egress-{os.getpid()}-{self.uid}"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
            server.listen()
            shown = self.inside("import socket, sys\ns = socket.socket(socket.AF_UNIX)\n"
                                "print(s.connect_ex('\\0' + sys.argv[1]) != 0)", name[1:])
        self.assertEqual(shown, "True\n")


if __name__ == "__main__":
    unittest.main()
