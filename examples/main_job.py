#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Both operator pairs, forward and back, on a real photograph and a real volume.

Shrinks the photograph to 224 and pulls a loss back; enlarges the volume by 2 and pulls a gradient
back, in float32 and bfloat16. Each step says what it cost and how far it is from the float64
reference, as a fraction of the promised bound; exits with 1 if a bound is broken.

OPSCV names the command to use (default: opscv on the PATH).
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data"
OPSCV = os.environ.get("OPSCV", "opscv")
SEED = 7
SMALL = 224


def opscv(*words):
    """Runs the command with --json; its report and its exit status."""
    done = subprocess.run([OPSCV, *map(str, words), "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode > 1:
        sys.exit(f"main_job: {' '.join(map(str, words))} failed with {done.returncode}")
    return json.loads(done.stdout), done.returncode


class Job:
    """Runs steps, prints a line for each, remembers whether all bounds were kept."""

    def __init__(self, folder):
        self.folder = folder
        self.kept = True
        print(f"{'step':<34} {'shape':<40} {'ms':>9} {'GB/s':>7} {'error/bound':>12}")

    def step(self, title, operator, source, target, *options):
        """Runs the operator into folder/target, checks it, returns the file written."""
        output = self.folder / target
        call = [operator, "--input", source, *options]
        ran, _ = opscv("run", *call, "--output", output)
        checked, status = opscv("check", *call)
        self.kept &= status == 0
        shape = " -> ".join("x".join(map(str, ran[key])) for key in ("input_shape", "output_shape"))
        error = checked.get("error_over_bound", 0.0)
        error = f"{error:.4f}" if isinstance(error, float) else error
        print(f"{title:<34} {shape:<40} {ran['milliseconds']:>9.3f} "
              f"{ran['gigabytes_per_second']:>7.2f} {error:>12}{'' if status == 0 else '  BROKEN'}")
        return output

    def save(self, name, array):
        path = self.folder / name
        np.save(path, array)
        return path


def shape_option(shape):
    return ",".join(map(str, shape))


def photo_steps(job):
    """Shrinks the photograph; pulls back the loss |small - mean|^2 / 2."""
    photo = DATA / "astronaut.npy"
    shape = np.load(photo, mmap_mode="r").shape
    size = f"{SMALL},{SMALL}"
    small = job.step("photo, shrink", "UpsampleBicubic2dAA", photo, "small.npy",
                     "--output_size", size, "--dtype", "float32")
    values = np.load(small)
    loss = job.save("small_gradient.npy", values - values.mean(dtype=np.float32))
    job.step("photo, pull a loss back", "UpsampleBicubic2dAAGrad", loss, "photo_gradient.npy",
             "--output_size", size, "--input_size", shape_option(shape))


def volume_steps(job, dtype):
    """Enlarges the volume by 2; pulls back a gradient of seeded normal values."""
    volume = DATA / "macaque_t1.npy"
    shape = np.load(volume, mmap_mode="r").shape
    large = [2 * extent for extent in shape[2:]]
    noise = np.random.default_rng(SEED).standard_normal((*shape[:2], *large), dtype=np.float32)
    gradient = job.save("large_gradient.npy", noise)
    job.step(f"volume, enlarge, {dtype}", "UpsampleNearestExact3d", volume, f"large_{dtype}.npy",
             "--output_size", shape_option(large), "--dtype", dtype)
    job.step(f"volume, pull back, {dtype}", "UpsampleNearestExact3dGrad", gradient,
             f"volume_gradient_{dtype}.npy", "--input_size", shape_option(shape), "--dtype", dtype)


def main():
    folder = ROOT / "build" / "main_job"
    folder.mkdir(parents=True, exist_ok=True)
    job = Job(folder)
    photo_steps(job)
    for dtype in ("float32", "bfloat16"):
        volume_steps(job, dtype)
    print(f"written to {os.path.relpath(folder)}: " +
          ", ".join(sorted(path.name for path in folder.iterdir())))
    if not job.kept:
        print("a bound is broken", file=sys.stderr)
    return 0 if job.kept else 1


if __name__ == "__main__":
    sys.exit(main())
