#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Backward through torch.nn.functional.interpolate as a user times it, with opscv enabled and
without: Python, autograd and the allocation of the gradient included.

Prints a table, and with --json FILE writes it. Both contestants take turns in one process; before
they are timed their results are compared. "fresh" is what writing one byte to each page of a new
output costs, which no kernel can beat: the ceiling of the gain. Shapes that fit in the second-level
cache are shown and left out of the geometric means.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads of the rival must not compute

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import opscv  # noqa: E402
import opscv.torch  # noqa: E402
from opscv import _native  # noqa: E402
from opscv._arrays import HUGE_BYTES  # noqa: E402

BICUBIC = {"mode": "bicubic", "antialias": True}
NEAREST = {"mode": "nearest-exact"}
# The input's shape and the output's size of the forward call.
SHAPES = [
    (BICUBIC, (8, 3, 512, 512), (224, 224)),
    (BICUBIC, (8, 3, 256, 256), (512, 512)),
    (BICUBIC, (8, 64, 64, 64), (128, 128)),
    (BICUBIC, (1, 3, 2048, 2048), (512, 512)),
    (BICUBIC, (8, 256, 139, 132), (77, 129)),
    (BICUBIC, (1, 3, 4096, 4096), (2201, 4096)),
    (BICUBIC, (16, 1024, 32, 32), (8, 8)),
    (BICUBIC, (2, 3, 1080, 1920), (270, 480)),
    (BICUBIC, (1, 3, 224, 224), (112, 112)),
    (BICUBIC, (1, 1, 8, 4), (4, 2)),
    (NEAREST, (2, 16, 32, 32, 32), (64, 64, 64)),
    (NEAREST, (1, 1, 128, 128, 128), (256, 256, 256)),
    (NEAREST, (2, 64, 16, 16, 16), (48, 48, 48)),
    (NEAREST, (1, 8, 64, 64, 64), (100, 100, 100)),
    (NEAREST, (2, 32, 64, 64, 64), (32, 32, 32)),
    (NEAREST, (8, 3, 15, 15, 106), (79, 65, 348)),
    (NEAREST, (2, 2, 1, 1, 1), (2, 2, 2)),
]
AIM = {"bicubic": 10.0, "nearest-exact": 4.0}


def l2_bytes():
    try:
        text = pathlib.Path("/sys/devices/system/cpu/cpu0/cache/index2/size").read_text().strip()
        return int(text.rstrip("K")) * 1024
    except (OSError, ValueError):
        return 2 << 20


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


class Backward:
    """The backward pass of one forward call, made as PyTorch alone or with opscv."""

    def __init__(self, mode, shape, size):
        self.x = torch.randn(shape, requires_grad=True)
        self.y = F.interpolate(self.x, size=size, **mode)
        self.grad = torch.randn_like(self.y)

    def __call__(self):
        return torch.autograd.grad(self.y, self.x, self.grad, retain_graph=True)[0]


def touch_fresh(shape):
    """Seconds that it costs to bring a new output's pages in, as opscv allocates it."""
    began = time.perf_counter()
    fresh = torch.empty(shape)
    count = fresh.numel()
    if count * 4 >= HUGE_BYTES:
        _native.advise_huge_pages(fresh.data_ptr(), count * 4)
    fresh.view(-1)[::1024] = 0
    return time.perf_counter() - began


def once(call):
    began = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - began
    del result
    return seconds


def measure(mode, shape, size, seconds):
    call = Backward(mode, shape, size)
    alone = call()
    with opscv.torch.enabled():
        ours = call()
    worst = ((alone - ours).abs().max() / alone.abs().max()).item()
    # PyTorch builds its tables in float32 and is off by this much on long axes.
    if worst > 1e-3:
        sys.exit(f"results differ by {worst:.1e} of the largest at {shape}")
    del alone, ours
    times = {"pytorch": [], "opscv": [], "fresh": []}
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(times["fresh"]) < 5:
        times["pytorch"].append(once(call))
        with opscv.torch.enabled():
            times["opscv"] += [once(call), once(call)]
        times["fresh"].append(touch_fresh(shape))
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each shape")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)

    l2 = l2_bytes()
    print(f"{cpu_name()}, {options.threads} threads, {datetime.date.today()}, PyTorch "
          f"{torch.__version__}, opscv {opscv.__version__} ({opscv.current_target()}), float32, "
          "medians in ms\n")
    print("| grad_input <- grad_output | PyTorch | with opscv | times faster | fresh | |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows, gains = [], {name: [] for name in AIM}
    for mode, shape, size in SHAPES:
        times = measure(mode, shape, size, options.seconds)
        gain = times["pytorch"] / times["opscv"]
        is_large = 4 * (math.prod(shape) + math.prod(shape[:2]) * math.prod(size)) > l2
        if is_large:
            gains[mode["mode"]].append(gain)
        rows.append({"mode": mode["mode"], "input": shape, "output": size, "gain": gain,
                     "larger_than_l2": is_large, **times})
        ms = {name: f"{1e3 * value:.3f}" for name, value in times.items()}
        print(f"| {shape} <- {size} | {ms['pytorch']} | {ms['opscv']} | {gain:.1f} | {ms['fresh']} | "
              f"{'' if is_large else 'in L2'} |", flush=True)
    print()
    means = {name: statistics.geometric_mean(values) for name, values in gains.items()}
    for name, mean in means.items():
        print(f"{name}, larger than L2: geometric mean {mean:.1f} times faster (aim: {AIM[name]:g})")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "geometric_means": means}, indent=1))
    return 0 if all(mean >= AIM[name] for name, mean in means.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
