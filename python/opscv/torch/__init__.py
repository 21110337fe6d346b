# SPDX-License-Identifier: Apache-2.0
"""The operators for PyTorch: one function with autograd, or PyTorch's own functions made faster.

    from opscv.torch import interpolate      # as torch.nn.functional.interpolate

    import opscv.torch
    opscv.torch.enable()                     # from here on F.interpolate, nn.Upsample, ... run on ours
"""
from ._enable import disable, enable, enabled
from ._interpolate import interpolate
from ._report import Report, report

__all__ = ["Report", "disable", "enable", "enabled", "interpolate", "report"]
