# SPDX-License-Identifier: Apache-2.0
"""One resize of a tensor: decides once for each kind of call whether the library takes it, and runs
it. Knows nothing of autograd or of PyTorch's dispatcher beyond the operators' names."""
from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional

import torch

from .. import _native
from .._arrays import HUGE_BYTES
from .._plans import in_python_words
from .._types import DTYPE_NAMES, OPERATORS, RULES

_NUMBER_OF = {getattr(torch, name): number for number, name in enumerate(DTYPE_NAMES)
              if hasattr(torch, name)}
_TORCH_CPU = RULES.index("torch_cpu")
_META = torch._C.DispatchKey.Meta


class Kind:
    """One of ATen's operators that the library has."""

    def __init__(self, aten_name: str, op_name: str, out_name: str) -> None:
        self.aten_name = aten_name
        self.op = OPERATORS[op_name]
        self.out_name = out_name  # of the overload, and of its tensor
        self.argument_count = 1 + self.op.backward + 3  # sizes, then three of corners and scales
        self.default = getattr(torch.ops.aten, aten_name).default
        self.out = getattr(getattr(torch.ops.aten, aten_name), out_name)

    def __repr__(self) -> str:
        return self.aten_name


BICUBIC = Kind("_upsample_bicubic2d_aa", "UpsampleBicubic2dAA", "out")
BICUBIC_GRAD = Kind("_upsample_bicubic2d_aa_backward", "UpsampleBicubic2dAAGrad", "grad_input")
NEAREST = Kind("_upsample_nearest_exact3d", "UpsampleNearestExact3d", "out")
NEAREST_GRAD = Kind("_upsample_nearest_exact3d_backward", "UpsampleNearestExact3dGrad",
                    "grad_input")
KINDS = (BICUBIC, BICUBIC_GRAD, NEAREST, NEAREST_GRAD)


class Refusal(NamedTuple):
    """Why a call is left to PyTorch."""
    reason: str


class Decision(NamedTuple):
    """How a call runs: the plan, and the output that PyTorch would give it."""
    plan: _native.Plan
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    wants_huge_pages: bool


# What follows the tensor in ATen's schema: sizes, align_corners, scales.
Arguments = tuple[Any, ...]


def arguments_of(kind: Kind, args: tuple[Any, ...]) -> Arguments:
    """The arguments as something that can be looked up. PyTorch leaves out those at the end that
    have their default, None."""
    missing = (None,) * (kind.argument_count - len(args))
    return tuple([tuple(arg) if isinstance(arg, (list, torch.Size)) else arg
                  for arg in args]) + missing


def _attrs(kind: Kind, args: Arguments) -> dict[str, Any]:
    sizes = 2 if kind.op.backward else 1
    attrs: dict[str, Any] = {"output_size": args[0]}
    if kind.op.backward:
        attrs["input_size"] = args[1]
    if kind.op.is_nearest:
        attrs["scales"] = tuple([float(scale or 0.0) for scale in args[sizes:sizes + 3]])
    else:
        attrs["align_corners"] = bool(args[sizes])
        attrs["scales_h"], attrs["scales_w"] = [float(scale or 0.0)
                                                for scale in args[sizes + 1:sizes + 3]]
    return attrs


@functools.lru_cache(maxsize=256)
def decide(kind: Kind, shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype,
           args: Arguments, out_strides: Optional[tuple[int, ...]]) -> Decision | Refusal:
    """Whether the library takes a call. The output's shape and strides are those that PyTorch's own
    shape function tells; out_strides replaces them where the caller brings the output."""
    number = _NUMBER_OF.get(dtype)
    if number is None:
        return Refusal(f"type {dtype}")
    try:
        meta = torch.empty_strided(shape, strides, dtype=dtype, device="meta")
        result = kind.default._op_dk(_META, meta, *args)
    except (RuntimeError, TypeError, ValueError) as error:
        return Refusal(str(error).split("\n")[0])
    out_shape = tuple(result.shape)
    out_strides = tuple(result.stride()) if out_strides is None else out_strides
    attrs = _attrs(kind, args)
    rule = _TORCH_CPU if kind.op.is_nearest else 0
    try:
        plan = _native.Plan(kind.op.name, attrs, rule, number, 0, shape, strides, out_shape,
                            out_strides)
    except ValueError as error:
        return Refusal(in_python_words(kind.op, str(error)))
    return Decision(plan, out_shape, out_strides,
                    result.numel() * result.element_size() >= HUGE_BYTES)


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether the tensor's elements lie in this machine's memory as its strides say."""
    return (tensor.device.type == "cpu" and tensor.layout is torch.strided
            and not tensor.is_quantized and not tensor._is_zerotensor())


def run(decision: Decision, tensor: torch.Tensor) -> torch.Tensor:
    """The result in a new tensor."""
    result = torch.empty_strided(decision.shape, decision.strides, dtype=tensor.dtype)
    address = result.data_ptr()
    if decision.wants_huge_pages:
        _native.advise_huge_pages(address, result.numel() * result.element_size())
    decision.plan.run(tensor.data_ptr(), address, torch.get_num_threads())
    return result


def run_into(decision: Decision, tensor: torch.Tensor, out: torch.Tensor) -> None:
    """The result in a tensor that the decision was made for."""
    decision.plan.run(tensor.data_ptr(), out.data_ptr(), torch.get_num_threads())
