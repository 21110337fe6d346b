# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional.interpolate on the library's operators, differentiable any number of times."""
from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch

from ._resize import (BICUBIC, BICUBIC_GRAD, NEAREST, NEAREST_GRAD, Decision, Kind, decide,
                      is_plain, run)

_Sizes = tuple[int, ...]


class _Call(NamedTuple):
    """A resize in one direction, and all that the other direction needs."""
    forward: bool
    input_size: _Sizes
    output_size: _Sizes
    align_corners: bool
    scales: tuple[Optional[float], ...]

    def kind(self) -> Kind:
        if len(self.output_size) == 2:
            return BICUBIC if self.forward else BICUBIC_GRAD
        return NEAREST if self.forward else NEAREST_GRAD

    def arguments(self) -> tuple[Any, ...]:
        sizes = (self.output_size,) if self.forward else (self.output_size, self.input_size)
        corners = (self.align_corners,) if len(self.output_size) == 2 else ()
        return (*sizes, *corners, *self.scales)


def _decide(call: _Call, tensor: torch.Tensor) -> Any:
    return decide(call.kind(), tuple(tensor.shape), tensor.stride(), tensor.dtype,
                  call.arguments(), None)


class _Resize(torch.autograd.Function):
    """Either direction. Both are linear, and each is the gradient of the other."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, call: _Call) -> torch.Tensor:
        ctx.call = call
        if tensor._is_zerotensor():  # zeros without memory
            tensor = torch.zeros_like(tensor)
        tensor = tensor.resolve_neg()
        decision = _decide(call, tensor)
        if not isinstance(decision, Decision):
            raise RuntimeError(f"opscv.torch.interpolate: {decision.reason}")
        return run(decision, tensor)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return _Resize.apply(grad, ctx.call._replace(forward=not ctx.call.forward)), None


def _per_axis(value: Any, axes: int) -> Optional[list[Any]]:
    """A number for each axis, from one or from a list of as many; None for anything else."""
    if isinstance(value, numbers.Real):
        return [value] * axes
    if isinstance(value, Sequence) and len(value) == axes and all(
            isinstance(element, numbers.Real) for element in value):
        return list(value)
    return None


def _call_of(tensor: torch.Tensor, size: Any, scale_factor: Any, mode: str, align_corners: Any,
             recompute_scale_factor: Any, antialias: bool) -> Optional[_Call]:
    """The call, if it is one that the library has an operator for."""
    is_bicubic = mode == "bicubic" and antialias and tensor.dim() == 4
    is_nearest = (mode == "nearest-exact" and not antialias and align_corners is None
                  and tensor.dim() == 5)
    if not (is_bicubic or is_nearest) or (size is None) == (scale_factor is None):
        return None
    if not isinstance(align_corners, (bool, type(None))):
        return None
    axes = tensor.dim() - 2
    given = _per_axis(size if scale_factor is None else scale_factor, axes)
    if given is None or (size is not None and (recompute_scale_factor
                                              or not all(isinstance(n, int) for n in given))):
        return None
    scales: tuple[Optional[float], ...] = (None,) * axes
    if scale_factor is not None:
        given_scales = [float(scale) for scale in given]
        if not all(math.isfinite(scale) for scale in given_scales):
            return None
        given = [math.floor(extent * scale)
                 for extent, scale in zip(tensor.shape[2:], given_scales)]
        if not recompute_scale_factor:
            scales = tuple(given_scales)
    return _Call(True, tuple(tensor.shape), tuple(given), bool(align_corners), scales)


def interpolate(input: torch.Tensor, size: Any = None, scale_factor: Any = None,
                mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None,
                antialias: bool = False) -> torch.Tensor:
    """As torch.nn.functional.interpolate, arguments and result alike.

    mode="bicubic" with antialias=True on N,C,H,W and mode="nearest-exact" on N,C,D,H,W run here, in
    float64, float32, float16 and bfloat16 (nearest-exact in integers and bool too), for tensors on
    the CPU with any strides. Any other call, and one that PyTorch refuses, goes to PyTorch.
    """
    call = None
    # A subclass may have its own interpolate or no memory, and is the result's class otherwise.
    if type(input) in (torch.Tensor, torch.nn.Parameter) and is_plain(input):
        call = _call_of(input, size, scale_factor, mode, align_corners, recompute_scale_factor,
                        antialias)
    if call is None or not isinstance(_decide(call, input), Decision):
        return torch.nn.functional.interpolate(input, size, scale_factor, mode, align_corners,
                                               recompute_scale_factor, antialias)
    return _Resize.apply(input, call)
