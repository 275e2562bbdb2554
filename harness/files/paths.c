#include "harness/files/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds_checkout(const char *folder) {
    char path[PATH_MAX + 32];
    struct stat found;
    snprintf(path, sizeof path, "%s/plots/papers.yaml", folder);
    return stat(path, &found) == 0;
}

/* Falls back to the working folder if there is no checkout above the program. */
void pbd_root_of(const char *program, char *root) {
    const char *given = getenv("PBDBENCH_ROOT");
    if (given && *given) {
        snprintf(root, PATH_MAX, "%s", given);
        return;
    }
    if (!realpath(program, root)) snprintf(root, PATH_MAX, "%s", program); /* replaced while it runs */
    for (char *slash = strrchr(root, '/'); slash && slash != root; slash = strrchr(root, '/')) {
        *slash = '\0';
        if (holds_checkout(root)) return;
    }
    if (!getcwd(root, PATH_MAX)) snprintf(root, PATH_MAX, ".");
}

const char *pbd_root(void) {
    static char root[PATH_MAX]; /* found once; the program's main thread only */
    char program[PATH_MAX];
    if (*root) return root;
    const ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    program[length > 0 ? length : 0] = '\0';
    pbd_root_of(program, root);
    return root;
}

pbd_status pbd_root_check(void) {
    const char *given = getenv("PBDBENCH_ROOT");
    if (holds_checkout(pbd_root())) return pbd_ok();
    if (given && *given)
        return pbd_error(
            PBD_BAD_INPUT,
            "PBDBENCH_ROOT='%.200s' has no plots/papers.yaml: set it to a checkout of pbdbench, or unset it", given);
    return pbd_error(PBD_BAD_INPUT,
                     "no folder above the program has plots/papers.yaml: set PBDBENCH_ROOT to a checkout of pbdbench");
}

char *pbd_root_path(const char *relative) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", pbd_root(), relative) < 0 ? NULL : path;
}

char *pbd_db_path(const char *given) { return given ? strdup(given) : pbd_root_path(PBD_DEFAULT_DB); }

pbd_status pbd_make_folders(const char *path) {
    char *part = strdup(path);
    if (!part) return pbd_error(PBD_FAILED, "out of memory");
    pbd_status status = pbd_ok();
    for (char *p = part + 1; status.code == PBD_OK; p++) {
        if (*p && *p != '/') continue;
        char kept = *p;
        *p = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            status = pbd_error(PBD_BAD_INPUT, "cannot make the folder '%s': %s; choose another with --out", part,
                               strerror(errno));
        *p = kept;
        if (!kept) break;
    }
    free(part);
    return status;
}
