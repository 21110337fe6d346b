#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every `opscv` line of the README, word for word, on files that are not the examples."""

import os
import re
import subprocess
import unittest

import nibabel
import numpy as np
from PIL import Image
from support import OPSCV, ROOT, CommandTest


def readme_lines():
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```", (ROOT / "README.md").read_text())
    return [line for line in "".join(blocks).splitlines() if line.startswith("opscv ")]


class Readme(CommandTest):
    def test_every_command_runs(self):
        pixels = self.random.integers(0, 256, (301, 407, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((640, 480)).save(self.folder / "photo.jpg")
        np.save(self.folder / "grad.npy", self.random.normal(size=(1, 3, 224, 224)).astype("f4"))
        affine = np.array([[0, -0.8, 0, 10], [1.5, 0, 0, -20], [0, 0, 2.5, 30], [0, 0, 0, 1.0]])
        scan = nibabel.Nifti1Image(self.random.integers(-99, 999, (40, 50, 20), dtype=np.int16),
                                   affine)
        scan.to_filename(self.folder / "scan.nii.gz")
        os.symlink(ROOT / "examples", self.folder / "examples")
        path = f"{OPSCV.parent}:{os.environ['PATH']}"
        lines = readme_lines()
        self.assertGreaterEqual(len(lines), 6)
        for line in lines:
            done = subprocess.run(["bash", "-c", line], cwd=self.folder, text=True,
                                  env={**os.environ, "PATH": path}, capture_output=True)
            self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        with Image.open(self.folder / "small.png") as small:
            self.assertEqual(small.size, (224, 224))
        grad_in = np.load(self.folder / "grad_in.npy")
        self.assertEqual((grad_in.shape, grad_in.dtype), ((1, 3, 512, 512), np.float32))
        grad = np.load(self.folder / "grad.npy")
        self.assertAlmostEqual(float(grad_in.sum(dtype="f8")), float(grad.sum(dtype="f8")), places=2)
        even = nibabel.load(self.folder / "even.nii.gz")
        np.testing.assert_allclose(even.header.get_zooms(), 1, atol=0.02)
        # The outer corners of the volume stay where they were.
        for corner in (0, 1):
            before = affine @ [*(corner * np.array(scan.shape) - 0.5), 1]
            after = even.affine @ [*(corner * np.array(even.shape) - 0.5), 1]
            np.testing.assert_allclose(after, before, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
