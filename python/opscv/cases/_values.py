# SPDX-License-Identifier: Apache-2.0
"""Values in every element type without any library but NumPy, and the data language of case files.

bfloat16 is kept as its 16 bits. Knows nothing of doors.
"""
from __future__ import annotations

import json
import math
import re

import numpy as np

from .._types import DTYPE_NAMES, STORAGE

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


def _base(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    count = math.prod(shape)
    if seed := re.fullmatch(r"randn seed (\d+)", kind):
        import torch  # the language says: PyTorch's generator
        torch.manual_seed(int(seed[1]))
        return torch.randn(shape, dtype=torch.float64).numpy()
    if seed := re.fullmatch(r"normal seed (\d+)", kind):
        return np.random.default_rng(int(seed[1])).standard_normal(shape)
    if seed := re.fullmatch(r"integers seed (\d+)", kind):
        return np.random.default_rng(int(seed[1])).integers(0, 120, shape).astype(np.float64)
    if modulus := re.fullmatch(r"arange mod (\d+)", kind):
        return (np.arange(count) % int(modulus[1])).astype(np.float64).reshape(shape)
    if half := re.fullmatch(r"half \+([\d.]+) half -\1", kind):
        values = np.full(count, -float(half[1]))
        values[:count // 2] *= -1
        return values.reshape(shape)
    if constant := re.fullmatch(r"const (-?[\d.]+)", kind):
        return np.full(shape, float(constant[1]))
    if kind in ("ones", "zeros", "expand 1"):
        return np.full(shape, 0.0 if kind == "zeros" else 1.0)
    if kind == "arange":
        return np.arange(1.0, count + 1).reshape(shape)
    if kind == "onehot at last":
        values = np.zeros(count)
        values[-1] = 1
        return values.reshape(shape)
    raise ValueError(f"data {kind!r} is not in the language")


def make_data(text: str, shape: tuple[int, ...]) -> np.ndarray:
    """The values that `data` names: tests/cases/README.md has the language. `normal seed S` and
    `integers seed S` are NumPy's default generator."""
    values = _base(_GIVEN.sub("", text), shape).copy()
    for value, at in _GIVEN.findall(text):
        values[tuple(json.loads(at))] = float(value)
    return values
