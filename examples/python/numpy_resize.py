#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""NumPy: a photograph shrunk, a loss pulled back through the gradient, and the same box by box.

    python3 numpy_resize.py [PHOTO.npy]      # N,C,H,W; a drawn one where none is given
"""
import sys

import numpy as np

import opscv


def read_photo(path):
    if path is not None:
        return np.load(path).astype(np.float32) / 255
    y, x = np.mgrid[0:512, 0:512] / 512
    return np.stack([np.sin(40 * x * y), x, y])[None].astype(np.float32)


def main():
    photo = read_photo(sys.argv[1] if len(sys.argv) > 1 else None)
    n, c, height, width = photo.shape

    small = opscv.upsample_bicubic2d_aa(photo, (224, 224))
    print(f"{photo.shape} -> {small.shape}, mean {photo.mean():.4f} -> {small.mean():.4f}")

    # The loss 0.5 * sum((small - target)^2) has the gradient (small - target) in the small picture.
    target = small.mean(axis=(2, 3), keepdims=True)
    gradient = opscv.upsample_bicubic2d_aa_backward(small - target, (224, 224), photo.shape)
    step = 1e-2
    loss = 0.5 * np.sum((small - target) ** 2, dtype=np.float64)
    moved = opscv.upsample_bicubic2d_aa(photo - step * gradient, (224, 224))
    print(f"loss {loss:.3f}, after a step along the gradient "
          f"{0.5 * np.sum((moved - target) ** 2, dtype=np.float64):.3f}")

    # Where memory is short: 56 rows of the result at a time, from the rows that they depend on.
    plan = opscv.Plan("UpsampleBicubic2dAA", photo.shape, output_size=(224, 224))
    pieced = np.empty_like(small)
    for top in range(0, 224, 56):
        box = np.s_[0:n, 0:c, top:top + 56, 0:224]
        plan.run(photo[plan.input_box(box)], box, out=pieced[box])
    print(f"box by box: {'the same bits' if pieced.tobytes() == small.tobytes() else 'other bits'}")

    # Label volumes are integers; nothing is rounded.
    labels = np.arange(27, dtype=np.uint8).reshape(1, 1, 3, 3, 3)
    print("labels:", opscv.upsample_nearest_exact3d(labels, (5, 5, 5))[0, 0, 0, 0])


if __name__ == "__main__":
    main()
