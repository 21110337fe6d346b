#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Both operator pairs at work, forward and back, on a real photograph and a real volume.

(a) shrinks the photograph to 224 and pulls a loss back to its pixels;
(b) recovers the large photograph from the small one by gradient descent through that pair;
(c) enlarges the volume by 2 and pulls a gradient back, in float32 and bfloat16.

Each step tells what it cost and how far it is from the float64 reference, as a fraction of the
promised bound; a broken bound makes the exit status 1. OPSCV names the command to use (default:
opscv on the PATH). All results go to the folder that is the only argument (default: build/main_job),
which loses what an earlier run has left there.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data"
PHOTO = DATA / "astronaut.png"
VOLUME = DATA / "macaque_t1.nii.gz"
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "main_job").resolve()
OPSCV = os.environ.get("OPSCV", "opscv")

SEED = 7
SMALL = 224
DESCENT_STEPS = 25


def opscv(*words):
    """Runs the command; its report and its exit status. Anything but a broken bound ends the job."""
    words = [str(word) for word in words]
    done = subprocess.run([OPSCV, *words, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"main_job: opscv {' '.join(words)} failed with {done.returncode}")
    return json.loads(done.stdout), done.returncode


def extents(*sizes):
    return ",".join(map(str, sizes))


def show(path):
    return os.path.relpath(path)


class Steps:
    """Runs operators, prints a line for each, remembers whether all bounds were kept."""

    def __init__(self):
        self.kept = True
        print(f"{'step':<30}{'shape':<44}{'ms':>9}{'GB/s':>8}  error/bound")

    def run(self, title, operator, source, target, *options):
        """The operator from `source` into OUT/target, compared with the reference."""
        call = [operator, "--input", source, *options]
        ran, _ = opscv("run", *call, "--output", OUT / target)
        checked, status = opscv("check", *call)
        self.kept &= status == 0
        shape = " -> ".join("x".join(map(str, ran[side])) for side in ("input_shape", "output_shape"))
        error = checked["error_over_bound"]
        error = f"{error:.4f}" if isinstance(error, float) else error
        print(f"{title:<30}{shape:<44}{ran['milliseconds']:>9.3f}{ran['gigabytes_per_second']:>8.2f}"
              f"  {error}{'' if status == 0 else '  BROKEN'}", flush=True)
        return OUT / target


class Photo:
    """The photograph's pair of operators: large to small, and back for gradients."""

    def __init__(self, shape):
        self.shape = shape  # of the large one
        self.forward = ["UpsampleBicubic2dAA", "--output_size", extents(SMALL, SMALL)]
        self.backward = ["UpsampleBicubic2dAAGrad", "--output_size", extents(SMALL, SMALL),
                         "--input_size", extents(*shape)]

    def apply(self, call, values):
        np.save(OUT / "argument.npy", values)
        opscv("run", *call, "--input", OUT / "argument.npy", "--output", OUT / "result.npy")
        return np.load(OUT / "result.npy")

    def shrink(self, large):
        return self.apply(self.forward, large)

    def pull_back(self, small):
        return self.apply(self.backward, small)

    def steepness(self):
        """The largest eigenvalue of pull_back(shrink(.)), by power iteration from seeded noise."""
        x = np.random.default_rng(SEED).standard_normal(self.shape, dtype=np.float32)
        for _ in range(4):
            x /= np.linalg.norm(x)
            x = self.pull_back(self.shrink(x))
        return float(np.linalg.norm(x))


def bar(done, of, text):
    """A progress bar, on a terminal only."""
    if sys.stderr.isatty():
        cells = 30 * done // of
        end = "\r\033[K" if done == of else ""
        print(f"\rdescent [{'#' * cells}{'.' * (30 - cells)}] {text}\033[K{end}", end="",
              file=sys.stderr, flush=True)


def shrink_photo(steps):
    """(a). The loss is half the mean square distance of the small photo from its own mean colour."""
    small = steps.run("photo, shrink", "UpsampleBicubic2dAA", PHOTO, "small.npy", "--output_size",
                      extents(SMALL, SMALL))
    values = np.load(small)
    distance = values - values.mean(axis=(2, 3), keepdims=True, dtype=np.float64).astype(np.float32)
    np.save(OUT / "small_gradient.npy", distance / np.float32(distance.size))
    shape = opscv("plan", "UpsampleBicubic2dAA", "--input", PHOTO, "--output_size",
                  extents(SMALL, SMALL))[0]["input_shape"]
    steps.run("photo, pull a loss back", "UpsampleBicubic2dAAGrad", OUT / "small_gradient.npy",
              "photo_gradient.npy", "--output_size", extents(SMALL, SMALL), "--input_size",
              extents(*shape))
    return Photo(shape), values


def recover_photo(photo, small):
    """(b). Minimises |shrink(x) - small|^2 / 2 from a grey picture, with Nesterov's momentum."""
    step = np.float32(1 / photo.steepness())
    x = ahead = np.full(photo.shape, 128, np.float32)
    losses = []
    for i in range(1, DESCENT_STEPS + 1):
        residual = photo.shrink(ahead) - small
        losses.append(float(np.square(residual, dtype=np.float64).mean()) / 2)
        bar(i, DESCENT_STEPS, f"step {i}, loss {losses[-1]:.3g}")
        before, x = x, ahead - step * photo.pull_back(residual)
        ahead = x + np.float32((i - 1) / (i + 2)) * (x - before)
    np.save(OUT / "recovered.npy", x)
    return losses


def picture(losses):
    """Original, small, recovered and the loss in one picture, drawn by gnuplot."""
    for name in ("original", "small", "recovered"):
        size = np.load(OUT / f"{name}.npy", mmap_mode="r").shape[2:]
        opscv("run", "UpsampleBicubic2dAA", "--input", OUT / f"{name}.npy", "--output",
              OUT / f"{name}.png", "--output_size", extents(*size))
    (OUT / "loss.txt").write_text("".join(f"{i} {loss}\n" for i, loss in enumerate(losses)))

    def panel(title, path):
        size = f"[0:{512 - 1}]"
        return (f"set title '{title}'\nset xrange {size}\nset yrange {size}\n"
                f"plot '{path}' binary filetype=png with rgbimage notitle\n")

    script = ("set terminal pngcairo size 1100,1120 font 'sans,12'\n"
              f"set output '{OUT / 'recovery.png'}'\n"
              "set multiplot layout 2,2 margins 0.04,0.98,0.05,0.96 spacing 0.05,0.06\n"
              "set size ratio -1\nunset tics\nunset border\n" +
              panel("original, 512 x 512", OUT / "original.png") +
              panel(f"small, {SMALL} x {SMALL}", OUT / "small.png") +
              panel(f"recovered by {len(losses)} steps of descent", OUT / "recovered.png") +
              "set size noratio\nset tics\nset border\nset autoscale\nset logscale y\n"
              "set format y '10^{%T}'\nset grid\nset title 'loss by step'\n"
              f"plot '{OUT / 'loss.txt'}' with linespoints pointtype 7 notitle\n")
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    return OUT / "recovery.png"


def quality(name, original):
    """Peak signal to noise of a picture of the original's size, in decibels."""
    error = np.square(np.load(OUT / name).astype(np.float64) - original).mean()
    return 10 * np.log10(255**2 / error)


def volume_steps(steps):
    """(c)."""
    plan = opscv("plan", "UpsampleNearestExact3d", "--input", VOLUME, "--output_size", "1,1,1")[0]
    shape = plan["input_shape"]
    large = [2 * extent for extent in shape[2:]]
    noise = np.random.default_rng(SEED).standard_normal((*shape[:2], *large), dtype=np.float32)
    np.save(OUT / "large_gradient.npy", noise)
    for dtype, ending in (("float32", "nii.gz"), ("bfloat16", "npy")):
        steps.run(f"volume, enlarge, {dtype}", "UpsampleNearestExact3d", VOLUME,
                  f"large_{dtype}.{ending}", "--output_size", extents(*large), "--dtype", dtype)
        steps.run(f"volume, pull back, {dtype}", "UpsampleNearestExact3dGrad",
                  OUT / "large_gradient.npy", f"volume_gradient_{dtype}.npy", "--input_size",
                  extents(*shape), "--dtype", dtype)


def main():
    if (OUT / "small.npy").exists():  # made here
        shutil.rmtree(OUT)
    OUT.mkdir(parents=True, exist_ok=True)
    steps = Steps()
    photo, small = shrink_photo(steps)
    volume_steps(steps)

    losses = recover_photo(photo, small)
    opscv("run", "UpsampleBicubic2dAA", "--input", OUT / "small.npy", "--output",
          OUT / "enlarged.npy", "--output_size", extents(*photo.shape[2:]))
    opscv("run", "UpsampleBicubic2dAA", "--input", PHOTO, "--output", OUT / "original.npy",
          "--output_size", extents(*photo.shape[2:]))
    original = np.load(OUT / "original.npy")
    print(f"\ndescent: loss {losses[0]:.4g} -> {losses[-1]:.4g} in {len(losses)} steps; "
          f"{quality('recovered.npy', original):.2f} dB from the original "
          f"(small photo merely enlarged: {quality('enlarged.npy', original):.2f} dB)")
    falling = losses[-1] < 1e-3 * losses[0]
    drawn = picture(losses)
    for scratch in ("argument.npy", "result.npy"):
        (OUT / scratch).unlink()

    print(f"the picture: {show(drawn)}")
    print(f"all files, in {show(OUT)}: {', '.join(sorted(path.name for path in OUT.iterdir()))}")
    command = show(OPSCV) if os.sep in OPSCV else OPSCV
    print(f"""
Three commands to try next:
  {command} list --long
  {command} run UpsampleNearestExact3d --input {show(VOLUME)} --output coarse.nii.gz --spacing 1,1,1
  {command} plan UpsampleBicubic2dAAGrad --output_size 224,224 --input_size 1,3,512,512""")
    if not steps.kept:
        print("main_job: a bound is broken", file=sys.stderr)
    if not falling:
        print("main_job: the loss did not fall", file=sys.stderr)
    return 0 if steps.kept and falling else 1


if __name__ == "__main__":
    sys.exit(main())
