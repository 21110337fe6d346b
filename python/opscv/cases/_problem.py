# SPDX-License-Identifier: Apache-2.0
"""One concrete case, and the memory that its tensors lie in. Knows nothing of doors."""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Optional

import numpy as np

from .._types import Operator, in_layout
from ._values import encode, make_data, storage_type

Ints = tuple[int, ...]

# How an input may lie; cases have some forms more.
MEMORIES = ("contiguous", "permuted", "stepped", "expanded")


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A view of flat memory; strides and offset in elements, dimensions in the layout's order."""
    storage: np.ndarray
    shape: Ints
    strides: Ints
    offset: int = 0

    @property
    def address(self) -> int:
        return self.storage.ctypes.data + self.offset * self.storage.itemsize

    def array(self) -> np.ndarray:
        """The same as a NumPy array, which cannot be as large as some views of few elements."""
        size = self.storage.itemsize
        return np.lib.stride_tricks.as_strided(self.storage[self.offset:], self.shape,
                                               [stride * size for stride in self.strides])


@dataclasses.dataclass(frozen=True)
class Problem:
    """A call and what it must answer. Sizes are N,C,spatial whatever the layout is."""
    id: str
    op: Operator
    dtype: str
    layout: str
    data_shape: Ints
    input_size: Ints
    output_size: Optional[Ints]
    align_corners: bool
    scales: tuple[Optional[float], ...]
    data: str
    memory: str = "contiguous"  # or permuted, stepped, expanded, last: how the input lies
    out_memory: str = "contiguous"
    rule: Optional[str] = None  # None: the door's own
    expect: str = "bound"  # or refused, empty, either
    code: int = 0  # the C interface's answer to a refusal
    values: Any = None  # exact values, as case files write them
    reference: Any = None  # sums that the float64 answer must have
    strides: Optional[Ints] = None  # of the input, where they are given as such
    out_shape: Optional[Ints] = None
    out_dtype: Optional[str] = None
    prefill: float = 7.0

    @property
    def order(self) -> int:
        return self.op.layouts.index(self.layout)

    @property
    def result_size(self) -> Ints:
        """N,C,spatial of the result."""
        if self.out_shape is not None:
            return self.out_shape
        return self.input_size if self.op.backward else (*self.input_size[:2],
                                                         *(self.output_size or ()))

    def text(self) -> str:
        sizes = "x".join(map(str, self.input_size))
        return f"{sizes} {'<-' if self.op.backward else '->'} {self.output_size}"


def _permutation(memory: str, rank: int) -> tuple[int, ...]:
    """The dimensions in memory, outermost first."""
    if memory == "permuted":
        return (*range(2, rank), 1, 0)
    if memory == "last":
        return (0, *range(2, rank), 1)
    if memory == "permuted w,h,d":
        return (0, 1, *range(rank - 1, 1, -1))
    if memory == "transposed h,w":
        return (0, 1, *range(2, rank - 2), rank - 1, rank - 2)
    return tuple(range(rank))


def lay_out(values: np.ndarray, memory: str) -> Tensor:
    """The values as a view of memory of that form."""
    rank = values.ndim
    step = 2 if memory == "stepped" else 1
    order = _permutation(memory, rank)
    strides, extent = [0] * rank, step
    for dim in reversed(order):
        strides[dim] = extent
        extent *= max(values.shape[dim], 1)
    offset = step - 1
    tensor = Tensor(np.zeros(max(extent + offset, 1), values.dtype), values.shape, tuple(strides),
                    offset)
    if values.size:
        tensor.array()[...] = values
    return tensor


def make_input(problem: Problem) -> tuple[Tensor, Optional[np.ndarray]]:
    """The input as a door gets it, and its values N,C,spatial as the type has them; no values where
    the view is beyond all memory."""
    if problem.strides is not None and not any(problem.strides):
        one = encode(np.ones(1), problem.dtype)
        values = None
        if math.prod(problem.data_shape) <= 2**24:
            values = np.broadcast_to(one, problem.data_shape)
        return Tensor(one, problem.data_shape, problem.strides), values
    values = encode(make_data(problem.data, problem.data_shape), problem.dtype)
    if problem.memory == "expanded":  # one plane stands for all
        plane = values[:1, :1].copy()
        values = np.broadcast_to(plane, values.shape)
        shown = np.moveaxis(values, 1, -1) if problem.order else values
        strides = tuple(stride // values.itemsize for stride in shown.strides)
        return Tensor(plane.ravel(), shown.shape, strides), values
    if problem.strides is not None:
        reach = sum((n - 1) * s for n, s in zip(problem.data_shape, problem.strides))
        tensor = Tensor(np.zeros(reach + 1, values.dtype), problem.data_shape, problem.strides)
        tensor.array()[...] = values
        return tensor, tensor.array().copy()  # elements that share memory have one value
    shown = values
    if problem.order and values.ndim > 2:
        shown = np.moveaxis(values, 1, -1)
    return lay_out(shown, problem.memory), values


def make_output(problem: Problem) -> Tensor:
    """Memory for the result. Where the result is beyond all memory, one element stands for it."""
    dtype = problem.out_dtype or problem.dtype
    shape = in_layout(problem.result_size, problem.order)
    if any(extent < 0 for extent in shape) or math.prod(shape) > 2**31:
        return Tensor(np.zeros(1, storage_type(dtype)), shape, (0,) * len(shape))
    fill = encode(np.full(1, problem.prefill), dtype)[0]
    return lay_out(np.full(shape, fill), problem.out_memory)


def result_of(problem: Problem, output: Tensor) -> np.ndarray:
    """The result's elements as N,C,spatial."""
    array = output.array()
    return np.moveaxis(array, -1, 1) if problem.order else array
