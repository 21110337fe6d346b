# SPDX-License-Identifier: Apache-2.0
"""The doors native, python and torch: each runs a problem from its tensors into its output."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from .. import _functions as functions
from .._types import DEFAULT_RULE, DTYPE_NAMES, RULES
from ._problem import Problem, Tensor


class Refused(Exception):
    """The door refused the call. code is the C interface's; 0 in the other doors."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class NotOffered(Exception):
    """A call that this door does not have, by its documents."""


class NativeDoor:
    """The C++ interface: plans on addresses, rule ascend unless the problem asks for another."""
    name = "native"

    def rule(self, problem: Problem) -> str:
        return problem.rule or "ascend"

    def run(self, problem: Problem, source: Tensor, target: Tensor) -> None:
        if problem.out_dtype is not None:
            raise NotOffered("a plan of the module has one type")
        attrs: dict[str, Any] = {"output_size": problem.output_size or ()}
        if problem.op.backward:
            attrs["input_size"] = problem.input_size
        scales = tuple(scale or 0.0 for scale in problem.scales)
        if problem.op.is_nearest:
            attrs["scales"] = scales
        else:
            attrs.update(align_corners=problem.align_corners, scales_h=scales[0],
                         scales_w=scales[1])
        rule = RULES.index(self.rule(problem)) if problem.op.is_nearest else 0
        try:
            plan = _native.Plan(problem.op.name, attrs, rule, DTYPE_NAMES.index(problem.dtype),
                                problem.order, source.shape, source.strides, target.shape,
                                target.strides)
            plan.run(source.address, target.address, 0)
        except (ValueError, MemoryError) as error:
            raise Refused(str(error)) from None


class _Speaker:
    """A tensor that lends its memory by DLPack: bfloat16, and views larger than NumPy's."""

    def __init__(self, tensor: Tensor, dtype: str) -> None:
        self._tensor = tensor
        self._dtype = dtype

    def __dlpack__(self, **_: Any) -> Any:
        tensor = self._tensor
        return _native.to_capsule(tensor.address, DTYPE_NAMES.index(self._dtype), tensor.shape,
                                  tensor.strides, tensor.storage)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class PythonDoor:
    """The functions of opscv, writing into `out`."""
    name = "python"

    def rule(self, problem: Problem) -> str:
        return problem.rule or DEFAULT_RULE

    def run(self, problem: Problem, source: Tensor, target: Tensor) -> None:
        axes = "dhw"[-problem.op.axes:]
        keywords: dict[str, Any] = {f"scales_{axis}": scale
                                    for axis, scale in zip(axes, problem.scales)}
        if problem.op.is_nearest:
            keywords["rule"] = self.rule(problem)
        else:
            keywords["align_corners"] = problem.align_corners
        if problem.op.backward:
            keywords["input_size"] = problem.input_size
        function: dict[str, Any] = {
            "UpsampleBicubic2dAA": functions.upsample_bicubic2d_aa,
            "UpsampleBicubic2dAAGrad": functions.upsample_bicubic2d_aa_backward,
            "UpsampleNearestExact3d": functions.upsample_nearest_exact3d,
            "UpsampleNearestExact3dGrad": functions.upsample_nearest_exact3d_backward}
        out = self._array(target, problem.out_dtype or problem.dtype)
        try:
            function[problem.op.name](self._array(source, problem.dtype), problem.output_size,
                                      layout=problem.layout, out=out, **keywords)
        except (ValueError, TypeError, MemoryError) as error:
            raise Refused(str(error)) from None

    @staticmethod
    def _array(tensor: Tensor, dtype: str) -> Any:
        if dtype == "bfloat16":
            return _Speaker(tensor, dtype)
        try:
            return tensor.array()
        except ValueError:
            return _Speaker(tensor, dtype)


class TorchDoor:
    """PyTorch's own operators while opscv.torch is enabled. A call that they leave to PyTorch is
    refused: nothing of the library would be tested."""
    name = "torch"

    def __init__(self) -> None:
        from .. import torch  # which fails where there is no PyTorch
        self._ours = torch

    def rule(self, problem: Problem) -> str:
        if problem.rule not in (None, "torch_cpu"):
            raise NotOffered(f"PyTorch has no rule {problem.rule}")
        return "torch_cpu"

    def run(self, problem: Problem, source: Tensor, target: Tensor) -> None:
        import torch

        from ..torch._resize import KINDS

        if problem.order:
            raise NotOffered("PyTorch has no layout argument: its views are channels first")
        if not hasattr(torch, problem.dtype):
            raise NotOffered(f"this PyTorch has no type {problem.dtype}")
        kind = next(kind for kind in KINDS if kind.op is problem.op)
        args: list[Any] = [problem.output_size] + ([problem.input_size] if problem.op.backward else [])
        args += [] if problem.op.is_nearest else [problem.align_corners]
        before = self._ours.report()
        try:
            tensors = [self._tensor(torch, source, problem.dtype),
                       self._tensor(torch, target, problem.out_dtype or problem.dtype)]
            with self._ours.enabled():
                kind.out(tensors[0], *args, *problem.scales, **{kind.out_name: tensors[1]})
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            raise Refused(str(error).split("\n")[0]) from None
        after = self._ours.report()
        if after.taken == before.taken:
            left = set(after.not_taken) - set(before.not_taken) or set(after.not_taken)
            raise Refused(f"left to PyTorch: {', '.join(sorted(reason for _, reason in left))}")

    @staticmethod
    def _tensor(torch: Any, tensor: Tensor, dtype: str) -> Any:
        # PyTorch's from_numpy has no unsigned types beyond 8 bits in old versions, nor bfloat16.
        signed = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
        flat = tensor.storage.view(signed[tensor.storage.itemsize])
        return torch.from_numpy(flat).view(getattr(torch, dtype)).as_strided(
            tensor.shape, tensor.strides, tensor.offset)
