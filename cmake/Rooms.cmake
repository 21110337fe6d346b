# SPDX-License-Identifier: Apache-2.0
# A room is one folder below src: one static library opscv_<room>, and the tests that lie beside its
# sources. The libraries are static so that a room's test links only the rooms that
# its arrows allow.

# opscv_add_test(<target> SOURCES <file>... LINKS <target>...)
#
# One GoogleTest program. Its tests are named <target>.<Suite>.<Test> in ctest.
function(opscv_add_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${target} PRIVATE OPSCV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                               OPSCV_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${target} PRIVATE opscv_flags ${arg_LINKS} GTest::gmock GTest::gtest_main)
  set(filter)
  set(timeout 300)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    # QEMU itself aborts where the forked child of several threads starts one of its own.
    set(filter TEST_FILTER "-*Fork*")
    set(timeout 1200)
  endif()
  gtest_discover_tests(
    ${target}
    TEST_PREFIX "${target}."
    ${filter}
    NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${timeout})
endfunction()

# opscv_room(NAME <room> [DEPS <room>...] [LINKS <target>...])
#
# DEPS are the rooms whose headers this one may include, LINKS targets from outside the project. A
# folder without sources is a room without objects.
function(opscv_room)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "DEPS;LINKS")
  set(folder "${PROJECT_SOURCE_DIR}/src/${arg_NAME}")
  set(room opscv_${arg_NAME})
  list(TRANSFORM arg_DEPS PREPEND opscv_)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")

  if(sources)
    add_library(${room} STATIC ${sources})
    target_link_libraries(${room} PUBLIC opscv_flags tl::expected ${arg_DEPS} ${arg_LINKS})
  else()
    add_library(${room} INTERFACE)
    target_link_libraries(${room} INTERFACE opscv_flags tl::expected ${arg_DEPS} ${arg_LINKS})
  endif()

  if(tests AND OPSCV_BUILD_TESTS)
    opscv_add_test(${arg_NAME}_test SOURCES ${tests} LINKS ${room} opscv_reference)
  endif()
endfunction()

# opscv_library(<target> ROOMS <room>... LINKS <target>...)
#
# The shared library made of the rooms' objects. LINKS are the rooms' outside libraries, which stay
# private: a program that links the library sees only its public headers.
function(opscv_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS;LINKS")
  set(objects)
  foreach(room IN LISTS arg_ROOMS)
    get_target_property(type opscv_${room} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:opscv_${room}>)
    endif()
  endforeach()
  add_library(${target} SHARED ${objects})
  add_library(opscv::${target} ALIAS ${target})
  set_target_properties(
    ${target} PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                         SOVERSION ${PROJECT_VERSION_MAJOR})
  target_link_options(${target} PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(
    ${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                     "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${target} PUBLIC tl::expected PRIVATE opscv_flags ${arg_LINKS})
endfunction()
