# SPDX-License-Identifier: Apache-2.0
"""The operators as functions, named and ordered as ATen has them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ._arrays import View, fresh, view
from ._plans import (Attrs, in_python_words, make_plan, row_major, to_bool, to_ints,
                     to_scale, to_threads)
from ._types import (DTYPE_NAMES, OPERATORS, Operator, channels_first, in_layout, to_layout,
                     to_rule)

Array = TypeVar("Array")


def _resize(op: Operator, array: Array, attrs: Attrs, sizes: tuple[int, ...], rule: str | None,
            layout: str | None, threads: int | None, out: Array | None) -> Array:
    """Runs an operator. `sizes` is the output's spatial size, or for a gradient its N,C,spatial."""
    rule_number = to_rule(op, rule)
    order = to_layout(op, layout)
    thread_count = to_threads(threads)
    source = view(op.input, array)
    if len(source.shape) != op.axes + 2:
        raise ValueError(f"{op.input} must have {op.axes + 2} dimensions, got "
                         f"{len(source.shape)}.")
    if not op.backward:
        sizes = (*channels_first(source.shape, order)[:2], *sizes)
    shape = in_layout(sizes, order)
    result: Array
    try:
        if out is None:
            # A plan for row-major memory first: what it refuses needs no memory.
            plan = make_plan(op, attrs, rule_number, source.dtype, order, source.shape,
                             source.strides, shape, row_major(shape))
            result, target = fresh(shape, source.dtype, array)
        else:
            result, target = out, _out_view(out, op, source.dtype)
            plan = make_plan(op, attrs, rule_number, source.dtype, order, source.shape,
                             source.strides, target.shape, target.strides)
        plan.run(source.address, target.address, thread_count)
    except ValueError as error:
        raise ValueError(in_python_words(op, str(error))) from None
    return result


def _out_view(out: Any, op: Operator, dtype: int) -> View:
    target = view("out", out, for_writing=True)
    if target.dtype != dtype:
        raise TypeError(f"out must be of the same type as {op.input}, {DTYPE_NAMES[dtype]}, got "
                        f"{DTYPE_NAMES[target.dtype]}.")
    return target


def _bicubic_attrs(output_size: tuple[int, ...], align_corners: bool, scales_h: float | None,
                   scales_w: float | None) -> Attrs:
    return (("output_size", output_size), ("align_corners", to_bool("align_corners", align_corners)),
            ("scales_h", to_scale("scales_h", scales_h)),
            ("scales_w", to_scale("scales_w", scales_w)))


def _nearest_attrs(output_size: tuple[int, ...], scales_d: float | None, scales_h: float | None,
                   scales_w: float | None) -> Attrs:
    return (("output_size", output_size),
            ("scales", (to_scale("scales_d", scales_d), to_scale("scales_h", scales_h),
                        to_scale("scales_w", scales_w))))


def upsample_bicubic2d_aa(self: Array, output_size: Sequence[int], align_corners: bool = False,
                          scales_h: float | None = None, scales_w: float | None = None, *,
                          out: Array | None = None, rule: None = None, layout: str | None = None,
                          threads: int | None = None) -> Array:
    """Bicubic resize with antialiasing of an image N,C,H,W (or N,H,W,C with layout="NHWC").

    output_size is (height, width). scales are sizes after the resize per sizes before it; None: the
    sizes decide. Writes into `out` where one is given, and returns it; else returns a new row-major
    array of the kind of `self`. The operator has no ties, so there is no rule to choose.
    """
    size = to_ints("output_size", output_size, 2)
    attrs = _bicubic_attrs(size, align_corners, scales_h, scales_w)
    return _resize(OPERATORS["UpsampleBicubic2dAA"], self, attrs, size, rule, layout, threads, out)


def upsample_bicubic2d_aa_backward(grad_output: Array, output_size: Sequence[int],
                                   input_size: Sequence[int], align_corners: bool = False,
                                   scales_h: float | None = None, scales_w: float | None = None, *,
                                   out: Array | None = None, rule: None = None,
                                   layout: str | None = None,
                                   threads: int | None = None) -> Array:
    """The gradient of upsample_bicubic2d_aa: that of the resized image in, that of the image out.

    output_size is (height, width) of grad_output, input_size is N,C,H,W of the result in every
    layout.
    """
    size = to_ints("output_size", output_size, 2)
    whole = to_ints("input_size", input_size, 4)
    attrs = (*_bicubic_attrs(size, align_corners, scales_h, scales_w), ("input_size", whole))
    return _resize(OPERATORS["UpsampleBicubic2dAAGrad"], grad_output, attrs, whole, rule, layout,
                   threads, out)


def upsample_nearest_exact3d(self: Array, output_size: Sequence[int],
                             scales_d: float | None = None, scales_h: float | None = None,
                             scales_w: float | None = None, *, out: Array | None = None,
                             rule: str | None = None, layout: str | None = None,
                             threads: int | None = None) -> Array:
    """Nearest-exact resize of a volume N,C,D,H,W (or N,D,H,W,C with layout="NDHWC").

    Copies elements of any type of 1 to 8 bytes. output_size is (depth, height, width). rule is one
    of "torch_cpu" (the default), "ascend" and "exact": which sample is the nearest where rounding
    decides.
    """
    size = to_ints("output_size", output_size, 3)
    attrs = _nearest_attrs(size, scales_d, scales_h, scales_w)
    return _resize(OPERATORS["UpsampleNearestExact3d"], self, attrs, size, rule, layout, threads,
                   out)


def upsample_nearest_exact3d_backward(grad_output: Array, output_size: Sequence[int],
                                      input_size: Sequence[int], scales_d: float | None = None,
                                      scales_h: float | None = None,
                                      scales_w: float | None = None, *, out: Array | None = None,
                                      rule: str | None = None, layout: str | None = None,
                                      threads: int | None = None) -> Array:
    """The gradient of upsample_nearest_exact3d: that of the resized volume in, that of the volume
    out.

    output_size is (depth, height, width) of grad_output, input_size is N,C,D,H,W of the result in
    every layout.
    """
    size = to_ints("output_size", output_size, 3)
    whole = to_ints("input_size", input_size, 5)
    attrs = (*_nearest_attrs(size, scales_d, scales_h, scales_w), ("input_size", whole))
    return _resize(OPERATORS["UpsampleNearestExact3dGrad"], grad_output, attrs, whole, rule, layout,
                   threads, out)
