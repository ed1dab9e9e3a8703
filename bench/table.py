#!/usr/bin/env python3
"""Reads what the benchmarks wrote and prints the ratios that are promised, with their limits.

    table.py DIRECTORY

DIRECTORY holds lexical-*.json, resolver-*.json and growth-*.json (one for each run of a program),
resident.json and compile_time.txt.
Every figure is a median over all repetitions of all runs of one row's processor time, divided by that
of another row of the same programs. Exits with 1 when a limit is not met.
"""

import glob
import json
import statistics
import sys

# What is promised: the row, what it is compared with, the limit.
LIMITS = [
    ("guard, resolve and open, one act", "composed", "openat2_read", 1.25),
    ("open_read", "open_read", "openat2_read", 1.15),
    ("resolve_read, no link", "resolve_read", "openat2_path", 1.15),
    ("resolve_read, one link", "resolve_read_one_link", "openat2_path", 3.0),
    ("resolve_read, one link further up", "resolve_read_one_link_early", "openat2_path", 3.0),
    ("resolve_write, missing leaf", "resolve_write_missing_leaf", "openat2_path", 2.2),
    ("containment and region, 60 bytes", "containment_and_region", "getppid_by_syscall", 0.25),
]

# Shown beside it, promised by nobody.
SHOWN = [
    ("the kernel's call without restrictions, O_RDONLY", "openat2_read_unrestricted", "openat2_read"),
    ("the kernel's call without restrictions, O_PATH", "openat2_path_unrestricted", "openat2_path"),
    ("guard, resolve and open, three calls", "composed_of_three_calls", "openat2_read"),
    ("open_read, one link", "open_read_one_link", "openat2_read"),
    ("resolve_read, absolute link back inside", "resolve_read_absolute_link", "openat2_path"),
    ("resolve_read, such a link further up", "resolve_read_absolute_link_early", "openat2_path"),
    ("resolve_write, existing file", "resolve_write", "openat2_path"),
    ("realpath", "realpath", "openat2_path"),
    ("std::filesystem::weakly_canonical", "std_weakly_canonical", "openat2_path"),
    ("the same, missing leaf", "std_weakly_canonical_missing_leaf", "openat2_path"),
    ("boost::filesystem::weakly_canonical", "boost_weakly_canonical", "openat2_path"),
    ("our portable resolver", "portable", "openat2_path"),
    ("the guard's verdict", "verdict_for_reading", "getppid_by_syscall"),
]


def read(directory):
    """The processor times of each row in nanoseconds, what was allocated, and the machine."""
    times, allocations, context = {}, 0, {}
    for path in sorted(glob.glob(f"{directory}/*-*.json")):
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        context.update(report["context"])
        for row in report["benchmarks"]:
            if row.get("run_type") != "iteration":
                continue
            times.setdefault(row["run_name"], []).append(row["cpu_time"])
            if row["run_name"] in ("containment_and_region", "verdict_for_reading"):
                allocations += row["allocations"]
    return times, allocations, context


def compile_ratio(directory):
    with open(f"{directory}/compile_time.txt", encoding="utf-8") as file:
        return float(file.read().split()[-1])


def resident_ratio(directory):
    """A start from a program with 4 GiB resident beside one from 10 MiB, see resident.py."""
    with open(f"{directory}/resident.json", encoding="utf-8") as file:
        return json.load(file)["ratio"]


def main():
    directory = sys.argv[1]
    times, allocations, context = read(directory)
    median = {name: statistics.median(values) for name, values in times.items()}
    is_met = True

    def line(what, value, limit):
        nonlocal is_met
        met = value <= limit
        is_met = is_met and met
        print(f"| {what} | {value:.2f} | {limit:.2f} | {'yes' if met else 'NO'} |")

    print(f"{context['processor']}, {context['num_cpus']} processors, {context['kernel']}, "
          f"{context['file_system']}; {context['compiler']}")
    print(f"Paths of six components; medians of {len(times['open_read'])}.\n")
    print("| measured | ratio | limit | met |\n| --- | --- | --- | --- |")
    for what, row, base, limit in LIMITS:
        line(what, median[row] / median[base], limit)
    line("allocations by containment, region and verdict", allocations, 0)
    line("a start from a program of 4 GiB, beside one of 10 MiB", resident_ratio(directory), 1.2)
    line("compiling pinfold/guard.hpp", compile_ratio(directory), 1.25)
    print("\n| beside it | ratio |\n| --- | --- |")
    for what, row, base in SHOWN:
        print(f"| {what} | {median[row] / median[base]:.2f} |")
    print("\nOne is: " + ", ".join(
        f"{name} {median[name]:.0f} ns" for name in ("openat2_read", "openat2_path",
                                                     "getppid_by_syscall")) + ".")
    return 0 if is_met else 1


sys.exit(main())
