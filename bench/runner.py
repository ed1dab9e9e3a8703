#!/usr/bin/env python3
"""What the runner costs, in ratios with their limits: a start, a start without a sandbox, draining,
many runs at once, memory, size. Each ratio is of two things measured in turns in one run.
  python3 bench/runner.py PINFOLD STARTER DIRECTORY [--quick]
STARTER is bench/starter.c, built statically. Writes runner.json and the latencies of the many runs
(many.ours, many.bare: one millisecond figure a line, sorted) to DIRECTORY, prints a table, and exits
with 1 when a limit is not met or a run failed. --quick: a tenth of it, for trying the script."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from report import Report
from start import bare_argv, checkout, in_turns

GIB = 1 << 30


def ratio_of(pairs):
    """The median of the pairs' ratios, and the two medians in milliseconds."""
    ours, theirs = (statistics.median(side) * 1000 for side in zip(*pairs))
    return statistics.median(a / b for a, b in pairs), f"{ours:.2f} ms beside {theirs:.2f} ms"


def start_costs(report, given, place, pairs):
    run = [given.pinfold, "run", "--workspace", place, "--", "/usr/bin/true"]
    report.add("a start, beside bwrap with the same argv",
               *swapped(ratio_of(in_turns(run, bare_argv(given.pinfold, place), pairs)), 1.35))
    free = [given.pinfold, "run", "--no-sandbox", "--gate", "on", "--workspace", place, "--",
            "/usr/bin/true"]
    two = [given.starter, "two", "/usr/bin/true"]
    report.add("a start without a sandbox, beside a static program that starts two",
               *swapped(ratio_of(in_turns(free, two, pairs)), 1.5))


def swapped(measured, limit):
    value, detail = measured
    return value, limit, detail


def drain_costs(report, given, place, size, pairs):
    ours = [given.pinfold, "run", "--json", "--max-output", "1MiB", "--workspace", place, "--",
            "head", "-c", str(size), "/dev/zero"]
    theirs = ["sh", "-c", f"head -c {size} /dev/zero | dd bs=64k of=/dev/null"]
    value, detail = ratio_of(in_turns(ours, theirs, pairs, warm_up=1))
    report.add(f"draining {size / GIB:g} GiB, beside head piped to dd bs=64k", value, 1.1, detail)
    report.add("peak memory while draining, cap 1 MiB, MiB", peak(given, ours), 16, "")


def peak(given, command):
    answer = subprocess.run([given.starter, "peak", *command], check=True, stdout=subprocess.PIPE)
    return int(answer.stdout) / 1024


def many(given, total, at_once, command):
    """Seconds for all, and the sorted latencies in milliseconds; a failed run ends the benchmark."""
    begun = time.perf_counter()
    told = subprocess.run([given.starter, "many", str(total), str(at_once), *command], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    took = time.perf_counter() - begun
    rows = [line.split() for line in told.splitlines()]
    failed = sum(code != "0" for _, code in rows)
    if failed or len(rows) != total:
        raise SystemExit(f"{failed} of {total} runs failed: {command[0]}")
    return took, sorted(int(micro) / 1000 for micro, _ in rows)


def many_costs(report, given, place, total, at_once):
    ours = [given.pinfold, "run", "--workspace", place, "--", "/usr/bin/true"]
    bare = bare_argv(given.pinfold, place)
    before = set(os.listdir(place))
    rounds = [(many(given, total, at_once, bare), many(given, total, at_once, ours))
              for _ in range(3)]
    left = set(os.listdir(place)) - before
    if left:
        raise SystemExit(f"left behind in the workspace: {left}")
    throughput = statistics.median(theirs[0] / mine[0] for theirs, mine in rounds)
    middle = {}
    for name, side in (("bare", 0), ("ours", 1)):
        latencies = sorted(one for pair in rounds for one in pair[side][1])
        middle[name] = latencies[len(latencies) // 2]
        with open(f"{given.directory}/many.{name}", "w", encoding="utf-8") as file:
            file.writelines(f"{number / len(latencies):.5f} {one:.3f}\n"
                            for number, one in enumerate(latencies, 1))
    report.add(f"throughput of {at_once} at once, {total} in all, beside bare bwrap", throughput,
               0.74, f"median latency {middle['ours']:.0f} ms beside {middle['bare']:.0f} ms",
               at_least=True)


def sizes(report, given, place):
    run = [given.pinfold, "run", "--workspace", place, "--", "/usr/bin/true"]
    report.add("peak memory of a run of true, MiB", max(peak(given, run) for _ in range(5)), 8, "")
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, given.pinfold], check=True)
        report.add("the stripped executable, MiB", os.path.getsize(stripped.name) / (1 << 20), 4, "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pinfold")
    parser.add_argument("starter")
    parser.add_argument("directory")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    few = 10 if given.quick else 1
    bwrap = subprocess.run(["bwrap", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    report = Report(bubblewrap=bwrap.stdout.strip())
    place = checkout(2000)
    try:
        start_costs(report, given, place, 60 // few)
        drain_costs(report, given, place, 4 * GIB // few, max(3, 9 // few))
        many_costs(report, given, place, 2000 // few, 200 // few)
        sizes(report, given, place)
    finally:
        shutil.rmtree(place)
    return report.end(f"{given.directory}/runner.json")


if __name__ == "__main__":
    sys.exit(main())
