#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The layer check finds what the table forbids, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "check_layers.py"


def run_on(files):
    """Exit code and output lines of the check on a tree of the given files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


class CheckLayers(unittest.TestCase):
    def assert_allowed(self, path, *includes):
        text = "".join(f"#include {include}\n" for include in includes)
        self.assertEqual(run_on({path: text}), (0, []))

    def assert_refused(self, path, include):
        code, lines = run_on({path: f"// first\n  #  include {include}\n"})
        self.assertEqual(code, 1, f"{path} may include {include}")
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(f"{path}:2: "), lines[0])

    def test_allows_arrows_that_point_down(self):
        self.assert_allowed("src/plan/plan.cc", '"plan/plan.h"', '"kernels/kernel.h"',
                            '"taps/tap_table.h"', '"base/status.h"', "<vector>", "<sys/mman.h>")
        self.assert_allowed("src/api/plan.cc", '"opscv/plan.h"', '"ops/registry.h"')
        self.assert_allowed("cli/run.cc", '"opscv/plan.h"', '"ops/registry.h"',
                            '"reference/resample.h"', '"cli/npy.h"', "<CLI/CLI.hpp>")

    def test_refuses_arrows_that_point_up(self):
        self.assert_refused("src/base/status.h", '"taps/tap_table.h"')
        self.assert_refused("src/taps/filter.cc", '"kernels/kernel.h"')
        self.assert_refused("src/kernels/run_sum/run_sum.cc", '"plan/plan.h"')
        self.assert_refused("src/ops/registry.h", '"api/impl.h"')
        self.assert_refused("include/opscv/plan.h", '"base/status.h"')

    def test_refuses_the_library_a_look_at_the_reference(self):
        self.assert_refused("src/plan/plan.cc", '"reference/resample.h"')
        self.assert_refused("src/reference/resample.cc", '"taps/tap_table.h"')

    def test_refuses_doors_the_rooms_behind_the_registry(self):
        self.assert_refused("cli/run.cc", '"plan/plan.h"')
        self.assert_refused("cli/run.cc", '"ops/op_info.h"')
        self.assert_refused("examples/cpp/first.cc", '"ops/registry.h"')
        self.assert_refused("tests/properties/adjoint_test.cc", '"kernels/kernel.h"')

    def test_keeps_highway_in_kernels(self):
        self.assert_allowed("src/kernels/convert-inl.h", '"hwy/highway.h"')
        self.assert_refused("src/plan/plan.cc", '"hwy/highway.h"')
        self.assert_refused("src/base/half.h", "<hwy/base.h>")

    def test_keeps_tbb_behind_parallel(self):
        self.assert_allowed("src/base/parallel.cc", "<oneapi/tbb/parallel_for.h>", "<tbb/task.h>")
        self.assert_refused("src/base/status.h", "<oneapi/tbb/parallel_for.h>")
        self.assert_refused("src/plan/plan.cc", "<tbb/parallel_for.h>")

    def test_lets_only_tests_of_a_room_look_further(self):
        includes = ("<gtest/gtest.h>", '"reference/resample.h"', '"ops/op_info.h"')
        self.assert_allowed("src/ops/nearest/op_test.cc", *includes)
        self.assert_refused("src/ops/nearest/op.cc", includes[0])
        self.assert_refused("src/ops/nearest/op.cc", includes[1])

    def test_refuses_includes_and_folders_it_does_not_know(self):
        self.assert_refused("src/base/half.cc", '"half.h"')
        code, lines = run_on({"src/extra/extra.h": "#include <vector>\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/extra/extra.h:1: ", lines[0])

    def test_reads_no_comments(self):
        self.assertEqual(run_on({"src/base/a.h": '// #include "plan/plan.h"\n'}), (0, []))

    def test_accepts_the_tree_it_lies_in(self):
        done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
