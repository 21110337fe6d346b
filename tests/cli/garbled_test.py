#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Files with bytes changed at random: read or refused in one line, never a crash or a stray file."""

import gzip
import io
import subprocess
import unittest

import numpy as np
from PIL import Image
from support import BAD_INPUT, CANNOT_WRITE, DATA, OK, OPSCV, SEED, CommandTest, exif_of

TRIES = 25  # of each format


class Garbled(CommandTest):
    def setUp(self):
        super().setUp()
        self.save("v.npy", self.normal(1, 1, 4, 5, 6))
        self.opscv("run", "UpsampleNearestExact3d", "--input", "v.npy", "--output", "v.nii",
                   "--output_size", "4,5,6")
        self.small = Image.open(DATA / "astronaut.png").resize((40, 30))

    def image(self, kind, **options):
        buffer = io.BytesIO()
        self.small.save(buffer, kind, **options)
        return buffer.getvalue()

    def try_all(self, ending, content, operator, size, headers_until):
        """Changes 1 to 4 bytes, half of them in the header, and sometimes cuts the end off."""
        for number in range(TRIES):
            random = np.random.default_rng([SEED, number, len(ending)])
            data = bytearray(content)
            for _ in range(random.integers(1, 5)):
                end = headers_until if random.random() < 0.5 else len(data)
                data[random.integers(0, end)] = random.integers(0, 256)
            if random.random() < 0.2:
                del data[random.integers(0, len(data)):]
            (self.folder / f"x{ending}").write_bytes(data)
            before = self.files()
            done = subprocess.run([OPSCV, "run", operator, "--input", f"x{ending}", "--output",
                                   "out.npy", "--output_size", size, "--quiet"], text=True,
                                  cwd=self.folder, stderr=subprocess.PIPE, timeout=60)
            told = f"{ending}, try {number} of seed {SEED}: {done.returncode} {done.stderr}"
            self.assertIn(done.returncode, (OK, BAD_INPUT, CANNOT_WRITE), told)
            if done.returncode == OK:
                (self.folder / "out.npy").unlink()
            else:
                self.assertRegex(done.stderr, r"\Aopscv: [^\n]+\n\Z", told)
            self.assertEqual(self.files(), before, told)

    def test_npy(self):
        content = (self.folder / "v.npy").read_bytes()
        self.try_all(".npy", content, "UpsampleNearestExact3d", "3,3,3", 128)

    def test_nii(self):
        content = (self.folder / "v.nii").read_bytes()
        self.try_all(".nii", content, "UpsampleNearestExact3d", "3,3,3", 352)
        self.try_all(".nii", content, "UpsampleNearestExact3d", "3,3,3", 120)

    def test_nii_gz(self):
        content = gzip.compress((self.folder / "v.nii").read_bytes())
        self.try_all(".nii.gz", content, "UpsampleNearestExact3d", "3,3,3", 40)
        # Headers that are garbled inside sound compression.
        plain = (self.folder / "v.nii").read_bytes()
        for number in range(TRIES):
            random = np.random.default_rng([SEED, number])
            data = bytearray(plain)
            data[random.integers(40, 124)] = random.integers(0, 256)
            self.try_one_gz(number, gzip.compress(bytes(data)))

    def try_one_gz(self, number, content):
        (self.folder / "x.nii.gz").write_bytes(content)
        done = subprocess.run([OPSCV, "check", "UpsampleNearestExact3d", "--input", "x.nii.gz",
                               "--output_size", "3,3,3", "--quiet"], text=True, cwd=self.folder,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertIn(done.returncode, (OK, BAD_INPUT, CANNOT_WRITE),
                      f"try {number} of seed {SEED}: {done.stderr}")

    def test_png(self):
        self.try_all(".png", self.image("PNG"), "UpsampleBicubic2dAA", "9,9", 60)

    def test_jpeg(self):
        self.try_all(".jpg", self.image("JPEG"), "UpsampleBicubic2dAA", "9,9", 600)
        turned = self.image("JPEG", exif=exif_of("<", 6))
        self.try_all(".jpg", turned, "UpsampleBicubic2dAA", "9,9", 70)


if __name__ == "__main__":
    unittest.main()
