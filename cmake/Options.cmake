# SPDX-License-Identifier: Apache-2.0
# What a build can choose, and the flags that every target of the project gets through opscv_flags.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

option(OPSCV_BUILD_TESTS "Build the tests (needs GoogleTest)" OFF)
option(OPSCV_BUILD_BENCHES "Build the library of the benchmarks (needs oneDNN and OpenMP)" OFF)
option(OPSCV_BUILD_COMMAND "Build the command opscv (needs CLI11 and the libraries of its file formats)" ON)
option(OPSCV_BUILD_PYTHON "Build the Python package (needs nanobind for the Python that is found)" OFF)
option(OPSCV_PYTHON_ONLY "Build the Python package alone, against an installed opscv" OFF)
option(OPSCV_WERROR "Treat warnings as errors" OFF)
option(OPSCV_ENABLE_DCHECK "Check the library's own invariants at run time" OFF)
option(OPSCV_SCALAR "Compile the kernels for Highway's scalar target only" OFF)
option(OPSCV_COVERAGE "Instrument for gcov" OFF)
set(OPSCV_THREADS_BACKEND tbb CACHE STRING "What base/parallel.cc runs on: tbb or std")
set_property(CACHE OPSCV_THREADS_BACKEND PROPERTY STRINGS tbb std)
set(OPSCV_SANITIZE "" CACHE STRING "Value of -fsanitize=, such as address,leak; empty for none")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

add_library(opscv_flags INTERFACE)
# No contraction: a fused multiply-add that the source does not ask for would change result bits.
target_compile_options(opscv_flags INTERFACE -Wall -Wextra -ffp-contract=off)
target_include_directories(
  opscv_flags INTERFACE "${PROJECT_SOURCE_DIR}/src" "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
if(OPSCV_WERROR)
  target_compile_options(opscv_flags INTERFACE -Werror)
endif()
if(OPSCV_ENABLE_DCHECK)
  target_compile_definitions(opscv_flags INTERFACE OPSCV_ENABLE_DCHECK=1)
endif()
if(OPSCV_SCALAR)
  target_compile_definitions(opscv_flags INTERFACE HWY_COMPILE_ONLY_SCALAR)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # The kernels hold arrays of vectors, which the compiler refuses for SVE's types without a size.
  target_compile_definitions(
    opscv_flags INTERFACE "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
elseif(OPSCV_SANITIZE)
  # Kernels take minutes to compile for each target. The narrow ones differ from AVX2 in the number
  # of lanes and in conversions, which the other presets test.
  target_compile_definitions(opscv_flags INTERFACE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
endif()
if(NOT OPSCV_SANITIZE)
  # A symbol that the shared library lacks fails here, not in the program that links it.
  target_link_options(opscv_flags INTERFACE LINKER:--no-undefined)
endif()

# Instrumentation must reach every program of the build, the examples too, which get nothing else.
add_library(opscv_instrumentation INTERFACE)
target_link_libraries(opscv_flags INTERFACE opscv_instrumentation)
if(OPSCV_SANITIZE)
  target_compile_options(
    opscv_instrumentation INTERFACE -fsanitize=${OPSCV_SANITIZE} -fno-sanitize-recover=all
                                    -fno-omit-frame-pointer)
  target_link_options(opscv_instrumentation INTERFACE -fsanitize=${OPSCV_SANITIZE})
  # What a sanitizer weaves in hides from g++ 12 that the standard library's moved-from unions are
  # not read.
  target_compile_options(opscv_instrumentation
                         INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(OPSCV_COVERAGE)
  target_compile_options(opscv_instrumentation INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(opscv_instrumentation INTERFACE --coverage)
endif()
