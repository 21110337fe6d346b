#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Documents agree with the tree: links lead somewhere, both READMEs say the same, the tables of
HACKING.md are those of tools/check_layers.py."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")


def documents():
    found = [path for folder in ("", "docs", "src", "cli", "examples", "tests", "tools")
             for path in (ROOT / folder).glob("**/*.md" if folder else "*.md")]
    assert len(found) > 10, found
    return sorted(found)


def prose(path):
    """The document without its code, where brackets mean other things."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text()))


def anchors(path):
    """What GitHub calls the document's headings."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for _, title in HEADING.findall(FENCE.sub("", path.read_text()))}


def table(text, first_column):
    """Rows of the table below that header, as {code of the first cell: text of the second}."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    rows = {}
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        first, second = line.strip().strip("|").split("|")
        rows[CODE.search(first)[1]] = second.strip()
    return rows


class Documents(unittest.TestCase):

    def test_relative_links_resolve(self):
        for path in documents():
            for link in LINK.findall(prose(path)):
                if re.match(r"[a-z]+:", link):
                    continue
                file, _, anchor = link.partition("#")
                target = (path.parent / file).resolve() if file else path
                with self.subTest(document=str(path.relative_to(ROOT)), link=link):
                    self.assertTrue(target.exists(), "there is no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_both_readmes_say_the_same(self):
        english, chinese = [(ROOT / name).read_text() for name in ("README.md", "README.zh.md")]
        self.assertEqual(FENCE.findall(english), FENCE.findall(chinese), "code blocks")
        self.assertEqual([level for level, _ in HEADING.findall(FENCE.sub("", english))],
                         [level for level, _ in HEADING.findall(FENCE.sub("", chinese))], "headings")
        self.assertEqual(re.findall(r"^\|", english, re.MULTILINE),
                         re.findall(r"^\|", chinese, re.MULTILINE), "rows of tables")
        links = [sorted(set(LINK.findall(text)) - {"README.md", "README.zh.md"})
                 for text in (english, chinese)]
        self.assertEqual(*links)

    def test_readme_shows_the_first_example(self):
        program = (ROOT / "examples" / "cpp" / "first_gradient.cc").read_text()
        blocks = dict(FENCE.findall((ROOT / "README.md").read_text()))
        self.assertEqual(blocks["cpp"], program.split("\n", 1)[1])

    def test_every_operator_stands_in_the_readme(self):
        operators = [name for path in (ROOT / "src" / "ops").glob("*/op.cc")
                     for name in re.findall(r'info\.name = "(\w+)"', path.read_text())]
        self.assertGreaterEqual(len(operators), 4)
        readme = (ROOT / "README.md").read_text()
        for name in operators:
            self.assertIn(f"| [{name}](", readme)

    def test_arrow_tables_of_hacking(self):
        hacking = (ROOT / "HACKING.md").read_text()
        arrows = {}
        for room, cell in table(hacking, "room").items():
            values = check_layers.VALUE_HEADERS if "value headers" in cell else []
            arrows[room] = sorted(values + CODE.findall(cell))
        self.assertEqual(arrows, {room: sorted(allowed)
                                  for room, allowed in check_layers.ARROWS.items()})
        values = re.search(r"\*Value headers\* are (.+?)\.$", hacking, re.MULTILINE)[1]
        self.assertEqual(CODE.findall(values), check_layers.VALUE_HEADERS)
        outside = {library: CODE.findall(cell)
                   for library, cell in table(hacking, "library").items()}
        self.assertEqual(outside, check_layers.OUTSIDE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
