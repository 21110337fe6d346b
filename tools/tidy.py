#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the files of a compilation database, several at once.

A file that was clean is not looked at again until its preprocessed text, the checks or clang-tidy
change: a complete run takes minutes, the next one seconds. Highway compiles a kernel once for each
CPU target, and every round would be checked anew, so clang-tidy is shown one wide target only.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXTRA = ["-DHWY_COMPILE_ONLY_STATIC", "-march=haswell"]


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def preprocessed(entry):
    """The text that the compiler sees for an entry of the compilation database."""
    words = shlex.split(entry["command"])
    del words[words.index("-o"):words.index("-o") + 2]
    done = subprocess.run([*words, *EXTRA, "-E", "-P", "-o", "-"], cwd=entry["directory"],
                          capture_output=True)
    return done.stdout if done.returncode == 0 else os.urandom(16)


def check(entry, tidy, build, salt):
    """What clang-tidy says about one file; empty when the file is clean."""
    # NOLINT comments are gone from the preprocessed text.
    text = pathlib.Path(entry["file"]).read_bytes()
    key = hashlib.sha256(salt + text + preprocessed(entry)).hexdigest()
    stamp = build / "tidy" / key
    if stamp.exists():
        return ""
    done = subprocess.run(
        [tidy, "-p", build, "--quiet", "--warnings-as-errors=*",
         *(f"--extra-arg={word}" for word in EXTRA), entry["file"]],
        cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        stamp.parent.mkdir(exist_ok=True)
        stamp.touch()
        return ""
    return done.stdout if "error:" in done.stdout else done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidy", default="clang-tidy")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("build", type=pathlib.Path, help="folder of compile_commands.json")
    args = parser.parse_args()

    build = args.build.resolve()
    entries = json.loads((build / "compile_commands.json").read_text())
    headers = output_of("git", "ls-files", "-co", "--exclude-standard", "--", "*.h")
    nolint = "".join(line for name in headers.split() for line in
                     re.findall(r".*NOLINT.*\n", (ROOT / name).read_text()))
    salt = "\n".join([(ROOT / ".clang-tidy").read_text(), output_of(args.tidy, "--version"),
                      nolint, *EXTRA]).encode()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        said = list(pool.map(lambda entry: check(entry, args.tidy, build, salt), entries))
    print("".join(said), end="")
    return 1 if any(said) else 0


if __name__ == "__main__":
    sys.exit(main())
