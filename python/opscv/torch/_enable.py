# SPDX-License-Identifier: Apache-2.0
"""Puts the library in the place of PyTorch's CPU kernels, and takes it away again.

The kernels are not replaced but preceded: a function under the dispatch key BackendSelect, which
comes after autograd and autocast and before the kernels of any device, takes a call or hands it on.
So what was there stays there, nothing is overridden (PyTorch would warn of it), and a call that is
not taken reaches the kernel that it would have reached.
"""
from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional

import torch

from ._report import counter
from ._resize import KINDS, Decision, Kind, arguments_of, decide, is_plain, run, run_into

_KEY = "BackendSelect"
# The backends that PyTorch has names for in Python, and where kernels for all backends stand.
_BACKENDS = tuple([name for name in ("CPU", "CUDA", "Meta", "QuantizedCPU", "SparseCPU", "SparseCsrCPU",
                                     "MkldnnCPU", "XPU", "MPS", "PrivateUse1")
                   if hasattr(torch._C.DispatchKey, name)])
_COMPOSITES = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd")


def _kernel_key(overload: Any, tensor: torch.Tensor) -> Any:
    """The dispatch key under which the kernel that a tensor's call reaches was registered, None where
    there is no kernel. Under any other key a call would jump to nowhere."""
    schema = overload._schema
    name = f"{schema.name}.{schema.overload_name}".rstrip(".")
    keys = torch._C._dispatch_keys(tensor)
    backend = next((key for key in _BACKENDS if keys.has(getattr(torch._C.DispatchKey, key))), None)
    if torch._C._meta_in_tls_dispatch_include():  # torch.compile asks what the result would be
        backend = "Meta"
    if backend is not None and not torch._C._dispatch_has_computed_kernel_for_dispatch_key(
            name, backend):
        return None
    for key in (backend, *_COMPOSITES):
        if key is not None and torch._C._dispatch_has_kernel_for_dispatch_key(name, key):
            return getattr(torch._C.DispatchKey, key)
    return None


def _call_no_kernel(overload: Any, *args: Any, **kwargs: Any) -> Any:
    """PyTorch's own word that there is no kernel. A kernel could not be called so: those that it
    needs itself may stand under the key that is passed over."""
    torch._C._dispatch_tls_set_dispatch_key_excluded(_KEY, True)
    try:
        return overload(*args, **kwargs)
    finally:
        torch._C._dispatch_tls_set_dispatch_key_excluded(_KEY, False)


def _leave(kind: Kind, overload: Any, tensor: torch.Tensor, args: tuple[Any, ...],
           kwargs: dict[str, Any], reason: str) -> Any:
    """The call as if nothing stood before the kernels. Other devices' calls are none of ours and are
    not counted."""
    began = time.perf_counter()
    try:
        key = _kernel_key(overload, tensor)
        if key is None:
            return _call_no_kernel(overload, tensor, *args, **kwargs)
        return overload._op_dk(key, tensor, *args, **kwargs)
    finally:
        if tensor.device.type == "cpu":
            counter.count_not_taken(kind.aten_name, reason, time.perf_counter() - began)


def _functional(kind: Kind, tensor: torch.Tensor, *args: Any) -> torch.Tensor:
    if not is_plain(tensor):
        return _leave(kind, kind.default, tensor, args, {}, "no dense memory")
    began = time.perf_counter()
    decision = decide(kind, tuple(tensor.shape), tensor.stride(), tensor.dtype,
                      arguments_of(kind, args), None)
    if not isinstance(decision, Decision):
        return _leave(kind, kind.default, tensor, args, {}, decision.reason)
    result = run(decision, tensor)
    counter.count_taken(kind.aten_name, time.perf_counter() - began)
    return result


def _why_not_into(decision: Decision, tensor: torch.Tensor, out: torch.Tensor) -> Optional[str]:
    if out.dtype is not tensor.dtype:
        return "out has another type"
    if not is_plain(out):
        return "out has no dense memory"
    if out.shape != decision.shape and out.numel() > 0:
        return "out has another shape"
    return None


def _into(kind: Kind, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    out = kwargs[kind.out_name]
    if not is_plain(tensor):
        return _leave(kind, kind.out, tensor, args, kwargs, "no dense memory")
    began = time.perf_counter()
    key = (kind, tuple(tensor.shape), tensor.stride(), tensor.dtype, arguments_of(kind, args))
    decision = decide(*key, None)
    if not isinstance(decision, Decision):
        return _leave(kind, kind.out, tensor, args, kwargs, decision.reason)
    reason = _why_not_into(decision, tensor, out)
    if reason is not None:
        return _leave(kind, kind.out, tensor, args, kwargs, reason)
    if out.shape != decision.shape:  # an empty tensor takes the shape and strides of a new one
        out.resize_(decision.shape).as_strided_(decision.shape, decision.strides)
    decision = decide(*key, out.stride())
    if not isinstance(decision, Decision):
        return _leave(kind, kind.out, tensor, args, kwargs, decision.reason)
    try:
        run_into(decision, tensor, out)
    except ValueError as error:
        return _leave(kind, kind.out, tensor, args, kwargs, str(error))
    counter.count_taken(kind.aten_name, time.perf_counter() - began)
    return out


class _Switch:
    """How often the library was asked to stand in, and the registrations while it does."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._library: Optional[torch.library.Library] = None

    @property
    def is_on(self) -> bool:
        return self._library is not None

    def turn(self, on: bool) -> bool:
        """Returns whether it was on before."""
        with self._lock:
            was_on = self._library is not None
            if on and not was_on:
                self._library = _register()
                counter.start()
            elif was_on and not on:
                library, self._library = self._library, None
                counter.stop()
                _unregister(library)
            return was_on


def _register() -> torch.library.Library:
    library = torch.library.Library("aten", "IMPL")
    for kind in KINDS:
        library.impl(kind.aten_name, functools.partial(_functional, kind), _KEY)
        library.impl(f"{kind.aten_name}.{kind.out_name}", functools.partial(_into, kind),
                     _KEY)
    return library


def _unregister(library: Any) -> None:
    destroy: Optional[Callable[[], None]] = getattr(library, "_destroy", None)
    if destroy is not None:
        destroy()
    # PyTorch 1.13 unregisters when the last reference goes, which is the caller's next step.


_switch = _Switch()


def enable() -> None:
    """From now on PyTorch's CPU calls of the operators that the library has run here.

    These are aten::_upsample_bicubic2d_aa and aten::_upsample_nearest_exact3d, their gradients, and
    the forms of all four that write into a given tensor. What the library refuses runs in PyTorch's
    own kernel and is listed by report(). Enabling twice is enabling once. Not to be called while
    other threads run these operators.
    """
    _switch.turn(True)


def disable() -> None:
    """PyTorch's own kernels again, as if enable() had never been called."""
    _switch.turn(False)


@contextlib.contextmanager
def enabled() -> Iterator[None]:
    """enable() for the length of a with statement; afterwards as it was before."""
    was_on = _switch.turn(True)
    try:
        yield
    finally:
        _switch.turn(was_on)
