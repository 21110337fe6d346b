# SPDX-License-Identifier: Apache-2.0
"""Runs a problem through a door and judges the answer by the float64 reference and its bound."""
from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .. import _native
from .._types import DTYPE_NAMES, RULES
from ._doors import NotOffered, Refused
from ._problem import Problem, make_input, make_output, result_of
from ._values import decode


@dataclasses.dataclass(frozen=True)
class Verdict:
    problem: Problem
    outcome: str  # passed, failed or not offered
    detail: str
    worst: float = 0.0  # the largest error as a fraction of the bound

    def as_json(self) -> dict[str, Any]:
        problem = self.problem
        return {"id": problem.id, "op": problem.op.name, "dtype": problem.dtype,
                "layout": problem.layout, "memory": problem.memory,
                "input_size": list(problem.input_size),
                "output_size": problem.output_size and list(problem.output_size),
                "align_corners": problem.align_corners, "scales": list(problem.scales),
                "rule": problem.rule, "data": problem.data, "outcome": self.outcome,
                "detail": self.detail,
                "worst": self.worst if math.isfinite(self.worst) else str(self.worst)}


def _reference(problem: Problem, rule: str, values: np.ndarray,
               actual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    op = problem.op
    assert problem.output_size is not None
    return _native.judge(
        op.name, math.prod(problem.input_size[:2]),
        list(problem.input_size[2:]), list(problem.output_size), problem.align_corners,
        [float(scale or 0.0) for scale in problem.scales], RULES.index(rule),
        DTYPE_NAMES.index(problem.dtype), np.ascontiguousarray(values).ravel(),
        np.ascontiguousarray(actual).ravel())


def _stated(problem: Problem, values: np.ndarray) -> np.ndarray | None:
    """The exact values that a case file writes out."""
    stated = problem.values
    if stated is None:
        return None
    if "all" in stated:
        return np.full(problem.result_size, float(stated["all"]))
    if "full" in stated:
        return np.array(stated["full"], dtype=np.float64)
    if "nonzero" in stated:
        full = np.zeros(problem.result_size)
        for at in stated["nonzero"]:
            full[tuple(at)] = stated["value"]
        return full
    if stated == {"equals": "grad_output"}:
        return values
    raise ValueError(f"expect_values {stated} is not in the language")


def _differs_from_sums(problem: Problem, rule: str, answer: np.ndarray) -> str:
    """What the float64 answer has against the sums in the case file, which are PyTorch's."""
    if problem.reference is None or rule not in ("torch_cpu", "") or not answer.size:
        return ""
    finite = answer[np.isfinite(answer)]
    found = {"sum": finite.sum(), "absmax": np.abs(finite).max(initial=0),
             "nonfinite": answer.size - finite.size}
    for name, value in found.items():
        slack = 1e-9 * max(np.abs(finite).sum(), 1.0)
        if abs(value - problem.reference[name]) > slack:
            return (f"{name} of the float64 answer is {float(value)!r}, the file says "
                    f"{problem.reference[name]!r}")
    return ""


def _judge_values(problem: Problem, rule: str, values: np.ndarray,
                  result: np.ndarray) -> Verdict:
    values64 = decode(values, problem.dtype)
    actual = decode(result, problem.dtype)
    fractions, answer = _reference(problem, rule, values64, actual)
    worst = float(fractions.max(initial=0.0))
    answer = answer.reshape(problem.result_size)
    if fault := _differs_from_sums(problem, rule if problem.op.is_nearest else "", answer):
        return Verdict(problem, "failed", fault, worst)
    stated = _stated(problem, values64) if rule == "torch_cpu" or not problem.op.is_nearest else None
    if stated is not None and not np.array_equal(stated, actual, equal_nan=True):
        at = tuple(int(i) for i in np.argwhere(~((stated == actual) | np.isnan(stated)))[0])
        return Verdict(problem, "failed",
                       f"at {at}: {float(actual[at])!r}, stated {float(stated[at])!r}", worst)
    if not worst <= 1:
        worst_at = np.unravel_index(int(np.argmax(fractions)), problem.result_size)
        at = tuple(int(i) for i in worst_at)
        return Verdict(problem, "failed", f"at {at}: {float(actual[at])!r}, float64 "
                       f"{float(answer[at])!r}, {worst:.3g} of the bound", worst)
    return Verdict(problem, "passed", f"{worst:.3f} of the bound", worst)


def _judge_refusal(problem: Problem, door: Any, refusal: Refused) -> Verdict:
    text = str(refusal).replace("\n", " ")
    if problem.expect not in ("refused", "either"):
        return Verdict(problem, "failed", f"refused: {text}")
    if door.name == "c" and problem.code and refusal.code != problem.code:
        return Verdict(problem, "failed", f"refused with {refusal.code}, not {problem.code}: {text}")
    return Verdict(problem, "passed", f"refused: {text}")


def try_problem(problem: Problem, door: Any) -> Verdict:
    """Runs and judges one problem."""
    try:
        rule = door.rule(problem)
        source, values = make_input(problem)
        target = make_output(problem)
    except NotOffered as reason:
        return Verdict(problem, "not offered", str(reason))
    except ModuleNotFoundError as error:
        return Verdict(problem, "not offered", f"its data need {error.name}")
    except (MemoryError, OverflowError, ValueError) as error:
        return Verdict(problem, "failed", f"its tensors cannot be made here: {error}")
    before = target.storage.copy()
    try:
        door.run(problem, source, target)
    except NotOffered as reason:
        return Verdict(problem, "not offered", str(reason))
    except Refused as refusal:
        verdict = _judge_refusal(problem, door, refusal)
        # What PyTorch's own kernels do before they refuse is theirs.
        if verdict.outcome == "passed" and door.name != "torch" and \
                before.tobytes() != target.storage.tobytes():
            return Verdict(problem, "failed", "a refused call has written to its output")
        return verdict
    if problem.expect == "refused":
        return Verdict(problem, "failed", "was not refused")
    result = result_of(problem, target)
    if problem.expect == "empty":
        return Verdict(problem, "passed" if result.size == 0 else "failed", "empty")
    assert values is not None
    return _judge_values(problem, rule, values, result)
