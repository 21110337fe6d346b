#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Volumes of 3 GiB under a limit of 1 GiB of memory: the bits of one piece, from .npy and .nii.

`dev big` runs it. Takes the folder to work in, which needs 12 GiB; OPSCV names the command. The run
in one piece needs 4 GiB of memory.
"""

import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np

GIB = 1 << 30
DEPTH, SIDE = 768, 1024  # of float32: 3 GiB
SEED = 3


def write_volume(path):
    volume = np.lib.format.open_memmap(path, "w+", "f4", (1, 1, DEPTH, SIDE, SIDE))
    random = np.random.default_rng(SEED)
    for plane in volume[0, 0]:
        plane[:] = random.random(plane.shape, dtype="f4")


def opscv(folder, limit, *words):
    """Runs the command under a limit on its addresses, in bytes (None: no limit)."""
    script = f'ulimit -v {limit // 1024}; exec "$@"' if limit else 'exec "$@"'
    start = time.monotonic()
    subprocess.run(["bash", "-c", script, "bash", os.environ["OPSCV"], *words], cwd=folder, check=True)
    print(f"  {time.monotonic() - start:.1f} s in all", flush=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    try:
        write_volume(folder / "in.npy")
        opscv(folder, GIB, "run", "UpsampleNearestExact3d", "--input", "in.npy", "--output",
              "in.nii", "--output_size", f"{DEPTH},{SIDE},{SIDE}")
        gradient = ["run", "UpsampleNearestExact3dGrad", "--input_size",
                    f"1,1,{DEPTH // 2},{SIDE // 2},{SIDE // 2}", "--output"]
        opscv(folder, None, *gradient, "whole.npy", "--input", "in.npy", "--memory", "16G")
        for source in ("in.npy", "in.nii"):
            opscv(folder, GIB, *gradient, "parts.npy", "--input", source)
            if not filecmp.cmp(folder / "whole.npy", folder / "parts.npy", shallow=False):
                sys.exit(f"big: {source} in parts gives other bits than in one piece")
        opscv(folder, GIB, "compare", "in.npy", "in.nii")
        print("big: the same bits under 1 GiB as in one piece")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
