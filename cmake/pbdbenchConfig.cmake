# find_package(pbdbench) and
#   pbdbench_add_plugin(NAME SOURCE...)    makes NAME.so, a plug-in with the method NAME
# SOURCE... are compiled twice, with `real` as float and as double; NAME.c must be among them.
get_filename_component(_pbdbench_here "${CMAKE_CURRENT_LIST_FILE}" DIRECTORY)
if(EXISTS "${_pbdbench_here}/pbdbenchPaths.cmake") # a build tree
    include("${_pbdbench_here}/pbdbenchPaths.cmake")
else()
    get_filename_component(pbdbench_PREFIX "${_pbdbench_here}/../../.." ABSOLUTE)
    set(pbdbench_INCLUDE_DIR "${pbdbench_PREFIX}/include/pbdbench")
    set(pbdbench_PROGRAM "${pbdbench_PREFIX}/bin/pbdbench")
endif()
set(pbdbench_FOUND TRUE)

function(pbdbench_add_plugin name)
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}_plugin.c" CONTENT
        "#include \"methods/plugin.h\"\nPBD_PLUGIN(${name}, \"${PROJECT_VERSION}\");\n" @ONLY)
    add_library(${name} MODULE "${CMAKE_CURRENT_BINARY_DIR}/${name}_plugin.c")
    set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
    target_include_directories(${name} PRIVATE "${pbdbench_INCLUDE_DIR}")
    target_compile_features(${name} PRIVATE c_std_17)
    foreach(precision IN ITEMS float double)
        add_library(${name}_${precision} OBJECT ${ARGN})
        target_compile_definitions(${name}_${precision} PRIVATE REAL=${precision} PBD_UNIT=${name} PBD_HAVE_CUDA=0 _GNU_SOURCE)
        target_include_directories(${name}_${precision} PRIVATE "${pbdbench_INCLUDE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
        target_compile_features(${name}_${precision} PRIVATE c_std_17)
        set_target_properties(${name}_${precision} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_${precision}>)
    endforeach()
endfunction()
