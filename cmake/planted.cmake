# A program with a fault that is put in on purpose, for trying what judges programs (tools/planted-build):
#   -DPBD_PLANTED=slowdown=PERCENT          every solve takes so much longer in CPU time
#   -DPBD_PLANTED=slowdown=PERCENT:METHOD   those of one method do
#   -DPBD_PLANTED=mutant=NAME               a line of a kernel is changed: a mutant() of tests/mutants.cmake
if(PBD_PLANTED MATCHES "^slowdown=([0-9.]+)(:([a-z0-9_]+))?$")
    set_source_files_properties(harness/run/run.c PROPERTIES
        COMPILE_DEFINITIONS "PBD_PLANTED_PERCENT=${CMAKE_MATCH_1};PBD_PLANTED_METHOD=\"${CMAKE_MATCH_3}\"")
elseif(PBD_PLANTED MATCHES "^mutant=([a-z0-9_]+)$")
    set(planted_name ${CMAKE_MATCH_1})
    # Each fault has its own folder name. With CCACHE_BASEDIR ccache hashes relative paths, and does not notice a header
    # that is new in a folder: under one shared name it returned objects that lack the fault.
    set(planted_headers ${CMAKE_BINARY_DIR}/planted_${planted_name})
    include(${CMAKE_SOURCE_DIR}/cmake/changed_copy.cmake)
    function(header_mutant)
    endfunction()
    function(source_mutant)
    endfunction()
    function(program_mutant)
    endfunction()
    function(mutant name test header from to)
        if(NOT name STREQUAL planted_name)
            return()
        endif()
        changed_copy(${planted_headers} ${header} "${from}" "${to}")
        target_include_directories(pbd_flags BEFORE INTERFACE ${planted_headers})
    endfunction()
    include(${CMAKE_SOURCE_DIR}/tests/mutants.cmake)
    if(NOT EXISTS ${planted_headers})
        message(FATAL_ERROR "PBD_PLANTED=${PBD_PLANTED}: tests/mutants.cmake has no mutant() of this name")
    endif()
else()
    message(FATAL_ERROR "PBD_PLANTED=${PBD_PLANTED} must be slowdown=PERCENT, slowdown=PERCENT:METHOD or mutant=NAME")
endif()
string(APPEND build_flags " PBD_PLANTED=${PBD_PLANTED}")
