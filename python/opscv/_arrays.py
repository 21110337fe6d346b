# SPDX-License-Identifier: Apache-2.0
"""Reads arrays without copying them, and makes results of the same kind.

A kind is NumPy's or that of a library whose arrays speak DLPack.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _native
from ._types import DTYPE_NAMES, ITEM_SIZES, STORAGE, number_of

# Memory of this size and more is asked for in huge pages, which are touched many times faster.
HUGE_BYTES = 4 << 20


class View:
    """Where an array's elements lie. `keep` is what must live as long as the address is used."""
    __slots__ = ("address", "dtype", "shape", "strides", "keep")

    def __init__(self, address: int, dtype: int, shape: tuple[int, ...], strides: tuple[int, ...],
                 keep: Any) -> None:
        self.address = address
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.keep = keep


def _of_numpy(name: str, array: np.ndarray, for_writing: bool) -> View:
    number = number_of(array.dtype)
    if number is None:
        raise TypeError(f"{name} must be of type {', '.join(DTYPE_NAMES)} in this machine's byte "
                        f"order, got {array.dtype}.")
    size = ITEM_SIZES[number]
    if any(stride % size for stride in array.strides):
        raise ValueError(f"{name} must have strides that are whole elements of {size} bytes, got "
                         f"{array.strides}.")
    address, is_read_only = array.__array_interface__["data"]
    if for_writing and is_read_only:
        raise ValueError(f"{name} must be writable, got a read-only array.")
    return View(address, number, array.shape,
                tuple([stride // size for stride in array.strides]), array)


def view(name: str, array: Any, for_writing: bool = False) -> View:
    """The array's memory. TypeError or ValueError naming the argument where it cannot be used."""
    if isinstance(array, np.ndarray):
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"{name} must not have a mask, which would be lost here: take its data or "
                            "fill it.")
        return _of_numpy(name, array, for_writing)
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"{name} must be a NumPy array or speak DLPack, got "
                        f"{type(array).__name__}.")
    if getattr(array, "requires_grad", False):
        raise TypeError(f"{name} must not require grad, which would be lost here: detach it, or use "
                        "opscv.torch.interpolate.")
    is_negated = getattr(array, "is_neg", None)
    if is_negated is not None and is_negated():
        raise TypeError(f"{name} must not be negated lazily, since its memory has the other sign: take "
                        "its resolve_neg().")
    try:
        loan = (_native.borrow_for_writing if for_writing else _native.borrow)(array)
    except TypeError:
        raise TypeError(f"{name} must lend its memory by DLPack on the CPU"
                        f"{' for writing' if for_writing else ''}, which this {type(array).__name__} "
                        "does not.") from None
    if loan.dtype < 0:
        raise TypeError(f"{name} must be of type {', '.join(DTYPE_NAMES)}.")
    return View(loan.address, loan.dtype, tuple(loan.shape), tuple(loan.strides), (loan, array))


class _Lender:
    """Memory that NumPy allocated, for another library to take over by DLPack."""

    def __init__(self, memory: np.ndarray, dtype: int) -> None:
        self._memory = memory
        self._dtype = dtype

    def __dlpack__(self, **_: Any) -> Any:
        memory = self._memory
        strides = [stride // memory.itemsize for stride in memory.strides]
        return _native.to_capsule(memory.__array_interface__["data"][0], self._dtype,
                                  list(memory.shape), strides, memory)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU


def _from_dlpack_of(array: Any) -> Any:
    """The function by which the array's library takes over memory, or None."""
    namespace = getattr(array, "__array_namespace__", None)
    if namespace is not None:
        return getattr(namespace(), "from_dlpack", None)
    for module in (type(array).__module__, type(array).__module__.partition(".")[0]):
        found = getattr(sys.modules.get(module), "from_dlpack", None)
        if found is not None:
            return found
    return None


def fresh(shape: tuple[int, ...], dtype: int, like: Any) -> tuple[Any, View]:
    """A new row-major array of the kind of `like`, and its view."""
    if isinstance(like, np.ndarray):
        memory = np.empty(shape, like.dtype)
    else:
        memory = np.empty(shape, STORAGE[dtype])
    address = memory.__array_interface__["data"][0]
    if memory.nbytes >= HUGE_BYTES:
        _native.advise_huge_pages(address, memory.nbytes)
    size = memory.itemsize
    seen = View(address, dtype, shape, tuple([s // size for s in memory.strides]), memory)
    if isinstance(like, np.ndarray):
        return memory, seen
    take_over = _from_dlpack_of(like)
    if take_over is None:
        raise TypeError(f"out must be given: {type(like).__module__} has no from_dlpack to make a "
                        f"{type(like).__name__} with.")
    return take_over(_Lender(memory, dtype)), seen
