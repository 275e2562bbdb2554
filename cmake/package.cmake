# find_package(pbdbench): for methods out of tree, from the build folder (-Dpbdbench_DIR=BUILD) or once installed.
include(CMakePackageConfigHelpers)

set(package_flags ${PBD_MATH_FLAGS})
if(NOT PBD_ARCH STREQUAL "")
    list(APPEND package_flags -march=${PBD_ARCH})
endif()
set(package_link_flags)
if(PBD_SANITIZE)
    list(APPEND package_flags ${sanitize_flags} -fno-omit-frame-pointer)
    list(APPEND package_link_flags -fsanitize=${PBD_SANITIZE})
endif()

set(package_include ${CMAKE_SOURCE_DIR})
set(package_program ${CMAKE_BINARY_DIR}/pbdbench)
configure_file(cmake/pbdbenchConfig.cmake.in ${CMAKE_BINARY_DIR}/pbdbenchConfig.cmake @ONLY)
configure_file(cmake/pbdbench_add_plugin.cmake ${CMAKE_BINARY_DIR}/pbdbench_add_plugin.cmake COPYONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pbdbenchConfigVersion.cmake COMPATIBILITY SameMinorVersion)

set(package_include [[${CMAKE_CURRENT_LIST_DIR}/../../../include/pbdbench]])
set(package_program [[${CMAKE_CURRENT_LIST_DIR}/../../../bin/pbdbench]])
configure_file(cmake/pbdbenchConfig.cmake.in ${CMAKE_BINARY_DIR}/installed/pbdbenchConfig.cmake @ONLY)

install(TARGETS pbdbench RUNTIME DESTINATION bin)
install(FILES ${CMAKE_BINARY_DIR}/pbdbench.1 DESTINATION share/man/man1)
install(FILES methods/method.h methods/takes.def methods/each.h methods/params.h methods/plugin.h methods/plugin_calls.c
    DESTINATION include/pbdbench/methods)
install(DIRECTORY methods/physics DESTINATION include/pbdbench/methods FILES_MATCHING PATTERN "*.h"
    PATTERN "*.def" PATTERN "*_table_once.c" PATTERN sparse.h EXCLUDE)
foreach(header IN ITEMS arena huge_pages real vec exec kernel lanes tile batch emu)
    install(FILES harness/exec/${header}.h DESTINATION include/pbdbench/harness/exec)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/installed/pbdbenchConfig.cmake ${CMAKE_BINARY_DIR}/pbdbenchConfigVersion.cmake
    cmake/pbdbench_add_plugin.cmake DESTINATION share/cmake/pbdbench)
