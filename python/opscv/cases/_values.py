# SPDX-License-Identifier: Apache-2.0
"""Values in every element type without any library but NumPy, and the data language of case files.

bfloat16 is kept as its 16 bits. Knows nothing of doors.
"""
from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .._types import DTYPE_NAMES, STORAGE

Shape = tuple[int, ...]

_GIVEN = re.compile(r", (nan|inf) at (\[[0-9, ]*\])")


def storage_type(dtype: str) -> np.dtype:
    return STORAGE[DTYPE_NAMES.index(dtype)]


def encode(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values rounded to the type, to nearest-even."""
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):  # beyond the range is infinite
            return values.astype(storage_type(dtype))
    # By way of float32, as PyTorch converts.
    with np.errstate(over="ignore"):
        bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def decode(stored: np.ndarray, dtype: str) -> np.ndarray:
    """The values in float64; exact but for integers beyond 2^53."""
    if dtype == "bfloat16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64)


def _randn(shape: Shape, seed: str) -> Any:
    import torch  # the language says: PyTorch's generator
    torch.manual_seed(int(seed))
    return torch.randn(shape, dtype=torch.float64).numpy()


def _halves(shape: Shape, value: str) -> np.ndarray:
    count = math.prod(shape)
    values = np.full(count, -float(value))
    values[:count // 2] *= -1
    return values.reshape(shape)


def _one_at_last(shape: Shape) -> np.ndarray:
    values = np.zeros(math.prod(shape))
    values[-1:] = 1
    return values.reshape(shape)


# Each text of the language, and what makes its values of a shape and of the numbers in it.
_MAKERS: tuple[tuple[str, Callable[..., Any]], ...] = (
    (r"randn seed (\d{1,18})", _randn),
    (r"normal seed (\d{1,18})",
     lambda shape, seed: np.random.default_rng(int(seed)).standard_normal(shape)),
    (r"integers seed (\d{1,18})",
     lambda shape, seed: np.random.default_rng(int(seed)).integers(0, 120, shape).astype(np.float64)),
    (r"arange mod ([1-9]\d{0,17})", lambda shape, modulus: (
        np.arange(math.prod(shape)) % int(modulus)).astype(np.float64).reshape(shape)),
    (r"half \+(\d+(?:\.\d+)?) half -\1", _halves),
    (r"const (-?\d+(?:\.\d+)?)", lambda shape, value: np.full(shape, float(value))),
    (r"ones|expand 1", lambda shape: np.full(shape, 1.0)),
    (r"zeros", lambda shape: np.full(shape, 0.0)),
    (r"arange", lambda shape: np.arange(1.0, math.prod(shape) + 1).reshape(shape)),
    (r"onehot at last", _one_at_last),
)


def why_no_data(text: str, shape: Shape) -> str:
    """What a text that does not name values of that shape should have been; "" for one that does."""
    base = _GIVEN.sub("", text)
    if not any(re.fullmatch(pattern, base) for pattern, _ in _MAKERS):
        return "in the language of data"
    for _, at in _GIVEN.findall(text):
        index = [int(number) for number in re.findall(r"\d+", at)]
        if len(index) != len(shape) or not all(i < n for i, n in zip(index, shape)):
            return f"of elements of {list(shape)}"
    return ""


def make_data(text: str, shape: Shape) -> np.ndarray:
    """The values that `data` names: tests/cases/README.md has the language. `normal seed S` and
    `integers seed S` are NumPy's default generator."""
    base = _GIVEN.sub("", text)
    for pattern, make in _MAKERS:
        if match := re.fullmatch(pattern, base):
            values: np.ndarray = make(shape, *match.groups()).copy()
            for value, at in _GIVEN.findall(text):
                values[tuple([int(number) for number in re.findall(r"\d+", at)])] = float(value)
            return values
    raise ValueError(f"data {text!r} is not in the language")
