#!/usr/bin/env python3
"""What the server's messages cost: read_file of 4 KiB beside a loop that only parses the request and
writes the answer with the JSON library, pipelined and one at a time, by turns in one run.
  python3 bench/mcp.py PINFOLD MESSAGES DIRECTORY [--quick]
MESSAGES is bench/mcp_messages. Writes mcp.json, and the round trips (mcp.NAME: the part of the calls and
microseconds, sorted) to DIRECTORY, prints a table, and exits with 1 when a limit is not met."""
import argparse
import shutil
import statistics
import subprocess
import sys

from report import Report
from start import checkout

LINE = "int answer(int question) { return question * 42; } // line %05d\n"


def content():
    """4,096 bytes of text, as a source file has it."""
    text = "".join(LINE % number for number in range(100))
    return text[:4095] + "\n"


def drive(given, how, count, program, last):
    """Nanoseconds, as the driver printed them."""
    told = subprocess.run([given.messages, "drive", how, str(count), last, "--", *program],
                          check=True, stdout=subprocess.PIPE, text=True, timeout=600).stdout
    return [int(line) for line in told.split()]


def pipelined(report, given, ours, loop, last, count, rounds):
    """The loop's time for one answer, in nanoseconds."""
    pairs = [(drive(given, "pipelined", count, ours, last)[0] / count,
              drive(given, "pipelined", count, loop, last)[0] / count) for _ in range(rounds + 1)][1:]
    mine, theirs = (statistics.median(side) for side in zip(*pairs))
    report.add("pipelined read_file of 4 KiB, rate beside the loop's",
               statistics.median(b / a for a, b in pairs), 0.6,
               f"{mine / 1000:.1f} us beside {theirs / 1000:.1f} us a call", at_least=True)
    return theirs


def single(report, given, programs, last, one, count, rounds):
    ours, loop, echo = programs
    trips = {"ours": [], "loop": [], "echo": []}
    ratios = []
    for turn in range(rounds + 1):
        now = {"ours": drive(given, "single", count, ours, last),
               "loop": drive(given, "single", count, loop, last),
               "echo": drive(given, "single", count, echo, "")}
        if turn == 0:
            continue
        ratios.append(statistics.median(now["ours"]) / (statistics.median(now["echo"]) + one))
        for name, all_of in trips.items():
            all_of += now[name]
    middle = {name: statistics.median(all_of) / 1000 for name, all_of in trips.items()}
    report.add("a single call, beside a pipe round trip and the loop's time for one",
               statistics.median(ratios), 3,
               f"{middle['ours']:.1f} us beside {middle['echo']:.1f} + {one / 1000:.1f} us")
    report.add("the loop itself, one at a time", (middle["loop"] * 1000) /
               (middle["echo"] * 1000 + one), None, f"{middle['loop']:.1f} us")
    for name, all_of in trips.items():
        all_of.sort()
        with open(f"{given.directory}/mcp.{name}", "w", encoding="utf-8") as file:
            file.writelines(f"{number / len(all_of):.5f} {took / 1000:.3f}\n"
                            for number, took in enumerate(all_of, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pinfold")
    parser.add_argument("messages")
    parser.add_argument("directory")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    few = 10 if given.quick else 1
    report = Report()
    place = checkout(200)
    try:
        with open(f"{place}/file", "w", encoding="utf-8") as file:
            file.write(content())
        last = "line %05d" % 62  # of those that are there whole
        ours = [given.pinfold, "mcp", "--workspace", place, "--no-cache"]
        loop = [given.messages, "loop", f"{place}/file"]
        echo = [given.messages, "echo"]
        one = pipelined(report, given, ours, loop, last, 20000 // few, 9)
        single(report, given, (ours, loop, echo), last, one, 2000 // few, 9)
    finally:
        shutil.rmtree(place)
    return report.end(f"{given.directory}/mcp.json")


if __name__ == "__main__":
    sys.exit(main())
