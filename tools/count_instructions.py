#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of a few small cases under Callgrind and compares them with the record.

A count does not depend on what else the machine does, so it shows a slower kernel that a clock on a
busy machine would not. It tells nothing about memory: that is what the benchmarks are for. Prints
one line a case, and marks those that have grown by more than 5 %; with --record it writes the
record instead.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "instructions" / "counts.txt"
TOOL = ROOT / "build" / "dev" / "tests" / "instructions" / "count_tool"
TARGET = "AVX2"  # the best that Valgrind runs
NOTABLE = 0.05


def count(tool):
    """{case: instructions}, in the order in which the tool runs them."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
             "--toggle-collect=RunCounted", "--dump-after=RunCounted", tool],
            env=dict(os.environ, OPSCV_TARGET=TARGET), text=True, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"count_instructions: {tool} failed\n{done.stdout}{done.stderr}")
        names = done.stdout.splitlines()
        totals = [re.search(r"^totals: (\d+)$", (out.parent / f"out.{i + 1}").read_text(), re.M)
                  for i in range(len(names))]
        return {name: int(total[1]) for name, total in zip(names, totals)}


def read_record(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(number) for number, name in (line.split(" ", 1) for line in lines)}


def write_record(path, counts):
    lines = ["# Instructions of one run on one thread, SIMD target AVX2. Written by",
             "# `./dev count-instructions --record`.",
             *(f"{number} {name}" for name, number in counts.items())]
    path.write_text("\n".join(lines) + "\n")


def compare(recorded, counts):
    """Lines for people, and how many cases have grown notably."""
    lines, grown = [], 0
    for name, number in counts.items():
        if name not in recorded:
            lines.append(f"{number:>10}  {name}: not in the record")
            continue
        change = number / recorded[name] - 1
        mark = ""
        if change > NOTABLE:
            grown += 1
            mark = "  GROWN"
        lines.append(f"{number:>10}  {name}: {100 * change:+.1f} %{mark}")
    lines += [f"{'':>10}  {name}: in the record only" for name in recorded if name not in counts]
    return lines, grown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=pathlib.Path, default=TOOL)
    parser.add_argument("--record", action="store_true", help="write the record")
    options = parser.parse_args()
    counts = count(options.tool)
    if options.record:
        write_record(RECORD, counts)
        print(f"recorded {len(counts)} cases in {RECORD.relative_to(ROOT)}")
        return
    lines, grown = compare(read_record(RECORD), counts)
    print("\n".join(lines))
    print(f"instructions: {grown} of {len(counts)} cases have grown by more than 5 %")


if __name__ == "__main__":
    main()
