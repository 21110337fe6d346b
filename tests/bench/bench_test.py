#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the benchmark decides by itself: turns, agreement, the page that it writes."""
import argparse
import pathlib
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import torch  # noqa: E402

import agreement  # noqa: E402
import cases  # noqa: E402
import goals  # noqa: E402
import perf_diff  # noqa: E402
import race  # noqa: E402
import report  # noqa: E402


class Clock:
    """A contestant whose calls take a given time, and which notes when it runs."""

    def __init__(self, name, seconds, log, first=None):
        self.name, self.seconds, self.log, self.first = name, seconds, log, first

    def run(self, repeat):
        self.log.append((self.name, repeat))
        return self.seconds


def times(**medians):
    return {name: {"median": median, "best": median, "lower": median, "upper": median, "turns": 3}
            for name, median in medians.items()}


def record(**changes):
    base = {"pair": "A", "direction": "gradient", "dtype": "float32", "layout": "NCHW", "threads": 2,
            "before": (8, 3, 512, 512), "after": (224, 224), "tiny": False, "in_cache": False,
            "seconds": times(opscv=1e-3, PyTorch=45e-3, read=4e-4, write=4e-4), "roof": 8e-4,
            "workspace": 0, "details": {}}
    return {**base, **changes}


class Race(unittest.TestCase):

    def run_race(self, *contestants, budget=0.01):
        return race.race(contestants, budget, types.SimpleNamespace(pin=lambda: None))

    def test_everyone_has_turns_and_they_alternate(self):
        log = []
        found = self.run_race(Clock("fast", 1e-3, log), Clock("slow", 2e-3, log))
        self.assertGreaterEqual(found["fast"]["turns"], race.FEWEST_SHORT_TURNS)
        self.assertGreaterEqual(found["slow"]["turns"], race.FEWEST_SHORT_TURNS)
        rounds = log[6:]  # after the probes
        first = [name for name, _ in rounds[::4]]
        self.assertIn("fast", first)
        self.assertIn("slow", first)

    def test_short_calls_are_repeated_within_a_turn(self):
        log = []
        self.run_race(Clock("short", 1e-6, log))
        self.assertEqual(max(repeat for _, repeat in log), round(race.SHORTEST_TURN / 1e-6))

    def test_a_long_first_call_counts_as_a_turn(self):
        log = []
        found = self.run_race(Clock("long", 1.0, log, first=1.5))
        self.assertEqual(found["long"]["turns"], race.FEWEST_TURNS)
        self.assertEqual(len(log), race.FEWEST_TURNS - 1)


class Agreement(unittest.TestCase):

    def test_a_result_that_differs_ends_the_run_and_names_the_shape(self):
        case = cases.Case(cases.PAIRS["B"], (1, 2, 3, 4, 5), (6, 8, 10), "gradient", "float32",
                          "NCDHW")
        ours = types.SimpleNamespace(name="opscv", output=torch.ones(4))
        same = types.SimpleNamespace(name="PyTorch", output=torch.ones(4))
        agreement.check(case, ours, [same])
        for value in (1.1, float("nan")):
            same.output[2] = value
            with self.assertRaisesRegex(SystemExit, r"\(1,2,3,4,5\).*PyTorch and opscv differ"):
                agreement.check(case, ours, [same])


class Cases(unittest.TestCase):

    def test_options_choose_a_part(self):
        parser = argparse.ArgumentParser()
        cases.add_options(parser, [1, 2])
        every = list(cases.chosen(parser.parse_args([])))
        shapes = sum(len(list(cases.read_shapes(pair))) for pair in cases.PAIRS.values())
        self.assertEqual(len(every), shapes * 2 * 2 * 3)
        part = list(cases.chosen(parser.parse_args(
            ["--only", "A", "--shape", "224,224", "--dtype", "float16", "--layout", "NHWC",
             "--direction", "forward"])))
        self.assertEqual([case.name() for case in part],
                         ["A forward float16 NHWC (1,3,224,224) -> (112,112)"])

    def test_a_gradient_reads_what_the_forward_operator_writes(self):
        case = cases.Case(cases.PAIRS["A"], (2, 3, 8, 6), (4, 2), "gradient", "float16", "NCHW")
        self.assertEqual((case.input_shape, case.output_shape), ((2, 3, 4, 2), (2, 3, 8, 6)))
        self.assertEqual((case.input_bytes(), case.output_bytes()), (96, 576))


class Goals(unittest.TestCase):

    def judge(self, *records):
        return {what: kept for what, _, _, kept in goals.judge({"cases": list(records)})}

    def test_one_slow_shape_misses_the_goal_whatever_the_mean(self):
        fast = "A float32, times as fast as PyTorch"
        self.assertTrue(self.judge(record())[fast])
        slow = record(before=(1, 1, 9, 9), seconds=times(opscv=1e-3, PyTorch=19e-3, read=1, write=1))
        very_fast = record(before=(1, 1, 8, 8), seconds=times(opscv=1e-6, PyTorch=1.0))
        self.assertFalse(self.judge(record(), slow, very_fast)[fast])

    def test_half_types_are_held_to_float32_of_the_same_shape(self):
        what = "A half types, time over float32's"
        half = record(dtype="float16", seconds=times(opscv=0.9e-3))
        self.assertTrue(self.judge(record(), half)[what])
        half["seconds"] = times(opscv=1.1e-3)
        self.assertFalse(self.judge(record(), half)[what])

    def test_scaling_compares_one_thread_with_two(self):
        what = "A float32 NCHW, one core to two, beyond L2"
        for single, kept in ((1.7e-3, True), (1.5e-3, False)):
            one = record(threads=1, seconds=times(opscv=single, PyTorch=1.0))
            self.assertEqual(self.judge(one, record())[what], kept)


class Page(unittest.TestCase):

    def test_only_what_is_between_the_marks_changes(self):
        result = {"machine": {"date": "2000-01-01", "processor": "P", "processors": 2,
                              "targets": ["AVX2"], "opscv": "1", "PyTorch": "2", "oneDNN": "3"},
                  "cases": [record(), record(threads=1)], "minutes": 1.0}
        with tempfile.TemporaryDirectory() as folder, mock.patch("plots.draw"):
            page = pathlib.Path(folder) / "performance.md"
            page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
            report.write(result, page.parent)
            text = page.read_text()
            self.assertTrue(text.startswith(f"before\n{report.BEGIN}\n"))
            self.assertTrue(text.endswith(f"{report.END}\nafter\n"))
            self.assertNotIn("old", text)
            self.assertRegex(text, r"\(8,3,512,512\) / \(224,224\).*45 / 45")
            first = (page.parent / "performance.json").read_text()
            report.write(result, page.parent)
            self.assertEqual(page.read_text(), text)
            self.assertEqual((page.parent / "performance.json").read_text(), first)

    def test_the_page_in_docs_has_the_marks(self):
        text = (ROOT / "docs" / "performance.md").read_text()
        self.assertEqual(len(re.findall(f"{report.BEGIN}|{report.END}", text)), 2)


class PerfDiff(unittest.TestCase):

    def test_a_row_is_marked_only_where_the_turns_are_apart(self):
        steady = {"median": 1.0, "lower": 0.99, "upper": 1.01}
        slower = {"median": 1.1, "lower": 1.09, "upper": 1.11}
        noisy = {"median": 1.1, "lower": 0.9, "upper": 1.3}
        self.assertEqual(perf_diff.mark(steady, slower).strip(), "SLOWER")
        self.assertEqual(perf_diff.mark(slower, steady).strip(), "faster")
        self.assertEqual(perf_diff.mark(steady, noisy), "")
        self.assertEqual(perf_diff.mark(steady, steady), "")


if __name__ == "__main__":
    unittest.main()
