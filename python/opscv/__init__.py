# SPDX-License-Identifier: Apache-2.0
"""Resampling operators and their gradients on the CPU, for NumPy arrays and whatever speaks DLPack.

`opscv.torch` has them for PyTorch, with autograd; only it imports torch.
"""
from ._functions import (upsample_bicubic2d_aa, upsample_bicubic2d_aa_backward,
                         upsample_nearest_exact3d, upsample_nearest_exact3d_backward)
from ._native import current_target, default_threads, supported_targets
from ._native import version as _version
from ._plan import Plan
from .graph import Graph, Session

__version__ = _version()

__all__ = [
    "Graph",
    "Plan",
    "Session",
    "current_target",
    "default_threads",
    "supported_targets",
    "upsample_bicubic2d_aa",
    "upsample_bicubic2d_aa_backward",
    "upsample_nearest_exact3d",
    "upsample_nearest_exact3d_backward",
]
