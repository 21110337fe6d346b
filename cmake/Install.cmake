# SPDX-License-Identifier: Apache-2.0
# The install tree: headers, library, CMake package, pkg-config file and documents.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/opscv")

install(TARGETS opscv EXPORT opscvTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(EXISTS "${PROJECT_SOURCE_DIR}/include/opscv")
  install(
    DIRECTORY "${PROJECT_SOURCE_DIR}/include/opscv"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING
    PATTERN "*.h")
endif()

install(
  EXPORT opscvTargets
  NAMESPACE opscv::
  DESTINATION "${package_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/opscvConfig.cmake.in" "${PROJECT_BINARY_DIR}/opscvConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS ascend_include_dir)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/opscvConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/opscvConfig.cmake"
              "${PROJECT_BINARY_DIR}/opscvConfigVersion.cmake" DESTINATION "${package_dir}")

# Paths in the file are relative to it, so that `cmake --install --prefix` may choose any prefix.
set(pkgconfig_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH OPSCV_PC_PREFIX "${pkgconfig_dir}" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH OPSCV_PC_LIBDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH OPSCV_PC_INCLUDEDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/opscv.pc.in" "${PROJECT_BINARY_DIR}/opscv.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/opscv.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

foreach(document LICENSE README.md README.zh.md CHANGELOG.md)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${document}")
    install(FILES "${PROJECT_SOURCE_DIR}/${document}" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  endif()
endforeach()
