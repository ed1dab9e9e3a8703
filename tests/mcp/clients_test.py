"""Real clients that nobody here wrote: the official TypeScript SDK drives every tool, and the inspector's
command line lists and calls tools."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import npm  # noqa: E402
import peer  # noqa: E402
import support  # noqa: E402


class Clients(peer.Served):
    """Both run as whoever runs the tests: so does the server that they start."""

    uid, gid = os.geteuid(), os.getegid()

    def setUp(self):
        super().setUp()
        self.need_sandbox()
        self.place = npm.clients()

    def node(self, *words, text=None):
        done = subprocess.run(["node", *words], cwd=self.place, input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=support.HANG, check=False,
                              env={**self.environment(), "PATH": os.environ["PATH"]})
        return done.returncode, done.stdout.decode(), done.stderr.decode()


class Sdk(Clients):

    def drive(self, *steps, options=(), person=None):
        """What each step came to, and what was said in between."""
        plan = {"command": support.PINFOLD, "args": ["mcp", *options], "cwd": self.project,
                "env": self.environment(), "person": person, "steps": list(steps)}
        code, out, err = self.node("sdk.mjs", text=(json.dumps(plan) + "\n").encode())
        said = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((code, said[-1]), (0, {"closed": True}), out + err)
        self.assertFalse([one for one in said if "clientError" in one], said)
        self.said = said
        return [one for one in said if "step" in one]

    def call(self, name, **arguments):
        return {"do": "call", "name": name, "arguments": arguments}

    def test_the_session_begins_and_ends(self):
        listed, ping = self.drive({"do": "list"}, {"do": "ping"})
        self.assertEqual(self.said[0]["server"]["name"], "pinfold")
        self.assertEqual(self.said[0]["capabilities"],
                         {"logging": {}, "resources": {"subscribe": True}, "tools": {"listChanged": True}})
        self.assertEqual(ping["answer"], {})
        for one in listed["answer"]["tools"]:
            self.assertTrue(one["description"] and one["title"], one)
            self.assertEqual(one["inputSchema"]["additionalProperties"], False, one["name"])
            self.assertEqual(set(one["annotations"]), {"title", "readOnlyHint", "destructiveHint",
                                                       "idempotentHint", "openWorldHint"})

    def test_progress_and_cancelling(self):
        progress, cancelled, after = self.drive(
            {"do": "progress", "name": "bash", "arguments": {"command": "sleep 1.5; echo x"}},
            {"do": "cancel", "name": "bash", "arguments": {"command": "sleep 600"}, "after": 300},
            self.call("bash", command="echo still here"))
        self.assertGreaterEqual(len(progress["answer"]["seen"]), 1)
        self.assertEqual(progress["answer"]["result"]["structuredContent"]["stdout"]["text"], "x\n")
        self.assertIn("enough", cancelled["answer"]["rejected"])
        self.assertEqual(after["answer"]["structuredContent"]["stdout"]["text"], "still here\n")

    def test_a_long_command_comes_last(self):
        together, = self.drive({"do": "together", "calls": [
            {"name": "bash", "arguments": {"command": "sleep 2"}},
            {"name": "read_file", "arguments": {"path": "src/main.c"}}]})
        self.assertEqual(together["answer"]["order"], [1, 0])

    def test_the_resource_is_read_and_told_of(self):
        steps = self.drive({"do": "resources"}, {"do": "subscribe", "uri": "pinfold://grant"},
                           {"do": "level", "level": "debug"}, self.call("bash", command="true"),
                           {"do": "read", "uri": "pinfold://grant"}, {"do": "read", "uri": "file:///etc"},
                           options=["--gate", "untainted"])
        self.assertEqual(steps[0]["answer"]["resources"][0]["uri"], "pinfold://grant")
        grant = json.loads(steps[4]["answer"]["contents"][0]["text"])
        self.assertEqual((grant["workspace"], grant["taint"]), (self.project, ["untrusted_content"]))
        self.assertEqual(steps[5]["code"], -32002)
        told = {one["told"] for one in self.said if "told" in one}
        self.assertEqual(told, {"notifications/message", "notifications/resources/updated",
                                "notifications/tools/list_changed"})

    def test_a_person_is_asked_by_elicitation(self):
        for person, ran in (("accept", True), ("decline", False), (None, False)):
            step, = self.drive(self.call("bash", command="true", network=True), person=person,
                               options=["--mode", "ask", "--gate", "untainted", "--taint", "private_data"])
            questions = [one["question"] for one in self.said if "question" in one]
            self.assertEqual(len(questions), 1 if person else 0)
            self.assertEqual("refusal" in step["answer"]["structuredContent"]
                             and step["answer"]["structuredContent"]["refusal"] is not None, not ran, step)


class Inspector(Clients):

    def inspect(self, *words):
        program = os.path.join(self.place, "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js")
        code, out, err = self.node(program, "--cli", support.PINFOLD, "mcp", "--workspace", self.project, *words)
        self.assertEqual(code, 0, out + err)
        return json.loads(out)

    def test_it_lists_and_calls_tools(self):
        names = {one["name"] for one in self.inspect("--method", "tools/list")["tools"]}
        self.assertIn("bash", names)
        result = self.inspect("--method", "tools/call", "--tool-name", "bash",
                              "--tool-arg", "command=echo from the inspector")
        self.assertEqual(result["structuredContent"]["stdout"]["text"], "from the inspector\n")
        result = self.inspect("--method", "tools/call", "--tool-name", "read_file",
                              "--tool-arg", "path=src/main.c")
        self.assertIn("int main", result["content"][0]["text"])
        result = self.inspect("--method", "tools/call", "--tool-name", "read_file",
                              "--tool-arg", "path=../.ssh/id_rsa")
        self.assertEqual(result["structuredContent"]["refusal"]["error"], "OutsideWorkspace")


if __name__ == "__main__":
    unittest.main(verbosity=2)
