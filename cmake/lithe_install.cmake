# make install and find_package(Lithe). The run-time library is every room but meshing, render, prepare and
# server; the program carries those inside.
include(CMakePackageConfigHelpers)

set(LITHE_RUNTIME_ROOMS core math geometry material archive body contact rig fem reduce dynamics world scene)
set(LITHE_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Lithe)

list(TRANSFORM LITHE_RUNTIME_ROOMS PREPEND lithe_ OUTPUT_VARIABLE runtime_targets)
install(TARGETS ${runtime_targets} lithe_flags EXPORT LitheTargets)
install(TARGETS lithe_cli RUNTIME)
foreach(room IN LISTS LITHE_RUNTIME_ROOMS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/lithe/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lithe
    FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT LitheTargets NAMESPACE lithe:: DESTINATION ${LITHE_CONFIG_DIR})
configure_package_config_file(cmake/LitheConfig.cmake.in ${PROJECT_BINARY_DIR}/LitheConfig.cmake
  INSTALL_DESTINATION ${LITHE_CONFIG_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LitheConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LitheConfig.cmake ${PROJECT_BINARY_DIR}/LitheConfigVersion.cmake
  DESTINATION ${LITHE_CONFIG_DIR})
