#include "harness/files/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/exec/arena.h"

/* The whole of an open file, with a NUL behind it. */
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

pbd_status pbd_content_read(char *path, pbd_content *out) {
    *out = (pbd_content){.path = path};
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe must not wait */
    pbd_status status = file < 0 ? pbd_error(PBD_BAD_INPUT, "%.200s: %s", path, strerror(errno))
                                 : read_whole(file, path, &out->text, &out->bytes);
    if (file >= 0) close(file);
    if (status.code != PBD_OK) pbd_content_free(out);
    return status;
}

pbd_status pbd_content_beside(const char *file, const char *name, pbd_content *out) {
    const char *slash = strrchr(file, '/');
    const int folder = slash && *name != '/' ? (int)(slash + 1 - file) : 0;
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
