#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every #include line to the table of HACKING.md: which room may include what.

Prints one line `file:line: what is wrong` for each include that the table does not allow, and exits
with 1 if there is any. Reads include lines only: it knows nothing of the preprocessor, so a line in
an #if that is never taken counts as well.
"""

import argparse
import pathlib
import re
import sys

# What a project header may be: a room ("base/"), all public headers ("opscv/") or one header.
VALUE_HEADERS = [
    "opscv/export.h", "opscv/spec.h", "opscv/status.h", "opscv/version.h", "opscv/view.h",
]
DOOR = ["opscv/", "ops/registry.h"]

# room (folder of a file) -> project headers it may include beside its own.
ARROWS = {
    "src/base": VALUE_HEADERS,
    "src/taps": VALUE_HEADERS + ["base/"],
    "src/kernels": VALUE_HEADERS + ["base/", "taps/"],
    "src/plan": VALUE_HEADERS + ["base/", "taps/", "kernels/"],
    "src/reference": VALUE_HEADERS + ["base/"],
    "src/ops": VALUE_HEADERS + ["base/", "plan/"],
    "src/api": ["opscv/", "base/", "plan/", "ops/"],
    "src/capi": ["opscv/", "acl/", "aclnn/", "aclnnop/", "base/", "plan/", "ops/"],
    "src/graph": ["opscv/", "base/", "plan/", "ops/"],
    "include": [],
    "cli": DOOR + ["reference/", "base/"],
    # The benchmarks call every door, and measure one target beside another.
    "bench": DOOR + ["kernels/targets.h", "acl/", "aclnn/", "aclnnop/"],
    "python": DOOR + ["reference/"],
    "examples": ["opscv/", "acl/", "aclnn/", "aclnnop/"],
    # Tests make values of half types, and are the ones who may change the CPU target.
    "tests": DOOR + ["reference/", "base/half.h", "kernels/targets.h", "acl/", "aclnn/", "aclnnop/"],
}

# Tests that lie in a room may look further than the room itself.
TEST_ARROWS = ["opscv/", "reference/", "tests/"]

# Header prefix of a library from outside -> the rooms or files that may include it.
OUTSIDE = {
    "hwy/": ["src/kernels/"],
    "tbb/": ["src/base/parallel."],
    "oneapi/": ["src/base/parallel."],
    "fmt/": ["src/", "cli/", "bench/", "python/", "tests/"],
    "tl/": ["src/base/", "include/"],
    "CLI/": ["cli/"],
    "nlohmann/": ["src/graph/", "cli/", "tests/"],
    "gtest/": ["tests/"],
    "gmock/": ["tests/"],
    "benchmark/": ["bench/"],
    "nanobind/": ["python/"],
}
TEST_OUTSIDE = ["gtest/", "gmock/"]

SUFFIXES = {".h", ".cc", ".c", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
IN_ROOM_TEST = re.compile(r"_test\.cc$|(^|/)test_[a-z0-9_]+\.h$")


def room_of(path):
    """The room a file lies in, or None where the table does not know its folder."""
    parts = path.split("/")
    room = "/".join(parts[:2]) if parts[0] == "src" else parts[0]
    return room if room in ARROWS else None


def starts(header, prefixes):
    return any(header.startswith(prefix) for prefix in prefixes)


def own_prefixes(room):
    """How a file of the room spells its neighbours."""
    if room == "include":
        return ["opscv/", "acl/", "aclnn/", "aclnnop/"]
    return [room.removeprefix("src/") + "/"]


def refusal(path, header, quoted):
    """Why the file may not include the header, or None where it may."""
    room = room_of(path)
    is_room_test = room.startswith("src/") and IN_ROOM_TEST.search(path)
    outside = next((prefix for prefix in OUTSIDE if header.startswith(prefix)), None)
    if outside:
        if starts(path, OUTSIDE[outside]) or (is_room_test and outside in TEST_OUTSIDE):
            return None
        return f"{room} may not include {outside}; only {', '.join(OUTSIDE[outside])} may"

    first = header.split("/")[0] + "/"
    known = {prefix.split("/")[0] + "/" for prefixes in ARROWS.values() for prefix in prefixes}
    known |= {own for name in ARROWS for own in own_prefixes(name)}
    if first not in known:
        if quoted:
            return f'"{header}" is no header of a room; write its path below src, include or the root'
        return None

    allowed = ARROWS[room] + own_prefixes(room) + (TEST_ARROWS if is_room_test else [])
    if starts(header, allowed):
        return None
    return f'{room} may not include "{header}"; it may include {", ".join(allowed)}'


def check(root):
    """All violations below root, as lines of text, sorted by file."""
    found = []
    tops = sorted({room.split("/")[0] for room in ARROWS})
    for top in tops:
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            if room_of(path) is None:
                found.append(f"{path}:1: no room of the table holds this file")
                continue
            for number, line in enumerate(file.read_text().splitlines(), start=1):
                match = INCLUDE.match(line)
                reason = match and refusal(path, match[2], match[1] == '"')
                if reason:
                    found.append(f"{path}:{number}: {reason}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    found = check(parser.parse_args().root)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
