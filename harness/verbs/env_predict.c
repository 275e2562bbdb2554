#include "harness/verbs/env_predict.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/predict.h"

/* The fastest of some steps is measured, as limits are the best of many samples: on a shared machine a single step may
 * take half as long again. */
enum { WARM_STEPS = 3, STEPS = 5 };

static pbd_status find_figures(const char *name, const pbd_limits *limits, int threads, pbd_figures *out) {
    if (!name || strcmp(name, "cpu") == 0) return pbd_figures_of_cpu(limits, threads, out);
    for (const pbd_figures *f = pbd_published; f->name; f++)
        if (strcmp(f->name, name) == 0) {
            *out = *f;
            return pbd_ok();
        }
    return pbd_error(PBD_BAD_INPUT, "--on %.40s: cpu, h100, h200 or rtx4090", name);
}

/* Plans the cell of the case, or of the first case that the method fits with these settings. */
static pbd_status plan_step(pbd_plan *plan, pbd_request *request) {
    if (request->case_name) return pbd_plan_add(plan, request, 0);
    pbd_status status = pbd_ok();
    for (size_t i = 0; i < pbd_case_count(); i++) {
        request->case_name = pbd_case_at(i)->name;
        status = pbd_plan_add(plan, request, 0);
        if (status.code == PBD_OK || status.code == PBD_FAILED) return status;
    }
    return pbd_error(PBD_BAD_INPUT, "%.60s fits no case with these settings (list pairs); the last reason: %.300s",
                     request->method_name, status.text);
}

typedef struct predicted {
    const pbd_kernel_use *use;
    size_t count;
    const pbd_figures *on;
    bool is_f64;
    double measured, total; /* s per step: on this machine, and by the model */
} predicted;

static predicted sum_up(const pbd_kernel_use *use, size_t count, const pbd_figures *on, bool is_f64) {
    predicted p = {use, count, on, is_f64, 0, 0};
    for (size_t i = 0; i < count; i++) {
        p.measured += use[i].seconds;
        p.total += pbd_predict(&use[i], is_f64, on).total;
    }
    return p;
}

enum { ASSUMED = 600 };

/* Assumptions of the model that nobody has measured or published for this device. */
static void tell_assumed(const pbd_figures *on, char out[ASSUMED]) {
    if (on->resident > 0)
        snprintf(out, ASSUMED,
                 "assumed: %g cycles for a read that waits for memory and %g for an operation that waits for another "
                 "(measured on Hopper, doi 10.1016/j.ultsonch.2023.106546, Table 3; taken for every device), %g us for "
                 "a launch (not published)",
                 on->memory_cycles, on->operation_cycles, 1e6 * on->launch);
    else
        snprintf(out, ASSUMED,
                 "assumed: rows of partners in lists are in a cache and cost what the faster form of the passes over "
                 "neighbours pays for them; all else moves at %.1f GB/s, the rate of the triad over as many bytes as "
                 "the method has allocated (measured now); rows and operations of entries overlap, nothing else does; "
                 "an operation is two instructions, roots and divisions too; a launch costs nothing; all that is "
                 "declared is done, and nothing else",
                 1e-9 * on->bandwidth);
}

static pbd_status print_json(const predicted *p, const char *label) {
    json_t *kernels = json_array();
    for (size_t i = 0; i < p->count; i++) {
        const pbd_kernel_use *u = &p->use[i];
        const pbd_prediction t = pbd_predict(u, p->is_f64, p->on);
        json_array_append_new(
            kernels,
            json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "kernel",
                      u->name, "shape", u->shape, "launches", (json_int_t)u->launches, "items", (json_int_t)u->items,
                      "entries", (json_int_t)u->entries, "gpu_threads", (json_int_t)u->threads, "fewest_blocks",
                      (json_int_t)u->fewest_blocks, "bytes", u->bytes, "operations", u->flops, "chain_cycles", t.chain,
                      "bandwidth_s", t.bandwidth, "arithmetic_s", t.arithmetic, "latency_s", t.latency, "launches_s",
                      t.launches, "predicted_s", t.total, "measured_here_s", u->seconds));
    }
    char assumed[ASSUMED];
    tell_assumed(p->on, assumed);
    json_auto_t *all =
        json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:o}", "step", label, "on", p->on->name, "source", p->on->source,
                  "assumed", assumed, "predicted_s", p->total, "measured_here_s", p->measured, "kernels", kernels);
    const bool fine = all && json_dumpf(all, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    return fine ? pbd_ok() : pbd_error(PBD_FAILED, "the answer could not be written");
}

static void print_table(const predicted *p, const char *label) {
    printf(
        "%s: one step. PREDICTED for %s, not measured; `here`: the same launches, measured on this machine's "
        "processor (the fastest of %d steps)\n",
        label, p->on->name, STEPS);
    char assumed[ASSUMED];
    tell_assumed(p->on, assumed);
    printf("%s\n%s\n\n", p->on->source, assumed);
    printf("%-26s %-5s %8s %10s %10s %9s %9s %9s %9s %9s %9s %9s\n", "kernel", "shape", "launches", "MB", "Mop",
           "chain", "bandwidth", "arithm.", "latency", "launches", "predicted", "here");
    printf("%-26s %-5s %8s %10s %10s %9s %9s %9s %9s %9s %9s %9s\n", "", "", "", "", "", "cycles", "us", "us", "us",
           "us", "us", "us");
    for (size_t i = 0; i < p->count; i++) {
        const pbd_kernel_use *u = &p->use[i];
        const pbd_prediction t = pbd_predict(u, p->is_f64, p->on);
        printf("%-26s %-5s %8llu %10.4g %10.4g %9.4g %9.4g %9.4g %9.4g %9.4g %9.4g %9.4g\n", u->name, u->shape,
               (unsigned long long)u->launches, 1e-6 * u->bytes, 1e-6 * u->flops, t.chain, 1e6 * t.bandwidth,
               1e6 * t.arithmetic, 1e6 * t.latency, 1e6 * t.launches, 1e6 * t.total, 1e6 * u->seconds);
    }
    printf("\npredicted %.4g ms a step on %s; measured here %.4g ms\n", 1e3 * p->total, p->on->name, 1e3 * p->measured);
}

static void free_use(pbd_kernel_use **use) { free(*use); }

static pbd_status predict_step(const pbd_plan_item *item, const pbd_figures *on, bool json) {
    const bool is_cpu = strcmp(on->name, "cpu") == 0;
    pbd_kernel_use *use PBD_CLEANUP(free_use) = NULL;
    size_t count = 0, allocated = 0;
    pbd_figures at = *on;
    PBD_TRY(pbd_kernel_list(item, WARM_STEPS, STEPS, !is_cpu, &use, &count, &allocated));
    if (is_cpu) PBD_TRY(pbd_limits_triad(allocated, item->cell.threads, &at.bandwidth));
    const predicted p = sum_up(use, count, &at, item->cell.precision == PBD_PRECISION_F64);
    if (json) return print_json(&p, item->label);
    print_table(&p, item->label);
    return pbd_ok();
}

pbd_status pbd_env_predict(const pbd_predict_request *r, const pbd_limits *limits) {
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    pbd_settings settings PBD_CLEANUP(pbd_settings_free) = {0};
    pbd_figures on;
    PBD_TRY(find_figures(r->on, limits, r->threads, &on));
    PBD_TRY(pbd_settings_parse((const char *const *)r->settings->item, r->settings->count, &settings));
    pbd_request request = {.case_name = r->case_name,
                           .method_name = r->method,
                           .backend = "cpu",
                           .precision = r->precision ? r->precision : "f32",
                           .threads = r->threads,
                           .seed = 1,
                           .setting = settings.item,
                           .settings = settings.count};
    PBD_TRY(plan_step(&plan, &request));
    return predict_step(&plan.item[0], &on, r->json);
}
