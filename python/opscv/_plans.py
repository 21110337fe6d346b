# SPDX-License-Identifier: Apache-2.0
"""From a Python call to a native plan: attributes, names in messages, and a cache of plans."""
from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping, Set
from numbers import Real
from typing import Any

import numpy as np

from . import _native
from ._types import Operator

Attrs = tuple[tuple[str, Any], ...]

LARGEST = 2**63 - 1
_MOST_THREADS = 2**31 - 1
# What has elements, but no sizes in an order.
_NO_LISTS = (str, bytes, bytearray, memoryview, Mapping, Set)


def _integer(value: Any) -> int:
    """TypeError for what is none, and for True and False, which Python counts among the integers."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def to_ints(name: str, value: Any, count: int) -> tuple[int, ...]:
    """A list of `count` sizes."""
    try:
        if isinstance(value, _NO_LISTS):
            raise TypeError
        numbers = tuple([_integer(element) for element in value])
    except TypeError:
        raise TypeError(f"{name} must be a list of integers, got {value!r}.") from None
    if len(numbers) != count:
        raise ValueError(f"{name} must have {count} elements, got {len(numbers)}.")
    if any(abs(number) > LARGEST for number in numbers):
        raise ValueError(f"{name} must be of numbers below 2^63, got {numbers}.")
    return numbers


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new array. Those beyond 64 bits are cut off: a shape that has them is one
    that the library refuses."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = min(strides[i + 1] * max(shape[i + 1], 0), LARGEST)
    return tuple(strides)


def to_bool(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a bool, got {value!r}.")
    return bool(value)


def to_scale(name: str, value: Any) -> float:
    """The scale as prototypes have it: 0 where none is given."""
    if value is None:
        return 0.0
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number or None, got {value!r}.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be finite, got a number beyond the range of a float.") from None


def to_threads(threads: Any) -> int:
    if threads is None:
        return 0
    try:
        count = _integer(threads)
    except TypeError:
        raise TypeError(f"threads must be an integer or None, got {threads!r}.") from None
    if not 1 <= count <= _MOST_THREADS:
        raise ValueError(f"threads must be >= 1 and below 2^31, got {count}.")
    return count


def tensors_in_python_words(op: Operator, message: str) -> str:
    """A native message with the tensors' names in Python, where the result is `out` whatever the
    prototype calls it."""
    message = re.sub(rf"^{op.output}(?= must)|\boutput(?= must)", "out", message)
    return re.sub(r"\binput(?= must)|(?<=memory with )input\b", op.input, message)


def in_python_words(op: Operator, message: str) -> str:
    """The same for a function, which has one argument for each axis of a list of scales."""
    if op.is_nearest:
        message = re.sub(r"\bscales\[(\d)\]", lambda m: "scales_" + "dhw"[int(m[1])], message)
    return tensors_in_python_words(op, message)


@functools.lru_cache(maxsize=256)
def _cached(op: Operator, attrs: Attrs, rule: int, dtype: int, layout: int,
            in_shape: tuple[int, ...], in_strides: tuple[int, ...], out_shape: tuple[int, ...],
            out_strides: tuple[int, ...], boxes_only: bool) -> _native.Plan:
    return _native.Plan(op.name, dict(attrs), rule, dtype, layout, in_shape, in_strides, out_shape,
                        out_strides, boxes_only)


def make_plan(op: Operator, attrs: Attrs, rule: int, dtype: int, layout: int,
              in_shape: tuple[int, ...], in_strides: tuple[int, ...], out_shape: tuple[int, ...],
              out_strides: tuple[int, ...], boxes_only: bool = False) -> _native.Plan:
    """The plan of a call. Equal calls share one; the last 256 are kept."""
    return _cached(op, attrs, rule, dtype, layout, in_shape, in_strides, out_shape, out_strides,
                   boxes_only)
