"""A session of `pinfold mcp --audit` and what `pinfold audit` makes of it: what a person was asked, what
lay outside, and a log that cannot be written any more."""
import json
import os
import resource
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import peer  # noqa: E402
import support  # noqa: E402


class Logged(peer.Served):

    def setUp(self):
        super().setUp()
        os.chmod(self.home, 0o755)
        os.makedirs(self.path("logs"), mode=0o700)
        self.own()
        self.log = self.path("logs/app.jsonl")

    def rows(self, part):
        told = self.pinfold("audit", "--json", self.log)
        self.assertEqual(told.code, 0, told)
        return [{name: row[name] for name in row if name != "first"} for row in told.json[part]["rows"]]


@support.as_each_user
class Asked(Logged):

    def setUp(self):
        super().setUp()
        self.write("notes/secret", "x\n")
        self.own()

    def answered(self, on, action, tool, **arguments):
        """The question of one call, which is answered with that action."""
        call = on.start_call(tool, **arguments)
        question = on.next()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        reply = {"error": {"code": -1, "message": ""}} if action is None else {"result": {"action": action}}
        on.send({"jsonrpc": "2.0", "id": question["id"], **reply})
        on.answer(call)
        return question["params"]["message"]

    def test_what_a_person_was_asked_and_answered_is_told(self):
        on = self.session("--mode", "ask", "--audit", self.log, capabilities={"elicitation": {}})
        inside, outside = self.path("project/a"), self.path("outside.txt")
        secret = self.path("notes/secret")
        self.answered(on, "accept", "read_file", path=secret)
        self.answered(on, "accept", "write_file", path="../outside.txt", content="x")
        self.answered(on, "decline", "read_file", path="../notes/secret")
        self.answered(on, "cancel", "remove", path="../notes/secret")
        self.answered(on, None, "list_directory", path="..")
        self.answered(on, "accept", "move", **{"from": "../outside.txt", "to": "a"})
        self.assertEqual(on.end(), 0)
        row = lambda answer, about, detail: {"answer": answer, "about": about, "detail": detail,  # noqa: E731
                                             "outside": True, "count": 1}
        self.assertEqual(self.rows("asked"),
                         [row("yes", secret, "read, by read_file"),
                          row("yes", outside, "write, by write_file"),
                          row("declined", secret, "read, by read_file"),
                          row("dismissed", secret, "remove, by remove"),
                          row("failed", self.home, "list, by list_directory"),
                          row("yes", f"{outside} -> {inside}", "rename, by move")])
        self.assertEqual(self.rows("written"), [{"operation": "write", "path": outside, "outside": True,
                                                 "count": 1}])
        text = self.pinfold("audit", self.log).out
        self.assertRegex(text, r"(?m)\Arefused .*\n(  .*\n)*asked of a person {7}6\n  yes +\S+/notes/secret  "
                               r"read, by read_file; outside the workspace\n")
        self.assertRegex(text, r"(?m)^written +1\n  write +\S+/outside.txt  outside the workspace\n")

    def test_nobody_is_asked_about_the_log_itself_and_no_tool_changes_it(self):
        on = self.session("--mode", "ask", "--audit", self.log, capabilities={"elicitation": {}})
        on.call("write_file", path="own", content="x")
        for tool, arguments in (("write_file", {"path": self.log, "content": ""}),
                                ("remove", {"path": self.log}),
                                ("remove", {"path": self.path("logs"), "recursive": True}),
                                ("move", {"from": self.path("logs"), "to": "logs"}),
                                ("move", {"from": "own", "to": self.log, "overwrite": True})):
            refusal = self.refusal(on.call(tool, **arguments))
            self.assertEqual(refusal["error"], "HarnessState", refusal)
        self.assertEqual([one for one in on.others if one.get("method") == "elicitation/create"], [])
        self.assertEqual(on.end(), 0)
        self.assertEqual(len(self.rows("refused")), 5)

    def test_what_a_tool_puts_where_the_host_runs_it_is_told(self):
        on = self.session("--audit", self.log)
        for path in (".envrc", ".vscode/tasks.json", "sub/.git/config", "plain"):
            on.call("write_file", path=path, content="x", make_directories=True)
        on.call("move", **{"from": "plain", "to": ".npmrc"})
        on.call("bash", command=5)
        self.assertEqual(on.end(), 0)
        self.assertEqual([(row["kind"], row["path"], row["detail"]) for row in self.rows("host_run")],
                         [("environment", ".envrc", "written by write_file"),
                          ("editor", ".vscode/tasks.json", "written by write_file"),
                          ("git_config", "sub/.git/config", "written by write_file"),
                          ("tool", ".npmrc", "moved there by move")])

    def test_who_cannot_be_asked_was_not_asked(self):
        on = self.session("--mode", "ask", "--audit", self.log)
        on.call("read_file", path="../notes/secret")
        self.assertEqual(on.end(), 0)
        self.assertEqual(self.rows("asked"), [])
        self.assertEqual(self.rows("refused")[0]["error"], "NeedsApproval")

    def test_questions_are_for_a_person(self):
        on = self.session("--mode", "ask", "--no-sandbox", capabilities={"elicitation": {}})
        secret, outside = self.path("notes/secret"), self.path("b")
        read = self.answered(on, "decline", "read_file", path="../notes/secret")
        self.assertEqual(read, f'The agent asks to read "{secret}", outside the workspace '
                               f'"{self.project}". Allow this one call?')
        move = self.answered(on, "decline", "move", **{"from": "src", "to": "../b"})
        self.assertEqual(move, f'The agent asks to move "{self.project}/src" to "{outside}", outside the '
                               f'workspace "{self.project}". Allow this one call?')
        run = self.answered(on, "decline", "bash", command="make")
        self.assertEqual(run, 'The agent asks to run "make" without a sandbox: nothing will hold it to the '
                              'workspace, it can do whatever you can. Allow this one call?')

    def test_a_command_that_got_the_network_from_a_person_is_told(self):
        self.need_sandbox()
        on = self.session("--mode", "ask", "--gate", "untainted", "--taint", "private_data",
                          "--audit", self.log, capabilities={"elicitation": {}})
        asked = self.answered(on, "accept", "bash", command="true # it", network=True)
        self.assertEqual(asked, 'The agent asks for the network, for the command "true # it". The session '
                                'holds private_data: with the network the command could send out what it '
                                'can read. Allow this one call?')
        self.assertEqual(on.end(), 0)
        self.assertEqual(self.rows("asked"), [{"answer": "yes", "about": "true # it",
                                               "detail": "connect, by bash", "outside": False, "count": 1}])


@support.as_each_user
class Lost(Logged):

    def lose(self, on, reason):
        """Two calls are refused for that reason, and the client's log says so once."""
        for number in range(2):
            refusal = self.refusal(on.call("read_file", path="src/main.c"))
            self.assertEqual(refusal["error"], "InputOutputError")
            self.assertEqual(refusal["path"], self.log)
            self.assertIn(reason, refusal["message"])
        told = [one["params"] for one in on.others if one.get("method") == "notifications/message"]
        on.others.clear()
        self.assertEqual([one["level"] for one in told], ["error"], told)
        self.assertIn(self.log, told[0]["data"])
        self.assertIn(reason, told[0]["data"])

    def recover(self, on):
        self.assertNotIn("isError", on.call("read_file", path="src/main.c"))

    def test_a_log_that_nobody_would_find_any_more_refuses_calls_and_the_client_is_told_once(self):
        other = self.log + ".2"
        on = self.session("--audit", self.log)
        self.recover(on)
        os.link(self.log, other)
        self.lose(on, "it has a second name (a hard link)")
        os.remove(other)
        self.recover(on)
        os.rename(self.log, other)
        self.lose(on, "it was moved away")
        with open(self.log, "w", encoding="utf-8"):
            pass
        self.lose_again(on)
        os.rename(other, self.log)
        self.recover(on)
        os.remove(self.log)
        self.lose(on, "it was removed")

    def lose_again(self, on):
        """It is the same trouble still, and was told."""
        self.assertEqual(self.refusal(on.call("read_file", path="src/main.c"))["path"], self.log)
        self.assertEqual(on.others, [])

    def test_on_a_full_disk_the_refusal_names_the_log_and_the_reason(self):
        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        on = self.session("--audit", self.log, preexec_fn=full)
        self.recover(on)
        with open(self.log, "a", encoding="utf-8") as file:
            file.write("\n" * (4096 - os.path.getsize(self.log) - 300))
        for _ in range(4):  # until an entry does not fit, at a begin or at an end
            on.call("read_file", path="src/main.c")
            if on.others:
                break
        refusal = self.refusal(on.call("read_file", path="src/main.c"))
        self.assertEqual((refusal["error"], refusal["path"]), ("InputOutputError", self.log))
        self.assertIn("File too large", refusal["message"])
        self.assertEqual(len(on.others), 1, on.others)
        self.assertIn("File too large", on.others[0]["params"]["data"])
        subprocess.run(["prlimit", "--pid", str(on.process.pid), "--fsize=unlimited"], check=True,
                       **self.as_user())
        self.recover(on)
        self.assertEqual(on.end(), 0)
        events = []
        with open(self.log, encoding="utf-8") as file:
            for line in file:
                try:
                    events.append(json.loads(line)["event"])
                except ValueError:
                    pass
        self.assertEqual(events.count("begins"), events.count("ended"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
