# SPDX-License-Identifier: Apache-2.0
# Everything the build takes from outside. Debian's names of the packages stand in `dev deps`.

find_package(hwy REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)
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

if(OPSCV_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(OPSCV_BUILD_BENCHES)
  find_package(benchmark REQUIRED)
endif()
