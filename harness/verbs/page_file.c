#include "harness/verbs/page_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/files/paths.h"

pbd_status pbd_page_cannot(const pbd_page_file *page, const char *why) {
    return pbd_error(PBD_BAD_INPUT, "the %s '%s' cannot be written: %s; choose another file with -o", page->what,
                     page->path, why);
}

static bool is_plain(const char *path) {
    struct stat about;
    return stat(path, &about) != 0 || S_ISREG(about.st_mode);
}

/* A write-protected file is not replaced, although the permissions of its folder would allow it. */
static pbd_status open_fresh(pbd_page_file *page) {
    struct stat about;
    if (stat(page->path, &about) == 0 && access(page->path, W_OK) != 0) return pbd_page_cannot(page, strerror(errno));
    page->fresh = pbd_new_format(&page->memory, "%s.new", page->path);
    PBD_TRY(pbd_arena_check(&page->memory));
    page->file = fopen(page->fresh, "w");
    return page->file ? pbd_ok() : pbd_page_cannot(page, strerror(errno));
}

pbd_status pbd_page_open(const char *what, const char *path, const char *name, pbd_page_file *out) {
    *out = (pbd_page_file){.what = what};
    out->path = path ? path : pbd_new_format(&out->memory, "%s/results/%s", pbd_root(), name);
    PBD_TRY(pbd_arena_check(&out->memory));
    if (strcmp(out->path, "-") == 0) {
        out->file = stdout;
        return pbd_ok();
    }
    if (!path) { /* results/ may be missing */
        const char *folder = pbd_new_format(&out->memory, "%s/results", pbd_root());
        if (folder) mkdir(folder, 0777);
    }
    if (is_plain(out->path)) return open_fresh(out);
    out->file = fopen(out->path, "w");
    return out->file ? pbd_ok() : pbd_page_cannot(out, strerror(errno));
}

pbd_status pbd_page_close(pbd_page_file *page, pbd_status status) {
    if (page->file && page->file != stdout && fclose(page->file) != 0 && status.code == PBD_OK)
        status = pbd_page_cannot(page, strerror(errno));
    if (page->fresh && status.code == PBD_OK && rename(page->fresh, page->path) != 0)
        status = pbd_page_cannot(page, strerror(errno));
    if (page->fresh && status.code != PBD_OK && page->file) unlink(page->fresh);
    pbd_arena_free(&page->memory);
    *page = (pbd_page_file){0};
    return status;
}
