#!/usr/bin/env python3
"""What a start costs a large program: an embedding program with 4 GiB resident against one with 10 MiB,
`true` in the sandbox by turns.
  python3 bench/resident.py build/bench/bench/resident_start [--pairs 60] [--mebibytes 4096]
                            [--at-most RATIO] [--json FILE]
Prints the medians, the median of the ratios and the resident sizes; with --at-most the exit code says
whether it was kept."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile


class Embedding:
    def __init__(self, program, workspace, mebibytes):
        self.child = subprocess.Popen([program, workspace, str(mebibytes)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, bufsize=1)
        if self.child.stdout.readline() != "ready\n":
            raise SystemExit("the embedding program did not come up")

    def seconds(self):
        self.child.stdin.write("\n")
        return int(self.child.stdout.readline()) / 1e9

    def resident_mebibytes(self):
        with open(f"/proc/{self.child.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20

    def end(self):
        self.child.stdin.close()
        self.child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--mebibytes", type=int, default=4096)
    parser.add_argument("--at-most", type=float)
    parser.add_argument("--json")
    given = parser.parse_args()
    workspace = tempfile.mkdtemp(prefix="pinfold-resident-",
                                 dir="/srv" if os.geteuid() == 0 else "/var/tmp")
    try:
        small = Embedding(given.program, workspace, 10)
        large = Embedding(given.program, workspace, given.mebibytes)
        for one in (small, large) * 5:
            one.seconds()
        pairs = []
        for number in range(given.pairs):  # who goes first changes
            order = (small, large) if number % 2 else (large, small)
            took = {one: one.seconds() for one in order}
            pairs.append((took[small], took[large]))
        sizes = small.resident_mebibytes(), large.resident_mebibytes()
        small.end()
        large.end()
    finally:
        shutil.rmtree(workspace)
    medians = [statistics.median(side) * 1000 for side in zip(*pairs)]
    ratio = statistics.median(after / before for before, after in pairs)
    print(f"{sizes[0]} MiB resident {medians[0]:.2f} ms, {sizes[1]} MiB resident {medians[1]:.2f} ms, "
          f"ratio {ratio:.3f} (median of {given.pairs} pairs)")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"pairs": pairs, "resident_mebibytes": sizes, "ratio": ratio}, file)
    return 0 if given.at_most is None or ratio <= given.at_most else 1


if __name__ == "__main__":
    raise SystemExit(main())
