/* The recorder: metrics, counts, series, warnings and phases of one run, kept in a pbd_result. */
#include "harness/plan/record.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/exec/exec.h"

struct pbd_recorder {
    pbd_result *result;
    bool (*stop)(void);
    bool muted, failed;
    const char *outer;            /* the harness's phase, or NULL */
    double outer_wall, outer_cpu; /* when it began */
    char inner[64];               /* the method's phase, or "" */
    double inner_wall, inner_cpu;
    pbd_exec *exec; /* phases wait for it; or NULL */
    pbd_iterate_look look;
    const void *looker;
};

const char *pbd_state_name(pbd_code code) {
    switch (code) {
        case PBD_OK:
            return "ok";
        case PBD_DIVERGED:
            return "diverged";
        case PBD_NO_EQUILIBRIUM:
            return "no_equilibrium";
        case PBD_NOT_SETTLED:
            return "not_settled";
        case PBD_INTERRUPTED:
            return "interrupted";
        case PBD_UNPHYSICAL:
            return "unphysical";
        default:
            return "failed";
    }
}

pbd_recorder *pbd_recorder_create(pbd_result *result, bool (*stop)(void)) {
    pbd_recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder) {
        recorder->result = result;
        recorder->stop = stop;
    }
    return recorder;
}

void pbd_recorder_destroy(pbd_recorder *recorder) { free(recorder); }
void pbd_recorder_mute(pbd_recorder *recorder, bool muted) { recorder->muted = muted; }
const pbd_result *pbd_recorder_result(const pbd_recorder *recorder) { return recorder->result; }
bool pbd_recorder_failed(const pbd_recorder *recorder) { return recorder->failed; }

void pbd_recorder_exchange(pbd_recorder *recorder, pbd_result *other) {
    pbd_result *r = recorder->result;
    const pbd_result mine = *r;
    r->metric = other->metric, r->metrics = other->metrics;
    r->series = other->series, r->series_count = other->series_count;
    r->warning = other->warning, r->warnings = other->warnings;
    r->phase = other->phase, r->phases = other->phases;
    other->metric = mine.metric, other->metrics = mine.metrics;
    other->series = mine.series, other->series_count = mine.series_count;
    other->warning = mine.warning, other->warnings = mine.warnings;
    other->phase = mine.phase, other->phases = mine.phases;
}

bool pbd_records(const pbd_recorder *recorder) { return !recorder->muted; }

void pbd_recorder_look(pbd_recorder *recorder, pbd_iterate_look look, const void *context) {
    recorder->look = look;
    recorder->looker = context;
}

bool pbd_wants_iterates(const pbd_recorder *recorder) { return recorder->look && !recorder->muted; }

void pbd_iterate(pbd_recorder *recorder, long iteration, const double *positions) {
    if (pbd_wants_iterates(recorder)) recorder->look(recorder->looker, iteration, positions, recorder);
}

bool pbd_stop_requested(const pbd_recorder *recorder) { return recorder->stop && recorder->stop(); }

/* Appends a zeroed element to an array of `*count` elements. NULL without memory: the recorder is then failed. The
 * arrays are short (tens), so growing by one is enough; series values grow by doubling. */
static void *append(pbd_recorder *recorder, void *array, size_t *count, size_t size) {
    char **items = array;
    char *grown = realloc(*items, (*count + 1) * size);
    if (!grown) {
        recorder->failed = true;
        return NULL;
    }
    *items = grown;
    memset(grown + *count * size, 0, size);
    return grown + (*count)++ * size;
}

static char *copy_text(pbd_recorder *recorder, const char *text) {
    char *copy = strdup(text);
    if (!copy) recorder->failed = true;
    return copy;
}

static pbd_metric_item *metric_named(pbd_recorder *recorder, const char *name, const char *unit) {
    pbd_result *r = recorder->result;
    for (size_t i = 0; i < r->metrics; i++)
        if (strcmp(r->metric[i].name, name) == 0) return &r->metric[i];
    pbd_metric_item *item = append(recorder, &r->metric, &r->metrics, sizeof *item);
    if (!item) return NULL;
    item->name = copy_text(recorder, name);
    item->unit = copy_text(recorder, unit);
    if (item->name && item->unit) return item;
    r->metrics--;
    free(item->name);
    free(item->unit);
    return NULL;
}

void pbd_metric(pbd_recorder *recorder, const char *name, const char *unit, pbd_kind kind, double value) {
    if (recorder->muted) return;
    pbd_metric_item *item = metric_named(recorder, name, unit);
    if (!item) return;
    item->kind = kind;
    item->value = value;
}

static void count(pbd_recorder *recorder, const char *name, pbd_kind kind, uint64_t add) {
    if (recorder->muted) return;
    pbd_metric_item *item = metric_named(recorder, name, "1");
    if (!item) return;
    item->kind = kind;
    item->is_count = true;
    item->count += add;
    item->value = (double)item->count;
}

void pbd_count(pbd_recorder *recorder, const char *name, uint64_t add) { count(recorder, name, PBD_COUNT, add); }

void pbd_count_cost(pbd_recorder *recorder, const char *name, uint64_t add) { count(recorder, name, PBD_COST, add); }

static pbd_series_item *series_named(pbd_recorder *recorder, const char *name, const char *component,
                                     const char *unit) {
    pbd_result *r = recorder->result;
    for (size_t i = 0; i < r->series_count; i++)
        if (strcmp(r->series[i].name, name) == 0 && strcmp(r->series[i].component, component) == 0)
            return &r->series[i];
    pbd_series_item *item = append(recorder, &r->series, &r->series_count, sizeof *item);
    if (!item) return NULL;
    item->name = copy_text(recorder, name);
    item->component = copy_text(recorder, component);
    item->unit = copy_text(recorder, unit);
    if (item->name && item->component && item->unit) return item;
    r->series_count--;
    free(item->name);
    free(item->component);
    free(item->unit);
    return NULL;
}

void pbd_series(pbd_recorder *recorder, const char *name, const char *component, const char *unit, const double *values,
                size_t count, size_t stride) {
    if (recorder->muted) return;
    pbd_series_item *item = series_named(recorder, name, component, unit);
    if (!item) return;
    if (item->count + count > item->capacity) {
        size_t capacity = item->capacity ? item->capacity : 16;
        while (capacity < item->count + count) capacity *= 2;
        double *grown = realloc(item->values, capacity * sizeof *grown);
        if (!grown) {
            recorder->failed = true;
            return;
        }
        item->values = grown;
        item->capacity = capacity;
    }
    for (size_t i = 0; i < count; i++) item->values[item->count + i] = values[i * stride];
    item->count += count;
}

void pbd_warning(pbd_recorder *recorder, const char *name, const char *format, ...) {
    if (recorder->muted) return;
    pbd_result *r = recorder->result;
    for (size_t i = 0; i < r->warnings; i++)
        if (strcmp(r->warning[i].name, name) == 0) {
            r->warning[i].count++;
            return;
        }
    char says[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(says, sizeof says, format, arguments);
    va_end(arguments);
    pbd_warning_item *item = append(recorder, &r->warning, &r->warnings, sizeof *item);
    if (!item) return;
    item->name = copy_text(recorder, name);
    item->says = copy_text(recorder, says);
    item->count = 1;
    if (item->name && item->says) return;
    r->warnings--;
    free(item->name);
    free(item->says);
}

static void add_phase(pbd_recorder *recorder, const char *name, double wall, double cpu) {
    pbd_result *r = recorder->result;
    pbd_phase_item *item = NULL;
    for (size_t i = 0; i < r->phases && !item; i++)
        if (strcmp(r->phase[i].name, name) == 0) item = &r->phase[i];
    if (!item) {
        item = append(recorder, &r->phase, &r->phases, sizeof *item);
        if (!item) return;
        item->name = copy_text(recorder, name);
        if (!item->name) {
            r->phases--;
            return;
        }
    }
    item->wall_s += wall;
    item->cpu_s += cpu;
    item->calls++;
}

void pbd_recorder_wait_at_phases(pbd_recorder *recorder, pbd_exec *exec) { recorder->exec = exec; }

void pbd_phase_begin(pbd_recorder *recorder, const char *name) {
    if (recorder->muted) return;
    if (recorder->exec) pbd_exec_wait(recorder->exec); /* the next call reports an error of a kernel again */
    snprintf(recorder->inner, sizeof recorder->inner, "%s%s%s", recorder->outer ? recorder->outer : "",
             recorder->outer ? "/" : "", name);
    recorder->inner_wall = pbd_wall_seconds();
    recorder->inner_cpu = pbd_cpu_seconds();
}

void pbd_phase_end(pbd_recorder *recorder) {
    if (recorder->muted || recorder->inner[0] == '\0') return;
    if (recorder->exec) pbd_exec_wait(recorder->exec);
    add_phase(recorder, recorder->inner, pbd_wall_seconds() - recorder->inner_wall,
              pbd_cpu_seconds() - recorder->inner_cpu);
    recorder->inner[0] = '\0';
}

void pbd_recorder_enter(pbd_recorder *recorder, const char *outer) {
    recorder->outer = outer;
    recorder->outer_wall = pbd_wall_seconds();
    recorder->outer_cpu = pbd_cpu_seconds();
}

void pbd_recorder_leave(pbd_recorder *recorder) {
    if (!recorder->muted && recorder->outer)
        add_phase(recorder, recorder->outer, pbd_wall_seconds() - recorder->outer_wall,
                  pbd_cpu_seconds() - recorder->outer_cpu);
    recorder->outer = NULL;
    recorder->inner[0] = '\0';
}
