#include "harness/files/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/exec/arena.h"

/* Reads all of an open file and appends a NUL. */
static pbd_status read_whole(int file, const char *path, char **text, size_t *bytes) {
    struct stat about;
    if (fstat(file, &about) != 0) return pbd_error(PBD_BAD_INPUT, "%.200s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode)) return pbd_error(PBD_BAD_INPUT, "%.200s is not a file with content", path);
    const size_t size = (size_t)about.st_size;
    if (!(*text = malloc(size + 1)))
        return pbd_error(PBD_FAILED, "out of memory for the %zu bytes of %.200s", size, path);
    for (*bytes = 0; *bytes < size;) {
        const ssize_t got = read(file, *text + *bytes, size - *bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return pbd_error(PBD_BAD_INPUT, "%.200s: %s", path,
                             got < 0 ? strerror(errno) : "it became shorter while it was read");
        *bytes += (size_t)got;
    }
    (*text)[size] = '\0';
    return pbd_ok();
}

static bool is_scan(const char *path) { return strncmp(path, "cgal:", 5) == 0; }

pbd_status pbd_scan_file(const char *path, char **out) {
    *out = NULL;
    if (!is_scan(path)) return pbd_ok();
    const char *name = path + 5, *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (length == 0 || (strcmp(name + length, "") != 0 && strcmp(name + length, ".off") != 0))
        return pbd_error(PBD_BAD_INPUT, "'%.80s' names no mesh: cgal:cow, for example", path);
    const bool own = cache && *cache == '/';
    if (!own && !home) return pbd_error(PBD_BAD_INPUT, "%.80s: neither XDG_CACHE_HOME nor HOME is set", path);
    const int written = asprintf(out, "%s%s/pbdbench/cgal/meshes/%.*s.off", own ? cache : home, own ? "" : "/.cache",
                                 (int)length, name);
    return written < 0 ? pbd_no_memory() : pbd_ok();
}

/* Reads a scan from the cache; its path becomes cgal:NAME.off. */
static pbd_status read_scan(pbd_content *out) {
    char *file = NULL, *path = NULL;
    PBD_TRY(pbd_scan_file(out->path, &file));
    const bool ends = strchr(out->path, '.') != NULL;
    if (asprintf(&path, "%s%s", out->path, ends ? "" : ".off") < 0) path = NULL;
    pbd_content of_file = {0};
    const pbd_status status = path ? pbd_content_read(file, &of_file) : pbd_no_memory();
    if (!path) free(file);
    free(out->path);
    *out = (pbd_content){.path = path, .text = of_file.text, .bytes = of_file.bytes};
    of_file.text = NULL;
    pbd_content_free(&of_file);
    return status;
}

pbd_status pbd_content_read(char *path, pbd_content *out) {
    *out = (pbd_content){.path = path};
    pbd_status status;
    if (is_scan(path)) {
        status = read_scan(out);
    } else {
        const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe must not wait */
        status = file < 0 ? pbd_error(PBD_BAD_INPUT, "%.200s: %s", path, strerror(errno))
                          : read_whole(file, path, &out->text, &out->bytes);
        if (file >= 0) close(file);
    }
    if (status.code != PBD_OK) pbd_content_free(out);
    return status;
}

pbd_status pbd_content_beside(const char *file, const char *name, pbd_content *out) {
    const char *slash = strrchr(file, '/');
    const int folder = slash && *name != '/' && !is_scan(name) ? (int)(slash + 1 - file) : 0;
    char *path = NULL;
    *out = (pbd_content){0};
    if (asprintf(&path, "%.*s%s", folder, file, name) < 0) return pbd_no_memory();
    return pbd_content_read(path, out);
}

void pbd_content_free(pbd_content *content) {
    free(content->path);
    free(content->text);
    *content = (pbd_content){0};
}
