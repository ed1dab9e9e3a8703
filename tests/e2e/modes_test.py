"""Mode, gate and taint in `run`, `explain` and `check`: the engine decides, the record says what."""
import itertools
import os
import unittest

import support

LABELS = ((), ("untrusted_content",), ("private_data",), ("untrusted_content", "private_data"))


def expected(gate, mode, labels):
    """The network decision, worked out from its description rather than from the engine's table."""
    shut = {"off": True, "untainted": len(labels) > 0, "guarded": len(labels) == 2, "on": False}[gate]
    if not shut:
        return "allow"
    return "ask" if mode == "ask" and gate != "off" else "deny"


def words_for(gate, mode, labels):
    taints = [word for label in labels for word in ("--taint", label)]
    return ["--mode", mode, "--gate", gate, *taints]


@support.as_each_user
class Network(support.Confined):
    def interfaces(self, *words):
        record = self.record(*words, "-c", "tail -n +3 /proc/net/dev | wc -l")
        return record, int(record["stdout"]["text"])

    def test_every_gate_in_every_mode_with_every_taint_is_decided_as_described(self):
        cases = itertools.product(("off", "untainted", "guarded", "on"),
                                  ("plan", "ask", "autonomous"), LABELS)
        for gate, mode, labels in cases:
            with self.subTest(gate=gate, mode=mode, labels=labels):
                plan = self.pinfold("explain", "--json", *words_for(gate, mode, labels), "--",
                                    "true").json
                decision = expected(gate, mode, labels)
                self.assertEqual(plan["network_decision"], decision)
                is_open = decision == "allow"
                self.assertEqual(plan["network"], "on" if is_open else "off")
                self.assertEqual("--unshare-net" not in plan["argv"], is_open)

    def test_what_is_recorded_is_what_the_command_finds(self):
        with open("/proc/net/dev", encoding="utf-8") as file:
            outside = len(file.readlines()) - 2
        for gate, mode, labels in (("on", "autonomous", LABELS[3]), ("guarded", "plan", LABELS[1]),
                                   ("untainted", "ask", LABELS[2]), ("off", "ask", LABELS[0]),
                                   ("guarded", "autonomous", LABELS[3])):
            with self.subTest(gate=gate, mode=mode, labels=labels):
                record, seen = self.interfaces(*words_for(gate, mode, labels))
                decision = expected(gate, mode, labels)
                self.assertEqual((record["mode"], record["gate"], record["taint"],
                                  record["network_decision"]),
                                 (mode, gate, list(labels), decision))
                self.assertEqual(record["network"], "on" if decision == "allow" else "off")
                self.assertEqual(seen, outside if decision == "allow" else 1)

    def test_a_session_whose_first_call_taints_it_has_no_network_in_its_second(self):
        first = self.record("--gate", "untainted", "--", "true")
        self.assertEqual((first["network"], first["taint"]), ("on", []))
        self.assertEqual(first["taint_after"], ["untrusted_content"])
        taints = [word for label in first["taint_after"] for word in ("--taint", label)]
        second, seen = self.interfaces("--gate", "untainted", *taints)
        self.assertEqual((second["network"], second["network_decision"], seen), ("off", "deny", 1))
        self.assertEqual(second["taint_after"], first["taint_after"])

    def test_what_never_started_takes_nothing_in(self):
        record = self.record("--gate", "on", "--cwd", "/etc", "--", "true")
        self.assertEqual((record["ended"], record["taint_after"]), ("refused", []))

    def test_the_shorthand_is_the_gate_and_must_not_contradict_it(self):
        for gate in ("off", "on"):
            record = self.record("--network", gate, "--", "true")
            self.assertEqual((record["gate"], record["network"]), (gate, gate))
            self.assertEqual(self.record("--network", gate, "--gate", gate, "--",
                                         "true")["network"], gate)
        for network, gate in itertools.product(("off", "on"), ("off", "untainted", "guarded", "on")):
            if network == gate:
                continue
            with self.subTest(network=network, gate=gate):
                for name in ("run", "explain"):
                    answer = self.pinfold(name, "--network", network, "--gate", gate, "--",
                                          "touch", "started")
                    self.assertEqual((answer.code, answer.out), (125, ""))
                    self.assert_one_line(answer.err)
        self.assertFalse(os.path.exists(f"{self.project}/started"))

    def test_words_that_are_none_are_refused(self):
        for words in (("--mode", "yolo"), ("--mode", ""), ("--gate", "open"), ("--taint", "both"),
                      ("--taint", ""), ("--mode", "PLAN")):
            with self.subTest(words=words):
                self.assertEqual(self.pinfold("run", *words, "--", "touch", "started").code, 125)
        self.assertFalse(os.path.exists(f"{self.project}/started"))


@support.as_each_user
class Plan(support.Confined):
    def plan(self, script, *words):
        return self.record("--mode", "plan", *words, "-c", script)

    def test_nothing_in_the_workspace_can_be_written_removed_or_changed(self):
        os.makedirs(f"{self.project}/.git/hooks")
        self.write("project/.git/config", "[core]\n")
        self.own()
        self.assertEqual(self.pinfold("run", "--", "true").code, 0)  # makes what git leaves out
        before = {path: seen for path, seen in self.tree().items() if "/project/" in path}
        for script in ("echo x > new", "echo x >> src/main.c", "rm src/main.c", "mkdir d",
                       "mv src s2", "chmod 777 src/main.c", "ln -s a b", "ln src/main.c hard",
                       "touch src/main.c", "echo x > .git/new", "truncate -s 0 src/main.c",
                       "mount -o remount,rw .", "echo x > .git/hooks/pre-commit"):
            with self.subTest(script=script):
                record = self.plan(f"{script}; code=$?; cat src/main.c >/dev/null && exit $code")
                self.assertNotIn(record["exit_code"], (0, None), record)
        self.assertEqual({path: seen for path, seen in self.tree().items() if "/project/" in path},
                         before)

    def test_it_reads_and_its_scratch_and_cache_places_are_writable(self):
        record = self.plan("cat src/main.c && echo x > /tmp/x && cat /tmp/x && echo c > ~/.cache/c")
        self.assertEqual((record["exit_code"], record["stdout"]["text"]), (0, "int main(){}\nx\n"))
        self.assertEqual(self.plan("cat ~/.cache/c")["stdout"]["text"], "c\n")

    def test_harness_state_is_hidden_absent_or_there_and_whenever_it_comes(self):
        self.assertEqual(self.plan("ls -A .efferent .foundry | grep -v : | grep .")["exit_code"], 1)
        os.makedirs(f"{self.project}/.efferent")
        self.write("project/.efferent/state", support.SECRET)
        self.own()
        self.assertNotEqual(self.plan("cat .efferent/state")["exit_code"], 0)
        os.unlink(f"{self.project}/.efferent/state")
        os.rmdir(f"{self.project}/.efferent")
        child = self.start("run", "--mode", "plan", "--timeout", "60s", "-c",
                           "echo up; while [ ! -e src/go ]; do sleep 0.05; done; "
                           "cat .efferent/state; echo end")
        self.assertEqual(child.stdout.readline(), b"up\n")
        os.makedirs(f"{self.project}/.efferent", exist_ok=True)
        self.write("project/.efferent/state", support.SECRET)
        self.write("project/src/go", "")
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(out, b"end\n")

    def test_a_workspace_that_the_caller_cannot_write_is_read_all_the_same(self):
        if self.uid == 0 or os.geteuid() != 0:
            self.skipTest("needs a folder of another user")
        os.chown(self.project, 0, 0)
        os.chmod(self.project, 0o755)
        self.assertEqual(self.plan("cat src/main.c")["stdout"]["text"], "int main(){}\n")
        self.assertEqual(self.record("--", "true")["refusal"]["error"], "WorkspaceNotWritable")

    def test_git_answers_in_a_repository_with_parts_missing(self):
        git = {"cwd": self.project, "env": self.environment(), "check": True, **self.as_user()}
        support.subprocess.run(["git", "init", "-q"], **git)
        support.shutil.rmtree(f"{self.project}/.git/hooks", ignore_errors=True)
        record = self.plan("git status --short")
        self.assertEqual((record["exit_code"], record["stdout"]["text"]), (0, "?? src/\n"), record)
        for name in ("hooks", "worktrees", "commondir"):  # a plan writes nothing for git either
            self.assertFalse(os.path.exists(f"{self.project}/.git/{name}"), name)

    def test_without_a_sandbox_nothing_holds_it_so_nothing_runs(self):
        for mode, error in (("plan", "ModeForbidsWriting"), ("ask", "NeedsApproval")):
            record = self.record("--no-sandbox", "--mode", mode, "--", "touch", "started")
            self.assertEqual((record["ended"], record["refusal"]["error"]), ("refused", error))
            self.assertEqual(record["mode"], mode)
        for words in (("--gate", "off"), ("--network", "off"), ("--share-caches",),
                      ("--gate", "untainted", "--taint", "private_data")):
            with self.subTest(words=words):
                record = self.record("--no-sandbox", *words, "--", "touch", "started")
                self.assertEqual(record["refusal"]["error"], "NotEnforceable", record)
        self.assertFalse(os.path.exists(f"{self.project}/started"))
        record = self.record("--no-sandbox", "--", "true")
        self.assertEqual((record["gate"], record["network"]), ("on", "on"))
        self.assertEqual(record["taint_after"], ["untrusted_content", "private_data"])


@support.as_each_user
class Check(support.World):
    def refusal(self, mode, operation, path):
        answer = self.pinfold("check", "--mode", mode, "--json", operation, path)
        refusal = answer.json["refusal"]
        self.assertEqual(answer.code, 1 if refusal else 0)
        return refusal and refusal["error"]

    def test_the_mode_decides_what_is_refused_and_what_is_asked(self):
        rows = [("write", "new", "ModeForbidsWriting", None, None),
                ("mkdir", "new", "ModeForbidsWriting", None, None),
                ("read", "src/main.c", None, None, None),
                ("read", "/etc/passwd", "OutsideWorkspace", "NeedsApproval", "OutsideWorkspace"),
                ("write", "../x", "OutsideWorkspace", "NeedsApproval", "OutsideWorkspace"),
                ("write", ".efferent/x", "HarnessState", "HarnessState", "HarnessState"),
                ("write", ".git/config", "HostRunFile", "HostRunFile", "HostRunFile"),
                ("read", "absent", "NotFound", "NotFound", "NotFound")]
        for operation, path, *answers in rows:
            for mode, error in zip(("plan", "ask", "autonomous"), answers):
                with self.subTest(operation=operation, path=path, mode=mode):
                    self.assertEqual(self.refusal(mode, operation, path), error)

    def test_what_is_asked_is_a_no_until_answered_and_says_who_can_answer(self):
        answer = self.pinfold("check", "--mode", "ask", "--json", "read", "/etc/passwd")
        self.assertEqual(answer.code, 1)
        self.assertIsNone(answer.json["canonical"])
        self.assertEqual(answer.json["refusal"]["remedy"], "ask_a_person")


if __name__ == "__main__":
    unittest.main()
