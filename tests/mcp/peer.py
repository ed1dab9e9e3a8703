"""A client of `pinfold mcp` for tests: it writes what it is told to, malformed or not, and reads lines
with an end to every wait."""
import json
import os
import queue
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import support  # noqa: E402


class Peer:
    """One server and the client's end of it."""

    def __init__(self, process):
        self.process = process
        self.lines = queue.Queue()
        self.others = []
        self.last = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def notify(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method, **params):
        """Sends a request; its id."""
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def next(self, seconds=support.HANG):
        """The next message, or None at the end of the output."""
        line = self.lines.get(timeout=seconds)
        return None if line is None else json.loads(line)

    def answer(self, wanted, seconds=support.HANG):
        """The answer to a request; what comes before it is kept in `others`."""
        while (message := self.next(seconds)) is not None:
            if message.get("id") == wanted and "method" not in message:
                return message
            self.others.append(message)
        raise AssertionError("the server ended without an answer")

    def initialize(self, version="2025-11-25", **capabilities):
        greeting = self.answer(self.ask(
            "initialize", protocolVersion=version, capabilities=capabilities,
            clientInfo={"name": "test", "version": "0"}))
        self.notify("notifications/initialized")
        return greeting["result"]

    def start_call(self, name, meta=None, **arguments):
        more = {"_meta": meta} if meta else {}
        return self.ask("tools/call", name=name, arguments=arguments, **more)

    def call(self, name, **arguments):
        """The result of one call."""
        return self.answer(self.start_call(name, **arguments))["result"]

    def end(self, seconds=support.HANG):
        """Closes the input; the exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(timeout=seconds)


class Served(support.World):
    """A world with servers in it."""

    def serve(self, *options, **more):
        process = self.start("mcp", *options, stdin=subprocess.PIPE, **more)
        peer = Peer(process)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        self.addCleanup(lambda: process.stdin.closed or process.stdin.close())
        return peer

    def session(self, *options, capabilities=None, **more):
        peer = self.serve(*options, **more)
        peer.initialize(**(capabilities or {}))
        return peer

    def refusal(self, result):
        self.assertTrue(result.get("isError"), result)
        return result["structuredContent"]["refusal"]
