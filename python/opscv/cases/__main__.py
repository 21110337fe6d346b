# SPDX-License-Identifier: Apache-2.0
"""The command line of the acceptance runner."""
from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

from ._c_door import CDoor
from ._doors import NativeDoor, PythonDoor, TorchDoor
from ._fields import FileError
from ._files import read_problems
from ._judge import Verdict, try_problem

_DOORS: dict[str, Any] = {"c": CDoor, "native": NativeDoor, "python": PythonDoor,
                          "torch": TorchDoor}
_MARKS = {"passed": "ok", "failed": "FAILED", "not offered": "-"}


def _rows(verdicts: list[Verdict]) -> list[list[str]]:
    rows = [["", "case", "operator", "type", "layout", "memory", "sizes", "result"]]
    for verdict in verdicts:
        problem = verdict.problem
        rows.append([_MARKS[verdict.outcome], problem.id, problem.op.name, problem.dtype,
                     problem.layout, problem.memory, problem.text(), verdict.detail])
    return rows


def _print_table(rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("  ".join([*cells, row[-1]]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m opscv.cases",
        description="Runs the cases of a file, or those that a specification expands to, through a "
        "door of the library, and judges the results by a float64 reference.",
        epilog="Exit status: 0 all passed, 1 a case failed or none ran, 2 the file, the door or the report "
        "cannot be used.")
    parser.add_argument("file", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--door", required=True, choices=sorted(_DOORS))
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="just these cases")
    parser.add_argument("--report", type=pathlib.Path, metavar="OUT.json",
                        help="write the verdicts as JSON")
    return parser


def _unusable(words: str) -> int:
    print(f"opscv.cases: {' '.join(words.split())}", file=sys.stderr)
    return 2


def main(words: list[str] | None = None) -> int:
    options = _parser().parse_args(words)
    try:
        door = _DOORS[options.door]()
        problems, sequences = read_problems(options.file, options.door == "c")
    except (FileError, ImportError, OSError) as error:
        return _unusable(str(error))
    verdicts = [try_problem(problem, door) for problem in problems
                if not options.only or problem.id in options.only]
    counts = {outcome: sum(v.outcome == outcome for v in verdicts) for outcome in _MARKS}
    _print_table(_rows(verdicts))
    for name, reason in sequences.items():
        print(f"-  {name}: {reason}")
    print(f"\n{options.file} through the door {door.name}: {counts['passed']} passed, "
          f"{counts['failed']} failed, {counts['not offered'] + len(sequences)} not offered")
    if options.report:
        report = json.dumps({"file": str(options.file), "door": door.name, **counts,
                             "sequences": sequences, "cases": [v.as_json() for v in verdicts]},
                            indent=1)
        try:
            options.report.write_text(report)
        except OSError as error:
            return _unusable(f"{options.report}: {error.strerror}")
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
