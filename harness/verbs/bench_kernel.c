#include "harness/verbs/bench_kernel.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/plan/record.h"

/* ---- Rates ------------------------------------------------------------------------------------------------------- */

/* Fractions are 0 where the machine's limits were not measured. */
typedef struct kernel_rates {
    double per_item, per_entry; /* s; per_entry 0: no entries */
    double bytes, flops;        /* per second */
    double of_bandwidth, of_flops;
} kernel_rates;

static kernel_rates rates_of(const pbd_kernel_use *use, const pbd_cell *cell, const pbd_limits *limits) {
    const char *backend = pbd_backend_at(cell->backend).name, *precision = pbd_precision_name(cell->precision);
    const pbd_limit *memory = pbd_limits_bandwidth(limits, backend, cell->threads);
    const pbd_limit *most = pbd_limits_flops(limits, backend, precision, cell->threads);
    kernel_rates r = {0};
    if (!(use->seconds > 0)) return r;
    if (use->items > 0) r.per_item = use->seconds / (double)use->items;
    if (use->entries > 0) r.per_entry = use->seconds / (double)use->entries;
    r.bytes = use->bytes / use->seconds;
    r.flops = use->flops / use->seconds;
    if (memory) r.of_bandwidth = r.bytes / memory->best;
    if (most) r.of_flops = r.flops / most->best;
    return r;
}

static json_t *use_json(const pbd_kernel_use *use, const kernel_rates *r) {
    json_t *object =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "kernel", use->name, "shape", use->shape,
                  "launches", (json_int_t)use->launches, "items", (json_int_t)use->items, "entries",
                  (json_int_t)use->entries, "seconds", use->seconds, "bytes", use->bytes, "flops", use->flops,
                  "seconds_per_item", r->per_item, "bytes_per_second", r->bytes, "flops_per_second", r->flops);
    if (use->entries > 0) json_object_set_new(object, "seconds_per_entry", json_real(r->per_entry));
    if (r->of_bandwidth > 0) json_object_set_new(object, "fraction_of_bandwidth", json_real(r->of_bandwidth));
    if (r->of_flops > 0) json_object_set_new(object, "fraction_of_flops", json_real(r->of_flops));
    return object;
}

static pbd_status print_json(json_t *root, FILE *out) {
    const bool fine = root && json_dumpf(root, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF;
    json_decref(root);
    return fine ? pbd_ok() : pbd_error(PBD_FAILED, "the answer could not be written");
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static pbd_status print_list_json(const pbd_kernel_use *use, size_t count, const pbd_cell *cell, const char *name,
                                  const pbd_limits *limits, FILE *out) {
    json_t *kernels = json_array();
    for (size_t i = 0; i < count; i++) {
        const kernel_rates r = rates_of(&use[i], cell, limits);
        json_array_append_new(kernels, use_json(&use[i], &r));
    }
    return print_json(json_pack("{s:s, s:o}", "bench", name, "kernels", kernels), out);
}

static void print_list(const pbd_kernel_use *use, size_t count, const char *name, FILE *out) {
    double all = 0;
    for (size_t i = 0; i < count; i++) all += use[i].seconds;
    fprintf(out, "%s, one step, each launch waited for\n\n%-28s %-6s %9s %12s %12s %11s %7s\n", name, "kernel", "shape",
            "launches", "items", "entries", "time ms", "share");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%-28s %-6s %9llu %12llu %12llu %11.4g %5.1f %%\n", use[i].name, use[i].shape,
                (unsigned long long)use[i].launches, (unsigned long long)use[i].items,
                (unsigned long long)use[i].entries, 1e3 * use[i].seconds, all > 0 ? 100 * use[i].seconds / all : 0);
}

static pbd_status list_kernels(const pbd_kernel_request *request, const pbd_plan_item *item, const char *name,
                               const pbd_limits *limits, FILE *out) {
    pbd_kernel_use *use = NULL;
    size_t count = 0;
    PBD_TRY(pbd_kernel_list(item, request->warmup, 1, false, &use, &count, NULL));
    pbd_status status = pbd_ok();
    if (request->json)
        status = print_list_json(use, count, &item->cell, name, limits, out);
    else
        print_list(use, count, name, out);
    free(use);
    return status;
}

/* ---- A trial ----------------------------------------------------------------------------------------------------- */

static void print_rate(const char *unit, double rate, double fraction, const char *limit, FILE *out) {
    fprintf(out, "  declared     %.3g %s", 1e-9 * rate, unit);
    if (fraction > 0) fprintf(out, ", %.3g %% of the %s", 100 * fraction, limit);
    fputc('\n', out);
}

static void print_trial(const pbd_kernel_trial *t, const kernel_rates *r, const char *name, FILE *out) {
    const pbd_kernel_use *use = &t->use;
    double best = t->sample[0];
    for (long i = 1; i < t->repetitions; i++) best = t->sample[i] < best ? t->sample[i] : best;
    fprintf(out, "%s of %s\n", use->name, name);
    fprintf(out, "  work         %llu items, %llu entries in %llu %s (%s)\n", (unsigned long long)use->items,
            (unsigned long long)use->entries, (unsigned long long)use->launches,
            use->launches == 1 ? "launch" : "launches", use->shape);
    fprintf(out, "  plain form   differs by %.3g (at most %.3g) over %zu numbers", t->difference, t->bound, t->written);
    if (t->unmatched > 0) fprintf(out, "; %zu more are written by one form only", t->unmatched);
    fputs(t->written > 0 ? "\n" : ": the series changes nothing; a later step may (--warmup)\n", out);
    fprintf(out, "  time         median %.4g ms, best %.4g ms of %ld\n", 1e3 * use->seconds, 1e3 * best,
            t->repetitions);
    fprintf(out, "  each         %.4g ns an item", 1e9 * r->per_item);
    if (use->entries > 0) fprintf(out, ", %.4g ns an entry", 1e9 * r->per_entry);
    fputc('\n', out);
    print_rate("GB/s", r->bytes, r->of_bandwidth, "triad", out);
    print_rate("Gflop/s", r->flops, r->of_flops, "multiply-add peak", out);
    if (!(r->of_bandwidth > 0)) fputs("  (no limits of this machine: pbdbench env --measure)\n", out);
}

static pbd_status print_trial_json(const pbd_kernel_trial *t, const kernel_rates *r, const char *name, FILE *out) {
    json_t *object = use_json(&t->use, r), *samples = json_array();
    for (long i = 0; i < t->repetitions; i++) json_array_append_new(samples, json_real(t->sample[i]));
    json_object_set_new(object, "bench", json_string(name));
    json_object_set_new(object, "difference", json_real(t->difference));
    json_object_set_new(object, "bound", json_real(t->bound));
    json_object_set_new(object, "written", json_integer((json_int_t)t->written));
    json_object_set_new(object, "unmatched", json_integer((json_int_t)t->unmatched));
    json_object_set_new(object, "samples", samples);
    return print_json(object, out);
}

/* ---- Into the store ---------------------------------------------------------------------------------------------- */

static void record_trial(const pbd_kernel_trial *t, const kernel_rates *r, pbd_recorder *recorder) {
    pbd_metric(recorder, "seconds_per_item", "s", PBD_COST, r->per_item);
    if (t->use.entries > 0) pbd_metric(recorder, "seconds_per_entry", "s", PBD_COST, r->per_entry);
    pbd_metric(recorder, "bytes_per_second", "B/s", PBD_QUALITY, r->bytes);
    pbd_metric(recorder, "flops_per_second", "1/s", PBD_QUALITY, r->flops);
    if (r->of_bandwidth > 0) pbd_metric(recorder, "fraction_of_bandwidth", "1", PBD_QUALITY, r->of_bandwidth);
    if (r->of_flops > 0) pbd_metric(recorder, "fraction_of_flops", "1", PBD_QUALITY, r->of_flops);
    pbd_metric(recorder, "plain_form_difference", "1", PBD_ERROR, t->difference);
    pbd_count(recorder, "launches", t->use.launches);
    pbd_count(recorder, "items", t->use.items);
    pbd_count(recorder, "entries", t->use.entries);
    pbd_count(recorder, "iterations", (uint64_t)t->repetitions);
    pbd_series(recorder, "samples", "value", "s", t->sample, (size_t)t->repetitions, 1);
}

static bool add_phase(const pbd_kernel_trial *t, pbd_result *result) {
    double wall = 0;
    for (long i = 0; i < t->repetitions; i++) wall += t->sample[i];
    result->phase = calloc(1, sizeof *result->phase);
    if (!result->phase) return false;
    *result->phase =
        (pbd_phase_item){.name = strdup("solve"), .wall_s = wall, .cpu_s = t->cpu, .calls = (uint64_t)t->repetitions};
    result->phases = 1;
    return result->phase->name != NULL;
}

static pbd_status store_trial(const pbd_kernel_trial *t, const kernel_rates *r, const pbd_plan_item *item,
                              const char *name, const pbd_machine_sample *before, pbd_store *store) {
    pbd_result result = {0};
    pbd_machine_sample after;
    pbd_status status = pbd_describe_run(item, &result);
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    if (recorder) record_trial(t, r, recorder);
    const bool failed = !recorder || pbd_recorder_failed(recorder);
    pbd_recorder_destroy(recorder);
    result.kind = strdup("bench");
    result.state = strdup(pbd_state_name(PBD_OK));
    if (asprintf(&result.says, "kernel:%s/%s", t->use.name, name) < 0) result.says = NULL;
    if (status.code == PBD_OK && (failed || !result.kind || !result.state || !result.says || !add_phase(t, &result)))
        status = pbd_error(PBD_FAILED, "out of memory for a bench");
    pbd_sample_machine(&after);
    if (status.code == PBD_OK) status = pbd_store_put(store, &result, before, &after);
    pbd_result_free(&result);
    return status;
}

pbd_status pbd_bench_kernel(const pbd_kernel_request *request, const pbd_plan_item *item, const char *name,
                            const pbd_limits *limits, pbd_store *store, FILE *out) {
    if (strcmp(request->kernel, "list") == 0) return list_kernels(request, item, name, limits, out);
    pbd_kernel_trial trial = {.kernel = request->kernel,
                              .warmup = request->warmup,
                              .repetitions = request->repetitions,
                              .bound = request->bound};
    pbd_machine_sample before;
    pbd_sample_machine(&before);
    pbd_status status = pbd_kernel_try(item, &trial);
    const kernel_rates rates = rates_of(&trial.use, &item->cell, limits);
    if (status.code == PBD_OK && request->json)
        status = print_trial_json(&trial, &rates, name, out);
    else if (status.code == PBD_OK)
        print_trial(&trial, &rates, name, out);
    if (status.code == PBD_OK && store) status = store_trial(&trial, &rates, item, name, &before, store);
    free(trial.sample);
    return status;
}
