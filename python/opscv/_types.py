# SPDX-License-Identifier: Apache-2.0
"""Element types, layouts, index rules and operators, numbered as the native module numbers them."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

# In the order of opscv::DType.
DTYPE_NAMES = ("float64", "float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16",
               "int32", "uint32", "int64", "uint64", "bool")
BFLOAT16 = DTYPE_NAMES.index("bfloat16")
ITEM_SIZES = (8, 4, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1)

_NUMBER_OF = {np.dtype(name): number for number, name in enumerate(DTYPE_NAMES)
              if name != "bfloat16"}

# What NumPy has for a type; bfloat16 stands as its 16 bits.
STORAGE = tuple(np.dtype("uint16" if name == "bfloat16" else name) for name in DTYPE_NAMES)

RULES = ("ascend", "torch_cpu", "exact")
DEFAULT_RULE = "torch_cpu"


@dataclasses.dataclass(frozen=True)
class Operator:
    """What the functions of this package need to know of a prototype."""
    name: str
    input: str
    output: str
    axes: int
    backward: bool

    @property
    def is_nearest(self) -> bool:
        return self.axes == 3

    @property
    def layouts(self) -> tuple[str, str]:
        return ("NCDHW", "NDHWC") if self.axes == 3 else ("NCHW", "NHWC")


OPERATORS = {op.name: op for op in (
    Operator("UpsampleBicubic2dAA", "self", "out", 2, False),
    Operator("UpsampleBicubic2dAAGrad", "grad_output", "grad_input", 2, True),
    Operator("UpsampleNearestExact3d", "self", "out", 3, False),
    Operator("UpsampleNearestExact3dGrad", "grad_output", "y", 3, True),
)}


def number_of(dtype: np.dtype) -> int | None:
    """The type's number, None for one that no operator takes. ml_dtypes' bfloat16 is known by name,
    so that ml_dtypes need not be installed."""
    number = _NUMBER_OF.get(dtype)
    if number is None and dtype.kind == "V" and dtype.name == "bfloat16":
        return BFLOAT16
    return number


def to_dtype(dtype: Any) -> int:
    """The number of a type given by name, or as NumPy takes it."""
    if isinstance(dtype, str) and dtype in DTYPE_NAMES:
        return DTYPE_NAMES.index(dtype)
    number = None
    if dtype is not None:  # which NumPy takes for float64
        try:
            number = number_of(np.dtype(dtype))
        except (TypeError, ValueError):
            pass
    if number is None:
        raise TypeError(f"dtype must be one of {', '.join(DTYPE_NAMES)}, got {dtype!r}.")
    return number


def one_of(name: str, value: Any, known: Sequence[str]) -> int:
    """The place of a word in the list of those that there are."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, one of {', '.join(known)}, got {value!r}.")
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}.")
    return known.index(value)


def to_layout(op: Operator, layout: str | None) -> int:
    """0 for channels first (the default), 1 for channels last."""
    return 0 if layout is None else one_of("layout", layout, op.layouts)


def to_rule(op: Operator, rule: str | None) -> int:
    if op.is_nearest:
        return one_of("rule", DEFAULT_RULE if rule is None else rule, RULES)
    if rule is not None:
        raise ValueError(f"rule must not be given: {op.name} takes none, got {rule!r}.")
    return 0


def in_layout(sizes: tuple[int, ...], layout: int) -> tuple[int, ...]:
    """Sizes N,C,spatial in the order of a layout."""
    return sizes if layout == 0 else (sizes[0], *sizes[2:], sizes[1])


def channels_first(sizes: tuple[int, ...], layout: int) -> tuple[int, ...]:
    """Sizes in the order of a layout as N,C,spatial."""
    return sizes if layout == 0 else (sizes[0], sizes[-1], *sizes[1:-1])
