# pbdbench_add_plugin(NAME SOURCE...): the plug-in libNAME.so.
#
# Sources are compiled as those of a method in the tree are: twice, with REAL=float and REAL=double; those whose name
# ends in _once.c once. Where NAME_kernels.h stands beside the first source, its kernels are compiled for the emulation
# too, and for CUDA in a project that has enabled that language. What is set on the target NAME (include directories,
# definitions, options) holds for all of them.
function(pbdbench_add_plugin name)
    set(once ${ARGN})
    set(twice ${ARGN})
    list(FILTER once INCLUDE REGEX "_once\\.c$")
    list(FILTER twice EXCLUDE REGEX "_once\\.c$")
    if(NOT twice)
        message(FATAL_ERROR "pbdbench_add_plugin(${name}): name at least one source that is compiled in both precisions")
    endif()
    add_library(${name} MODULE ${once} ${pbdbench_INCLUDE}/methods/plugin_calls.c
        ${pbdbench_INCLUDE}/methods/physics/matter/law_table_once.c ${pbdbench_INCLUDE}/methods/physics/matter/flow_table_once.c)
    target_link_libraries(${name} PRIVATE pbdbench::plugin)
    set_target_properties(${name} PROPERTIES PREFIX lib SUFFIX .so LINKER_LANGUAGE C C_STANDARD 17 C_STANDARD_REQUIRED ON
        C_VISIBILITY_PRESET hidden)
    target_compile_definitions(${name} PRIVATE PBD_UNIT=${name})

    list(GET twice 0 first)
    get_filename_component(first ${first} ABSOLUTE)
    get_filename_component(folder ${first} DIRECTORY)
    set(kernels ${folder}/${name}_kernels.h)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(cuda 0)
    if(EXISTS ${kernels})
        file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_emu.c CONTENT "#include \"@kernels@\"\n" @ONLY)
        if(CUDA IN_LIST languages)
            set(cuda 1)
            file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_cuda.cu CONTENT "#include \"@kernels@\"\n" @ONLY)
        endif()
    endif()
    target_compile_definitions(${name} PRIVATE PBD_HAVE_CUDA=${cuda})
    foreach(real IN ITEMS float double)
        _pbdbench_part(${name} ${name}_${real} "REAL=${real}" ${twice})
        if(EXISTS ${kernels})
            _pbdbench_part(${name} ${name}_emu_${real} "REAL=${real};PBD_EMULATE=1"
                ${CMAKE_CURRENT_BINARY_DIR}/${name}_emu.c)
        endif()
        if(cuda)
            _pbdbench_part(${name} ${name}_cuda_${real} "REAL=${real}" ${CMAKE_CURRENT_BINARY_DIR}/${name}_cuda.cu)
        endif()
    endforeach()
endfunction()

function(_pbdbench_part name part definitions)
    add_library(${part} OBJECT ${ARGN})
    set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 17 C_STANDARD_REQUIRED ON
        C_VISIBILITY_PRESET hidden)
    target_link_libraries(${part} PRIVATE pbdbench::plugin)
    target_compile_definitions(${part} PRIVATE ${definitions} $<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>)
    target_compile_options(${part} PRIVATE $<TARGET_PROPERTY:${name},COMPILE_OPTIONS>)
    target_include_directories(${part} PRIVATE $<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${part}>)
endfunction()
