#include "harness/catalog/scans.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/files/content.h"
#include "harness/files/paths.h"
#include "harness/process/child.h"

#define PACKAGE "libcgal-demo"

/* As in libcgal-demo 5.5.1-2 (Debian 12). hash: as in stored runs (values.c). */
static const struct {
    const char *name, *sha256, *hash;
} known[] = {
    {"armadillo", "6f7f3ca1abc506569466b72f2f59d49493a284e7376d7a7e23c08115ec8cec4e", "cfd9a20c2f3456b8"},
    {"bunny00", "ab651cb04955c161efaeb079035a1e5e1f0e0d1f816a2df67beaea68f393ff2b", "78924a553c61dc43"},
    {"camel", "9ac960a9fee27e6fcc6baaa2340260834625084ee20f4a97194212404e650a22", "ee1cdc26da27f4d4"},
    {"cow", "1c5a25c3047fc6b14dd0c962d3562b1796671422ab4634f9d46f9f23814cd54a", "a4e0f9fa0166b65d"},
    {"elephant", "be4e1ea68f5f840a3d2ada69d828222e76a57d9e25b21e19a9deacd3f2328e02", "c7279adad77a6482"},
    {"hand", "cfcf1562726167ca704a091a8651bfd1d72f6eb96b4b2819321f0520721b35c7", "29a31223442061eb"},
    {"man", "9f04482c1028de539f02319c476d6c95141e9fbc389e9d469041ab63096de5d4", "b7bed4ddfdf15f82"},
};
enum { KNOWN = sizeof known / sizeof *known };

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static pbd_status run_in(const char *folder, const char *const *words, pbd_child *out) {
    PBD_TRY(pbd_child_run(words, folder, -1, out));
    if (out->code == 0) return pbd_ok();
    char said[160];
    pbd_last_words(out->err, said, sizeof said);
    return pbd_error(PBD_BAD_INPUT, "%s: %s", words[0], said);
}

static pbd_status run_quietly(const char *folder, const char *const *words) {
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    return run_in(folder, words, &child);
}

/* The first file that matches the pattern; the caller frees *out. */
static pbd_status find_one(const char *folder, const char *pattern, char **out) {
    char *all = NULL;
    glob_t found = {0};
    if (asprintf(&all, "%s/%s", folder, pattern) < 0) return pbd_no_memory();
    const bool one = glob(all, 0, NULL, &found) == 0;
    *out = one ? strdup(found.gl_pathv[0]) : NULL;
    globfree(&found);
    free(all);
    if (*out) return pbd_ok();
    return one ? pbd_no_memory() : pbd_error(PBD_BAD_INPUT, "the package has no %s", pattern);
}

static void free_text(char **text) { free(*text); }

/* ---- The package ------------------------------------------------------------------------------------------------- */

/* Unpacks its meshes to FOLDER/data/meshes. */
static pbd_status unpack(const char *folder) {
    static const char *const download[] = {"apt-get", "download", PACKAGE, NULL};
    char *package PBD_CLEANUP(free_text) = NULL;
    char *data PBD_CLEANUP(free_text) = NULL;
    PBD_TRY(run_quietly(folder, download));
    PBD_TRY(find_one(folder, PACKAGE "_*.deb", &package));
    PBD_TRY(run_quietly(folder, (const char *const[]){"dpkg-deb", "-x", package, "package", NULL}));
    PBD_TRY(find_one(folder, "package/usr/share/doc/*/data.tar.*", &data));
    return run_quietly(folder, (const char *const[]){"tar", "-xf", data, "--wildcards", "data/meshes/*.off", NULL});
}

/* A mesh that differs from the known one is reported, and used all the same. */
static void check_meshes(const char *folder) {
    for (size_t i = 0; i < KNOWN; i++) {
        char name[40];
        pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
        snprintf(name, sizeof name, "%s.off", known[i].name);
        const char *const sum[] = {"sha256sum", name, NULL};
        if (run_in(folder, sum, &child).code == PBD_OK && strncmp(child.out, known[i].sha256, 64) != 0)
            fprintf(stderr, "pbdbench: cgal:%s of this " PACKAGE " has SHA-256 %.64s, not %s\n", name, child.out,
                    known[i].sha256);
    }
}

/* Unpacks to a temporary folder, which is then renamed: another process may download at the same time. */
static pbd_status fetch_to(const char *cache, const char *meshes) {
    char *work PBD_CLEANUP(free_text) = NULL;
    char *from PBD_CLEANUP(free_text) = NULL;
    PBD_TRY(pbd_make_folders(cache));
    if (asprintf(&work, "%s/fetch-XXXXXX", cache) < 0) return pbd_no_memory();
    if (!mkdtemp(work)) return pbd_error(PBD_BAD_INPUT, "%.200s: %s", work, strerror(errno));
    pbd_status status = unpack(work);
    if (status.code == PBD_OK && asprintf(&from, "%s/data/meshes", work) < 0) status = pbd_no_memory();
    if (status.code == PBD_OK) {
        check_meshes(from);
        if (rename(from, meshes) != 0 && errno != ENOTEMPTY && errno != EEXIST)
            status = pbd_error(PBD_BAD_INPUT, "%.200s: %s", meshes, strerror(errno));
    }
    const pbd_status removed = run_quietly(cache, (const char *const[]){"rm", "-rf", work, NULL});
    return status.code == PBD_OK ? removed : status;
}

/* The folder of a file; the caller frees *out. */
static pbd_status folder_of(const char *file, char **out) {
    const char *slash = strrchr(file, '/');
    *out = strndup(file, slash ? (size_t)(slash - file) : 0);
    return *out ? pbd_ok() : pbd_no_memory();
}

pbd_status pbd_scan_fetch(const char *path) {
    char *file PBD_CLEANUP(free_text) = NULL;
    PBD_TRY(pbd_scan_file(path, &file));
    if (!file || access(file, R_OK) == 0) return pbd_ok();
    char *meshes PBD_CLEANUP(free_text) = NULL;
    char *cache PBD_CLEANUP(free_text) = NULL;
    PBD_TRY(folder_of(file, &meshes));
    PBD_TRY(folder_of(meshes, &cache));
    if (access(meshes, R_OK) == 0)
        return pbd_error(PBD_BAD_INPUT, "%.80s: " PACKAGE " has no such mesh; those that it has are in %.150s", path,
                         meshes);
    fprintf(stderr, "pbdbench: downloading Debian's package " PACKAGE " (25 MB) for %.80s\n", path);
    const pbd_status status = fetch_to(cache, meshes);
    if (status.code == PBD_OK && access(file, R_OK) == 0) return pbd_ok();
    if (status.code == PBD_INTERRUPTED) return status;
    return pbd_error(PBD_BAD_INPUT,
                     "%.60s is a mesh of Debian's package " PACKAGE
                     ", which could not be downloaded (%.120s): put the mesh at "
                     "%.160s yourself, or use a built-in shape",
                     path, status.code == PBD_OK ? "it has no such mesh" : status.text, file);
}

/* A value is cgal:NAME.off#HASH. */
static void warn_of_hash(const char *words, pbd_recorder *recorder) {
    for (size_t k = 0; k < KNOWN; k++) {
        char name[60];
        const int length = snprintf(name, sizeof name, "cgal:%s.off#", known[k].name);
        if (strncmp(words, name, (size_t)length) == 0 && strcmp(words + length, known[k].hash) != 0)
            pbd_warning(recorder, "scan", "%.80s is not the mesh of " PACKAGE " 5.5.1, whose hash is %s", words,
                        known[k].hash);
    }
}

void pbd_warn_of_scans(const pbd_values *values, pbd_recorder *recorder) {
    for (size_t i = 0; i < values->count; i++)
        if (values->item[i].param->kind == PBD_FILE && values->item[i].words)
            warn_of_hash(values->item[i].words, recorder);
}
