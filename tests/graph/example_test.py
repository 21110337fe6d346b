#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The example program: the forward-gradient pair as one graph on the example photograph."""

import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["OPSCV_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "example_photo_graph"
PHOTO = ROOT / "examples" / "data" / "astronaut.npy"


class Example(unittest.TestCase):
    def run_it(self, *words):
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120)

    def test_the_gradient_is_that_of_the_loss(self):
        done = self.run_it(PHOTO)
        self.assertEqual(done.returncode, 0, done.stderr)
        numbers = [float(text) for text in re.findall(r": (\S+e[+-]\d+)$", done.stdout, re.M)]
        self.assertEqual(len(numbers), 2, done.stdout)
        loss, product = numbers
        self.assertGreater(loss, 1e8)
        self.assertAlmostEqual(loss / product, 1.0, places=5)  # as many digits as it prints

    def test_it_prints_the_graph_of_the_command(self):
        printed = self.run_it(PHOTO).stdout
        graph = json.loads(printed[:printed.rindex("}") + 1])
        command = json.loads((ROOT / "examples" / "graphs" / "photo_pair.json").read_text())
        self.assertEqual(graph, command)

    def test_it_says_what_is_wrong(self):
        for words in ((), ("none.npy",), (ROOT / "LICENSE",)):
            done = self.run_it(*words)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
