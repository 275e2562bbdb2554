#include "harness/run/step_progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/catalog/values.h"
#include "harness/exec/clock.h"

static const double FIRST_LOOK = 0.5, BETWEEN = 0.2; /* s */

double pbd_projected_seconds(double elapsed, long done, long total) {
    return done > 0 && total > 0 ? elapsed * (double)total / (double)done : 0;
}

bool pbd_is_too_slow(double limit, double setup, double elapsed, long done, long total) {
    const double whole = setup + pbd_projected_seconds(elapsed, done, total);
    return limit > 0 && whole > 2 * limit && setup + elapsed >= limit * fmax(0.05, 0.5 * limit / whole);
}

/* Whether the parameter has this value; an empty parameter name: always. */
static bool is_set(const pbd_values *values, const char *parameter, const char *choice) {
    const pbd_value *value = *parameter && values ? pbd_value_named(values, parameter) : NULL;
    return !*parameter || (value && strcmp(pbd_value_text(value), choice) == 0);
}

double pbd_estimated_memory(const char *method, const pbd_values *values, size_t particles, double across) {
    static const struct {
        const char *name;
        double bytes;
    } known[] = {
#define MEMORY(method, bytes) {#method, bytes},
#define FACTORS(method, parameter, value, bytes, each)
#include "methods/memory.def"
#undef MEMORY
#undef FACTORS
    };
    static const struct {
        const char *name, *parameter, *value;
        double bytes, across;
    } factored[] = {
#define MEMORY(method, bytes)
#define FACTORS(method, parameter, value, bytes, across) {#method, #parameter, #value, bytes, across},
#include "methods/memory.def"
#undef MEMORY
#undef FACTORS
    };
    static const double PROGRAM = 14e6; /* bytes, of a program that does nothing */
    for (size_t i = 0; i < sizeof factored / sizeof *factored && across > 0; i++)
        if (strcmp(factored[i].name, method) == 0 && is_set(values, factored[i].parameter, factored[i].value))
            return PROGRAM + (factored[i].bytes + factored[i].across * across) * (double)particles;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, method) == 0) return PROGRAM + known[i].bytes * (double)particles;
    return 0;
}

double pbd_particles_across(const pbd_particles *p) {
    double low[3], size[3], volume = 1, widest = 0;
    for (int d = 0; d < 3; d++) {
        double high = low[d] = p->count > 0 ? p->positions[d] : 0;
        for (size_t i = 1; i < p->count; i++) {
            low[d] = fmin(low[d], p->positions[3 * i + (size_t)d]);
            high = fmax(high, p->positions[3 * i + (size_t)d]);
        }
        size[d] = high - low[d];
        volume *= size[d];
        widest = fmax(widest, size[d]);
    }
    if (volume <= 0) return 0;
    const double spacing = cbrt(volume / (double)p->count);
    return fmax(sqrt(volume / widest) / spacing, 1);
}

bool pbd_announce_estimate(double bytes, bool wanted) {
    if (!wanted || bytes <= 1e9 * PBD_LARGE_RUN) return false;
    fprintf(stderr, "pbdbench: this run will hold about %.1f GB of memory\n", 1e-9 * bytes);
    return true;
}

void pbd_announce_memory(double bytes, bool wanted) {
    if (wanted && bytes > 1e9 * PBD_LARGE_RUN)
        fprintf(stderr, "pbdbench: this run holds %.1f GB of memory\n", 1e-9 * bytes);
}

double pbd_memory_held(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (double)usage.ru_maxrss : 0;
}

double pbd_setup_begin(bool wanted) {
    if (wanted && isatty(STDERR_FILENO)) fputs("\r\033[Kpreparing", stderr);
    return pbd_wall_seconds();
}

void pbd_setup_end(bool wanted) {
    if (wanted && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

void pbd_step_progress_begin(pbd_step_progress *p, bool wanted, double setup) {
    const double now = wanted ? pbd_wall_seconds() : 0;
    *p = (pbd_step_progress){
        .on = wanted, .terminal = wanted && isatty(STDERR_FILENO), .started = now, .shown = now, .setup = setup};
}

void pbd_step_progress_show(pbd_step_progress *p, long done, long total, double energy) {
    const double now = p->on ? pbd_wall_seconds() : 0, elapsed = now - p->started;
    if (!p->on || elapsed < FIRST_LOOK || now - p->shown < BETWEEN) return;
    const double all = pbd_projected_seconds(elapsed, done, total);
    char joule[40] = "";
    if (!isnan(energy)) snprintf(joule, sizeof joule, ", %.3g J", energy);
    p->shown = now;
    if (p->terminal && total > 0)
        fprintf(stderr, "\r\033[K%ld of %ld steps, %.0f %%, %.0f s left%s", done, total,
                100 * (double)done / (double)total, all - elapsed, joule);
    else if (p->terminal)
        fprintf(stderr, "\r\033[K%ld steps, %.0f s; until it is at rest%s", done, elapsed, joule);
    else if (!p->told && all > PBD_LONG_RUN)
        fprintf(stderr,
                "pbdbench: this run will take about %.0f s: %ld of %ld steps took %.1f s, after %.1f s of setup\n",
                p->setup + all, done, total, elapsed, p->setup);
    p->told = p->told || all > PBD_LONG_RUN;
}

void pbd_step_progress_end(pbd_step_progress *p) {
    if (p->terminal && p->shown > p->started) fputs("\r\033[K", stderr);
    p->on = false;
}
