# Writes OUT with what identifies this build; touches it only when something changed, so that nothing is rebuilt for it.
# Outside a checkout, or without git, the commit is "unknown" and the hash of the sources still tells builds apart.
find_program(GIT git)
set(git ${GIT} --no-optional-locks -c safe.directory=* -c core.fsmonitor=false -C ${SOURCE}) # also in another's checkout
set(sha unknown)
set(dirty 0)
if(GIT AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${git} rev-parse HEAD OUTPUT_VARIABLE out OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_QUIET RESULT_VARIABLE rc)
    if(rc EQUAL 0)
        set(sha ${out})
        execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE out ERROR_QUIET)
        if(NOT out STREQUAL "")
            set(dirty 1)
        endif()
    endif()
endif()
# Equal sources and flags give equal results, whatever the commit is called: runs are looked up by this hash.
file(GLOB_RECURSE sources ${SOURCE}/methods/*.[ch] ${SOURCE}/methods/*.def ${SOURCE}/cases/*.[ch] ${SOURCE}/cases/*.def
    ${SOURCE}/harness/*.[ch] ${SOURCE}/harness/*.cc ${SOURCE}/harness/*.cu ${SOURCE}/harness/*.def ${SOURCE}/harness/*.sql)
list(SORT sources)
set(all "${COMPILER}|${FLAGS}")
foreach(path IN LISTS sources)
    file(SHA256 ${path} hash)
    string(APPEND all "|${hash}")
endforeach()
string(SHA256 source "${all}")
string(SUBSTRING ${source} 0 32 source)
string(REGEX REPLACE " +" " " FLAGS "${FLAGS}")
file(CONFIGURE OUTPUT ${OUT}.new CONTENT [[/* Written by cmake/build_info.cmake. */
#define PBD_BUILD_SHA "@sha@"
#define PBD_BUILD_DIRTY @dirty@
#define PBD_BUILD_SOURCE "@source@"
#define PBD_BUILD_COMPILER "@COMPILER@"
#define PBD_BUILD_FLAGS "@FLAGS@"
#define PBD_BUILD_PRESET "@PRESET@"
#define PBD_BUILD_VERSION "@VERSION@"
]] @ONLY)
file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
