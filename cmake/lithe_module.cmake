# lithe_module(fem DEPENDS geometry material LINKS TBB::tbb PRIVATE_LINKS z SOURCES assemble.cpp mass.cpp)
# One room of the house: a static library lithe::NAME. DEPENDS are rooms, LINKS outside libraries.
function(lithe_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINKS;PRIVATE_LINKS;SOURCES" ${ARGN})
  add_library(lithe_${name} STATIC ${ARG_SOURCES})
  add_library(lithe::${name} ALIAS lithe_${name})
  set_target_properties(lithe_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(lithe_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ARG_DEPENDS PREPEND lithe::)
  target_link_libraries(lithe_${name}
    PUBLIC lithe_flags ${ARG_DEPENDS} ${ARG_LINKS}
    PRIVATE $<BUILD_INTERFACE:lithe_warnings> ${ARG_PRIVATE_LINKS})
endfunction()

# lithe_test(geometry DEPENDS meshing SOURCES test_mesh.cpp ...): the tests of one room, one program.
# Test names become CTest names; LABEL is unit, physics, scene, viewer or slow.
function(lithe_test name)
  cmake_parse_arguments(ARG "" "LABEL" "DEPENDS;SOURCES" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPENDS PREPEND lithe::)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_${name} PRIVATE
    ${ARG_DEPENDS} lithe_warnings fmt::fmt rapidcheck GTest::gmock GTest::gtest_main)
  gtest_discover_tests(test_${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 600 ENVIRONMENT "RC_PARAMS=seed=1"
               ENVIRONMENT_MODIFICATION "LITHE_DATA=set:${LITHE_DATA}")
endfunction()
