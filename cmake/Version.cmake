# SPDX-License-Identifier: Apache-2.0
# OPSCV_VERSION, read from the public header: the one place where the version is written.
set(version_header "${CMAKE_CURRENT_LIST_DIR}/../include/opscv/version.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${version_header}")
file(STRINGS "${version_header}" version_lines REGEX "^#define OPSCV_VERSION_[A-Z]+ [0-9]+$")
list(TRANSFORM version_lines REPLACE "^.* ([0-9]+)$" "\\1")
list(JOIN version_lines "." OPSCV_VERSION)
