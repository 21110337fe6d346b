# SPDX-License-Identifier: Apache-2.0
"""The package as pip installs it from an sdist into a clean virtual environment, with the newest
NumPy. The module is built against an installed library, since the kernels take minutes to compile;
`pip install .` builds both by the same rules."""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["OPSCV_BUILD_DIR"])
WORK = BUILD / "wheel_test"
CLEAN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*command, cwd=WORK, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd,
                          env={**CLEAN, **environment})
    assert done.returncode == 0, f"{command} failed\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def sdist():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    run(sys.executable, "-c", "import sys, scikit_build_core.build as build; "
        "build.build_sdist(sys.argv[1])", WORK, cwd=ROOT)
    (archive,) = WORK.glob("opscv-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def python(sdist):
    run("cmake", "--install", BUILD, "--prefix", WORK / "prefix")
    run("/usr/bin/python3", "-m", "venv", WORK / "env")
    python = WORK / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", sdist,
        "--config-settings=cmake.define.OPSCV_PYTHON_ONLY=ON",
        f"--config-settings=cmake.define.CMAKE_PREFIX_PATH={WORK / 'prefix'}")
    return python


def test_sdist_holds_what_a_build_needs_and_no_more(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("pyproject.toml", "CMakeLists.txt", "cmake/Options.cmake", "src/CMakeLists.txt",
                   "include/opscv/plan.h", "python/native.cc", "python/opscv/py.typed",
                   "examples/CMakeLists.txt", "LICENSE", "README.md"):
        assert needed in names
    assert not [name for name in names if name.startswith(("build/", "tests/", "examples/data"))]
    assert sdist.stat().st_size < 1 << 20


def test_it_runs_outside_the_tree(python):
    out = run(python, "-c", "import numpy as np, opscv; g = np.ones((1, 1, 4, 4), np.float32); "
              "print(opscv.__version__, opscv.upsample_bicubic2d_aa_backward(g, (4, 4), "
              "(1, 1, 9, 7)).sum().round(4), 'site-packages' in opscv.__file__)")
    assert out.split()[1:] == ["16.0", "True"]


def test_its_runner_finds_its_doors(python):
    for door, library in (("native", {}), ("python", {}),
                          ("c", {"OPSCV_LIBRARY": str(WORK / "prefix" / "lib" / "libopscv.so")})):
        lines = run(python, "-m", "opscv.cases", ROOT / "tests" / "cases" /
                    "upsample_nearest_exact3d_grad.json", "--door", door, **library).splitlines()
        assert " 0 failed" in lines[-1]
