# SPDX-License-Identifier: Apache-2.0
# The Python package against an opscv that is installed already. The reference is no part of an
# install, so it is compiled from the sources here.

find_package(opscv ${PROJECT_VERSION} REQUIRED)
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/reference/*.cc")
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
add_library(opscv_reference STATIC ${sources})
target_link_libraries(opscv_reference PRIVATE opscv_flags)
target_include_directories(opscv_reference PUBLIC "${PROJECT_SOURCE_DIR}/src")

add_subdirectory(python)
