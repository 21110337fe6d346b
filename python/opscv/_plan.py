# SPDX-License-Identifier: Apache-2.0
"""A plan that is made once and run as often as wanted, box by box where memory is short."""
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _native
from ._arrays import View, fresh, view
from ._plans import (Attrs, make_plan, row_major, tensors_in_python_words, to_bool, to_ints,
                     to_scale, to_threads)
from ._types import (DTYPE_NAMES, OPERATORS, Operator, channels_first, in_layout, to_dtype,
                     to_layout, to_rule)

Box = tuple[slice, ...]


def _to_scales(name: str, value: Any, axes: int) -> tuple[float, ...]:
    """One for each axis; the library counts them."""
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list of {axes} numbers or None, got {value!r}.")
    return tuple([to_scale(f"{name}[{axis}]", scale) for axis, scale in enumerate(value)])


def _to_attribute(op: Operator, name: str, value: Any) -> Any:
    """A value of the type that the prototype has, one that can be looked up."""
    if name == "output_size":
        return to_ints(name, value, op.axes)
    if name == "input_size":
        return to_ints(name, value, op.axes + 2)
    if name == "align_corners":
        return to_bool(name, value)
    if name in ("scales_h", "scales_w"):
        return to_scale(name, value)
    if name == "scales":
        return _to_scales(name, value, op.axes)
    return 0  # the library refuses the name


def _to_operator(op: Any) -> Operator:
    if not isinstance(op, str):
        raise TypeError(f"op must be a str, one of {', '.join(OPERATORS)}, got {op!r}.")
    for name, known in OPERATORS.items():
        if name.lower() == op.lower():
            return known
    raise ValueError(f"op must be one of {', '.join(OPERATORS)}, got {op!r}.")


def _range(name: str, part: slice, extent: int) -> tuple[int, int]:
    """Where a slice of 0..extent begins and ends. Nothing is cut off at the ends, nor counted from
    the end: a box is made by arithmetic, and what leaves the output is a mistake there."""
    try:
        begin, end, step = [default if bound is None else operator.index(bound) for bound, default
                            in ((part.start, 0), (part.stop, extent), (part.step, 1))]
    except TypeError:
        raise TypeError(f"{name} must be a slice of integers, got {part}.") from None
    if step != 1:
        raise ValueError(f"{name} must be a slice without a step, got {part}.")
    if not (0 <= begin <= extent and 0 <= end <= extent):
        raise ValueError(f"{name} must be a slice within 0..{extent}, got {begin}:{end}.")
    if end < begin:
        raise ValueError(f"{name} must not end before it begins, got {begin}:{end}.")
    return begin, end


class Plan:
    """An operator bound to a shape and a type.

    op is the operator's graph name, such as "UpsampleBicubic2dAAGrad", and shape that of the input.
    Attributes go by their names in the prototype: output_size, input_size (gradients),
    align_corners, scales_h, scales_w (bicubic), scales (nearest).

        plan = opscv.Plan("UpsampleBicubic2dAA", (1, 3, 8000, 8000), output_size=(2000, 2000))
        box = np.s_[0:1, 0:3, 0:500, 0:2000]
        part = plan.run(image[plan.input_box(box)], box)

    A box is a tuple of slices, one for each dimension of the output. Its result has the bits that
    the whole would have there. A plan may be run by several threads at once.
    """

    def __init__(self, op: str, shape: Sequence[int], *, dtype: Any = "float32",
                 layout: str | None = None, rule: str | None = None, **attributes: Any) -> None:
        self._op = _to_operator(op)
        self._dtype = to_dtype(dtype)
        self._layout = to_layout(self._op, layout)
        self._rule = to_rule(self._op, rule)
        self._attrs: Attrs = tuple([(name, _to_attribute(self._op, name, value))
                                    for name, value in attributes.items()])
        self._in_shape = to_ints("shape", shape, self._op.axes + 2)
        self._out_shape = self._output_shape(dict(self._attrs))
        self._whole = self._native(row_major(self._in_shape), row_major(self._out_shape), False)

    def _output_shape(self, attrs: dict[str, Any]) -> tuple[int, ...]:
        needed = "input_size" if self._op.backward else "output_size"
        if needed not in attrs:
            raise ValueError(f"{needed} must be given.")
        sizes = attrs[needed]
        if not self._op.backward:
            sizes = (*channels_first(self._in_shape, self._layout)[:2], *sizes)
        return in_layout(sizes, self._layout)

    def _native(self, in_strides: tuple[int, ...], out_strides: tuple[int, ...],
                boxes_only: bool) -> _native.Plan:
        try:
            return make_plan(self._op, self._attrs, self._rule, self._dtype, self._layout,
                             self._in_shape, in_strides, self._out_shape, out_strides, boxes_only)
        except ValueError as error:
            raise ValueError(tensors_in_python_words(self._op, str(error))) from None

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self._in_shape

    @property
    def output_shape(self) -> tuple[int, ...]:
        return self._out_shape

    def describe(self) -> str:
        """What was decided, for people: passes, blocks, kernels, scratch. One fact a line."""
        return self._whole.describe()

    def _ranges(self, box: Box) -> tuple[list[int], list[int]]:
        rank = len(self._out_shape)
        if not isinstance(box, tuple) or not all(isinstance(part, slice) for part in box):
            raise TypeError(f"box must be a tuple of {rank} slices, got {box!r}.")
        if len(box) != rank:
            raise ValueError(f"box must have {rank} slices, got {len(box)}.")
        ranges = [_range(f"box[{axis}]", part, extent)
                  for axis, (part, extent) in enumerate(zip(box, self._out_shape))]
        return [begin for begin, _ in ranges], [end for _, end in ranges]

    def input_box(self, output_box: Box) -> Box:
        """The part of the input that a box of the output depends on."""
        begin, end = self._whole.input_box(*self._ranges(output_box))
        return tuple(slice(first, last) for first, last in zip(begin, end))

    def run(self, array: Any, box: Box | None = None, *, out: Any = None,
            threads: int | None = None) -> Any:
        """Computes the output, or a box of it, into a new array or into `out`.

        array is the whole input or, for a box, the part that input_box(box) tells.
        """
        count = to_threads(threads)
        source = self._checked_type(view(self._op.input, array), self._op.input)
        begin, end = self._ranges(box if box is not None else (slice(None),) * len(self._out_shape))
        shape = tuple([last - first for first, last in zip(begin, end)])
        origin = self._origin(source, begin, end)
        if out is None:
            result, target = fresh(shape, self._dtype, array)
        else:
            result = out
            target = self._checked_type(view("out", out, for_writing=True), "out")
            if target.shape != shape:
                raise ValueError(f"out must have shape {shape}, got {target.shape}.")
        plan = self._native(source.strides, target.strides, box is not None)
        try:
            plan.run_box(begin, end, source.address, origin, target.address, count)
        except ValueError as error:
            raise ValueError(tensors_in_python_words(self._op, str(error))) from None
        return result

    def _checked_type(self, array: View, name: str) -> View:
        if array.dtype != self._dtype:
            raise TypeError(f"{name} must be of the plan's type {DTYPE_NAMES[self._dtype]}, got "
                            f"{DTYPE_NAMES[array.dtype]}.")
        return array

    def _origin(self, source: View, begin: list[int], end: list[int]) -> list[int]:
        """The coordinates of the array's first element in the whole input."""
        if source.shape == self._in_shape:
            return [0] * len(begin)
        first, last = self._whole.input_box(begin, end)
        part = tuple([b - a for a, b in zip(first, last)])
        if source.shape != part:
            raise ValueError(f"{self._op.input} must have shape {self._in_shape}, or {part} for this "
                             f"box, got {source.shape}.")
        return first
