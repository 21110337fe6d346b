#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A program that cleans nothing up ends cleanly in every way it can end. In the sanitizer builds this
is where leaks, races and uses after the end would show."""

import os
import pathlib
import subprocess
import unittest

TOOL = pathlib.Path(os.environ["OPSCV_BUILD_DIR"]) / "tests" / "capi" / "leaks_everything_tool"


def run(*arguments, **environment):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class LeaksEverything(unittest.TestCase):
    def test_finalize_finishes_the_work(self):
        for end in ("finalize", "reset"):
            done = run(end)
            self.assertEqual(done.stdout, "10 host functions, first 8\n")
            self.assertEqual(done.stderr, "", "nothing is printed unless asked for")

    def test_leaving_without_finalize(self):
        for _ in range(5):
            self.assertEqual(run("return").stderr, "")

    def test_exit_from_a_host_function(self):
        for _ in range(5):
            self.assertEqual(run("exit").stderr, "")

    def test_info_log_tells_each_call(self):
        lines = run("finalize", OPSCV_LOG="info", OPSCV_THREADS="2").stderr.splitlines()
        self.assertEqual(len(lines), 20)
        for line in lines:
            self.assertRegex(
                line, r"^\[opscv info\] aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize: "
                r"gradOut \(1, 2, 4, 64, 64\) to gradInput \(1, 2, 2, 32, 32\), ACL_FLOAT, "
                r"rule ascend, workspace \d+ bytes, threads 2$")

    def test_debug_log_tells_the_chain(self):
        lines = run("finalize", OPSCV_LOG="debug").stderr.splitlines()
        function = "[opscv debug] aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize: "
        steps = [line.removeprefix(function).split(":")[0] for line in lines
                 if line.startswith(function)]
        self.assertEqual(steps[:3], ["Contiguous", "UpsampleNearestExact3dGrad", "ViewCopy"])


if __name__ == "__main__":
    unittest.main()
