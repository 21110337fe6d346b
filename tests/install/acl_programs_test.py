#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The example programs of the C interface build against the installed tree with the lines that
people use, and print the right numbers; the headers compile alone in the languages they promise."""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["OPSCV_BUILD_DIR"])
CXX = os.environ["OPSCV_CXX"]
CC = {"g++": "gcc", "clang++": "clang"}.get(pathlib.Path(CXX).name, "cc")
WORK = BUILD / "acl_programs_test"
HOME = WORK / "prefix"
EXAMPLES = SOURCE / "examples" / "acl"
LINK_LINES = ["-lascendcl -lnnopbase -lopapi", "-lacl_rt -lnnopbase -lopapi_math -lopapi_cv"]

BICUBIC = {  # rows 0, 3 and 7 of 8, by number of the first element
    0: [-0.037380, -0.021394, 0.076689, 0.210637],
    12: [0.137444, 0.293525, 0.637135, 1.051797],
    28: [1.005456, 1.876058, 3.500808, 5.389207],
}


def run(*command, code=0, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=120)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def shell(script):
    """The script's output, after the environment that set_env.sh makes."""
    return run("bash", "-euc", f'. "{HOME}/set_env.sh"; cd "{WORK}"; {script}')


def build_and_run(source, link_line=LINK_LINES[0], flags=""):
    return shell(f'"{CXX}" {flags} "{source}" -o program -I$ASCEND_HOME_PATH/include '
                 f"-L$ASCEND_HOME_PATH/lib64 {link_line} && ./program")


def numbers(text):
    return [float(value) for value in re.findall(r"result\[\d+\] is: (\S+)", text)]


class AclPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run("/usr/bin/cmake", "-E", "rm", "-rf", WORK)
        run("/usr/bin/cmake", "--install", BUILD, "--prefix", HOME)

    def expect_bicubic(self, text):
        got = numbers(text)
        self.assertEqual(len(got), 32)
        for first, row in BICUBIC.items():
            for i, expected in enumerate(row):
                self.assertAlmostEqual(got[first + i], expected, delta=2e-6)

    def test_bicubic_gradient_with_both_link_lines(self):
        for line in LINK_LINES:
            with self.subTest(line=line):
                self.expect_bicubic(
                    build_and_run(EXAMPLES / "upsample_bicubic2d_aa_grad.cc", line))

    def test_nearest_gradient_with_both_link_lines(self):
        for line in LINK_LINES:
            with self.subTest(line=line):
                text = build_and_run(EXAMPLES / "upsample_nearest_exact3d_backward.cc", line)
                self.assertEqual(numbers(text), [36, 100, 164, 228])

    def test_programs_may_be_old_and_strict(self):
        for name in ("upsample_bicubic2d_aa_grad", "two_streams"):
            build_and_run(EXAMPLES / f"{name}.cc", flags="-std=c++11 -Wall -Wextra -Werror")

    def test_two_streams(self):
        self.assertEqual(build_and_run(EXAMPLES / "two_streams.cc"),
                         "first 8.000000 last 8.000000\ntook some time\n")

    def test_non_contiguous_view(self):
        text = build_and_run(EXAMPLES / "non_contiguous_view.cc")
        pairs = re.findall(r"row 0 column \d: (\S+) (\S+)", text)
        self.assertEqual(len(pairs), 4)
        for (one, ten), expected in zip(pairs, BICUBIC[0]):
            self.assertAlmostEqual(float(one), expected, delta=2e-6)
            self.assertAlmostEqual(float(ten), 10 * expected, delta=2e-5)

    def test_reading_an_error(self):
        self.assertEqual(
            build_and_run(EXAMPLES / "reading_an_error.cc"),
            "161002\nEZ1001: aclnnUpsampleBicubic2dAAGradGetWorkspaceSize: "
            "scalesH must be >= 0, got -1.\n")

    def test_cmake_project(self):
        build = WORK / "cmake_project"
        run("/usr/bin/cmake", "-S", EXAMPLES / "cmake_project", "-B", build,
            f"-DCMAKE_PREFIX_PATH={HOME}", f"-DCMAKE_CXX_COMPILER={CXX}")
        run("/usr/bin/cmake", "--build", build)
        self.expect_bicubic(run(build / "acl_program"))

    def test_all_names_share_one_state(self):
        program = WORK / "one_state.cc"
        program.write_text("""
#include <dlfcn.h>
#include <cstdio>
int main() {
  void* rt = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL);
  void* op = dlopen("libopapi.so", RTLD_NOW | RTLD_LOCAL);
  if (!rt || !op) { std::puts(dlerror()); return 1; }
  auto create = reinterpret_cast<int (*)(void**)>(dlsym(rt, "aclrtCreateStream"));
  auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(op, "aclrtDestroyStream"));
  void* stream = nullptr;
  return create(&stream) + destroy(stream);
}
""")
        build_and_run(program, link_line="-ldl")

    def test_set_env(self):
        self.assertEqual(
            shell("echo $ASCEND_HOME_PATH $ASCEND_CUSTOM_PATH ${LD_LIBRARY_PATH%%:*}").split(),
            [str(HOME), str(HOME), f"{HOME}/lib64"])

    def test_headers_compile_alone(self):
        strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                  "-I", HOME / "include"]
        for header in sorted((HOME / "include").glob("acl*/*.h")):
            with self.subTest(header=header.name):
                run(CXX, "-std=c++11", *strict, "-x", "c++", header)
                if header.parent.name == "acl":
                    run(CC, "-std=c99", *strict, "-x", "c", header)

    def test_tree_holds_every_header(self):
        for folder in ("acl", "aclnn", "aclnnop"):
            self.assertEqual(sorted(path.name for path in (HOME / "include" / folder).iterdir()),
                             sorted(path.name for path in (SOURCE / "include" / folder).iterdir()))

    def test_headers_leave_common_names_alone(self):
        names = "CHECK_RET LOG_PRINT GetShapeSize Init CreateAclTensor CreateAclNchTensor".split()
        text = "".join(path.read_text() for path in (HOME / "include").glob("acl*/*.h"))
        for name in names:
            self.assertIsNone(re.search(rf"\b{name}\b", text), name)

    def test_every_declared_function_is_exported_and_no_other(self):
        text = "".join(path.read_text() for path in (HOME / "include").glob("acl*/*.h"))
        declared = set(re.findall(r"OPSCV_ACL_API [^;(]*?\b(acl\w+)\(", text))
        library = next(HOME.glob("lib*/**/libopscv.so.0.*"))
        symbols = run("nm", "-D", "--defined-only", library).splitlines()
        names = {line.split()[2] for line in symbols}
        native = {name for name in names if re.match(r"_ZN?(T[ISV])?K?N?K?5opscv", name)}
        self.assertGreaterEqual(len(declared), 59)
        self.assertGreater(len(native), 20)
        self.assertEqual(names - native, declared)


if __name__ == "__main__":
    unittest.main()
