# SPDX-License-Identifier: Apache-2.0
# Everything the build takes from outside. Debian's names of the packages stand in `dev deps`.

find_package(hwy REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)

if(OPSCV_THREADS_BACKEND STREQUAL "tbb")
  find_package(TBB REQUIRED)
  set(OPSCV_PARALLEL_LINKS TBB::tbb)
  set(OPSCV_PARALLEL_DEFINITION OPSCV_PARALLEL_TBB)
elseif(OPSCV_THREADS_BACKEND STREQUAL "std")
  set(OPSCV_PARALLEL_LINKS Threads::Threads)
  set(OPSCV_PARALLEL_DEFINITION OPSCV_PARALLEL_STD)
else()
  message(FATAL_ERROR "OPSCV_THREADS_BACKEND is '${OPSCV_THREADS_BACKEND}'; it can be tbb or std")
endif()

if(OPSCV_BUILD_PYTHON)
  find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
endif()

if(OPSCV_BUILD_COMMAND)
  find_package(CLI11 REQUIRED)
  # What the command reads and writes files with. nifticlib has no usable package file of its own:
  # Debian's asks for programs that the library does not need.
  find_package(PkgConfig REQUIRED)
  find_package(ZLIB REQUIRED)
  pkg_check_modules(SPNG REQUIRED IMPORTED_TARGET spng)
  pkg_check_modules(TURBOJPEG REQUIRED IMPORTED_TARGET libturbojpeg)
  find_path(NIFTI2_INCLUDE_DIR nifti2_io.h PATH_SUFFIXES nifti REQUIRED)
  find_library(NIFTI2_LIBRARY nifti2 REQUIRED)
  mark_as_advanced(NIFTI2_INCLUDE_DIR NIFTI2_LIBRARY)
  add_library(opscv_file_formats INTERFACE)
  target_include_directories(opscv_file_formats SYSTEM INTERFACE "${NIFTI2_INCLUDE_DIR}")
  target_link_libraries(
    opscv_file_formats INTERFACE ZLIB::ZLIB PkgConfig::SPNG PkgConfig::TURBOJPEG "${NIFTI2_LIBRARY}")
endif()

if(OPSCV_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
