"""`pinfold mcp` as a client meets it: commands in their sandbox, the session's labels and network, the
end of a server and of all that it started."""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import peer  # noqa: E402
import support  # noqa: E402


class Sandboxed(peer.Served):

    def setUp(self):
        super().setUp()
        self.need_sandbox()


@support.as_each_user
class Commands(Sandboxed):

    def test_a_command_is_answered_with_its_run_record(self):
        on = self.session()
        result = on.call("bash", command="echo out; echo err >&2; exit 3")
        self.assertNotIn("isError", result)
        record = result["structuredContent"]
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 3))
        self.assertEqual(record["stdout"]["text"], "out\n")
        self.assertEqual(record["stderr"]["text"], "err\n")
        self.assertEqual((record["backend"], record["network"]), ("bubblewrap", "off"))
        self.assertEqual(result["content"][0]["text"],
                         "out\n[stderr]\nerr\n[exited, exit code 3]")
        self.assertEqual(on.end(), 0)

    def test_a_command_is_held_to_the_workspace(self):
        on = self.session()
        record = on.call("bash", command=f"echo x > {self.path('project-old/file')}; "
                                         f"cat {self.path('.ssh/id_rsa')}; touch here")
        record = record["structuredContent"]
        self.assertEqual(self.read("project-old/file"), "clean\n")
        self.assertNotIn(support.SECRET, json.dumps(record))
        self.assertTrue(os.path.exists(self.path("project/here")))

    def test_a_command_starts_inside_the_workspace_or_not_at_all(self):
        on = self.session()
        os.symlink("/", self.path("project/out"))
        result = on.call("bash", command="pwd", cwd="src")
        self.assertEqual(result["structuredContent"]["stdout"]["text"], self.path("project/src") + "\n")
        for cwd, code in (("..", "OutsideWorkspace"), ("out", "OutsideWorkspace"), ("/tmp", "OutsideWorkspace"),
                          ("src/main.c", "NotADirectory"), ("none", "NotFound"),
                          (".efferent", "HarnessState")):
            refusal = self.refusal(on.call("bash", command="touch ran", cwd=cwd))
            self.assertEqual((refusal["error"], refusal["operation"]), (code, "execute"), cwd)
        self.assertFalse(os.path.exists(self.path("project/ran")))

    def test_bad_arguments_are_refused_as_a_result(self):
        on = self.session()
        for arguments in ({}, {"command": 7}, {"command": " \n"}, {"command": "a\0b"},
                          {"command": "true", "cwd": 1}, {"command": "true", "timeout": 0},
                          {"command": "true", "timeout": -1}, {"command": "true", "timeout": 1.5},
                          {"command": "true", "timeout": "9"}, {"command": "true", "network": "yes"},
                          {"command": "true", "sandbox": False}):
            self.assertEqual(self.refusal(on.call("bash", **arguments))["error"], "InvalidArgument", arguments)

    def test_a_call_may_ask_for_less_time_and_never_for_more(self):
        on = self.session("--timeout", "1s", "--grace", "100ms")
        for timeout in (3600, 2592000):
            record = on.call("bash", command="sleep 60", timeout=timeout)["structuredContent"]
            self.assertEqual(record["ended"], "timed_out")
        on = self.session("--timeout", "10m", "--grace", "100ms")
        record = on.call("bash", command="sleep 600", timeout=1)["structuredContent"]
        self.assertEqual(record["ended"], "timed_out")

    def test_progress_tells_how_far_a_command_is(self):
        on = self.session()
        result = on.answer(on.start_call("bash", {"progressToken": "t"}, command="echo a; sleep 2.5"))
        self.assertEqual(result["result"]["structuredContent"]["exit_code"], 0)
        told = [one["params"] for one in on.others]
        self.assertGreaterEqual(len(told), 2)
        self.assertEqual({one["progressToken"] for one in told}, {"t"})
        done = [one["progress"] for one in told]
        self.assertEqual(done, sorted(set(done)))
        self.assertIn("bytes of output", told[0]["message"])

    def test_a_cancelled_command_leaves_nothing_and_gets_no_answer(self):
        on = self.session("--grace", "100ms")
        word = f"4242{os.getpid()}{self.uid}"
        call = on.start_call("bash", command=f"setsid sleep {word} & nohup sleep {word} & touch up; sleep {word}")
        self.wait_for("project/up")
        self.assertTrue(support.processes_with(word))
        on.notify("notifications/cancelled", requestId=call)
        self.wait_for_none(word)
        self.assertEqual(on.answer(on.ask("ping"))["result"], {})
        self.assertFalse([one for one in on.others if one.get("id") == call])

    def test_a_long_command_blocks_no_other(self):
        on = self.session("--grace", "100ms")
        for _ in range(3):
            on.start_call("bash", command="touch up; sleep 600")
        self.wait_for("project/up")
        result = on.call("bash", command="echo quick")
        self.assertEqual(result["structuredContent"]["stdout"]["text"], "quick\n")

    def wait_for(self, name):
        for _ in range(6000):
            if os.path.exists(self.path(name)):
                return
            time.sleep(0.02)
        self.fail(f"{name} never came")

    def wait_for_none(self, word):
        for _ in range(1500):
            if not support.processes_with(word):
                return
            time.sleep(0.02)
        self.fail(f"still there: {support.processes_with(word)}")

    def test_whatever_ends_the_server_ends_its_commands(self):
        for end in ("eof", signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(end):
                on = self.session("--grace", "100ms")
                word = f"4343{os.getpid()}{self.uid}"
                on.start_call("bash", command=f"setsid sleep {word} & touch up{end}; sleep {word}")
                self.wait_for(f"project/up{end}")
                if end == "eof":
                    self.assertEqual(on.end(), 0)
                else:
                    on.process.send_signal(end)
                    code = on.process.wait(timeout=support.HANG)
                    self.assertEqual(code, -end if end == signal.SIGKILL else 128 + end)
                self.wait_for_none(word)

    def test_a_client_that_does_not_read_keeps_the_server_from_nothing(self):
        reads, writes = os.pipe()
        process = self.start("mcp", "--grace", "100ms", stdin=subprocess.PIPE, stdout=writes)
        os.close(writes)
        self.addCleanup(os.close, reads)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        ping = b'{"jsonrpc":"2.0","id":"' + b"x" * 900 + b'","method":"ping"}\n'
        process.stdin.write(ping * 130)  # no pipe holds all the answers
        process.stdin.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        process.stdin.close()
        self.assertEqual(process.wait(timeout=support.HANG), 128 + signal.SIGTERM)

    def test_the_end_of_the_input_ends_what_a_client_runs_that_does_not_read(self):
        for kind in ("pipe", "socket"):
            with self.subTest(kind):
                word = f"4545{os.getpid()}{self.uid}"
                reads, writes = os.pipe()
                self.addCleanup(os.close, reads)
                theirs, ours = socket.socketpair() if kind == "socket" else (subprocess.PIPE, None)
                process = self.start("mcp", "--grace", "100ms", stdin=theirs, stdout=writes)
                os.close(writes)
                self.addCleanup(process.stderr.close)
                self.addCleanup(lambda one=process: one.poll() is None and (one.kill(), one.wait()))
                if ours:
                    theirs.close()
                to = process.stdin or ours.makefile("wb")
                for request in (("initialize", {"protocolVersion": "2025-11-25"}),
                                ("tools/call", {"name": "bash",
                                                "arguments": {"command": f"touch up{kind}; sleep {word}"}})):
                    to.write(json.dumps({"jsonrpc": "2.0", "id": request[0], "method": request[0],
                                         "params": request[1]}).encode() + b"\n")
                to.flush()
                self.wait_for(f"project/up{kind}")
                to.write((b'{"jsonrpc":"2.0","id":"' + b"x" * 900 + b'","method":"ping"}\n') * 130)
                to.flush()
                time.sleep(0.2)
                to.close()
                if ours:
                    ours.close()
                self.assertEqual(process.wait(timeout=10), 0)
                self.wait_for_none(word)


@support.as_each_user
class Session(Sandboxed):

    def grant(self, on):
        result = on.answer(on.ask("resources/read", uri="pinfold://grant"))["result"]
        return json.loads(result["contents"][0]["text"])

    def test_the_network_is_decided_afresh_for_each_command(self):
        on = self.session("--gate", "untainted")
        record = on.call("bash", command="true")["structuredContent"]
        self.assertEqual((record["network"], record["network_decision"]), ("on", "allow"))
        self.assertEqual(record["taint_after"], ["untrusted_content"])
        record = on.call("bash", command="true")["structuredContent"]
        self.assertEqual((record["network"], record["network_decision"]), ("off", "deny"))
        self.assertEqual(self.grant(on)["taint"], ["untrusted_content"])
        refusal = self.refusal(on.call("bash", command="true", network=True))
        self.assertEqual(refusal["error"], "NetworkDenied")

    def test_the_closing_of_the_network_is_explained_before_it_comes_and_after(self):
        on = self.session("--gate", "untainted")
        described = lambda: on.answer(on.ask("tools/list"))["result"]["tools"][0]["description"]  # noqa: E731
        before = described()
        self.assertIn("adds untrusted_content to the session for good (--taint-on-network), and that closes "
                      "the network to the commands after it (--gate untainted)", before)
        self.assertIn("With network false a command has none and adds nothing", before)
        on.call("bash", command="true")
        why = ("the gate is untainted, and the session holds untrusted_content, which closes it: no label is "
               "ever taken away, so it stays closed in this session")
        self.assertIn(f"The network is closed. Why: {why}.", described())
        self.assertNotIn("--taint-on-network", described())
        self.assertTrue(self.refusal(on.call("bash", command="true", network=True))["message"].endswith(why))
        text = lambda **more: on.call("bash", command="true", **more)["content"][0]["text"]  # noqa: E731
        self.assertEqual(text(), f"[exited, exit code 0]\n[without the network: {why}]")
        self.assertEqual(text(network=False), "[exited, exit code 0]")
        on = self.session("--gate", "off")
        self.assertTrue(self.refusal(on.call("bash", command="true", network=True))["message"]
                        .endswith("the gate is off: it stays closed in this session"))
        on = self.session("--gate", "on")
        self.assertIn("adds untrusted_content to the session for good (--taint-on-network). With", described())
        on = self.session("--gate", "on", "--taint-on-network", "none")
        self.assertNotIn("--taint-on-network", described())
        on = self.session("--mode", "ask", "--gate", "untainted", "--taint", "private_data")
        self.assertIn("closes it but for a command with network true that a person approves", described())

    def test_a_command_that_says_so_has_no_network_and_takes_nothing_in(self):
        on = self.session("--gate", "untainted")
        record = on.call("bash", command="true", network=False)["structuredContent"]
        self.assertEqual((record["network"], record["taint_after"]), ("off", []))
        self.assertEqual(self.grant(on)["network"], "allow")

    def test_what_the_network_brings_is_what_the_server_was_started_with(self):
        for word, labels in (("none", []), ("private_data", ["private_data"]),
                             ("both", ["untrusted_content", "private_data"])):
            on = self.session("--gate", "on", "--taint-on-network", word)
            record = on.call("bash", command="true")["structuredContent"]
            self.assertEqual(record["taint_after"], labels)
            self.assertEqual(self.grant(on)["taint"], labels)

    def test_a_person_opens_the_network_for_one_command(self):
        on = self.session("--mode", "ask", "--gate", "untainted", "--taint", "private_data",
                          capabilities={"elicitation": {}})
        self.assertEqual(on.call("bash", command="true")["structuredContent"]["network"], "off")
        for action, network in (("accept", "on"), ("decline", None), ("accept", "on")):
            call = on.start_call("bash", command="true # it", network=True)
            question = on.next()
            self.assertEqual(question["method"], "elicitation/create")
            self.assertIn("true # it", question["params"]["message"])
            on.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}})
            result = on.answer(call)["result"]
            if network:
                self.assertEqual(result["structuredContent"]["network"], network)
            else:
                self.assertEqual(self.refusal(result)["error"], "NeedsApproval")

    def test_a_client_without_elicitation_is_told_so(self):
        on = self.session("--mode", "ask", "--gate", "untainted", "--taint", "private_data")
        refusal = self.refusal(on.call("bash", command="true", network=True))
        self.assertEqual(refusal["error"], "NeedsApproval")
        self.assertIn("no elicitation", refusal["message"])

    def test_plan_mode_writes_nothing(self):
        on = self.session("--mode", "plan")
        record = on.call("bash", command="touch it; ls src")["structuredContent"]
        self.assertEqual(record["stdout"]["text"], "main.c\n")
        self.assertFalse(os.path.exists(self.path("project/it")))

    def test_descriptions_say_the_rule_before_it_is_hit(self):
        on = self.session("--gate", "untainted")
        described = lambda: {one["name"]: one["description"]  # noqa: E731
                             for one in on.answer(on.ask("tools/list"))["result"]["tools"]}
        self.assertIn(self.project, described()["bash"])
        self.assertIn("The network is open", described()["bash"])
        on.call("bash", command="true")
        self.assertIn("The network is closed", described()["bash"])
        self.assertIn("notifications/tools/list_changed", [one.get("method") for one in on.others])

    def test_the_last_decisions_are_shown(self):
        on = self.session()
        on.call("bash", command="true")
        on.call("bash", command="true", cwd="..")
        last = self.grant(on)["decisions"]
        self.assertEqual([(one["call"], one["tool"], one["verdict"], one["reason"]) for one in last],
                         [(1, "bash", "allow", None), (2, "bash", "refuse", "OutsideWorkspace")])


@support.as_each_user
class Started(peer.Served):

    def test_what_cannot_be_served_is_refused_on_stderr_and_stdout_stays_empty(self):
        for options, word in ((("--workspace", "/"), "WorkspaceTooBroad"),
                              (("--workspace", self.path("none")), "NotFound"),
                              (("--read", self.path(".ssh")), "InvalidArgument"),
                              (("--max-output", "2MiB"), "--max-output"),
                              (("--gate", "on", "--network", "off"), "contradicts"),
                              (("--taint-on-network", "some"), "--taint-on-network")):
            answer = self.pinfold("mcp", *options)
            self.assertEqual((answer.code, answer.out), (2, ""), options)
            self.assert_one_line(answer.err)
            self.assertIn(word, answer.err)

    def test_without_a_sandbox_nothing_runs_unless_that_was_said(self):
        on = self.session("--no-sandbox")
        record = on.call("bash", command="echo x")["structuredContent"]
        self.assertEqual((record["backend"], record["stdout"]["text"]), ("none", "x\n"))
        self.assertEqual(record["taint_after"], ["untrusted_content", "private_data"])
        on = self.session("--no-sandbox", "--mode", "plan")
        self.assertEqual(self.refusal(on.call("bash", command="touch ran"))["error"], "ModeForbidsWriting")
        on = self.session("--no-sandbox", "--mode", "ask")
        self.assertEqual(self.refusal(on.call("bash", command="touch ran"))["error"], "NeedsApproval")
        self.assertFalse(os.path.exists(self.path("project/ran")))

    def test_a_person_lets_one_command_run_without_a_sandbox(self):
        on = self.session("--no-sandbox", "--mode", "ask", capabilities={"elicitation": {}})
        call = on.start_call("bash", command="touch ran")
        question = on.next()
        self.assertIn("touch ran", question["params"]["message"])
        on.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}})
        self.assertEqual(on.answer(call)["result"]["structuredContent"]["mode"], "ask")
        self.assertTrue(os.path.exists(self.path("project/ran")))

    def test_only_the_protocol_is_on_stdout(self):
        on = self.session()
        on.send(b"\xff\xfe nonsense")
        on.send(b'{"jsonrpc":"2.0","id":"\\u0000","method":"ping"}')
        on.ask("tools/call", name="nothing")
        self.assertEqual(on.end(), 0)
        while (message := on.next()) is not None:
            self.assertEqual(message["jsonrpc"], "2.0")
        self.assertEqual(on.process.stderr.read(), b"")


if __name__ == "__main__":
    unittest.main(verbosity=2)
