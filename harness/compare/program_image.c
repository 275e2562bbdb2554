#include "harness/compare/program_image.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/files/paths.h"

extern char **environ;

/* A script finds its own folder by its path, and is read as it runs: it is not copied. */
static bool is_executable(int file) {
    char begin[4];
    return pread(file, begin, sizeof begin, 0) == (ssize_t)sizeof begin && memcmp(begin, "\177ELF", sizeof begin) == 0;
}

static bool copy_file(int from, int to) {
    struct stat info;
    off_t at = 0;
    if (fstat(from, &info) != 0) return false;
    while (at < info.st_size)
        if (sendfile(to, from, &at, (size_t)(info.st_size - at)) <= 0) return false;
    return true;
}

static void copy_program(const char *program, pbd_program_image *out) {
    const int from = open(program, O_RDONLY | O_CLOEXEC);
    if (from < 0) return; /* the start says why */
    if (is_executable(from)) out->file = memfd_create("pbdbench", MFD_CLOEXEC);
    if (out->file >= 0 && copy_file(from, out->file)) {
        /* The process that is run opens it before it closes what it inherited. */
        snprintf(out->text, sizeof out->text, "/proc/self/fd/%d", out->file);
        out->path = out->text;
    }
    close(from);
}

static bool is_named(const char *entry, const char *name) {
    const size_t bytes = strlen(name);
    return strncmp(entry, name, bytes) == 0 && entry[bytes] == '=';
}

static pbd_status make_environment(const char *program, size_t pad, pbd_program_image *out) {
    static const char pad_name[] = "PBDBENCH_PAD", root_name[] = "PBDBENCH_ROOT";
    char root[PATH_MAX];
    size_t entries = 0, kept = 0;
    while (environ[entries]) entries++;
    pbd_root_of(program, root);
    out->environment = calloc(entries + 3, sizeof *out->environment);
    out->pad = malloc(sizeof pad_name + pad + 1);
    if (!out->environment || !out->pad || asprintf(&out->root, "%s=%s", root_name, root) < 0) {
        out->root = NULL;
        return pbd_no_memory();
    }
    for (size_t i = 0; i < entries; i++)
        if (!is_named(environ[i], pad_name) && !is_named(environ[i], root_name)) out->environment[kept++] = environ[i];
    const int used = sprintf(out->pad, "%s=", pad_name);
    memset(out->pad + used, 'x', pad);
    out->pad[(size_t)used + pad] = '\0';
    out->environment[kept++] = out->root;
    out->environment[kept] = out->pad;
    return pbd_ok();
}

pbd_status pbd_program_image_make(const char *program, size_t pad, pbd_program_image *out) {
    *out = (pbd_program_image)PBD_NO_PROGRAM_IMAGE;
    PBD_TRY(make_environment(program, pad, out));
    copy_program(program, out);
    return pbd_ok();
}

void pbd_program_image_free(pbd_program_image *image) {
    if (image->file >= 0) close(image->file);
    free(image->environment);
    free(image->root);
    free(image->pad);
    *image = (pbd_program_image)PBD_NO_PROGRAM_IMAGE;
}
