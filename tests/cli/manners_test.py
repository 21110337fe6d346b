#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the command leaves behind, says and answers: outputs, interrupts, full disks, statuses."""

import os
import pty
import re
import resource
import signal
import stat
import subprocess
import time
import unittest

import numpy as np
from support import (BAD_INPUT, CANNOT_WRITE, FAILED_CHECK, INTERRUPTED, OPSCV, USAGE, CommandTest,
                     sizes)

NEAREST = "UpsampleNearestExact3d"


class Usage(CommandTest):
    def test_lines_that_cannot_be_read(self):
        for words, says in (([], "subcommand"), (["fly"], ["'fly'", "compare"]), (["run"], ["run", "UpsampleBicubic2dAA", "nothing"]),
                            (["run", "--quiet"], ["UpsampleBicubic2dAA", "'--quiet'"]),
                            (["--quiet"], ["compare", "'--quiet'"]),
                            (["run", "Upsample"], ["UpsampleBicubic2dAA", "'Upsample'"]),
                            (["run", NEAREST], "--input is required"),
                            (["run", NEAREST, "--input"], "--input"),
                            (["run", NEAREST, "--input", "a.npy"], "--output is required"),
                            (["list", "stray"], "stray"),
                            (["plan", NEAREST, "--output_size", "1,1,1"], "--shape"),
                            (["compare", "a.npy"], "B is required"),
                            (["complete"], "complete"), (["list", "--longer"], "--longer"),
                            (["list", "--long=5"], "--long takes no value"),
                            (["list", "--json=x"], "--json takes no value"),
                            (["targets", "--threads", "x"], "--threads")):
            with self.subTest(words):
                self.refused(*words, status=USAGE, says=says)

    def test_values_beyond_their_range(self):
        """The option, what was expected and what was given."""
        run = ["run", NEAREST, "--input", "in.npy", "--output", "out.npy", "--output_size", "1,1,1"]
        bench = ["bench", NEAREST, "--shape", "1,1,1,1,1", "--output_size", "1,1,1"]
        compare = ["compare", "a.npy", "b.npy"]
        threads = "--threads must be a whole number from 1 to 1024, got "
        for words, option, values, says in (
                (run, "--threads", ("0", "1025", "1.5", "x", "", "-1"), threads),
                (["graph", "run", "g.json"], "--threads", ("0",), threads),
                (run, "--memory", ("0", "1", "4095", "3k"), "--memory must be 4K or more, got "),
                (run, "--memory", ("lots", "", "-1", "1.5G", "5Q", "5KX", "9999999T", "9" * 20),
                 "--memory must be a number of bytes such as 512M, got "),
                (bench, "--seconds", ("-1", "3601", "nan", "x"),
                 "--seconds must be a number from 0 to 3600, got "),
                (compare, "--atol", ("-1", "nan", "inf", "x"),
                 "--atol must be a finite number from 0, got "),
                (compare, "--rtol", ("-1e-9",), "--rtol must be a finite number from 0, got "),
                (["gen", "c", "--output", "d"], "--rule", ("x",),
                 "--rule must be one of ascend, torch_cpu, exact, got ")):
            for value in values:
                with self.subTest(option=option, value=value):
                    self.refused(*words, option, value, status=USAGE, says=f"{says}'{value}'")

    def test_options_without_a_value_or_twice(self):
        run = ["run", NEAREST, "--input", "in.npy", "--output", "out.npy", "--output_size"]
        for words, says in ((run, "--output_size must be followed by a value (LISTINT), got nothing"),
                            ([*run, "1,1,1", "--threads"], "--threads must be followed by a value (N)"),
                            ([*run, "1,1,1", "--threads", "1", "--threads", "2"],
                             "--threads must be there once, got 2"),
                            (["graph", "run", "g", "--input"], "--input must be followed by a value"),
                            (["plan", NEAREST, "--input", "a.npy", "--shape", "1,1,1,1,1",
                              "--output_size", "1,1,1"], ["--input and --shape", "one of them"])):
            with self.subTest(words):
                self.refused(*words, status=USAGE, says=says)

    def test_memory_is_written_in_bytes_or_units(self):
        self.save("in.npy", self.normal(1, 1, 4, 5, 6))
        for size in ("4096", "4K", "4kb", "5KiB", "1m", "2G", "1TB", "99999b"):
            self.opscv("run", NEAREST, "--input", "in.npy", "--output", "out.npy", "--output_size",
                       "1,1,1", "--memory", size)

    def test_help_and_version(self):
        for words in (["--help"], ["run", "--help"], ["run", NEAREST, "-h"], ["compare", "--help"]):
            out, err = self.opscv(*words)
            self.assertIn("Usage: opscv", out)
            self.assertEqual(err, "")
        out, _ = self.opscv("--version")
        self.assertRegex(out, r"\A\d+\.\d+\.\d+\n\Z")

    def test_an_unknown_simd_target_is_told(self):
        environment = {**os.environ, "OPSCV_TARGET": "AVX9"}
        self.refused("targets", status=USAGE, says=["OPSCV_TARGET", "AVX9"], env=environment)
        self.save("in.npy", self.normal(1, 1, 2, 2, 2))
        self.refused("run", NEAREST, "--input", "in.npy", "--output", "out.npy", "--output_size",
                     "1,1,1", status=BAD_INPUT, says=["OPSCV_TARGET", "AVX9"], env=environment)


class Files(CommandTest):
    def setUp(self):
        super().setUp()
        self.save("in.npy", self.normal(1, 1, 4, 5, 6))

    def call(self, source, target):
        return ["run", NEAREST, "--input", source, "--output", target, "--output_size", "2,3,4"]

    def test_inputs_that_cannot_be_opened(self):
        os.mkdir(self.folder / "folder.npy")
        os.mkfifo(self.folder / "pipe.npy")
        for name, says in (("missing.npy", "No such file"), ("folder.npy", "a directory"),
                           ("pipe.npy", "regular file"), ("in.txt", ".npy, .nii"), ("", "end in"),
                           (".npy", "end in"), ("in.npy/x.npy", "Not a directory")):
            with self.subTest(name):
                self.refused(*self.call(name, "out.npy"), status=BAD_INPUT, says=[name, says])

    def test_outputs_that_cannot_be_written(self):
        os.mkdir(self.folder / "folder.npy")
        os.mkfifo(self.folder / "pipe.npy")
        for name, status, says in (("no/such/out.npy", CANNOT_WRITE, "No such file"),
                                   ("folder.npy", CANNOT_WRITE, "a directory"),
                                   ("pipe.npy", CANNOT_WRITE, "regular file"),
                                   ("in.npy/x.npy", CANNOT_WRITE, "Not a directory")):
            with self.subTest(name):
                self.refused(*self.call("in.npy", name), status=status, says=[name, says])

    def test_an_output_of_no_known_format_is_refused_before_any_work(self):
        for name in ("y.xyz", "npy", ".npy", "", "y.npy.", "-", "y.nii.zip"):
            with self.subTest(name):
                # Not even the input is looked at.
                self.refused(*self.call("missing.npy", name), status=USAGE,
                             says=f"--output must end in .npy, .nii, .nii.gz, .png, .jpg or .jpeg, "
                                  f"got '{name}'")

    def test_an_image_for_a_gradient_is_refused_before_any_work(self):
        self.refused("run", NEAREST + "Grad", "--input", "missing.npy", "--output", "y.png",
                     "--input_size", "1,1,1,1,1", status=BAD_INPUT, says=["y.png", "gradient"])

    def test_names_of_any_letters(self):
        os.mkdir(self.folder / "a b")
        for name in ("my file.npy", "a b/c'd\".npy", "日本 é.npy", "new\nline.npy", "UPPER.NPY",
                     "--x=y.npy"):
            with self.subTest(name):
                self.opscv("run", NEAREST, "--input", "in.npy", f"--output={name}", "--output_size",
                           "2,3,4")
                self.assertEqual(self.load(name).shape, (1, 1, 2, 3, 4))
                self.opscv("run", NEAREST, f"--input={name}", "--output", "again.npy",
                           "--output_size", "1,1,1")

    def test_an_output_replaces_what_had_its_name(self):
        (self.folder / "out.npy").write_bytes(b"old")
        self.opscv(*self.call("in.npy", "out.npy"))
        self.assertEqual(self.load("out.npy").shape, (1, 1, 2, 3, 4))
        self.assertEqual(self.files(), ["in.npy", "out.npy"])

    def test_the_input_may_be_replaced_by_the_output(self):
        self.opscv(*self.call("in.npy", "in.npy"))
        self.assertEqual(self.load("in.npy").shape, (1, 1, 2, 3, 4))
        self.assertEqual(self.files(), ["in.npy"])

    def test_a_link_stays_a_link(self):
        (self.folder / "real.npy").write_bytes(b"old")
        os.symlink("real.npy", self.folder / "link.npy")
        self.opscv(*self.call("in.npy", "link.npy"))
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assertEqual(self.load("real.npy").shape, (1, 1, 2, 3, 4))

    def test_a_link_to_nothing_yet_creates_what_it_names(self):
        os.mkdir(self.folder / "far")
        os.symlink("../new.npy", self.folder / "far" / "one.npy")
        os.symlink("far/one.npy", self.folder / "two.npy")
        os.symlink(self.folder / "absolute.nii", self.folder / "three.nii")
        for link, target in (("two.npy", "new.npy"), ("three.nii", "absolute.nii")):
            self.opscv(*self.call("in.npy", link))
            self.assertTrue((self.folder / link).is_symlink())
            self.assertTrue((self.folder / target).is_file())
        self.assertTrue((self.folder / "far" / "one.npy").is_symlink())
        self.assertEqual(self.load("new.npy").shape, (1, 1, 2, 3, 4))

    def test_links_that_lead_nowhere(self):
        os.symlink("b.npy", self.folder / "a.npy")
        os.symlink("a.npy", self.folder / "b.npy")
        os.symlink("no/such/folder.npy", self.folder / "c.npy")
        os.symlink(".", self.folder / "d.npy")
        for name, says in (("a.npy", "links without end"), ("c.npy", "No such file"),
                           ("d.npy", "a directory")):
            with self.subTest(name):
                self.refused(*self.call("in.npy", name), status=CANNOT_WRITE, says=[name, says])

    def test_the_umask_is_obeyed(self):
        self.opscv(*self.call("in.npy", "out.npy"), preexec_fn=lambda: os.umask(0o027))
        mode = stat.S_IMODE((self.folder / "out.npy").stat().st_mode)
        self.assertEqual(mode, 0o640)

    def test_a_refusal_leaves_the_old_output_alone(self):
        (self.folder / "out.npy").write_bytes(b"old")
        self.save("bad.npy", self.normal(3))
        self.refused(*self.call("bad.npy", "out.npy"), status=BAD_INPUT, says="bad.npy")
        self.assertEqual((self.folder / "out.npy").read_bytes(), b"old")


class Endings(CommandTest):
    """Work that does not come to its end leaves nothing."""

    def big(self):
        np.lib.format.open_memmap(self.folder / "in.npy", "w+", "f4", (1, 1, 600, 600, 600))
        return ["run", NEAREST, "--input", "in.npy", "--output_size", "600,600,601", "--memory",
                "4M", "--output"]

    def test_a_full_disk_leaves_nothing(self):
        call = self.big()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        for name in ("out.npy", "out.nii"):
            with self.subTest(name):
                self.refused(*call, name, status=CANNOT_WRITE, says=[name, "File too large"],
                             preexec_fn=limit)

    def test_signals_leave_nothing(self):
        call = self.big()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = subprocess.Popen([OPSCV, *call, "out.nii.gz"], cwd=self.folder,
                                           stderr=subprocess.PIPE, text=True)
                # Its input is open once it works.
                fds = f"/proc/{process.pid}/fd"
                while not any("in.npy" in os.readlink(f"{fds}/{fd}") for fd in os.listdir(fds)):
                    time.sleep(0.01)
                time.sleep(0.2)
                process.send_signal(number)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, INTERRUPTED)
                self.assertEqual(err, "opscv: interrupted; no output was written\n")
                self.assertEqual(self.files(), ["in.npy"])

    def test_a_signal_ends_planning_and_checking_at_once(self):
        size = "1,1,300000000"
        np.lib.format.open_memmap(self.folder / "in.npy", "w+", "f4", (1, 1, 1, 1, 1 << 27))
        run = ["run", NEAREST, "--input", "in.npy", "--output", "out.npy", "--output_size", size]
        for words in (["plan", NEAREST, "--shape", "1,1,1,1,134217728", "--output_size", size], run,
                      ["check", *run[1:4], "--output_size", size]):
            with self.subTest(words[0]):
                process = subprocess.Popen([OPSCV, *words], cwd=self.folder, stderr=subprocess.PIPE,
                                           text=True)
                time.sleep(0.4)
                self.assertIsNone(process.poll(), "it ended before the signal came")
                process.send_signal(signal.SIGINT)
                sent = time.monotonic()
                _, err = process.communicate(timeout=60)
                self.assertLess(time.monotonic() - sent, 1.5)
                self.assertEqual(process.returncode, INTERRUPTED)
                self.assertEqual(err, "opscv: interrupted; no output was written\n")
                self.assertEqual(self.files(), ["in.npy"])

    def test_a_killed_run_leaves_nothing_where_the_file_system_can(self):
        probe = os.open(self.folder, os.O_TMPFILE | os.O_RDWR)  # nameless files
        os.close(probe)
        process = subprocess.Popen([OPSCV, *self.big(), "out.nii.gz"], cwd=self.folder)
        time.sleep(0.3)
        process.kill()
        process.wait()
        self.assertEqual(self.files(), ["in.npy"])

    def test_file_systems_without_nameless_files(self):
        """There the output is written beside, and as little of it is left."""
        self.build_library("open", """
            #include <cerrno>
            #include <cstdarg>
            #include <dlfcn.h>
            #include <fcntl.h>
            #define OPEN(name) \\
              extern "C" int name(const char* path, int flags, ...) { \\
                va_list more; va_start(more, flags); \\
                const mode_t mode = va_arg(more, mode_t); va_end(more); \\
                if ((flags & O_TMPFILE) == O_TMPFILE) { errno = EOPNOTSUPP; return -1; } \\
                static auto* real = reinterpret_cast<int (*)(const char*, int, ...)>( \\
                    dlsym(RTLD_NEXT, #name)); \\
                return real(path, flags, mode); \\
              }
            OPEN(open)
            OPEN(open64)
            """)
        environment = self.preloading("open")
        call = self.big()
        process = subprocess.Popen([OPSCV, *call, "out.nii.gz"], cwd=self.folder, env=environment,
                                   stderr=subprocess.DEVNULL)
        while not any(name.endswith(".part") for name in self.files()):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.terminate()
        self.assertEqual(process.wait(timeout=60), INTERRUPTED)
        self.assertEqual(self.files(), ["in.npy", "open.cc", "open.so"])
        self.save("small.npy", self.normal(1, 1, 2, 2, 2))
        self.opscv("run", NEAREST, "--input", "small.npy", "--output", "out.npy", "--output_size",
                   "1,1,1", env=environment)
        self.assertEqual(self.load("out.npy").shape, (1, 1, 1, 1, 1))
        self.assertFalse(any(name.endswith(".part") for name in self.files()))

    def test_the_bar_shows_on_a_terminal_only(self):
        call = [str(OPSCV), *self.big(), "out.nii.gz"]
        ours, theirs = pty.openpty()
        process = subprocess.Popen(call, cwd=self.folder, stderr=theirs)
        os.close(theirs)
        shown = b""
        while not re.search(rb"\[#*\.*\] +\d+ %", shown):
            shown += os.read(ours, 1000)
        process.terminate()
        process.wait()
        os.close(ours)
        self.assertIn(NEAREST.encode(), shown)


    def test_a_terminal_that_is_gone_ends_nothing(self):
        np.lib.format.open_memmap(self.folder / "in.npy", "w+", "f4", (1, 1, 200, 600, 600))
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [OPSCV, "run", NEAREST, "--input", "in.npy", "--output", "out.nii.gz", "--output_size",
             "200,600,601", "--memory", "4M"], cwd=self.folder, stdout=subprocess.DEVNULL,
            stderr=theirs, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        os.close(theirs)
        os.read(ours, 1)  # the bar
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(self.files(), ["in.npy", "out.nii.gz"])


class Reports(CommandTest):
    def setUp(self):
        super().setUp()
        self.save("g.npy", self.normal(1, 2, 6, 8))

    WORDS = ["UpsampleBicubic2dAAGrad", "--input", "g.npy", "--output_size", "6,8", "--input_size",
             sizes(1, 2, 11, 5)]

    def test_run_reports(self):
        report = self.report("run", *self.WORDS, "--output", "out.npy")
        self.assertEqual(report["operator"], "UpsampleBicubic2dAAGrad")
        self.assertEqual(report["dtype"], "float32")
        self.assertEqual(report["input_shape"], [1, 2, 6, 8])
        self.assertEqual(report["output_shape"], [1, 2, 11, 5])
        self.assertGreater(report["milliseconds"], 0)
        self.assertGreater(report["gigabytes_per_second"], 0)
        self.assertEqual(self.opscv("run", *self.WORDS, "--output", "out.npy", "--quiet"), ("", ""))
        out, _ = self.opscv("run", *self.WORDS, "--output", "out.npy")
        self.assertRegex(out, r"\A.*\(1, 2, 6, 8\) -> \(1, 2, 11, 5\) .* ms .* GB/s .* out.npy\n\Z")

    def test_threads_change_no_bit(self):
        contents = set()
        for threads in (1, 2, 5):
            self.opscv("run", *self.WORDS, "--output", "out.npy", "--threads", threads)
            contents.add((self.folder / "out.npy").read_bytes())
        self.assertEqual(len(contents), 1)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            # A few bytes, more than a buffer holds, and what is no report.
            for words in (["list"], ["list", "--long"], ["man"], ["complete", "--", ""]):
                done = subprocess.run([OPSCV, *words], stdout=full, stderr=subprocess.PIPE,
                                      text=True)
                self.assertEqual(done.returncode, CANNOT_WRITE, words)
                self.assertIn("stdout", done.stderr)

    def test_words_that_nobody_takes(self):
        _, err = self.opscv("run", *self.WORDS, "--output", "out.npy", "--colour", "red",
                            status=USAGE)
        self.assertEqual(err.count("\n"), 1)
        self.assertRegex(err, r"'opscv run \w+' takes no '--colour red', expected .*--output_size")
        _, err = self.opscv(status=USAGE)
        self.assertRegex(err, r"subcommand must be one of list, run, .*, got none")

    def test_check_keeps_and_breaks_the_bound(self):
        for dtype in ("float64", "float32", "float16", "bfloat16"):
            report = self.report("check", *self.WORDS, "--dtype", dtype)
            self.assertTrue(report["bound_kept"], report)
            self.assertGreater(report["error_over_bound"], 0)

    def test_check_finds_a_wrong_engine(self):
        """An engine whose result is off by a little must fail."""
        self.build_wrong_engine()
        environment = self.preloading("wrong")
        out, _ = self.opscv("check", *self.WORDS, status=FAILED_CHECK, env=environment)
        self.assertIn("BROKEN", out)
        out, _ = self.opscv("check", *self.WORDS, "--json", status=FAILED_CHECK, env=environment)
        self.assertIn('"bound_kept": false', out)
        self.assertIn('"worst_at": [', out)

    def build_wrong_engine(self):
        """A library that stands before the real one and computes nothing."""
        self.build_library("wrong", """
            #include "opscv/plan.h"
            opscv::Status opscv::Plan::RunBox(const Box&, const void*, const Dims&, void*,
                                              const RunOptions&) const { return {}; }
            """)


if __name__ == "__main__":
    unittest.main()
