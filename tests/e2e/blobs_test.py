"""`--blob-dir`: whole outputs in files of the harness, read-only for the command."""
import os
import subprocess
import unittest

import support

FLOOD = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done"
WHOLE = "".join(f"line {i}\n" for i in range(3000))


class Blobs(support.Confined):
    def setUp(self):
        super().setUp()
        self.blobs = self.path("blobs")
        os.makedirs(self.blobs, 0o755)
        self.own()

    def flood(self, *words, script=FLOOD):
        return self.record("--blob-dir", self.blobs, "--max-output", "1KiB", *words, "-c", script)

    def content(self, blob):
        with open(blob["path"], encoding="utf-8") as file:
            return file.read()


@support.as_each_user
class Whole(Blobs):
    def test_a_stream_beyond_the_cap_is_whole_in_a_file_that_the_record_names(self):
        record = self.flood(script=f"{FLOOD}; ({FLOOD}) >&2; exit 3")
        self.assertEqual(record["exit_code"], 3)
        for stream in ("stdout", "stderr"):
            blob = record["blobs"][stream]
            self.assertEqual(os.path.dirname(blob["path"]), self.blobs)
            self.assertTrue(blob["path"].endswith(f"-{stream}"))
            self.assertEqual((blob["bytes"], blob["whole"], blob["error"]), (len(WHOLE), True, None))
            self.assertEqual(self.content(blob), WHOLE)
            about = os.stat(blob["path"])
            self.assertEqual((about.st_mode & 0o7777, about.st_uid), (0o600, self.uid))
            self.assertEqual(record[stream]["bytes"], len(WHOLE))
            self.assertTrue(record[stream]["clipped"])

    def test_a_stream_within_the_cap_leaves_no_file(self):
        record = self.flood(script="echo short")
        self.assertIsNone(record["blobs"])
        self.assertEqual(os.listdir(self.blobs), [])
        record = self.flood(script=f"echo short; ({FLOOD}) >&2")
        self.assertIsNone(record["blobs"]["stdout"])
        self.assertEqual(len(os.listdir(self.blobs)), 1)

    def test_the_bound_stops_the_file_and_not_the_run(self):
        record = self.flood("--blob-max", "2000")
        blob = record["blobs"]["stdout"]
        self.assertEqual((blob["bytes"], blob["whole"], blob["error"]), (2000, False, None))
        self.assertEqual(self.content(blob), WHOLE[:2000])
        self.assertEqual((record["exit_code"], record["stdout"]["bytes"]), (0, len(WHOLE)))

    def test_in_text_mode_a_line_on_stderr_names_the_file(self):
        answer = self.pinfold("run", "--blob-dir", self.blobs, "--max-output", "1KiB", "-c", FLOOD)
        name = os.path.join(self.blobs, os.listdir(self.blobs)[0])
        self.assertIn(f"pinfold: run: stdout: all of it is in {name}\n", answer.err)

    def test_a_full_disk_is_in_the_record_and_the_run_goes_on(self):
        if os.geteuid() != 0:
            self.skipTest("needs a file system of its own")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=8k,mode=755,uid={self.uid}", "none",
                        self.blobs], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.blobs], check=True)
        record = self.flood(script=f"{FLOOD}; exit 7")
        blob = record["blobs"]["stdout"]
        self.assertEqual((blob["error"], blob["whole"]), ("No space left on device", False))
        self.assertEqual(self.content(blob), WHOLE[:blob["bytes"]])
        self.assertEqual((record["ended"], record["exit_code"], record["stdout"]["bytes"]),
                         ("exited", 7, len(WHOLE)))

    def test_a_directory_that_is_full_of_permissions_but_not_ours_to_write_is_told(self):
        if self.uid == 0:
            self.skipTest("root may write everywhere")
        os.chmod(self.blobs, 0o555)
        record = self.flood()
        self.assertEqual(record["blobs"]["stdout"], {"path": None, "bytes": 0, "whole": False,
                                                     "error": "Permission denied"})
        self.assertEqual(record["exit_code"], 0)


@support.as_each_user
class Closed(Blobs):
    def test_the_command_reads_there_and_writes_nothing(self):
        self.write("blobs/kept", "kept\n")
        self.own()
        for script in ("echo x > {0}/new", "echo x >> {0}/kept", "rm {0}/kept", "mkdir {0}/d",
                       "mv {0} {0}-old", "mv {0}/kept .", "chmod 777 {0}/kept", "ln -s /etc {0}/l",
                       "mount -o remount,rw {0}", "umount {0}"):
            script = script.format(self.blobs)
            with self.subTest(script=script):
                record = self.record("--blob-dir", self.blobs, "-c",
                                     f"cat {self.blobs}/kept; {script}")
                self.assertEqual(record["stdout"]["text"], "kept\n", record)
                self.assertNotEqual(record["exit_code"], 0)
        self.assertEqual(os.listdir(self.blobs), ["kept"])
        self.assertEqual(self.read("blobs/kept"), "kept\n")

    def test_its_own_file_cannot_be_changed_while_it_is_written(self):
        script = (f"{FLOOD}; for i in 1 2 3 4 5 6 7 8 9; do ls {self.blobs} | grep -q . && break; "
                  f"sleep 0.2; done; for f in {self.blobs}/*; do echo forged > $f; rm $f; done; "
                  f"ls {self.blobs} | wc -l >&2")
        record = self.flood(script=script)
        self.assertEqual(record["stderr"]["text"].splitlines()[-1], "1", record)
        self.assertEqual(self.content(record["blobs"]["stdout"]), WHOLE)

    def refused(self, path, *words):
        record = self.record("--blob-dir", path, *words, "--", "touch", "started")
        self.assertEqual(record["ended"], "refused", record)
        self.assertFalse(os.path.exists(f"{self.project}/started"))
        return record["refusal"]["error"]

    def test_places_that_a_command_could_change_are_refused(self):
        os.symlink("project/src", self.path("innocent"))
        os.makedirs(self.path(".cache/pinfold"), 0o700)
        self.own()
        for path in (self.project, f"{self.project}/src", "src", ".", self.path("innocent"),
                     self.path(".cache/pinfold"), self.path(".cache")):
            with self.subTest(path=path):
                self.assertEqual(self.refused(path), "InvalidArgument")
        os.makedirs(self.path(".npm/_cacache/blobs"))
        self.own()
        self.assertEqual(self.refused(self.path(".npm/_cacache/blobs"), "--share-caches"),
                         "InvalidArgument")

    def test_places_that_are_never_shown_are_refused(self):
        for path in (self.home, self.path(".ssh"), "/", "/run", "/proc/self", "/dev", "/etc/..",
                     os.path.dirname(self.home)):
            with self.subTest(path=path):
                self.assertIn(self.refused(path), ("InvalidArgument", "MagicLink"))

    def test_a_directory_that_others_could_take_over_is_refused(self):
        for mode in (0o777, 0o775, 0o1777):
            os.chmod(self.blobs, mode)
            with self.subTest(mode=oct(mode)):
                self.assertEqual(self.refused(self.blobs), "PermissionDenied")
        os.chmod(self.blobs, 0o755)
        if os.geteuid() == 0:
            os.chown(self.blobs, 12399, 12399)
            self.assertEqual(self.refused(self.blobs), "PermissionDenied")
            os.chown(self.blobs, self.uid, self.gid)
        inner = os.path.join(self.blobs, "inner")
        os.makedirs(inner)
        self.own()
        os.chmod(self.blobs, 0o777)
        self.assertEqual(self.refused(inner), "PermissionDenied")

    def test_what_is_no_directory_is_refused(self):
        self.write("file", "x")
        self.own()
        self.assertEqual(self.refused(self.path("file")), "NotADirectory")
        self.assertEqual(self.refused(self.path("absent")), "NotFound")

    def test_without_a_sandbox_it_cannot_be_read_only_so_it_is_refused(self):
        self.assertEqual(self.refused(self.blobs, "--no-sandbox"), "NotEnforceable")


if __name__ == "__main__":
    unittest.main()
