#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The installed library is enough to build and run a program, through CMake and through pkg-config."""

import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["OPSCV_BUILD_DIR"])
CXX = os.environ["OPSCV_CXX"]
WORK = BUILD / "install_test"
PREFIX = WORK / "prefix"
EXAMPLE = SOURCE / "examples" / "cpp" / "first_gradient.cc"


def run(*command, **environment):
    """The command's output; fails the test with everything it printed when it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **environment})
    assert done.returncode == 0, f"{command} failed\n{done.stdout}{done.stderr}"
    return done.stdout


def one(pattern):
    found = sorted(PREFIX.glob(pattern))
    assert len(found) == 1, f"{pattern} below the prefix: {found}"
    return found[0]


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run("/usr/bin/cmake", "-E", "rm", "-rf", WORK)
        run("/usr/bin/cmake", "--install", BUILD, "--prefix", PREFIX)

    def test_tree_holds_every_public_header_and_no_other(self):
        public = SOURCE / "include" / "opscv"
        expected = sorted(path.relative_to(public) for path in public.rglob("*.h"))
        installed = PREFIX / "include" / "opscv"
        self.assertEqual(sorted(path.relative_to(installed) for path in installed.rglob("*.h")),
                         expected)

    def test_library_has_its_soname(self):
        library = one("lib*/**/libopscv.so.0.*")
        self.assertIn("[libopscv.so.0]", run("readelf", "-d", library))

    def test_library_shows_only_its_own_names(self):
        """Weak symbols aside: those are templates of the standard library that any program has."""
        symbols = run("nm", "-D", "--defined-only", "-C", one("lib*/**/libopscv.so.0.*"))
        foreign = [line for line in symbols.splitlines()
                   if line.split()[1] not in "WVwvu" and "opscv::" not in line
                   and not line.split()[2].startswith("acl")]
        self.assertEqual(foreign, [])

    def test_each_header_compiles_alone(self):
        for header in sorted((PREFIX / "include" / "opscv").rglob("*.h")):
            with self.subTest(header=header.name):
                run(CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++",
                    "-I", PREFIX / "include", header)

    def test_cmake_consumer(self):
        build = WORK / "consumer"
        run("/usr/bin/cmake", "-S", SOURCE / "tests" / "install" / "consumer", "-B", build,
            f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_CXX_COMPILER={CXX}",
            f"-DCONSUMER_SOURCE={EXAMPLE}")
        run("/usr/bin/cmake", "--build", build)
        run(build / "consumer")

    def test_pkg_config_consumer(self):
        folder = one("lib*/**/opscv.pc").parent
        flags = run("pkg-config", "--cflags", "--libs", "opscv", PKG_CONFIG_PATH=str(folder)).split()
        program = WORK / "pkg_config_consumer"
        run(CXX, "-std=c++20", EXAMPLE, "-o", program, *flags)
        run(program, LD_LIBRARY_PATH=str(folder.parent))

    def test_command_runs_where_it_is_installed(self):
        self.assertIn("run", run(PREFIX / "bin" / "opscv", "--help"))


if __name__ == "__main__":
    unittest.main()
