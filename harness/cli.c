/* What the verbs share. */
#include "harness/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/record.h"

const pbd_verb *const pbd_verbs[] = {
#define VERB(name) &pbd_verb_##name,
#include "harness/verbs.def"
#undef VERB
    NULL};

int pbd_complain(pbd_status status) {
    fflush(stdout);
    fprintf(stderr, "pbdbench: %s\n", status.text);
    switch (status.code) {
        case PBD_OK:
            return PBD_EXIT_OK;
        case PBD_BAD_INPUT:
        case PBD_NOT_SUPPORTED:
            return PBD_EXIT_USAGE;
        case PBD_INTERRUPTED:
            return PBD_EXIT_INTERRUPTED;
        default:
            return PBD_EXIT_RUN_FAILED;
    }
}

bool pbd_is_terminal(FILE *stream) { return isatty(fileno(stream)) && !getenv("NO_COLOR"); }

static bool holds_checkout(const char *folder) {
    char path[PATH_MAX + 32];
    struct stat found;
    snprintf(path, sizeof path, "%s/plots/papers.yaml", folder);
    return stat(path, &found) == 0;
}

/* Upwards from the executable; the working folder when there is no checkout above it. */
static void find_root(char root[PATH_MAX]) {
    const char *given = getenv("PBDBENCH_ROOT");
    if (given && *given) {
        snprintf(root, PATH_MAX, "%s", given);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", root, PATH_MAX - 1);
    root[length > 0 ? length : 0] = '\0';
    for (char *slash = strrchr(root, '/'); slash && slash != root; slash = strrchr(root, '/')) {
        *slash = '\0';
        if (holds_checkout(root)) return;
    }
    if (!getcwd(root, PATH_MAX)) snprintf(root, PATH_MAX, ".");
}

const char *pbd_root(void) {
    static char root[PATH_MAX]; /* found once; the program's main thread only */
    if (!*root) find_root(root);
    return root;
}

char *pbd_root_path(const char *relative) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", pbd_root(), relative) < 0 ? NULL : path;
}

char *pbd_db_path(const char *given) { return given ? strdup(given) : pbd_root_path(PBD_DEFAULT_DB); }

/* Each line of a usage is a command of its own, but for those that begin with a blank: they go on. */
int pbd_verb_help(const pbd_verb *verb) {
    fputs("usage: pbdbench ", stdout);
    for (const char *c = verb->usage; *c; c++) {
        putchar(*c);
        if (*c == '\n') fputs(c[1] == ' ' ? "                " : "       pbdbench ", stdout);
    }
    printf("\n\n%s\n\n", verb->about);
    pbd_options_print(verb->options);
    if (verb->more) printf("\n%s\n", verb->more);
    return PBD_EXIT_OK;
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

void pbd_progress_begin(pbd_progress *progress, bool quiet) {
    *progress = (pbd_progress){.on = !quiet && isatty(STDERR_FILENO), .started = pbd_wall_seconds()};
}

void pbd_progress_show(pbd_progress *progress, size_t done, size_t total, bool made, const char *label) {
    progress->fresh += made;
    if (!progress->on) return;
    char eta[40] = "";
    if (progress->fresh > 0 && done < total) {
        double each = (pbd_wall_seconds() - progress->started) / (double)progress->fresh;
        double left = each * (double)(total - done);
        if (left < 90)
            snprintf(eta, sizeof eta, "  ETA %.0f s", left);
        else
            snprintf(eta, sizeof eta, "  ETA %.0f min", left / 60);
    }
    enum { WIDTH = 20 };
    char bar[WIDTH + 1];
    size_t full = total ? WIDTH * done / total : WIDTH;
    for (size_t i = 0; i < WIDTH; i++) bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %zu/%zu%s  %.60s", bar, done, total, eta, label);
    fflush(stderr);
}

void pbd_progress_end(pbd_progress *progress) {
    if (progress->on) fputs("\r\033[K", stderr);
    progress->on = false;
}

void pbd_tell_refusal(const pbd_progress *progress, const pbd_plan_item *item, size_t total) {
    fflush(stdout);
    if (progress->on) fputs("\r\033[K", stderr);
    if (total > 1) fprintf(stderr, "pbdbench: run refused: %s: %s\n", item->label, item->refusal.text);
    if (total <= 1) fprintf(stderr, "pbdbench: %s\n", item->refusal.text);
}
