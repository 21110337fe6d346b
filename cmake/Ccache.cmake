# SPDX-License-Identifier: Apache-2.0
# Compiles through ccache where it is installed. Included before project(), which reads the variable.
find_program(OPSCV_CCACHE ccache)
mark_as_advanced(OPSCV_CCACHE)
if(OPSCV_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${OPSCV_CCACHE}")
endif()
