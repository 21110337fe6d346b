# SPDX-License-Identifier: Apache-2.0
"""libopscv_bench by ctypes: the prototypes of its C functions."""

import ctypes as c

ERROR_BYTES = 256

SIZES = c.POINTER(c.c_int64)
PROTOTYPES = {
    "opscv_bench_version": (c.c_char_p, []),
    "opscv_bench_targets": (c.c_char_p, []),
    "opscv_bench_plan": (c.c_void_p, [c.c_char_p, c.c_int, c.c_int, c.c_int, SIZES, SIZES,
                                      c.c_char_p, c.c_int, c.c_char_p]),
    "opscv_bench_describe": (c.c_char_p, [c.c_void_p]),
    "opscv_bench_workspace": (c.c_int64, [c.c_void_p]),
    "opscv_bench_run": (c.c_double, [c.c_void_p, c.c_void_p, c.c_void_p, c.c_int64]),
    "opscv_bench_drop": (None, [c.c_void_p]),
    "opscv_two_stage_plan": (c.c_void_p, [c.c_int, SIZES, SIZES, c.c_void_p, c.c_void_p,
                                          c.c_char_p]),
    "opscv_two_stage_run": (c.c_double, [c.c_void_p, c.c_int64]),
    "opscv_two_stage_drop": (None, [c.c_void_p]),
    "opscv_bench_read": (c.c_double, [c.c_void_p, c.c_int64, c.c_int, c.c_int64]),
    "opscv_bench_write": (c.c_double, [c.c_void_p, c.c_int64, c.c_int, c.c_int64]),
    "opscv_bench_copy": (c.c_double, [c.c_void_p, c.c_void_p, c.c_int64, c.c_int, c.c_int64]),
    "opscv_bench_fresh": (c.c_double, [c.c_int64, c.c_int, c.c_int64]),
    "opscv_onednn_version": (c.c_char_p, []),
    "opscv_onednn_threads": (None, [c.c_int]),
    "opscv_onednn_plan": (c.c_void_p, [c.c_int, c.c_int, c.c_int, SIZES, SIZES, c.c_char_p]),
    "opscv_onednn_implementation": (c.c_char_p, [c.c_void_p]),
    "opscv_onednn_run": (c.c_double, [c.c_void_p, c.c_void_p, c.c_void_p, c.c_int64]),
    "opscv_onednn_drop": (None, [c.c_void_p]),
}


def load(path):
    library = c.CDLL(str(path))
    for name, (result, arguments) in PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def sizes(values):
    return (c.c_int64 * len(values))(*values)


def error_buffer():
    return c.create_string_buffer(ERROR_BYTES)
