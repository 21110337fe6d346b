# SPDX-License-Identifier: Apache-2.0
"""Reads case files: lists of concrete cases, and specifications that are expanded into cases."""
from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import numpy as np

from ._problem import Problem, find_operator

_OUT_LAYOUTS = {None: "contiguous", "contiguous": "contiguous", "channels_last_3d": "last",
                "permuted w,h,d": "permuted w,h,d", "transposed h,w": "transposed h,w"}


class FileError(Exception):
    """A case file that does not say what its format asks for."""


def _expectation(case: dict[str, Any], is_c: bool) -> dict[str, Any]:
    """What a door must answer; doors without the device's limits compute more."""
    expect = case["expect"]
    if is_c:
        expect = case.get("c_api_expect", expect)
    else:
        python = case.get("python_expect", "")
        if re.match(r"\d+ ", python):
            return {"values": {"all": float(python.split()[0])}}
        if python.startswith("torch64"):
            return {}
        if python == "documented":
            return {"expect": "either"}
        if expect == "documented":
            return {}
    if match := re.fullmatch(r"error (\d+)", expect):
        return {"expect": "refused", "code": int(match[1])}
    if expect == "empty":
        return {"expect": "empty"}
    if expect == "documented":
        return {"expect": "either"}
    if expect not in ("torch64", "exact", "bitwise"):
        raise FileError(f"{case['id']}: expect {expect!r} is not in the format")
    return {}


def _from_case(case: dict[str, Any], is_c: bool) -> Problem:
    op = find_operator(case["op"])
    if not op.backward:
        raise FileError(f"{case['id']}: a case is of a gradient, not of {op.name}")
    answer = _expectation(case, is_c)
    given = case.get("layout")
    return Problem(
        id=case["id"], op=op, dtype=case["dtype"], layout=op.layouts[0],
        data_shape=tuple(case["grad_output_shape"]), input_size=tuple(case["input_size"]),
        output_size=tuple(case["output_size"]) if case["output_size"] is not None else None,
        align_corners=bool(case["align_corners"]), scales=tuple(case["scales"]),
        data=case["data"], memory="last" if given == "channels_last_3d" else "contiguous",
        out_memory=_OUT_LAYOUTS[case.get("out_layout")],
        # C programs choose the rule by the environment; the other doors are asked for PyTorch's.
        rule=None if is_c or not op.is_nearest else "torch_cpu",
        values=answer.pop("values", case.get("expect_values")), reference=case.get("ref"),
        strides=tuple(case["strides"]) if "strides" in case else None,
        out_shape=tuple(case["out_shape"]) if "out_shape" in case else None,
        out_dtype=case.get("out_dtype"),
        prefill=float("nan") if case.get("prefill") == "nan" else 7.0, **answer)


_KEYS = {"specification", "count", "seed", "dtypes", "layouts", "batch", "channels", "in", "out",
         "align_corners", "scales", "data", "memory", "rules"}


class _Draw:
    """Draws from a specification's ranges and lists."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._rng = np.random.default_rng(spec["seed"])

    def one(self, key: str, default: list[Any]) -> Any:
        choices = self._spec.get(key, default)
        return choices[int(self._rng.integers(len(choices)))]

    def between(self, bounds: list[int]) -> int:
        return int(self._rng.integers(bounds[0], bounds[1] + 1))

    def sizes(self, key: str, axes: int) -> tuple[int, ...]:
        bounds = self._spec[key]
        each = bounds if isinstance(bounds[0], list) else [bounds] * axes
        return tuple(self.between(b) for b in each)

    def scales(self, before: tuple[int, ...], after: tuple[int, ...]) -> tuple[Any, ...]:
        """Scales that fit the sizes: floor(before * scale) is after."""
        how = self.one("scales", ["none"])
        drawn = [(b + 0.9 * self._rng.random()) / a for a, b in zip(before, after)]
        if how == "none":
            return (None,) * len(drawn)
        return tuple(scale if how == "each" or self._rng.integers(2) else None for scale in drawn)

    def seed(self) -> int:
        return int(self._rng.integers(2**31))


def _expand(spec: dict[str, Any]) -> list[Problem]:
    unknown = spec.keys() - _KEYS
    missing = {"count", "seed", "dtypes", "in", "out"} - spec.keys()
    if unknown or missing:
        raise FileError(f"a specification has no {', '.join(sorted(unknown))}" if unknown else
                        f"a specification must have {', '.join(sorted(missing))}")
    op, draw = find_operator(spec["specification"]), _Draw(spec)
    problems = []
    for number in range(spec["count"]):
        batch = (draw.between(spec.get("batch", [1, 2])), draw.between(spec.get("channels", [1, 4])))
        before, after = draw.sizes("in", op.axes), draw.sizes("out", op.axes)
        input_size = (*batch, *before)
        scales = draw.scales(before, after)
        rule = draw.one("rules", [None])
        if rule == "exact":
            scales = (None,) * op.axes
        problems.append(Problem(
            id=f"{number + 1}", op=op, dtype=draw.one("dtypes", []),
            layout=draw.one("layouts", [op.layouts[0]]),
            data_shape=(*batch, *after) if op.backward else input_size, input_size=input_size,
            output_size=after,
            align_corners=draw.one("align_corners", [False]) if not op.is_nearest else False,
            scales=scales, data=f"{draw.one('data', ['normal'])} seed {draw.seed()}",
            memory=draw.one("memory", ["contiguous"]), out_memory="contiguous", rule=rule))
    return problems


def read_problems(path: pathlib.Path, is_c: bool) -> tuple[list[Problem], dict[str, str]]:
    """The file's problems, and the cases that no single call is, with the reason."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {error}") from None
    try:
        if isinstance(content, dict):
            return _expand(content), {}
        sequences = {case["id"]: "a sequence of calls, which its own test makes"
                     for case in content if case.get("lifecycle")}
        return [_from_case(case, is_c) for case in content
                if case["id"] not in sequences], sequences
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: {type(error).__name__}: {error}") from None
