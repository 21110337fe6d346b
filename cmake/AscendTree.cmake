# SPDX-License-Identifier: Apache-2.0
# The tree that programs written to acl/acl.h expect at ASCEND_HOME_PATH: include/, lib64/ with the
# libraries' usual names, set_env.sh. It is the prefix unless OPSCV_ASCEND_DIR names another folder.

set(OPSCV_ASCEND_DIR "" CACHE STRING
    "Folder for include, lib64 and set_env.sh of the C interface; empty: the prefix")

# Below the prefix paths stay relative, so that `cmake --install --prefix` may choose another one.
cmake_path(ABSOLUTE_PATH OPSCV_ASCEND_DIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE
           OUTPUT_VARIABLE ascend_full_dir)
cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${ascend_full_dir}" NORMALIZE is_below_prefix)
set(ascend_dir "${ascend_full_dir}")
if(is_below_prefix)
  cmake_path(RELATIVE_PATH ascend_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
endif()
cmake_path(APPEND ascend_dir "include" OUTPUT_VARIABLE ascend_include_dir)
cmake_path(APPEND ascend_dir "lib64" OUTPUT_VARIABLE ascend_lib_dir)
cmake_path(NORMAL_PATH ascend_include_dir)
cmake_path(NORMAL_PATH ascend_lib_dir)

install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/acl" "${PROJECT_SOURCE_DIR}/include/aclnn"
            "${PROJECT_SOURCE_DIR}/include/aclnnop"
  DESTINATION "${ascend_include_dir}"
  FILES_MATCHING
  PATTERN "*.h")
install(PROGRAMS "${PROJECT_SOURCE_DIR}/cmake/set_env.sh" DESTINATION "${ascend_dir}"
        PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

# Relative links, so that the tree may be moved as a whole.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE
           OUTPUT_VARIABLE library_full_dir)
cmake_path(APPEND ascend_full_dir "lib64" OUTPUT_VARIABLE ascend_full_lib_dir)
file(RELATIVE_PATH library_from_links "${ascend_full_lib_dir}" "${library_full_dir}")
set(links_dir "${PROJECT_BINARY_DIR}/ascend_lib64")
file(MAKE_DIRECTORY "${links_dir}")
function(opscv_install_link name to)
  file(CREATE_LINK "${to}" "${links_dir}/${name}" SYMBOLIC)
  install(FILES "${links_dir}/${name}" DESTINATION "${ascend_lib_dir}")
endfunction()

set(library_prefix "")
if(library_from_links)
  set(library_prefix "${library_from_links}/")
  foreach(name libopscv.so libopscv.so.${PROJECT_VERSION_MAJOR})
    opscv_install_link("${name}" "${library_prefix}${name}")
  endforeach()
endif()
foreach(name acl_rt ascendcl nnopbase opapi opapi_cv opapi_math)
  opscv_install_link("lib${name}.so" "${library_prefix}libopscv.so")
endforeach()
