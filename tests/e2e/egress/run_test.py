"""An egress list as an option: when it is in force, what is said of it, and its limits."""
import os
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import outside  # noqa: E402
import support  # noqa: E402
from outside import PROXY, PYTHON  # noqa: E402

FETCH = "curl -sS -m 20 http://localhost:{}/a"


@support.as_each_user
class ListInForce(outside.Outside):

    def loopback(self, **more):
        server = self.serve(**more)
        return server.server_address[1], ["--allow-loopback", str(server.server_address[1])], server

    def test_a_port_of_the_hosts_loopback_is_there_and_its_neighbour_is_not(self):
        port, options, _ = self.loopback()
        other = self.serve().server_address[1]
        for host in ("localhost", "127.0.0.1", "[::1]"):
            record = self.record(*options, "-c", f"curl -sS http://{host}:{port}/a")
            self.assertEqual(record["stdout"]["text"], "GET /a\n", record)
            self.assertEqual(self.attempts(record), [("127.0.0.1", port, "loopback", None)])
        record = self.record(*options, "-c", FETCH.format(other))
        self.assertEqual((record["exit_code"], record["egress"]["attempts"]), (7, []))
        # Through the proxy it is on the list as well, for a client that ignores NO_PROXY.
        record = self.record(*options, "-c", f"curl -sS --noproxy '' http://localhost:{port}/a")
        self.assertEqual(record["stdout"]["text"], "GET /a\n")
        record = self.record(*options, "-c",
                             f"curl -sS --noproxy '' -o /dev/null -w %{{http_code}} http://localhost:{other}/")
        self.assertEqual(record["stdout"]["text"], "403")
        self.assertEqual(self.attempts(record), [("localhost", other, "http", "NetworkDenied")])

    def test_a_name_that_leads_inside_is_refused_unless_its_address_is_listed(self):
        port, _, server = self.loopback()
        script = f"curl -sS --noproxy '' http://localhost:{port}/"
        record = self.record("--allow-host", f"localhost:{port}", "-c", script)
        self.assertEqual(self.attempts(record), [("localhost", port, "http", "AddressDenied")])
        self.assertIn('"error":"AddressDenied"', record["stdout"]["text"])
        self.assertEqual(server.seen, [])
        record = self.record("--allow-host", f"localhost:{port}", "--allow-host", f"127.0.0.1:{port}",
                             "-c", script)
        self.assertEqual(record["stdout"]["text"], "GET /\n", record)

    def test_the_list_applies_only_while_the_gate_allows(self):
        port, options, server = self.loopback()
        both = ("--taint", "untrusted_content", "--taint", "private_data")
        for gate, taint, is_open in (
                ((), (), True), (("--gate", "on"), both, True), (("--network", "on"), (), True),
                (("--gate", "untainted"), (), True),
                (("--gate", "untainted"), ("--taint", "private_data"), False),
                (("--gate", "guarded"), ("--taint", "private_data"), True),
                (("--gate", "guarded"), both, False),
                (("--gate", "guarded", "--mode", "ask"), both, False)):
            with self.subTest(gate=gate, taint=taint):
                record = self.record(*options, *gate, *taint, "-c",
                                     FETCH.format(port) + "; echo \"[$HTTP_PROXY]\"")
                self.assertEqual(record["network"], "list" if is_open else "off")
                shown = f"GET /a\n[http://127.0.0.1:{PROXY}]\n" if is_open else "[]\n"
                self.assertEqual(record["stdout"]["text"], shown)
                self.assertEqual(record["egress"] is not None, is_open)
                taken = {*taint[1::2], *(("untrusted_content",) if is_open else ())}
                self.assertEqual(set(record["taint_after"]), taken)
        self.assertEqual(len(server.seen), 5)

    def test_what_cannot_be_meant_is_refused_before_anything_starts(self):
        before = self.tree()
        for words in (["--allow-host", "*:443"], ["--allow-host", "example.org"], ["--allow-host", ""],
                      ["--allow-host", "http://example.org:443"], ["--allow-loopback", "0"],
                      ["--allow-loopback", "80"], ["--allow-loopback", "65536"],
                      ["--allow-loopback", "x"], ["--allow-host", "a.example:1", "--gate", "off"],
                      ["--allow-host", "a.example:1", "--network", "off"], ["--allow-no-sni"],
                      ["--egress-bytes", "1MiB"], ["--egress-connections", "4"], ["--egress-idle", "1s"],
                      ["--egress-time", "1s"], ["--allow-loopback", "5000", "--egress-bytes", "0"],
                      ["--allow-loopback", "5000", "--egress-connections", "0"],
                      ["--allow-loopback", "5000", "--egress-idle", "-1"],
                      [word for n in range(33) for word in ("--allow-loopback", str(5000 + n))]):
            answer = self.pinfold("run", *words, "--", "true")
            self.assertEqual((answer.code, answer.out), (125, ""), (words, answer))
            self.assert_one_line(answer.err)
        self.assertEqual(self.tree(), before)
        record = self.record("--no-sandbox", "--allow-host", "a.example:443", "--", "true")
        self.assertEqual(record["refusal"]["error"], "NotEnforceable")
        record = self.record(*[word for n in range(32) for word in
                               ("--allow-loopback", str(PROXY + n))], "-c", "echo $HTTP_PROXY")
        self.assertEqual(record["stdout"]["text"], f"http://127.0.0.1:{PROXY + 32}\n")

    def test_explain_says_what_is_reachable_and_why_there_is_no_resolver(self):
        words = ["--allow-host", "*.Example.org:443", "--allow-loopback", "5000", "--egress-bytes", "1MiB"]
        answer = self.pinfold("explain", *words, "--", "true")
        self.assertRegex(answer.out, r"(?m)^network +list: no route, no resolver; what is on the list")
        self.assertRegex(answer.out, r"(?m)^reachable +\*\.example\.org:443$")
        self.assertIn("the host's own localhost:5000, as localhost:5000", answer.out)
        self.assertIn("no DNS inside: the proxy resolves what is on the list", answer.out)
        self.assertIn(f"HTTP_PROXY=http://127.0.0.1:{PROXY}", answer.out)
        self.assertIn("a server on an egress list that serves for others", answer.out)
        plan = self.pinfold("explain", "--json", *words, "--", "true").json
        self.assertEqual((plan["network"], plan["egress"]["proxy"], plan["egress"]["bytes"],
                          plan["egress"]["server_names"], plan["egress"]["loopback"]),
                         ("list", f"127.0.0.1:{PROXY}", 1 << 20, "required", [5000]))
        self.assertIn("--unshare-net", plan["argv"])
        self.assertIn("list-alone", {one["id"] for one in plan["promised"]})
        closed = self.pinfold("explain", *words, "--gate", "untainted", "--taint", "private_data", "--",
                              "true")
        self.assertRegex(closed.out, r"(?m)^egress list +does not apply")
        self.assertNotIn("HTTP_PROXY", closed.out)

    def test_events_tell_each_connection_while_the_command_runs(self):
        port, options, _ = self.loopback()
        answer = self.pinfold("run", "--events", *options, "-c", FETCH.format(port) + "; "
                              f"curl -s --noproxy '' -o x http://denied.example:1/; sleep 1; echo late")
        lines = answer.json_lines
        told = [(one["state"], one["host"], one["port"]) for one in lines if one["event"] == "egress"]
        self.assertEqual(told, [("open", "127.0.0.1", port), ("closed", "127.0.0.1", port),
                                ("refused", "denied.example", 1)])
        names = [one["event"] for one in lines]
        self.assertLess(names.index("egress"), next(
            n for n, one in enumerate(lines) if one.get("text", "").endswith("late\n")))
        self.assertEqual(lines[0]["network"], "list")
        self.assertEqual(len(lines[-1]["record"]["egress"]["attempts"]), 2)

    def test_in_text_a_refused_connection_is_told_once(self):
        answer = self.pinfold("run", "--allow-host", "a.example:443", "-c",
                              "for i in 1 2 3; do curl -s -o x http://denied.example/; done; true")
        self.assertEqual(answer.code, 0)
        self.assertEqual(answer.err.count("refusing to connect"), 1, answer)
        self.assertIn('"denied.example:80": the network is closed', answer.err)

    def test_no_more_leaves_than_may(self):
        port, options, server = self.loopback()
        send = "head -c {} /dev/zero | curl -sS -m 20 --data-binary @- http://localhost:%d/up" % port
        record = self.record(*options, "--egress-bytes", "64KiB", "-c", send.format(60000))
        self.assertEqual(record["stdout"]["text"], "60000", record)
        record = self.record(*options, "--egress-bytes", "64KiB", "-c", send.format(70000))
        self.assertNotEqual(record["exit_code"], 0)
        self.assertEqual(self.attempts(record)[0][3], "EgressLimit")
        self.assertLessEqual(record["egress"]["sent"], 65536)
        self.assertEqual(server.seen[0][2], 60000)
        self.assertLess(sum(one[2] for one in server.seen[1:]), 65536)

    def test_no_more_connections_are_open_than_may_be(self):
        program = ("import socket\n"
                   f"make = lambda: socket.create_connection(('127.0.0.1', {PROXY}))\n"
                   "held = [make() for _ in range(3)]\n"
                   "for s in held: s.sendall(b'C')\n"
                   "import time; time.sleep(0.3)\n"
                   "s = make(); print(s.recv(100).split(b'\\r\\n')[0])\n")
        record = self.record("--allow-host", "a.example:443", "--egress-connections", "3", "--", PYTHON,
                             "-c", program)
        self.assertEqual(record["stdout"]["text"], "b'HTTP/1.1 503 Service Unavailable'\n", record)

    def test_a_connection_that_says_nothing_is_ended(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        kept = []
        threading.Thread(target=lambda: kept.append(server.accept()), daemon=True).start()
        port = server.getsockname()[1]
        begun = time.monotonic()
        record = self.record("--allow-loopback", str(port), "--egress-idle", "500ms", "-c",
                             f"exec 3<>/dev/tcp/localhost/{port}; cat <&3; echo over")
        self.assertIn("over\n", record["stdout"]["text"])
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual(self.attempts(record)[0][3], "EgressLimit")

    def test_the_commands_own_time_limit_stays_exact(self):
        """With a server that never answers, one that never ends and a storm of connections."""
        port, options, _ = self.loopback()
        silent = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(silent.close)
        stuck = silent.getsockname()[1]
        storm = ("import socket\nwhile True:\n    try:\n"
                 f"        socket.create_connection(('127.0.0.1', {PROXY})).close()\n"
                 "    except OSError:\n        pass\n")
        record = self.record(*options, "--allow-loopback", str(stuck), "--timeout", "2s", "--grace",
                             "100ms", "-c", f"python3 -c \"{storm}\" & "
                             f"curl -s http://localhost:{stuck}/ & {FETCH.format(port)}; wait")
        self.assertEqual(record["ended"], "timed_out", record)
        self.assertLess(record["duration_ms"], 4000)

    def test_a_storm_leaves_the_record_short_and_the_proxy_alive(self):
        port, options, _ = self.loopback()
        storm = ("import socket\nfor i in range(5000):\n"
                 f"    s = socket.create_connection(('127.0.0.1', {PROXY}))\n"
                 "    s.sendall(b'CONNECT denied.example:1 HTTP/1.1\\r\\n\\r\\n'); s.recv(1); s.close()\n")
        self.write("project/storm.py", storm)
        record = self.record(*options, "-c", f"python3 storm.py && {FETCH.format(port)}")
        self.assertEqual(record["stdout"]["text"], "GET /a\n", record)
        egress = record["egress"]
        self.assertEqual(len(egress["attempts"]) + egress["more"], 5001)
        self.assertEqual(len(egress["attempts"]), 1000)

    def test_the_network_is_held_and_the_record_says_how(self):
        record = self.record("--allow-host", "a.example:443", "--", "true")
        held = record["enforced"]["network"]
        self.assertEqual(held["held"], "full")
        self.assertIn("a proxy outside reaches what is on the egress list", held["reason"])
        self.assertEqual(record["egress"], {"list": ["a.example:443"], "attempts": [], "more": 0,
                                            "sent": 0, "received": 0})

    def test_what_the_caller_names_overrules_the_variables(self):
        record = self.record("--allow-host", "a.example:443", "--env", "HTTP_PROXY=mine", "-c",
                             "echo $HTTP_PROXY $https_proxy $NO_PROXY; env | grep -c -i _proxy=")
        self.assertEqual(record["stdout"]["text"],
                         f"mine http://127.0.0.1:{PROXY} localhost,127.0.0.1,::1\n9\n")

    def test_without_a_list_there_is_no_word_of_a_proxy(self):
        for options in ((), ("--network", "on")):
            record = self.record(*options, "-c", "env | grep -i proxy; true")
            self.assertEqual((record["stdout"]["text"], record["egress"]), ("", None))


if __name__ == "__main__":
    unittest.main()
