/* The libraries, with the versions that they report. */
#include "harness/machine/libraries.h"

#include <assimp/version.h>
#include <cyaml/cyaml.h>
#include <dlfcn.h>
#include <hwloc.h>
#include <jansson.h>
#include <lapacke.h>
#include <nlopt.h>
#include <png.h>
#include <slu_ddefs.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

#include "csv.h"

/* ---- Versions: of the loaded library if it reports one; else of the header it was compiled with ------------------ */

static void version_sqlite(char *out, size_t size) { snprintf(out, size, "%s", sqlite3_libversion()); }
static void version_jansson(char *out, size_t size) { snprintf(out, size, "%s", jansson_version_str()); }
static void version_cyaml(char *out, size_t size) { snprintf(out, size, "%s", cyaml_version_str); }
static void version_csv(char *out, size_t size) { snprintf(out, size, "%d.%d.%d", CSV_MAJOR, CSV_MINOR, CSV_RELEASE); }
static void version_png(char *out, size_t size) { snprintf(out, size, "%s", png_get_libpng_ver(NULL)); }
static void version_zlib(char *out, size_t size) { snprintf(out, size, "%s", zlibVersion()); }
/* Its header is C++; CMake defines the version. */
static void version_benchmark(char *out, size_t size) { snprintf(out, size, "%s", PBD_BENCHMARK_VERSION); }
static void version_openmp(char *out, size_t size) { snprintf(out, size, "OpenMP %d", _OPENMP); }

static void version_superlu(char *out, size_t size) {
    snprintf(out, size, "%d.%d.%d", SUPERLU_MAJOR_VERSION, SUPERLU_MINOR_VERSION, SUPERLU_PATCH_VERSION);
}

/* libyaml is only a dependency of libcyaml, so its header may not be installed. */
static void version_yaml(char *out, size_t size) {
    const char *(*version)(void);
    *(void **)&version = dlsym(RTLD_DEFAULT, "yaml_get_version_string");
    snprintf(out, size, "%s", version ? version() : "unknown");
}

static void version_assimp(char *out, size_t size) {
    snprintf(out, size, "%u.%u.%u", aiGetVersionMajor(), aiGetVersionMinor(), aiGetVersionPatch());
}

static void version_hwloc(char *out, size_t size) {
    unsigned v = hwloc_get_api_version();
    snprintf(out, size, "%u.%u.%u", v >> 16, (v >> 8) & 0xff, v & 0xff);
}

static void version_nlopt(char *out, size_t size) {
    int major, minor, bugfix;
    nlopt_version(&major, &minor, &bugfix);
    snprintf(out, size, "%d.%d.%d", major, minor, bugfix);
}

static void version_xxhash(char *out, size_t size) {
    unsigned v = XXH_versionNumber();
    snprintf(out, size, "%u.%u.%u", v / 10000, v / 100 % 100, v % 100);
}

/* The system chooses the BLAS, which affects rounding, so its file is named too. */
static void version_lapack(char *out, size_t size) {
    lapack_int major, minor, patch;
    LAPACKE_ilaver(&major, &minor, &patch);
    int used = snprintf(out, size, "%d.%d.%d", (int)major, (int)minor, (int)patch);
    Dl_info from;
    void *dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
    char *path = dgemm && dladdr(dgemm, &from) ? realpath(from.dli_fname, NULL) : NULL;
    if (path) snprintf(out + used, size - (size_t)used, ", BLAS from %s", path);
    free(path);
}

static void version_gnuplot(char *out, size_t size) {
    out[0] = '\0';
    FILE *pipe = popen("gnuplot --version 2>/dev/null", "r");
    if (pipe) {
        if (!fgets(out, (int)size, pipe)) out[0] = '\0';
        pclose(pipe);
    }
    out[strcspn(out, "\n")] = '\0';
    if (strncmp(out, "gnuplot ", 8) == 0) memmove(out, out + 8, strlen(out + 8) + 1);
    if (!out[0]) snprintf(out, size, "not found; install it with: sudo apt-get install gnuplot-nox");
}

const pbd_library pbd_libraries[PBD_LIBRARIES] = {
    {"SQLite", "public domain", "the store", version_sqlite},
    {"jansson", "MIT", "JSON", version_jansson},
    {"libcyaml", "ISC", "figure and sweep files", version_cyaml},
    {"libyaml", "MIT", "under libcyaml", version_yaml},
    {"libcsv", "LGPL-2.1-or-later", "CSV files", version_csv},
    {"hwloc", "BSD-3-Clause", "the machine's topology", version_hwloc},
    {"NLopt", "MIT, in parts BSD-3-Clause and LGPL-2.1-or-later", "Nelder-Mead fits", version_nlopt},
    {"SuperLU", "BSD-3-Clause", "sparse solves of the FEM references", version_superlu},
    {"LAPACK", "BSD-3-Clause", "dense solves", version_lapack},
    {"xxHash", "BSD-2-Clause", "content hashes", version_xxhash},
    {"libpng", "libpng-2.0", "pictures of states", version_png},
    {"zlib", "Zlib", "the viewer's page and VTK files", version_zlib},
    {"assimp", "BSD-3-Clause", "triangle meshes", version_assimp},
    {"Google Benchmark", "Apache-2.0", "`bench`", version_benchmark},
    {"libgomp", "GPL-3.0-or-later with GCC-exception-3.1", "threads", version_openmp},
    {"gnuplot", "gnuplot; run as a program, not linked", "pictures", version_gnuplot},
};
