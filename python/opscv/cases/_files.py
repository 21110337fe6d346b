# SPDX-License-Identifier: Apache-2.0
"""Reads case files: lists of concrete cases, and specifications that are expanded into cases."""
from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import numpy as np

from .._types import DTYPE_NAMES, OPERATORS, RULES, Operator
from ._fields import (BOOL, NUMBER, OBJECT, TEXT, Fields, FileError, Kind, integer, is_integer,
                      list_of, one_of, or_null)
from ._problem import MEMORIES, Problem
from ._values import why_no_data

_OPERATOR = one_of(list(OPERATORS))
_DTYPE = one_of(DTYPE_NAMES)
_SIZES = list_of(Kind("integers below 2^63", is_integer))
_STATED = Kind("an object of all, of full, of nonzero and value, or of equals",
               lambda value: isinstance(value, dict) and set(value) in (
                   {"all"}, {"full"}, {"nonzero", "value"}, {"equals"}))
_REFERENCE = Kind("an object of the numbers sum, absmax and nonfinite", lambda value: isinstance(
    value, dict) and all(NUMBER.holds(value.get(key)) for key in ("sum", "absmax", "nonfinite")))
_OUT_LAYOUTS = {None: "contiguous", "contiguous": "contiguous", "channels_last_3d": "last",
                "permuted w,h,d": "permuted w,h,d", "transposed h,w": "transposed h,w"}
_LARGEST_COUNT = 10**6


# --- concrete cases -------------------------------------------------------------------------------

def _expectation(case: Fields, is_c: bool) -> dict[str, Any]:
    """What a door must answer; doors without the device's limits compute more."""
    expect = case.need("expect", TEXT)
    if is_c:
        expect = case.get("c_api_expect", TEXT, expect)
    else:
        python = case.get("python_expect", TEXT, "")
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
        raise case.error("expect", "torch64, exact, bitwise, empty, documented or error NUMBER")
    return {}


def _stated(case: Fields, shape: tuple[int, ...], data_shape: tuple[int, ...]) -> Any:
    """The exact values that a case may write out, which must be of the result's shape."""
    stated = case.get("expect_values", or_null(_STATED))
    if stated is None:
        return None
    try:
        if "all" in stated:
            float(stated["all"])
        elif "full" in stated and np.array(stated["full"], dtype=np.float64).shape != shape:
            raise ValueError
        elif "nonzero" in stated:
            float(stated["value"])
            for at in stated["nonzero"]:
                if len(at) != len(shape) or not all(
                        is_integer(i) and 0 <= i < n for i, n in zip(at, shape)):
                    raise ValueError
        elif "equals" in stated and (stated["equals"] != "grad_output" or data_shape != shape):
            raise ValueError
    except (TypeError, ValueError):
        raise case.error("expect_values", f"of numbers that fit the shape {shape}") from None
    return stated


def _data(case: Fields, shape: tuple[int, ...]) -> str:
    data: str = case.need("data", TEXT)
    if why := why_no_data(data, shape):
        raise case.error("data", why)
    return data


def _strides(case: Fields, shape: tuple[int, ...]) -> Any:
    if "strides" not in case:
        return None
    return tuple(case.need("strides", list_of(integer(0), len(shape))))


def _from_case(case: Fields, is_c: bool) -> Problem:
    op = OPERATORS[case.need("op", _OPERATOR)]
    if not op.backward:
        raise case.error("op", "a gradient")
    answer = _expectation(case, is_c)
    data_shape = tuple(case.need("grad_output_shape", list_of(integer(0))))
    input_size = tuple(case.need("input_size", _SIZES))
    output_size = case.need("output_size", or_null(_SIZES))
    out_shape = tuple(case.need("out_shape", _SIZES)) if "out_shape" in case else None
    layout = case.get("layout", one_of([None, "channels_last_3d", "strides"]))
    return Problem(
        id=case.need("id", TEXT), op=op, dtype=case.need("dtype", _DTYPE), layout=op.layouts[0],
        data_shape=data_shape, input_size=input_size,
        output_size=None if output_size is None else tuple(output_size),
        align_corners=bool(case.need("align_corners", or_null(BOOL))),
        scales=tuple(case.need("scales", list_of(or_null(NUMBER), op.axes))),
        data=_data(case, data_shape),
        memory="last" if layout == "channels_last_3d" else "contiguous",
        out_memory=_OUT_LAYOUTS[case.get("out_layout", one_of(list(_OUT_LAYOUTS)))],
        # C programs choose the rule by the environment; the other doors are asked for PyTorch's.
        rule=None if is_c or not op.is_nearest else "torch_cpu",
        values=answer.pop("values", None) or _stated(case, out_shape or input_size, data_shape),
        reference=case.get("ref", or_null(_REFERENCE)), strides=_strides(case, data_shape),
        out_shape=out_shape, out_dtype=case.get("out_dtype", _DTYPE),
        prefill=float("nan") if case.get("prefill", one_of(["nan"])) else 7.0, **answer)


def _place(number: int, content: Any) -> str:
    if isinstance(content, dict) and isinstance(content.get("id"), str):
        return f"case {content['id']}"
    return f"case number {number + 1}"


def _from_list(content: list[Any], is_c: bool) -> tuple[list[Problem], dict[str, str]]:
    if not content:
        raise FileError("there is no case")
    problems, sequences = [], {}
    for number, one in enumerate(content):
        case = Fields(one, _place(number, one))
        if case.get("lifecycle", BOOL, False):
            sequences[case.need("id", TEXT)] = "a sequence of calls, which its own test makes"
        else:
            problems.append(_from_case(case, is_c))
    return problems, sequences


# --- specifications -------------------------------------------------------------------------------

def _bounds(least: int) -> Kind:
    return Kind(f"[least, most] with {least} <= least <= most", lambda value: isinstance(value, list)
                and len(value) == 2 and all(map(is_integer, value)) and
                least <= value[0] <= value[1])


def _bounds_of_axes(axes: int) -> Kind:
    one = _bounds(1)
    return Kind(f"{one.words}, or {axes} of them",
                lambda value: one.holds(value) or list_of(one, axes).holds(value))


def _kinds(op: Operator) -> dict[str, Kind]:
    """The keys of a specification of that operator."""
    kinds = {
        "specification": _OPERATOR, "count": integer(1, _LARGEST_COUNT), "seed": integer(0),
        "dtypes": list_of(_DTYPE), "layouts": list_of(one_of(op.layouts)),
        "batch": _bounds(0), "channels": _bounds(0),
        "in": _bounds_of_axes(op.axes), "out": _bounds_of_axes(op.axes),
        "scales": list_of(one_of(["none", "each", "some"])),
        "memory": list_of(one_of(MEMORIES)), "data": list_of(one_of(["normal", "integers"]))}
    if op.is_nearest:
        return {**kinds, "rules": list_of(one_of([None, *RULES]))}
    return {**kinds, "align_corners": list_of(BOOL)}


class _Draw:
    """Draws from a specification's ranges and lists."""

    def __init__(self, spec: Fields, kinds: dict[str, Kind]) -> None:
        self._spec = spec
        self._kinds = kinds
        self._rng = np.random.default_rng(spec.need("seed", kinds["seed"]))

    def one(self, key: str, default: list[Any]) -> Any:
        choices = self._spec.get(key, self._kinds[key], default)
        return choices[int(self._rng.integers(len(choices)))]

    def between(self, bounds: list[int]) -> int:
        return int(self._rng.integers(bounds[0], bounds[1], endpoint=True))

    def extent(self, key: str, default: list[int]) -> int:
        return self.between(self._spec.get(key, self._kinds[key], default))

    def sizes(self, key: str, axes: int) -> tuple[int, ...]:
        bounds = self._spec.need(key, self._kinds[key])
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


def _expand(spec: Fields) -> list[Problem]:
    op = OPERATORS[spec.need("specification", _OPERATOR)]
    kinds = _kinds(op)
    spec.refuse_others(list(kinds))
    for key in ("dtypes", "in", "out"):
        spec.need(key, kinds[key])
    for key, kind in kinds.items():
        spec.get(key, kind)
    draw = _Draw(spec, kinds)
    problems = []
    for number in range(spec.need("count", kinds["count"])):
        batch = (draw.extent("batch", [1, 2]), draw.extent("channels", [1, 4]))
        before, after = draw.sizes("in", op.axes), draw.sizes("out", op.axes)
        input_size = (*batch, *before)
        scales = draw.scales(before, after)
        rule = draw.one("rules", [None]) if op.is_nearest else None
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


def _parse(path: pathlib.Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(error.strerror) from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"is no JSON: {error}") from None


def read_problems(path: pathlib.Path, is_c: bool) -> tuple[list[Problem], dict[str, str]]:
    """The file's problems, and the cases that no single call is, with the reason."""
    try:
        content = _parse(path)
        if isinstance(content, list):
            return _from_list(content, is_c)
        return _expand(Fields(content, "the specification")), {}
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
