#include "harness/run/step_progress.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/exec/clock.h"

static const double FIRST_LOOK = 0.5, BETWEEN = 0.2; /* s */

double pbd_projected_seconds(double elapsed, long done, long total) {
    return done > 0 && total > 0 ? elapsed * (double)total / (double)done : 0;
}

void pbd_announce_memory(double bytes, bool wanted) {
    if (wanted && bytes > 1e9 * PBD_LARGE_RUN)
        fprintf(stderr, "pbdbench: this run holds %.1f GB of memory\n", 1e-9 * bytes);
}

double pbd_memory_held(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (double)usage.ru_maxrss : 0;
}

void pbd_step_progress_begin(pbd_step_progress *p, bool wanted) {
    const double now = wanted ? pbd_wall_seconds() : 0;
    *p = (pbd_step_progress){.on = wanted, .terminal = wanted && isatty(STDERR_FILENO), .started = now, .shown = now};
}

void pbd_step_progress_show(pbd_step_progress *p, long done, long total) {
    const double now = p->on ? pbd_wall_seconds() : 0, elapsed = now - p->started;
    if (!p->on || elapsed < FIRST_LOOK || now - p->shown < BETWEEN) return;
    const double all = pbd_projected_seconds(elapsed, done, total);
    p->shown = now;
    if (p->terminal && total > 0)
        fprintf(stderr, "\r\033[K%ld of %ld steps, %.0f %%, %.0f s left", done, total,
                100 * (double)done / (double)total, all - elapsed);
    else if (p->terminal)
        fprintf(stderr, "\r\033[K%ld steps, %.0f s; until it is at rest", done, elapsed);
    else if (!p->told && all > PBD_LONG_RUN)
        fprintf(stderr, "pbdbench: this run will take about %.0f s: %ld of %ld steps took %.1f s\n", all, done, total,
                elapsed);
    p->told = p->told || all > PBD_LONG_RUN;
}

void pbd_step_progress_end(pbd_step_progress *p) {
    if (p->terminal && p->shown > p->started) fputs("\r\033[K", stderr);
    p->on = false;
}
