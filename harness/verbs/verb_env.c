/* `env`: this build, this machine and its limits, the backends, the libraries that the program is linked with, and its
 * licence.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/limits/limits.h"
#include "harness/bench/limits/table.h"
#include "harness/exec/backend.h"
#include "harness/machine/environment.h"
#include "harness/machine/gpu_state.h"
#include "harness/machine/libraries.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/env_predict.h"

/* ---- As JSON ----------------------------------------------------------------------------------------------------- */

static json_t *build_json(const pbd_build *b) {
    return json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "version", b->version, "git_sha", b->git_sha, "dirty",
                     b->dirty, "source", b->source, "compiler", b->compiler, "flags", b->flags, "preset", b->preset);
}

static json_t *machine_json(const pbd_machine *m) {
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:s}", "fingerprint", m->fingerprint,
                     "cpu", m->cpu, "os", m->os, "isa", m->isa, "packages", m->packages, "cores", m->cores, "threads",
                     m->threads, "l1d_kib", (json_int_t)m->l1d_kib, "l2_kib", (json_int_t)m->l2_kib, "l3_kib",
                     (json_int_t)m->l3_kib, "memory_mib", (json_int_t)m->memory_mib, "gpu", m->gpu);
}

/* The current state, which is not part of the fingerprint. */
static json_t *gpu_json(void) {
    pbd_gpu_sample now;
    char why[200];
    pbd_sample_gpu(pbd_cuda_bus(), &now);
    pbd_gpu_held_back(&now, why, sizeof why);
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:s}", "missing", now.missing, "clock_mhz", now.clock_mhz,
                     "memory_clock_mhz", now.memory_clock_mhz, "power_w", now.power_w, "temperature_c",
                     now.temperature_c, "held_back", why);
}

static json_t *backends_json(void) {
    json_t *array = json_array();
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        json_array_append_new(array, json_pack("{s:s, s:s, s:b, s:s}", "name", b.name, "summary", b.summary,
                                               "available", b.available, "reason", b.reason));
    }
    return array;
}

static json_t *libraries_json(void) {
    json_t *array = json_array();
    for (size_t i = 0; i < PBD_LIBRARIES; i++) {
        char version[PBD_VERSION_SIZE];
        pbd_libraries[i].version(version, sizeof version);
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:s, s:s}", "name", pbd_libraries[i].name, "version", version, "licence",
                             pbd_libraries[i].licence, "use", pbd_libraries[i].use));
    }
    return array;
}

static json_t *limits_json(const pbd_limits *limits) {
    json_t *array = json_array();
    for (size_t i = 0; i < limits->count; i++) {
        const pbd_limit *l = &limits->item[i];
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:s, s:i, s:s, s:f, s:f, s:s}", "name", l->name, "backend", l->backend,
                             "precision", l->precision, "threads", l->threads, "unit", l->unit, "best", l->best,
                             "median", l->median, "measured_at", l->measured_at));
    }
    return array;
}

static void print_json(const pbd_build *build, const pbd_machine *machine, const pbd_limits *limits) {
    json_auto_t *all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "build", build_json(build), "machine",
                                 machine_json(machine), "gpu", gpu_json(), "limits", limits_json(limits), "backends",
                                 backends_json(), "libraries", libraries_json(), "licence", build->licence);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static void print_build(const pbd_build *b) {
    printf("build\n");
    printf("  version      %s, commit %.12s%s\n", b->version, b->git_sha, b->dirty ? " with changes" : "");
    printf("  sources      %s\n", b->source);
    printf("  compiler     %s\n", b->compiler);
    printf("  flags        %s (preset %s)\n", b->flags, b->preset);
}

static void print_machine(const pbd_machine *m) {
    pbd_machine_sample now;
    pbd_sample_machine(&now);
    printf("machine\n");
    printf("  fingerprint  %s\n", m->fingerprint);
    printf("  processor    %s: packages %d, cores %d, threads %d, %s\n", m->cpu, m->packages, m->cores, m->threads,
           m->isa);
    printf("  caches       L1d %ld KiB, L2 %ld KiB, L3 %ld KiB (0: unknown)\n", m->l1d_kib, m->l2_kib, m->l3_kib);
    printf("  memory       %ld GiB, %.1f GiB free now\n", m->memory_mib / 1024, (double)now.memory_free_mib / 1024);
    pbd_gpu_sample gpu;
    char state[400];
    pbd_sample_gpu(pbd_cuda_bus(), &gpu);
    pbd_gpu_spell(&gpu, state, sizeof state);
    printf("  GPU          %s\n", m->gpu[0] ? m->gpu : "none found by an NVIDIA driver");
    printf("  GPU now      %s\n", state);
    printf("  system       %s\n", m->os);
    printf("  load         %.2f over the last minute\n", now.load_1min);
}

static void print_backends(void) {
    printf("backends\n");
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        printf("  %-12s %s%s%s\n", b.name, b.summary, b.available ? "" : "; not available: ", b.reason);
    }
}

static void print_libraries(void) {
    printf("libraries\n");
    for (size_t i = 0; i < PBD_LIBRARIES; i++) {
        char version[PBD_VERSION_SIZE];
        pbd_libraries[i].version(version, sizeof version);
        printf("  %-12s %s (%s): %s\n", pbd_libraries[i].name, version, pbd_libraries[i].licence, pbd_libraries[i].use);
    }
}

static void print_limit(void *context, const pbd_limit *l) {
    (void)context;
    char where[40], best[32], median[32];
    pbd_limit_spell(l, l->best, best, sizeof best);
    pbd_limit_spell(l, l->median, median, sizeof median);
    snprintf(where, sizeof where, "%s, %d thread%s", l->backend, l->threads, l->threads == 1 ? "" : "s");
    if (strcmp(l->backend, "cpu") != 0) snprintf(where, sizeof where, "%s", l->backend);
    printf("  %-16s %-21s %s  %14s  (median %s)\n", where, l->name, l->precision, best, median);
    fflush(stdout);
}

static void print_limits(const pbd_limits *limits) {
    if (limits->count == 0) {
        printf(
            "limits\n"
            "  not measured on this machine; run: pbdbench env --measure\n");
        return;
    }
    printf("limits (best of many samples, measured %.10s)\n", limits->item[0].measured_at);
    for (size_t i = 0; i < limits->count; i++) print_limit(NULL, &limits->item[i]);
}

typedef struct env_options {
    const char *db, *predict, *case_name, *on, *precision;
    pbd_texts sets;
    long long threads; /* 0: 1 */
    bool json, markdown, measure, quick;
} env_options;

static const pbd_option table[] = {
    PBD_OPT_FLAG(env_options, measure, "measure", 0,
                 "measures the limits, on one core and on all, and on a GPU if there is\n"
                 "one, and stores them: memory bandwidth (triad; copy on a GPU),\n"
                 "multiply-adds, and passes over neighbours (gather a velocity gradient,\n"
                 "scatter an impulse). Takes under a minute; run nothing else"),
    PBD_OPT_FLAG(env_options, quick, "quick", 0,
                 "with --measure: a test on small sizes that stores nothing; the\n"
                 "numbers are not limits"),
    PBD_OPT_FLAG(env_options, markdown, "markdown", 0,
                 "only two tables: the limits, and the fractions of them that the newest\n"
                 "`pbdbench bench` reached"),
    PBD_OPT_TEXT(env_options, predict, "predict", 0, "METHOD", PBD_WORDS_METHODS,
                 "a model of the time of each kernel of a step: bytes, operations, the\n"
                 "chain of a thread, launches, and what bandwidth, arithmetic, latency\n"
                 "and launches would take; beside the time measured here. A model"),
    PBD_OPT_TEXT(env_options, on, "on", 0, "DEVICE", PBD_WORDS_NONE,
                 "with --predict: cpu (the default: this machine, by its measured\n"
                 "limits), h100, h200 or rtx4090 (by published figures)"),
    PBD_OPT_TEXT(env_options, case_name, "case", 'c', "CASE", PBD_WORDS_CASES,
                 "with --predict; default: the first that the method fits"),
    PBD_OPT_MANY(env_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "with --predict: a parameter of the case or the method"),
    PBD_OPT_TEXT(env_options, precision, "precision", 'p', "NAME", PBD_WORDS_PRECISIONS, "with --predict; default f32"),
    PBD_OPT_INTEGER(env_options, threads, "threads", 't', 1, 4096, "with --predict; default 1"),
    PBD_OPTION_JSON(env_options,
                    "one JSON object: build, machine, gpu (current state; -1: unknown),\n"
                    "limits, backends, libraries, licence"),
    PBD_OPTION_DB(env_options),
    {0}};

/* Limits are printed as they are measured, except with --json and --markdown. */
static pbd_status measure(const env_options *o, int argc, char **argv) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    if (!o->quick) {
        PBD_TRY(pbd_open_store(o->db, PBD_STORE_WRITE, &store));
        PBD_TRY(pbd_store_begin(store, argc, argv));
    }
    const bool talks = !o->json && !o->markdown;
    if (talks) puts(o->quick ? "quick measurement: these are not limits" : "measuring");
    return pbd_limits_measure(store, o->quick, talks ? print_limit : NULL, NULL);
}

/* Without the default store there are no limits. */
static pbd_status look_up(const env_options *o, const pbd_machine *machine, pbd_limits *limits, FILE *tables) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    PBD_TRY(pbd_open_store_if_any(o->db, &store));
    if (store) PBD_TRY(pbd_limits_load(store, machine->fingerprint, limits));
    return tables ? pbd_limits_table(store, machine, limits, tables) : pbd_ok();
}

static pbd_status print_everything(const env_options *o) {
    pbd_machine machine;
    pbd_limits limits PBD_CLEANUP(pbd_limits_free) = {0};
    PBD_TRY(pbd_this_machine(&machine));
    PBD_TRY(look_up(o, &machine, &limits, o->markdown ? stdout : NULL));
    const pbd_build *build = pbd_this_build();
    if (o->json) print_json(build, &machine, &limits);
    if (!o->json && !o->markdown) {
        print_build(build);
        print_machine(&machine);
        print_limits(&limits);
        print_backends();
        print_libraries();
        printf("licence\n  %s\n", build->licence);
    }
    return pbd_ok();
}

static pbd_status predict(const env_options *o) {
    pbd_machine machine;
    pbd_limits limits PBD_CLEANUP(pbd_limits_free) = {0};
    const pbd_predict_request request = {.method = o->predict,
                                         .case_name = o->case_name,
                                         .on = o->on,
                                         .precision = o->precision,
                                         .threads = o->threads > 0 ? (int)o->threads : 1,
                                         .settings = &o->sets,
                                         .json = o->json};
    PBD_TRY(pbd_this_machine(&machine));
    PBD_TRY(look_up(o, &machine, &limits, NULL));
    return pbd_env_predict(&request, &limits);
}

static pbd_status check_predict(const env_options *o) {
    if (o->predict && (o->measure || o->markdown))
        return pbd_error(PBD_BAD_INPUT, "--predict with neither --measure nor --markdown");
    const char *alone = o->on ? "--on" : o->case_name ? "--case" : o->sets.count ? "--set" : NULL;
    if (!alone) alone = o->precision ? "--precision" : o->threads > 0 ? "--threads" : NULL;
    return o->predict || !alone ? pbd_ok() : pbd_error(PBD_BAD_INPUT, "%s requires --predict", alone);
}

static pbd_status check_options(const env_options *o, const pbd_texts *words) {
    if (words->count > 0) return pbd_error(PBD_BAD_INPUT, "env takes no argument, got '%.60s'", words->item[0]);
    if (o->quick && !o->measure) return pbd_error(PBD_BAD_INPUT, "--quick requires --measure");
    if (o->json && o->markdown) return pbd_error(PBD_BAD_INPUT, "--json or --markdown, not both");
    return pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    const env_options *o = options;
    PBD_TRY(check_options(o, call->words));
    PBD_TRY(check_predict(o));
    if (o->predict) return predict(o);
    if (o->measure) {
        pbd_catch_interrupts();
        PBD_TRY(measure(o, call->argc, call->argv));
    }
    return !o->measure || o->json || o->markdown ? print_everything(o) : pbd_ok();
}

static int verb_main(int argc, char **argv) {
    env_options o = {0};
    return pbd_verb_call(&pbd_verb_env, argc, argv, &o, act);
}

const pbd_verb pbd_verb_env = {
    .name = "env",
    .summary = "this machine and its limits, this build and its licence",
    .usage =
        "env [--measure] [--json | --markdown] [--db FILE]\n"
        "env --predict METHOD [--on DEVICE] [-c CASE] [-s KEY=VALUE]... [--json | --markdown]",
    .about =
        "Prints the build, the machine and its fingerprint (both are stored with every run), the machine's limits,\n"
        "the backends with the reason where one is not available, the libraries with versions and licences, and the\n"
        "licence of the program as a whole.",
    .options = table,
    .main = verb_main,
};
