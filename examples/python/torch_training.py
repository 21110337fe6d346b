#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch: what share of a training step a resize takes, and what opscv gains end to end.

    python3 torch_training.py [--steps N] [--threads N] [--write PAGE.md]

Trains small super-resolution networks whose step resizes pictures with antialiased bicubic, and a
network on volumes that enlarges with nearest-exact. Each runs as PyTorch alone and with
opscv.torch.enabled(), step by step in turn, from the same weights; nothing else in the code differs.
For each it prints the milliseconds of a step, the share of the resizes in them, the gain, and how
far the losses lie apart. --write puts that in the place of what a page such as
docs/python_training.md has measured before.
"""
import argparse
import copy
import datetime
import pathlib
import re
import statistics
import sys
import time

import torch
import torch.nn.functional as F

import opscv
import opscv.torch

BICUBIC = {"mode": "bicubic", "antialias": True}


class Pictures(torch.nn.Module):
    """Restores pictures from ones of half the size: the step shrinks, enlarges and shrinks again."""

    def __init__(self, width, depth):
        super().__init__()
        layers = [torch.nn.Conv2d(3, width, 3, padding=1), torch.nn.ReLU()]
        for _ in range(depth):
            layers += [torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.ReLU()]
        self.net = torch.nn.Sequential(*layers, torch.nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, pictures):
        half = [n // 2 for n in pictures.shape[2:]]
        small = F.interpolate(pictures, size=half, **BICUBIC)
        large = F.interpolate(small + self.net(small), size=pictures.shape[2:], **BICUBIC)
        again = F.interpolate(large, size=half, **BICUBIC)
        return F.mse_loss(large, pictures) + F.mse_loss(again, small)


class Pixels(torch.nn.Module):
    """No network: pixels themselves are trained so that their small version fits a target, as where
    a picture is recovered or an attack is made. The step is little but resizes."""

    def __init__(self, shape):
        super().__init__()
        self.pixels = torch.nn.Parameter(torch.full(shape, 0.5))

    def forward(self, pictures):
        size = [n // 4 for n in pictures.shape[2:]]
        with torch.no_grad():
            target = F.interpolate(pictures, size=size, **BICUBIC)
        return F.mse_loss(F.interpolate(self.pixels, size=size, **BICUBIC), target)


class Volumes(torch.nn.Module):
    """An encoder and a decoder that enlarges with nearest-exact, as networks on scans do."""

    def __init__(self, width):
        super().__init__()
        self.down = torch.nn.Conv3d(1, width, 3, stride=2, padding=1)
        self.up = torch.nn.Conv3d(width, 1, 3, padding=1)

    def forward(self, volumes):
        inner = F.relu(self.down(volumes))
        large = F.interpolate(inner, size=volumes.shape[2:], mode="nearest-exact")
        return F.mse_loss(self.up(large), volumes)


def workloads():
    generator = torch.Generator().manual_seed(1)
    pictures = torch.rand((4, 3, 256, 256), generator=generator)
    large = torch.rand((1, 3, 1024, 1024), generator=generator)
    volumes = torch.rand((1, 1, 64, 64, 64), generator=generator)
    return [("pictures, 3 layers of 16", Pictures(16, 1), pictures),
            ("pictures, 6 layers of 32", Pictures(32, 4), pictures),
            ("pixels of 1024 x 1024, no network", Pixels(large.shape), large),
            ("volumes, 2 layers of 8", Volumes(8), volumes)]


class Training:
    def __init__(self, model, data):
        self.model, self.data = model, data
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        self.losses, self.seconds = [], []

    def step(self):
        began = time.perf_counter()
        loss = self.model(self.data)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())
        self.seconds.append(time.perf_counter() - began)


def resize_seconds(training):
    """Seconds of one step of PyTorch alone that its resizes take, by its own profiler."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        training.step()
    training.losses.pop()
    training.seconds.pop()
    return sum(event.self_cpu_time_total for event in profile.key_averages()
               if "upsample" in event.key) / 1e6


def compare(model, data, steps):
    torch.manual_seed(2)
    alone, ours = Training(copy.deepcopy(model), data), Training(copy.deepcopy(model), data)
    for _ in range(steps):
        alone.step()
        with opscv.torch.enabled():
            ours.step()
    # The first steps of either pay for what is set up once.
    begin = min(2, steps - 1)
    before, after = [statistics.median(t.seconds[begin:]) for t in (alone, ours)]
    apart = max(abs(a - b) / a for a, b in zip(alone.losses, ours.losses))
    share = resize_seconds(alone) / before
    report = opscv.torch.report(reset=True)
    assert report.taken and not report.not_taken, report
    return before, share, after, report.seconds / report.enabled_seconds, apart


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def measured(steps):
    """What a page tells, line by line: on what it was measured, and the table."""
    count = torch.get_num_threads()
    yield (f"Measured with {count} thread{'s' if count > 1 else ''}: {cpu_name()}, "
           f"{datetime.date.today()}, PyTorch {torch.__version__}, opscv {opscv.__version__} "
           f"({opscv.current_target()}), medians of {steps} steps.")
    yield ""
    yield "| step | PyTorch, ms | resizes | with opscv, ms | resizes | step faster | losses apart |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, model, data in workloads():
        before, share, after, share_after, apart = compare(model, data, steps)
        yield (f"| {name} | {1e3 * before:.1f} | {100 * share:.0f} % | {1e3 * after:.1f} | "
               f"{100 * share_after:.0f} % | {before / after:.2f}x | {apart:.0e} |")


def rewrite(page, lines):
    """Replaces the page's paragraph `Measured ...` and the table under it."""
    text = page.read_text()
    old = re.search(r"^Measured with .*?\n\n(\|.*\n)+", text, re.MULTILINE)
    if old is None:
        sys.exit(f"{page} has no paragraph 'Measured with ...' and table to replace")
    page.write_text(text[:old.start()] + "\n".join(lines) + "\n" + text[old.end():])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE.md")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    lines = []
    for line in measured(options.steps):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        rewrite(options.write, lines)


if __name__ == "__main__":
    main()
