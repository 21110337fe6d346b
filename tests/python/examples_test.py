# SPDX-License-Identifier: Apache-2.0
"""The examples and the README's Python run and print what they are there for."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"


def run(*words, is_quiet=True):
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0 and (not is_quiet or done.stderr == ""), done.stdout + done.stderr
    return done.stdout


def test_numpy_example():
    lines = run(EXAMPLES / "numpy_resize.py", ROOT / "examples" / "data" / "astronaut.npy").splitlines()
    words = lines[1].split()
    before, after = float(words[1].rstrip(",")), float(words[-1])
    assert after < before
    assert lines[2] == "box by box: the same bits"
    assert run(EXAMPLES / "numpy_resize.py").splitlines()[2] == "box by box: the same bits"


def test_training_example(tmp_path):
    """It prints its table, and puts it into the page in the place of the one before."""
    page = tmp_path / "page.md"
    before = (ROOT / "docs" / "python_training.md").read_text()
    page.write_text(before)
    # The profiler of PyTorch 2 talks of itself.
    printed = run(EXAMPLES / "torch_training.py", "--steps", "3", "--threads", "2", "--write", page,
                  is_quiet=False)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines()[4:]]
    assert len(rows) == 4
    for name, *cells in rows:
        assert float(cells[-1]) < 1e-4, f"{name}: losses apart by {cells[-1]}"
    first, last = before.partition("Measured with")[0], before.partition("What it shows:")[2]
    assert page.read_text() == f"{first}{printed}\nWhat it shows:{last}"


def test_python_of_the_readme():
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        run("-c", block)


def test_python_of_the_page():
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "python.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        run("-c", block)
