/* `env`: this build, this machine, where kernels can run, what the program is linked with, and its licence. */
#include <cyaml/cyaml.h>
#include <dlfcn.h>
#include <getopt.h>
#include <hwloc.h>
#include <jansson.h>
#include <lapacke.h>
#include <nlopt.h>
#include <slu_ddefs.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "csv.h"
#include "harness/cli.h"
#include "harness/environment.h"

typedef struct library {
    const char *name, *licence, *use;
    void (*version)(char *out, size_t size);
} library;

/* ---- Versions: of what is loaded now, where the library tells; else of the header it was compiled with --------- */

enum { VERSION_SIZE = 256 };

static void version_sqlite(char *out, size_t size) { snprintf(out, size, "%s", sqlite3_libversion()); }
static void version_jansson(char *out, size_t size) { snprintf(out, size, "%s", jansson_version_str()); }
static void version_cyaml(char *out, size_t size) { snprintf(out, size, "%s", cyaml_version_str); }
static void version_csv(char *out, size_t size) { snprintf(out, size, "%d.%d.%d", CSV_MAJOR, CSV_MINOR, CSV_RELEASE); }
static void version_openmp(char *out, size_t size) { snprintf(out, size, "OpenMP %d", _OPENMP); }

static void version_superlu(char *out, size_t size) {
    snprintf(out, size, "%d.%d.%d", SUPERLU_MAJOR_VERSION, SUPERLU_MINOR_VERSION, SUPERLU_PATCH_VERSION);
}

/* libyaml is there through libcyaml only, so its header may not be. */
static void version_yaml(char *out, size_t size) {
    const char *(*version)(void);
    *(void **)&version = dlsym(RTLD_DEFAULT, "yaml_get_version_string");
    snprintf(out, size, "%s", version ? version() : "unknown");
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

/* Which BLAS answers is the system's choice and shows in rounding, so the file is named too. */
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

static const library libraries[] = {
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
    {"libgomp", "GPL-3.0-or-later with GCC-exception-3.1", "threads", version_openmp},
    {"gnuplot", "gnuplot; run as a program, not linked", "pictures", version_gnuplot},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

/* ---- As JSON --------------------------------------------------------------------------------------------------- */

static json_t *build_json(const pbd_build *b) {
    return json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "version", b->version, "git_sha", b->git_sha, "dirty",
                     b->dirty, "source", b->source, "compiler", b->compiler, "flags", b->flags, "preset", b->preset);
}

static json_t *machine_json(const pbd_machine *m) {
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:s}", "fingerprint", m->fingerprint,
                     "cpu", m->cpu, "os", m->os, "isa", m->isa, "packages", m->packages, "cores", m->cores, "threads",
                     m->threads, "l1d_kib", (json_int_t)m->l1d_kib, "l2_kib", (json_int_t)m->l2_kib, "l3_kib",
                     (json_int_t)m->l3_kib, "memory_mib", (json_int_t)m->memory_mib, "gpu", m->gpu);
}

static json_t *backends_json(void) {
    json_t *array = json_array();
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        json_array_append_new(array, json_pack("{s:s, s:s, s:b, s:s}", "name", b.name, "summary", b.summary,
                                               "available", b.available, "reason", b.reason));
    }
    return array;
}

static json_t *libraries_json(void) {
    json_t *array = json_array();
    for (size_t i = 0; i < LIBRARIES; i++) {
        char version[VERSION_SIZE];
        libraries[i].version(version, sizeof version);
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s}", "name", libraries[i].name, "version", version,
                                               "licence", libraries[i].licence, "use", libraries[i].use));
    }
    return array;
}

static void print_json(const pbd_build *build, const pbd_machine *machine) {
    json_t *all = json_pack("{s:o, s:o, s:o, s:o, s:s}", "build", build_json(build), "machine", machine_json(machine),
                            "backends", backends_json(), "libraries", libraries_json(), "licence", build->licence);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

/* ---- For people ------------------------------------------------------------------------------------------------ */

static void print_build(const pbd_build *b) {
    printf("build\n");
    printf("  version      %s, commit %.12s%s\n", b->version, b->git_sha, b->dirty ? " with changes" : "");
    printf("  sources      %s\n", b->source);
    printf("  compiler     %s\n", b->compiler);
    printf("  flags        %s (preset %s)\n", b->flags, b->preset);
}

static void print_machine(const pbd_machine *m) {
    pbd_machine_sample now;
    pbd_sample_machine(&now);
    printf("machine\n");
    printf("  fingerprint  %s\n", m->fingerprint);
    printf("  processor    %s: packages %d, cores %d, threads %d, %s\n", m->cpu, m->packages, m->cores, m->threads,
           m->isa);
    printf("  caches       L1d %ld KiB, L2 %ld KiB, L3 %ld KiB (0: unknown)\n", m->l1d_kib, m->l2_kib, m->l3_kib);
    printf("  memory       %ld GiB, %.1f GiB free now\n", m->memory_mib / 1024, (double)now.memory_free_mib / 1024);
    printf("  GPU          %s\n", m->gpu[0] ? m->gpu : "none that an NVIDIA driver shows");
    printf("  system       %s\n", m->os);
    printf("  load         %.2f over the last minute\n", now.load_1min);
}

static void print_backends(void) {
    printf("backends\n");
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        printf("  %-12s %s%s%s\n", b.name, b.summary, b.available ? "" : "; not available: ", b.reason);
    }
}

static void print_libraries(void) {
    printf("libraries\n");
    for (size_t i = 0; i < LIBRARIES; i++) {
        char version[VERSION_SIZE];
        libraries[i].version(version, sizeof version);
        printf("  %-12s %s (%s): %s\n", libraries[i].name, version, libraries[i].licence, libraries[i].use);
    }
}

static int print_usage(FILE *out, int code) {
    fputs(
        "usage: pbdbench env [--json]\n\n"
        "Prints the build, the machine and its fingerprint (both are stored with every run), the backends with the\n"
        "reason where one is not available, the libraries with versions and licences, and the licence of the whole.\n\n"
        "  --json      one JSON object: build, machine, backends, libraries, licence\n"
        "  -h, --help  this text\n",
        out);
    return code;
}

int pbd_verb_env(int argc, char **argv) {
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool json = false;
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h') return print_usage(stdout, PBD_EXIT_OK);
        if (option != 'j') return print_usage(stderr, PBD_EXIT_USAGE);
        json = true;
    }
    if (optind < argc) return pbd_complain(pbd_error(PBD_BAD_INPUT, "env takes no argument, got '%s'", argv[optind]));

    pbd_machine machine;
    pbd_status status = pbd_this_machine(&machine);
    if (status.code != PBD_OK) return pbd_complain(status);
    const pbd_build *build = pbd_this_build();
    if (json) {
        print_json(build, &machine);
        return PBD_EXIT_OK;
    }
    print_build(build);
    print_machine(&machine);
    print_backends();
    print_libraries();
    printf("licence\n  %s\n", build->licence);
    return PBD_EXIT_OK;
}
