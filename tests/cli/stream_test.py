#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Files larger than the memory in use: 100 MiB in 32 MiB, and the bits of one piece everywhere."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
from support import OPSCV, USAGE, CommandTest, sizes

MIB = 1 << 20
NEAREST = "UpsampleNearestExact3d"

# Prints the most memory that the command in its arguments held. A process of its own, because the
# kernel counts to a command what its parent held when it was started.
PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Bits(CommandTest):
    """Many small boxes against one."""

    def both(self, operator, source, target, *words):
        contents = []
        for memory in ("1G", "4K"):
            name = f"{memory}_{target}"
            self.opscv("run", operator, "--input", source, "--output", name, "--memory", memory,
                       *words)
            contents.append((self.folder / name).read_bytes())
        self.assertEqual(*contents, f"{operator} {source} {target} {words}")

    def test_all_operators_orders_and_layouts(self):
        image = self.normal(2, 3, 17, 23)
        volume = self.normal(2, 2, 7, 9, 11)
        for operator, values, size, gradient in (
                ("UpsampleBicubic2dAA", image, (31, 12), False),
                ("UpsampleBicubic2dAA", image, (5, 40), False),
                ("UpsampleBicubic2dAAGrad", image, (40, 9), True),
                ("UpsampleBicubic2dAAGrad", image, (9, 50), True),
                (NEAREST, volume, (14, 5, 23), False),
                (NEAREST + "Grad", volume, (3, 20, 5), True)):
            if gradient:
                words = ["--input_size", sizes(*values.shape[:2], *size), "--output_size",
                         sizes(*values.shape[2:])]
            else:
                words = ["--output_size", sizes(*size)]
            order = [0, *range(2, values.ndim), 1]
            for name, array, more in (
                    ("c.npy", values, []), ("f.npy", np.asfortranarray(values), []),
                    ("last.npy", values.transpose(order), ["--layout",
                                                           "NDHWC" if values.ndim == 5 else "NHWC"])):
                with self.subTest(operator=operator, size=size, order=name):
                    self.both(operator, self.save(name, array), "out.npy", *words, *more)

    def test_volumes_compressed_or_not(self):
        self.save("in.npy", self.normal(2, 2, 12, 9, 11))
        for name in ("in.nii", "in.nii.gz"):
            self.opscv("run", NEAREST, "--input", "in.npy", "--output", name, "--output_size",
                       "12,9,11")
        for source in ("in.nii", "in.nii.gz"):
            for target in ("out.nii", "out.nii.gz", "out.npy"):
                self.both(NEAREST, source, target, "--output_size", "5,20,7")
                self.both(NEAREST + "Grad", source, target, "--input_size", "2,2,5,20,7")
            self.both("UpsampleBicubic2dAA", source, "slices.nii", "--output_size", "5,20")

    def test_an_image_into_an_array(self):
        self.save("in.npy", self.random.integers(0, 256, (1, 3, 20, 30)).astype("f4"))
        self.opscv("run", "UpsampleBicubic2dAA", "--input", "in.npy", "--output", "in.png",
                   "--output_size", "20,30")
        for target in ("out.npy", "out.png"):
            self.both("UpsampleBicubic2dAA", "in.png", target, "--output_size", "9,40")


class Memory(CommandTest):
    def test_less_than_the_smallest_box_takes_is_refused(self):
        """The least that works is told, and works."""
        self.save("in.npy", self.normal(1, 1, 300, 200))
        self.opscv("run", "UpsampleBicubic2dAA", "--input", "in.npy", "--output", "in.nii.gz",
                   "--output_size", "300,200")
        for source in ("in.npy", "in.nii.gz"):
            with self.subTest(source):
                call = ["run", "UpsampleBicubic2dAA", "--input", source, "--output", "out.npy",
                        "--output_size", "1,2", "--memory"]
                err = self.refused(*call, "5000", status=USAGE, says=["--memory must be ", "got 5000"])
                least = re.search(r"must be (\w+) or more", err)[1]
                self.opscv(*call, least)
                self.assertEqual(self.load("out.npy").shape, (1, 1, 1, 2))

    def peak(self, *words):
        """Runs the command; the most memory it held."""
        done = subprocess.run([sys.executable, "-S", "-E", "-c", PEAK, OPSCV, *words, "--quiet"],
                              cwd=self.folder, stdout=subprocess.PIPE, check=True)
        return int(done.stdout)

    def run_words(self, source, target, memory):
        return ["run", NEAREST + "Grad", "--input", source, "--output", target, "--input_size",
                sizes(1, 1, 25, 512, 256), "--memory", memory]

    def test_100_mib_in_32_mib(self):
        volume = np.lib.format.open_memmap(self.folder / "in.npy", "w+", "f4", (1, 1, 50, 1024, 512))
        for plane in volume[0, 0]:
            plane[:] = self.random.integers(0, 9, plane.shape)
        del volume
        self.assertGreater((self.folder / "in.npy").stat().st_size, 100 * MIB)
        # What the program and its libraries take (more where they are instrumented).
        alone = self.peak("targets")
        parts = self.peak(*self.run_words("in.npy", "parts.npy", "8M"))
        whole = self.peak(*self.run_words("in.npy", "whole.npy", "1G"))
        self.assertLess(parts - alone, 16 * MIB)
        if alone < 16 * MIB:
            self.assertLess(parts, 32 * MIB)
        self.assertGreater(whole, 100 * MIB)
        self.assertEqual((self.folder / "parts.npy").read_bytes(),
                         (self.folder / "whole.npy").read_bytes())

        # The same data, compressed, in one pass.
        self.opscv("run", NEAREST, "--input", "in.npy", "--output", "in.nii", "--output_size",
                   sizes(50, 1024, 512))
        with gzip.open(self.folder / "in.nii.gz", "wb", compresslevel=1) as packed:
            with open(self.folder / "in.nii", "rb") as plain:
                shutil.copyfileobj(plain, packed, MIB)
        parts = self.peak(*self.run_words("in.nii.gz", "packed.npy", "16M"))
        self.assertLess(parts - alone, 30 * MIB)
        self.assertEqual((self.folder / "packed.npy").read_bytes(),
                         (self.folder / "whole.npy").read_bytes())

    def test_a_limit_on_memory_is_seen(self):
        """Without --memory a quarter of the limit is used, so a file beyond the limit passes."""
        limit = 512 * MIB  # of addresses; threads reserve stacks of 8 MiB each
        path = self.folder / "in.npy"
        np.lib.format.open_memmap(path, "w+", "f4", (1, 1, 160, 1024, 1024)).flush()
        self.assertGreater(path.stat().st_size, limit)
        words = [str(OPSCV), "run", NEAREST, "--input", "in.npy", "--output", "out.npy",
                 "--output_size", "2,1024,1024", "--threads", "2", "--quiet"]
        program = OPSCV.read_bytes()
        # Sanitizers reserve addresses by the terabyte.
        instrumented = any(name in program for name in (b"libasan", b"liblsan", b"libtsan"))
        command = 'exec "$@"' if instrumented else f'ulimit -v {limit // 1024}; exec "$@"'
        subprocess.run(["bash", "-c", command, "bash", *words], cwd=self.folder, check=True)
        self.assertEqual(self.load("out.npy").shape, (1, 1, 2, 1024, 1024))


if __name__ == "__main__":
    unittest.main()
