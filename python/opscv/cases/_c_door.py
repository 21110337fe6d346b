# SPDX-License-Identifier: Apache-2.0
"""The door c: the two-stage interface of the installed library, called as a C program calls it."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib
from typing import Any

from ._doors import NotOffered, Refused
from ._problem import Problem, Tensor

_DTYPES = {"float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7,
           "uint32": 8, "int64": 9, "uint64": 10, "float64": 11, "bool": 12, "bfloat16": 27}
_FORMATS = {"NCHW": 0, "NHWC": 1, "NDHWC": 27, "NCDHW": 30}
_FUNCTIONS = {"UpsampleBicubic2dAA": "aclnnUpsampleBicubic2dAA",
              "UpsampleBicubic2dAAGrad": "aclnnUpsampleBicubic2dAAGrad",
              "UpsampleNearestExact3d": "aclnnUpsampleNearestExact3d",
              "UpsampleNearestExact3dGrad": "aclnnUpsampleNearestExact3dBackward"}
_HUGE_FIRST, _TO_DEVICE, _TO_HOST = 0, 1, 2


def _find_library() -> str:
    """OPSCV_LIBRARY, the one inside this package, or the system's."""
    if named := os.environ.get("OPSCV_LIBRARY"):
        return named
    inside = sorted(pathlib.Path(__file__).resolve().parents[1].glob("libopscv.so*"))
    found = str(inside[0]) if inside else ctypes.util.find_library("opscv")
    if not found:
        raise FileNotFoundError("no libopscv.so is installed; OPSCV_LIBRARY can name one")
    return found


def _array(values: tuple[int, ...]) -> Any:
    return (ctypes.c_int64 * max(len(values), 1))(*values)


class CDoor:
    """Rule: what OPSCV_INDEX_RULE says, or ascend."""
    name = "c"

    def __init__(self) -> None:
        name = _find_library()
        self._library = ctypes.CDLL(name)
        if not hasattr(self._library, "aclGetRecentErrMsg"):
            raise OSError(f"{name} has no aclGetRecentErrMsg: it is another library")
        self._library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self._library.aclCreateTensor.restype = ctypes.c_void_p
        self._library.aclCreateIntArray.restype = ctypes.c_void_p

    def rule(self, problem: Problem) -> str:
        rule = os.environ.get("OPSCV_INDEX_RULE", "ascend")
        if problem.rule not in (None, rule):
            raise NotOffered(f"C programs choose the rule by OPSCV_INDEX_RULE, which is {rule}")
        return rule

    def run(self, problem: Problem, source: Tensor, target: Tensor) -> None:
        if problem.expect != "refused" and problem.dtype not in ("float32", "float16", "bfloat16"):
            raise NotOffered(f"the C interface does not take {problem.dtype}")
        if problem.layout == "NHWC":
            raise NotOffered("the C interface takes this operator in NCHW only")
        device = [self._to_device(tensor) for tensor in (source, target)]
        try:
            self._call(problem, (source, target), device)
            memory = target.storage
            self._must(self._library.aclrtMemcpy(
                ctypes.c_void_p(memory.ctypes.data), ctypes.c_size_t(memory.nbytes), device[1],
                ctypes.c_size_t(memory.nbytes), _TO_HOST))
        finally:
            for address in device:
                self._library.aclrtFree(address)

    def _must(self, code: int) -> None:
        if code != 0:
            message = self._library.aclGetRecentErrMsg() or b""
            raise Refused(message.decode(errors="replace"), code)

    def _to_device(self, tensor: Tensor) -> ctypes.c_void_p:
        memory, size = ctypes.c_void_p(), ctypes.c_size_t(tensor.storage.nbytes)
        self._must(self._library.aclrtMalloc(ctypes.byref(memory), size, _HUGE_FIRST))
        self._must(self._library.aclrtMemcpy(memory, size,
                                             ctypes.c_void_p(tensor.storage.ctypes.data), size,
                                             _TO_DEVICE))
        return memory

    def _tensor(self, problem: Problem, tensor: Tensor, dtype: str,
                memory: ctypes.c_void_p) -> ctypes.c_void_p:
        # Tensors of another rank than the operator's have no layout.
        rank = len(tensor.shape)
        layout = _FORMATS[problem.layout] if rank == problem.op.axes + 2 else 2
        flat = _array((tensor.storage.size,))
        handle = self._library.aclCreateTensor(
            _array(tensor.shape), ctypes.c_uint64(rank), _DTYPES[dtype], _array(tensor.strides),
            ctypes.c_int64(tensor.offset), layout, flat, ctypes.c_uint64(1), memory)
        if handle is None:
            raise Refused((self._library.aclGetRecentErrMsg() or b"").decode(), 161002)
        return ctypes.c_void_p(handle)

    def _ints(self, values: Any) -> Any:
        if values is None:
            return None
        return ctypes.c_void_p(self._library.aclCreateIntArray(_array(values),
                                                               ctypes.c_uint64(len(values))))

    def _call(self, problem: Problem, tensors: tuple[Tensor, Tensor], device: list[Any]) -> None:
        source = self._tensor(problem, tensors[0], problem.dtype, device[0])
        target = self._tensor(problem, tensors[1], problem.out_dtype or problem.dtype, device[1])
        sizes = [self._ints(problem.output_size)]
        if problem.op.backward:
            sizes.append(self._ints(problem.input_size))
        corners = [] if problem.op.is_nearest else [ctypes.c_bool(problem.align_corners)]
        scales = [ctypes.c_double(scale or 0.0) for scale in problem.scales]
        bytes_needed, executor = ctypes.c_uint64(0), ctypes.c_void_p()
        name = _FUNCTIONS[problem.op.name]
        try:
            self._must(self._library[f"{name}GetWorkspaceSize"](
                source, *sizes, *corners, *scales, target, ctypes.byref(bytes_needed),
                ctypes.byref(executor)))
            self._second_stage(name, bytes_needed, executor)
        finally:
            for handle in (source, target):
                self._library.aclDestroyTensor(handle)
            for handle in sizes:
                if handle is not None:
                    self._library.aclDestroyIntArray(handle)

    def _second_stage(self, name: str, bytes_needed: ctypes.c_uint64,
                      executor: ctypes.c_void_p) -> None:
        workspace = ctypes.c_void_p()
        if bytes_needed.value:
            self._must(self._library.aclrtMalloc(ctypes.byref(workspace),
                                                 ctypes.c_size_t(bytes_needed.value), _HUGE_FIRST))
        try:
            self._must(self._library[name](workspace, bytes_needed, executor, None))
            self._must(self._library.aclrtSynchronizeStream(None))
        finally:
            if workspace:
                self._library.aclrtFree(workspace)
