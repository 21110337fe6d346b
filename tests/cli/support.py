# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, and a folder that is gone afterwards."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "examples" / "data"
OPSCV = pathlib.Path(os.environ["OPSCV_BUILD_DIR"]).resolve() / "bin" / "opscv"
SEED = 20240607

OK, FAILED_CHECK, USAGE, BAD_INPUT, CANNOT_WRITE, INTERRUPTED = 0, 1, 2, 3, 4, 130


def sizes(*values):
    return ",".join(map(str, values))


def double(volume):
    """Nearest-exact resize by 2 along the last three axes."""
    for axis in (-3, -2, -1):
        volume = volume.repeat(2, axis)
    return volume


def halves(volume):
    """Its gradient: sums of 2 x 2 x 2, in float64."""
    n, c, d, h, w = volume.shape
    parts = volume.astype(np.float64).reshape(n, c, d // 2, 2, h // 2, 2, w // 2, 2)
    return parts.sum(axis=(3, 5, 7))


def exif_of(order, orientation):
    """EXIF data of two entries, the second of which is the orientation."""
    width = struct.pack(order + "HHII", 0x0100, 4, 1, 30)
    turn = struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0)
    mark = b"MM" if order == ">" else b"II"
    return (b"Exif\0\0" + mark + struct.pack(order + "HIH", 42, 8, 2) + width + turn +
            struct.pack(order + "I", 0))


class CommandTest(unittest.TestCase):
    """Every test works in an empty folder of its own; names of files are relative to it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="opscv_cli_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.random = np.random.default_rng(SEED)

    def opscv(self, *words, status=OK, **options):
        """Runs the command, expects that exit status; (stdout, stderr)."""
        done = subprocess.run([OPSCV, *map(str, words)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              **options)
        self.assertEqual(done.returncode, status,
                         f"opscv {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done.stdout, done.stderr

    def report(self, *words, **options):
        """What it prints with --json."""
        return json.loads(self.opscv(*words, "--json", **options)[0])

    def refused(self, *words, status, says, **options):
        """Expects one line on stderr that holds all of `says`, and no new file."""
        before = self.files()
        out, err = self.opscv(*words, status=status, **options)
        self.assertEqual(out, "")
        self.assertRegex(err, r"\Aopscv: [^\n]+\n\Z")
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, err)
        self.assertEqual(self.files(), before)
        return err

    def build_library(self, name, source):
        """A library that may stand before others: see preloading."""
        path = self.folder / f"{name}.cc"
        path.write_text(source)
        subprocess.run([os.environ.get("OPSCV_CXX", "g++"), "-std=c++20", "-shared", "-fPIC",
                        f"-I{ROOT / 'include'}", path, "-ldl", "-o", self.folder / f"{name}.so"],
                       check=True)

    def preloading(self, name):
        """The environment in which its functions replace those of the same name."""
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {**os.environ, "LD_PRELOAD": str(self.folder / f"{name}.so"), "ASAN_OPTIONS": asan}

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def save(self, name, array):
        np.save(self.folder / name, array)
        return name

    def load(self, name):
        return np.load(self.folder / name)

    def normal(self, *shape, dtype="float32"):
        """Seeded normal values (support.SEED repeats them)."""
        return self.random.standard_normal(shape).astype(dtype)
