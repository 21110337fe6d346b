#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The main job keeps its bounds, recovers the photo and draws the picture."""

import os
import re
import subprocess
import sys
import unittest

from PIL import Image
from support import OPSCV, ROOT, CommandTest


class MainJob(CommandTest):
    def test_it_runs_to_its_end(self):
        done = subprocess.run([sys.executable, ROOT / "examples" / "main_job.py", self.folder],
                              env={**os.environ, "OPSCV": str(OPSCV)}, text=True, cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        fractions = re.findall(r"(?m)^(?:photo|volume), .* (\d\.\d{4})$", done.stdout)
        self.assertEqual(len(fractions), 6, done.stdout)
        self.assertTrue(all(float(fraction) <= 1 for fraction in fractions), fractions)
        loss = re.search(r"loss (\S+) -> (\S+) in", done.stdout)
        self.assertLess(float(loss[2]), 1e-6 * float(loss[1]))
        with Image.open(self.folder / "recovery.png") as picture:
            self.assertGreater(len(picture.convert("RGB").getcolors(1 << 24)), 1000)
        tries = done.stdout.split("Three commands to try next:\n")[1].splitlines()
        self.assertEqual(len(tries), 3)
        for line in tries:
            words = line.split()
            self.opscv(*(ROOT / word if word.startswith("examples/") else word
                         for word in words[1:]))


if __name__ == "__main__":
    unittest.main()
