#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of the C interface agree with the code: tables with the prototypes, functions with the
headers, codes with their definitions, and both languages with each other. With --write, the
generated tables are written instead."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ["OPSCV_BUILD_DIR"]) / "tests" / "docs" / "operator_tables_tool"
LANGUAGES = ("en", "zh")

BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n\n)(.*?)(\n<!-- end -->)", re.DOTALL)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def generated_tables():
    """{(language, C function, table): markdown}"""
    text = subprocess.run([TOOL], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^@ (\S+) (\S+) (\S+)\n", text, flags=re.MULTILINE)[1:]
    return {tuple(parts[i:i + 3]): parts[i + 3] for i in range(0, len(parts), 4)}


def operators():
    return sorted({function for _, function, _ in generated_tables()})


def page(language, name):
    return ROOT / "docs" / language / f"{name}.md"


def header_of(function):
    """The header that declares the operator, by a name like aclnn_upsample_bicubic2d_aa_grad.h."""
    for path in (ROOT / "include" / "aclnnop").glob("*.h"):
        if re.search(rf"\b{function}\(", path.read_text()):
            return path.read_text()
    raise AssertionError(f"no header in include/aclnnop declares {function}")


def declarations(text):
    """The text's function declarations in one spelling."""
    return [re.sub(r"\s+", " ", found).replace("( ", "(")
            for found in re.findall(r"aclnnStatus\s+aclnn[^;{]*;", text)]


def parameters(declaration):
    return re.findall(r"(\w+)(?=[,)])", declaration)


def write():
    tables = generated_tables()
    for language in LANGUAGES:
        for function in operators():
            path = page(language, function)
            path.write_text(BLOCK.sub(
                lambda found: found[1] + tables[language, function, found[2]] + found[4],
                path.read_text()))


class OperatorPages(unittest.TestCase):
    maxDiff = None

    def test_every_operator_has_its_pages(self):
        self.assertGreaterEqual(len(operators()), 4)
        for language in LANGUAGES:
            pages = [path.stem for path in page(language, "x").parent.glob("aclnn*.md")]
            self.assertEqual(sorted(pages), operators())

    def test_tables_are_those_of_the_prototypes(self):
        for (language, function, table), text in generated_tables().items():
            with self.subTest(language=language, function=function, table=table):
                blocks = {found[2]: found[3]
                          for found in BLOCK.finditer(page(language, function).read_text())}
                self.assertEqual(blocks.get(table), text, f"{__file__} --write renews it")

    def test_functions_are_those_of_the_headers(self):
        for language in LANGUAGES:
            for function in operators():
                with self.subTest(language=language, function=function):
                    declared = declarations(header_of(function))
                    self.assertEqual(len(declared), 2)
                    self.assertEqual(declarations(page(language, function).read_text()), declared)

    def test_parameters_come_in_the_order_of_the_header(self):
        for (language, function, table), text in generated_tables().items():
            if table == "parameters":
                with self.subTest(language=language, function=function):
                    rows = [line.split("|")[1] for line in text.splitlines()[2:]]
                    self.assertEqual(re.findall(r"`(\w+)`", "".join(rows)),
                                     parameters(declarations(header_of(function))[0]))

    def test_return_codes_are_those_of_the_headers(self):
        headers = "".join((ROOT / "include" / name).read_text()
                          for name in ("acl/acl_base.h", "aclnn/acl_meta.h"))
        defined = sorted(re.findall(r"^#define (ACL\w+) (\d+)$", headers, re.MULTILINE))
        self.assertGreater(len(defined), 15)
        for language in LANGUAGES:
            rows = re.findall(r"^\| `(ACL\w+)` \| (\d+) \|",
                              page(language, "return_codes").read_text(), re.MULTILINE)
            self.assertEqual(sorted(rows), defined)

    def test_both_languages_say_the_same(self):
        names = [sorted(path.name for path in page(language, "x").parent.glob("*.md"))
                 for language in LANGUAGES]
        self.assertEqual(*names)
        for name in names[0]:
            texts = [(ROOT / "docs" / language / name).read_text() for language in LANGUAGES]
            for what, find in (
                ("code", FENCE.findall),
                ("headings", re.compile(r"^#+(?= )", re.MULTILINE).findall),
                ("tables", re.compile(r"^\||^- |^\d+\. ", re.MULTILINE).findall),
                ("links", lambda text: sorted(re.sub(r"^\.\./(en|zh)/|#.*", "", link)
                                              for link in LINK.findall(text))),
                ("numbers of codes", lambda text: sorted(re.findall(r"(?<!\d)\d{6}(?!\d)", text))),
                ("names", lambda text: sorted(set(CODE.findall(FENCE.sub("", text))))),
            ):
                with self.subTest(page=name, what=what):
                    got = [find(FENCE.sub("", text) if what in ("headings", "tables") else text)
                           for text in texts]
                    self.assertEqual(*got)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main(verbosity=2)
