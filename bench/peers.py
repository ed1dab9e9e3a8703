#!/usr/bin/env python3
"""`true` in four sandboxes by turns: see peers.sh, which installs them.
  python3 bench/peers.py PINFOLD PLACE [--rounds N]
PLACE holds npm/node_modules and an empty home. Prints a table, writes PLACE/peers.json, and exits with 1
when a promised ratio is not reached."""
import argparse
import datetime
import glob
import json
import os
import platform
import statistics
import subprocess
import sys
import time

AT_LEAST = {"codex sandbox, through npm's wrapper": 15, "codex sandbox, its native binary": 3}


def contestants(pinfold, place):
    modules = f"{place}/npm/node_modules"
    native = glob.glob(f"{modules}/@openai/codex-*/vendor/*/bin/codex")
    if len(native) != 1:
        raise SystemExit(f"codex's native binary: found {native}")
    return {
        "pinfold run": [os.path.realpath(pinfold), "run", "--", "true"],
        "srt": [f"{modules}/.bin/srt", "true"],
        "codex sandbox, through npm's wrapper": [f"{modules}/.bin/codex", "sandbox", "--", "true"],
        "codex sandbox, its native binary": [native[0], "sandbox", "--", "true"],
    }


class Bench:
    def __init__(self, place):
        self.workspace = f"{place}/home/project"
        os.mkdir(self.workspace)
        self.environment = {"HOME": f"{place}/home", "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def says(self, argv):
        return subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment, cwd=self.workspace, text=True).stdout.strip()

    def milliseconds(self, argv):
        begun = time.perf_counter()
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.environment, cwd=self.workspace,
                              text=True, check=False)
        took = (time.perf_counter() - begun) * 1000
        if done.returncode != 0:
            raise SystemExit(f"{argv}: {done.returncode}: {done.stderr}")
        return took

    def control(self, argv):
        """A sandbox that is none would be fast: each must refuse a write to /usr."""
        argv = [*argv[:-1], "touch", "/usr/pinfold-peers-was-here"]
        if subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=self.environment, cwd=self.workspace,
                          check=False).returncode == 0:
            os.unlink("/usr/pinfold-peers-was-here")
            raise SystemExit(f"{argv} was not refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pinfold")
    parser.add_argument("place")
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    bench = Bench(given.place)
    all_of_them = contestants(given.pinfold, given.place)
    versions = {name: bench.says([argv[0], "--version"]) for name, argv in all_of_them.items()}
    for argv in all_of_them.values():
        bench.control(argv)
        bench.milliseconds(argv)  # and the caches are warm

    took = {name: [] for name in all_of_them}
    order = list(all_of_them)
    for _ in range(given.rounds):
        for name in order:
            took[name].append(bench.milliseconds(all_of_them[name]))
        order.append(order.pop(0))  # who goes first changes

    bwrap = bench.says(["bwrap", "--version"])
    print(f"{datetime.date.today()}, {os.cpu_count()} processors, Linux {platform.release()}, {bwrap}, "
          f"load {os.getloadavg()[0]:.1f}; medians of {given.rounds} rounds\n")
    print("| `true` in the sandbox of | version | ms | times pinfold's | at least |\n"
          "| --- | --- | --- | --- | --- |")
    rows = []
    for name, times in took.items():
        ratio = statistics.median(a / b for a, b in zip(times, took["pinfold run"]))
        limit = AT_LEAST.get(name)
        rows.append({"what": name, "version": versions[name], "ms": statistics.median(times),
                     "ratio": ratio, "at_least": limit})
        print(f"| {name} | {versions[name]} | {statistics.median(times):.0f} | {ratio:.1f} | "
              f"{limit or ''} |")
    with open(f"{given.place}/peers.json", "w", encoding="utf-8") as file:
        json.dump({"date": str(datetime.date.today()), "kernel": platform.release(), "bwrap": bwrap,
                   "rounds": given.rounds, "rows": rows}, file, indent=1)
    return 0 if all(row["at_least"] is None or row["ratio"] >= row["at_least"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
