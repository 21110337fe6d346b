#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import count_instructions  # noqa: E402


class CountInstructions(unittest.TestCase):

    def test_growth_beyond_five_percent_is_marked(self):
        lines, grown = count_instructions.compare({"slow": 1000, "fair": 1000, "fast": 1000},
                                                  {"slow": 1051, "fair": 1049, "fast": 10})
        self.assertEqual(grown, 1)
        self.assertEqual([line.endswith("GROWN") for line in lines], [True, False, False])
        self.assertIn("+5.1 %", lines[0])
        self.assertIn("-99.0 %", lines[2])

    def test_cases_that_came_or_went_are_told(self):
        lines, grown = count_instructions.compare({"gone": 1}, {"new": 1})
        self.assertEqual(grown, 0)
        self.assertIn("new: not in the record", lines[0])
        self.assertIn("gone: in the record only", lines[1])

    def test_record_comes_back_as_written(self):
        counts = {"a case 1x2 3x4": 12, "another": 5}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "counts.txt"
            count_instructions.write_record(path, counts)
            self.assertEqual(count_instructions.read_record(path), counts)

    def test_the_record_names_every_case_once(self):
        text = count_instructions.RECORD.read_text().splitlines()
        self.assertEqual(len(count_instructions.read_record(count_instructions.RECORD)),
                         sum(1 for line in text if line and not line.startswith("#")))


if __name__ == "__main__":
    unittest.main()
