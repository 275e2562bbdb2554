#include "harness/bench/limits/limits.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "harness/bench/limits/probes.h"
#include "harness/files/numbers.h"
#include "harness/process/interrupt.h"
#include "harness/run/run.h"
#include "harness/store/rows.h"

/* What is measured, and where. Bandwidth does not depend on the type of number, nor do launches. */
static const struct spec {
    const char *name, *unit;
    pbd_probe_kind kind;
    pbd_precision precision;
    unsigned backends;
} specs[] = {
    {"triad", "B/s", PBD_PROBE_TRIAD, PBD_PRECISION_F64, PBD_CPU},
    {"copy", "B/s", PBD_PROBE_COPY, PBD_PRECISION_F64, PBD_CUDA},
    {"fma", "flop/s", PBD_PROBE_FMA, PBD_PRECISION_F32, PBD_CPU | PBD_CUDA},
    {"fma", "flop/s", PBD_PROBE_FMA, PBD_PRECISION_F64, PBD_CPU | PBD_CUDA},
    {"gather", "neighbours/s", PBD_PROBE_GATHER, PBD_PRECISION_F32, PBD_CPU | PBD_CUDA},
    {"scatter", "neighbours/s", PBD_PROBE_SCATTER, PBD_PRECISION_F32, PBD_CPU | PBD_CUDA},
    {"gather_scatter", "neighbours/s", PBD_PROBE_GATHER_SCATTER, PBD_PRECISION_F32, PBD_CPU | PBD_CUDA},
    {"gather_scatter", "neighbours/s", PBD_PROBE_GATHER_SCATTER, PBD_PRECISION_F64, PBD_CPU},
    {"gather_scatter_slices", "neighbours/s", PBD_PROBE_SLICES, PBD_PRECISION_F32, PBD_CPU},
    {"gather_scatter_slices", "neighbours/s", PBD_PROBE_SLICES, PBD_PRECISION_F64, PBD_CPU},
    {"launch", "s", PBD_PROBE_LAUNCH, PBD_PRECISION_F32, PBD_CUDA},
    {"graph_launch", "s", PBD_PROBE_GRAPH_LAUNCH, PBD_PRECISION_F32, PBD_CUDA},
};
enum { SPECS = sizeof specs / sizeof *specs, MOST_SAMPLES = 200 };

typedef struct sizes {
    size_t stream;        /* bytes of each array */
    size_t items;         /* of fma */
    int edge;             /* of the cloud, particles */
    double sample, whole; /* s, of one sample and of all, at least */
    int samples;          /* at least */
} sizes;

/* One limit being measured. */
typedef struct measuring {
    const struct spec *spec;
    sizes size;
    pbd_limit limit;
    double sample[MOST_SAMPLES]; /* in the limit's unit */
    size_t samples;
    pbd_machine_sample before, after;
} measuring;

static const pbd_probe_ops *probes_of(const struct spec *spec) {
    return spec->precision == PBD_PRECISION_F32 ? &pbd_probes_float : &pbd_probes_double;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* Arrays four times the last cache (of a GPU: far beyond any), as far as memory goes; particles in the last cache,
 * their lists beyond it, as in a method. */
static sizes choose_sizes(int backend, bool quick) {
    if (quick) return (sizes){64 << 10, 1024, 8, 0, 0, 3};
    sizes s = {256u << 20, 1u << 22, 128, 0.012, 0.8, 9};
    if (backend == PBD_CUDA) return s;
    pbd_machine machine;
    pbd_machine_sample now;
    memset(&machine, 0, sizeof machine);
    pbd_this_machine(&machine);
    pbd_sample_machine(&now);
    s.stream = (size_t)(machine.l3_kib > 16 << 10 ? 4 * machine.l3_kib : 64 << 10) << 10;
    size_t available = now.memory_free_mib > 0 ? (size_t)now.memory_free_mib << 20 : s.stream;
    if (s.stream > available / 8) s.stream = available / 8;
    s.items = 1u << 16;
    s.edge = 64;
    return s;
}

static size_t count_of(const struct spec *spec, const sizes *s) {
    return spec->kind == PBD_PROBE_FMA ? s->items : s->stream / probes_of(spec)->real_bytes;
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static pbd_status time_passes(pbd_exec *exec, const pbd_probe_ops *ops, pbd_probe *probe, long passes,
                              double *seconds) {
    pbd_exec_time time;
    PBD_TRY(pbd_exec_timer_begin(exec));
    for (long i = 0; i < passes; i++) PBD_TRY(ops->pass(probe));
    PBD_TRY(pbd_exec_timer_end(exec, &time));
    *seconds = time.wall_s;
    return pbd_ok();
}

/* How many passes make a sample; the first passes are the warm-up. */
static pbd_status choose_passes(pbd_exec *exec, const pbd_probe_ops *ops, pbd_probe *probe, double wanted, long *out) {
    double seconds = 0;
    *out = 1;
    PBD_TRY(time_passes(exec, ops, probe, 1, &seconds));
    for (;;) {
        PBD_TRY(time_passes(exec, ops, probe, *out, &seconds));
        if (seconds >= wanted || *out >= 1 << 24) return pbd_ok();
        *out *= seconds > wanted / 8 ? (long)ceil(wanted / seconds) : 8;
    }
}

static pbd_status take_samples(measuring *m, pbd_exec *exec, pbd_probe *probe) {
    const pbd_probe_ops *ops = probes_of(m->spec);
    const bool is_time = strcmp(m->spec->unit, "s") == 0;
    double seconds, whole = 0;
    long passes;
    PBD_TRY(choose_passes(exec, ops, probe, m->size.sample, &passes));
    while (m->samples < MOST_SAMPLES && (whole < m->size.whole || m->samples < (size_t)m->size.samples)) {
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted; limits measured so far are kept");
        PBD_TRY(time_passes(exec, ops, probe, passes, &seconds));
        const double work = ops->work(probe) * (double)passes;
        m->sample[m->samples++] = is_time ? seconds / work : work / seconds;
        whole += seconds;
    }
    return pbd_ok();
}

static void judge_samples(measuring *m) {
    double sorted[MOST_SAMPLES];
    const size_t n = m->samples;
    memcpy(sorted, m->sample, n * sizeof *sorted);
    m->limit.median = pbd_median(sorted, n); /* sorts */
    m->limit.best = strcmp(m->spec->unit, "s") == 0 ? sorted[0] : sorted[n - 1];
}

static pbd_status measure_on(measuring *m, pbd_exec *exec, const pbd_cloud *cloud) {
    const pbd_probe_ops *ops = probes_of(m->spec);
    pbd_probe *probe;
    pbd_store_now(m->limit.measured_at);
    pbd_sample_machine(&m->before);
    PBD_TRY(ops->open(exec, m->spec->kind, count_of(m->spec, &m->size), cloud, &probe));
    pbd_status status = take_samples(m, exec, probe);
    ops->close(probe);
    PBD_TRY(status);
    pbd_sample_machine(&m->after);
    judge_samples(m);
    return pbd_ok();
}

/* ---- As a run of the store --------------------------------------------------------------------------------------- */

static char *params_of(const measuring *m, const pbd_cloud *cloud) {
    char *text = NULL;
    int length;
    if (strcmp(m->spec->unit, "neighbours/s") == 0)
        length = asprintf(&text, "{\"neighbours\":%zu,\"particles\":%zu}", cloud->pairs, cloud->particles);
    else if (m->spec->kind == PBD_PROBE_LAUNCH || m->spec->kind == PBD_PROBE_GRAPH_LAUNCH)
        length = asprintf(&text, "{}");
    else
        length = asprintf(&text, "{\"count\":%zu}", count_of(m->spec, &m->size));
    return length < 0 ? NULL : text;
}

static bool add_metric(pbd_result *r, const measuring *m, const char *name, double value) {
    const bool is_time = strcmp(m->spec->unit, "s") == 0;
    pbd_metric_item *item = &r->metric[r->metrics++];
    *item = (pbd_metric_item){
        .name = strdup(name), .unit = strdup(m->spec->unit), .value = value, .kind = is_time ? PBD_COST : PBD_QUALITY};
    return item->name && item->unit;
}

static bool add_samples(pbd_result *r, const measuring *m) {
    double *values = malloc(m->samples * sizeof *values);
    r->series[r->series_count++] = (pbd_series_item){.name = strdup("samples"),
                                                     .component = strdup("value"),
                                                     .unit = strdup(m->spec->unit),
                                                     .values = values,
                                                     .count = values ? m->samples : 0,
                                                     .capacity = m->samples};
    if (values) memcpy(values, m->sample, m->samples * sizeof *values);
    return values && r->series->name && r->series->component && r->series->unit;
}

static bool describe(const measuring *m, const pbd_cloud *cloud, pbd_result *r) {
    *r = (pbd_result){.threads = m->limit.threads};
    memcpy(r->started_at, m->limit.measured_at, sizeof r->started_at);
    r->kind = strdup("limit");
    r->case_name = strdup("machine_limits");
    r->method_name = strdup(m->spec->name);
    r->params = params_of(m, cloud);
    r->backend = strdup(m->limit.backend);
    r->precision = strdup(m->limit.precision);
    r->state = strdup("ok");
    r->says = strdup("");
    r->metric = calloc(2, sizeof *r->metric);
    r->series = calloc(1, sizeof *r->series);
    if (!r->kind || !r->case_name || !r->method_name || !r->params || !r->backend || !r->precision || !r->state ||
        !r->says || !r->metric || !r->series)
        return false;
    return add_metric(r, m, "best", m->limit.best) && add_metric(r, m, "median", m->limit.median) && add_samples(r, m);
}

static void identify(pbd_result *r) {
    char text[400];
    int length = snprintf(text, sizeof text, "%s|%s|%s|%s|%s|%d", r->case_name, r->method_name, r->params, r->backend,
                          r->precision, r->threads);
    XXH128_hash_t hash = XXH3_128bits(text, (size_t)length);
    snprintf(r->cell_id, sizeof r->cell_id, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static pbd_status store_limit(pbd_store *store, const measuring *m, const pbd_cloud *cloud) {
    pbd_result r PBD_CLEANUP(pbd_result_free) = {0};
    if (!describe(m, cloud, &r)) return pbd_no_memory();
    identify(&r);
    return pbd_store_put(store, &r, &m->before, &m->after);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

typedef struct campaign {
    pbd_store *store;
    pbd_limits_observer observer;
    void *context;
} campaign;

static pbd_status measure_spec(const campaign *c, const struct spec *spec, pbd_backend backend, int threads,
                               const sizes *size, pbd_exec *exec, const pbd_cloud *cloud) {
    measuring m = {.spec = spec, .size = *size, .limit = {.threads = threads}};
    snprintf(m.limit.name, sizeof m.limit.name, "%s", spec->name);
    snprintf(m.limit.unit, sizeof m.limit.unit, "%s", spec->unit);
    snprintf(m.limit.backend, sizeof m.limit.backend, "%s", pbd_backend_at(backend).name);
    snprintf(m.limit.precision, sizeof m.limit.precision, "%s", pbd_precision_name(spec->precision));
    PBD_TRY(measure_on(&m, exec, cloud));
    if (c->store) PBD_TRY(store_limit(c->store, &m, cloud));
    if (c->observer) c->observer(c->context, &m.limit);
    return pbd_ok();
}

static void destroy_exec(pbd_exec **exec) { pbd_exec_destroy(*exec); }

static pbd_status measure_threads(const campaign *c, pbd_backend backend, int threads, const sizes *size,
                                  const pbd_cloud *cloud) {
    pbd_exec *exec PBD_CLEANUP(destroy_exec) = NULL;
    PBD_TRY(pbd_exec_create(1 << backend, threads, &exec));
    for (size_t i = 0; i < SPECS; i++)
        if (specs[i].backends & 1u << backend) PBD_TRY(measure_spec(c, &specs[i], backend, threads, size, exec, cloud));
    return pbd_ok();
}

static pbd_status measure_backend(const campaign *c, pbd_backend backend, bool quick) {
    const int all = omp_get_num_procs();
    const sizes size = choose_sizes(1 << backend, quick);
    pbd_cloud cloud PBD_CLEANUP(pbd_cloud_free) = {0};
    PBD_TRY(pbd_cloud_build(size.edge, 1, &cloud));
    PBD_TRY(measure_threads(c, backend, 1, &size, &cloud));
    return backend == PBD_BACKEND_CPU && all > 1 ? measure_threads(c, backend, all, &size, &cloud) : pbd_ok();
}

pbd_status pbd_limits_triad(size_t bytes, int threads, double *out) {
    pbd_exec *exec PBD_CLEANUP(destroy_exec) = NULL;
    const size_t least = 64 << 10;
    measuring m = {
        .spec = specs, /* the first is the triad */
        .size = {.stream = (bytes > least ? bytes : least) / 3, .sample = 0.012, .whole = 0.4, .samples = 9}};
    PBD_TRY(pbd_exec_create(PBD_CPU, threads, &exec));
    PBD_TRY(measure_on(&m, exec, NULL));
    *out = m.limit.best;
    return pbd_ok();
}

pbd_status pbd_limits_measure(pbd_store *store, bool quick, pbd_limits_observer observer, void *context) {
    const campaign c = {store, observer, context};
    PBD_TRY(measure_backend(&c, PBD_BACKEND_CPU, quick));
    return pbd_backend_at(PBD_BACKEND_CUDA).available ? measure_backend(&c, PBD_BACKEND_CUDA, quick) : pbd_ok();
}

/* ---- Looking them up --------------------------------------------------------------------------------------------- */

static void take_text(char *out, size_t size, sqlite3_stmt *stmt, int column) {
    snprintf(out, size, "%s", pbd_column_text(stmt, column));
}

pbd_status pbd_limits_load(pbd_store *store, const char *fingerprint, pbd_limits *out) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    *out = (pbd_limits){0};
    PBD_TRY(pbd_store_prepare(store,
                              "SELECT name, backend, precision, threads, unit, best, median, max(started_at) FROM "
                              "limit_view WHERE machine = ?1"
                              " GROUP BY name, backend, precision, threads ORDER BY backend, threads,"
                              " instr('triad copy fma gather scatter gather_scatter gather_scatter_slices launch"
                              " graph_launch', name), precision",
                              &fingerprint, 1, &stmt));
    for (;;) {
        PBD_TRY(pbd_store_step(store, stmt, &row, "reading the machine's limits"));
        if (!row) return pbd_ok();
        if (!pbd_arena_more(&out->owned, &out->item, out->count, sizeof *out->item))
            return pbd_arena_check(&out->owned);
        pbd_limit *l = &out->item[out->count++];
        *l = (pbd_limit){.threads = sqlite3_column_int(stmt, 3),
                         .best = sqlite3_column_double(stmt, 5),
                         .median = sqlite3_column_double(stmt, 6)};
        take_text(l->name, sizeof l->name, stmt, 0);
        take_text(l->backend, sizeof l->backend, stmt, 1);
        take_text(l->precision, sizeof l->precision, stmt, 2);
        take_text(l->unit, sizeof l->unit, stmt, 4);
        take_text(l->measured_at, sizeof l->measured_at, stmt, 7);
    }
}

void pbd_limits_free(pbd_limits *limits) {
    pbd_arena_free(&limits->owned);
    *limits = (pbd_limits){0};
}

const pbd_limit *pbd_limits_find(const pbd_limits *limits, const char *name, const char *backend, const char *precision,
                                 int threads) {
    for (size_t i = 0; i < limits->count; i++) {
        const pbd_limit *l = &limits->item[i];
        if (strcmp(l->name, name) != 0 || strcmp(l->backend, backend) != 0) continue;
        if (precision && strcmp(l->precision, precision) != 0) continue;
        if (strcmp(backend, "cpu") != 0 || l->threads == threads) return l;
    }
    return NULL;
}

const pbd_limit *pbd_limits_bandwidth(const pbd_limits *limits, const char *backend, int threads) {
    return pbd_limits_find(limits, strcmp(backend, "cpu") == 0 ? "triad" : "copy", backend, NULL, threads);
}

const pbd_limit *pbd_limits_flops(const pbd_limits *limits, const char *backend, const char *precision, int threads) {
    return pbd_limits_find(limits, "fma", backend, precision, threads);
}

double pbd_limits_passes(const pbd_limits *limits, const char *backend, const char *precision, int threads) {
    const pbd_limit *tiles = pbd_limits_find(limits, "gather_scatter", backend, precision, threads);
    const pbd_limit *slices = pbd_limits_find(limits, "gather_scatter_slices", backend, precision, threads);
    return fmax(tiles ? tiles->best : 0, slices ? slices->best : 0);
}
