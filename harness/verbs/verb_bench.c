/* bench: times methods x cases x parameters x backends x precisions x threads with Google Benchmark, compares each with
 * the machine's limits, and stores it. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/bench_cell.h"
#include "harness/catalog/plugin.h"
#include "harness/files/numbers.h"
#include "harness/process/apart.h"
#include "harness/verbs/bench_kernel.h"
#include "harness/verbs/cli.h"

enum { MOST_WORDS = 32, ITERATIONS = 20 };

/* A list of words, from one argument split at commas. */
typedef struct words {
    const char *word[MOST_WORDS];
    size_t count;
} words;

typedef struct bench_options {
    const char *db;
    const char *cases_text, *methods_text, *backends_text, *precisions_text, *threads_text;
    pbd_texts sets, axes_texts, plugins, engines;
    bool json, no_store, quiet;
    const char *kernel;            /* one kernel, or "list"; NULL: whole cells */
    long long repetitions, warmup; /* of --kernel; below 0: not given */
    double bound;
    words cases, methods, backends, precisions, threads;
    pbd_setting setting[MOST_WORDS];
    size_t settings;
    pbd_axis axis[MOST_WORDS];
    size_t axes;
    char *google[MOST_WORDS]; /* flags of Google Benchmark, after the program's name; not owned */
    int googles;
    int argc; /* the command line as typed, for the store */
    char **argv;
    const pbd_texts *filters; /* the positional words */
    const char *filter;       /* a regular expression made of them; NULL: none */
    pbd_arena memory;
} bench_options;

typedef struct bench_plan {
    pbd_plan plan;
    char **name; /* one per item of the plan */
    size_t names;
    pbd_status refused; /* of the first refused combination; PBD_BAD_INPUT takes precedence over PBD_NOT_SUPPORTED */
    char *left_out;     /* a line for each refused combination */
} bench_plan;

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static pbd_status split(bench_options *o, const char *option, const char *text, words *out) {
    char *rest = pbd_new_text(&o->memory, text);
    PBD_TRY(pbd_arena_check(&o->memory));
    *out = (words){.count = 0};
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        if (!*word) return pbd_error(PBD_BAD_INPUT, "%s %.60s: an empty word in the list", option, text);
        if (out->count == MOST_WORDS) return pbd_error(PBD_BAD_INPUT, "%s: more than %d words", option, MOST_WORDS);
        out->word[out->count++] = word;
    }
    return pbd_ok();
}

static pbd_status add_setting(bench_options *o, const char *text) {
    if (o->settings == MOST_WORDS) return pbd_error(PBD_BAD_INPUT, "more than %d settings", MOST_WORDS);
    PBD_TRY(pbd_setting_parse(text, &o->setting[o->settings]));
    o->settings++;
    return pbd_ok();
}

static pbd_status add_axis(bench_options *o, const char *text) {
    if (o->axes == MOST_WORDS) return pbd_error(PBD_BAD_INPUT, "more than %d axes", MOST_WORDS);
    PBD_TRY(pbd_axis_parse(text, &o->axis[o->axes]));
    o->axes++;
    for (size_t i = 0; i + 1 < o->axes; i++)
        if (strcmp(o->axis[i].key, o->axis[o->axes - 1].key) == 0)
            return pbd_error(PBD_BAD_INPUT, "axis '%.60s' is given twice", text);
    return pbd_ok();
}

/* Appends a word to the filter: «(a)|(b)» matches any of the words. */
static pbd_status add_filter(bench_options *o, const char *word) {
    const char *before = o->filter ? o->filter : "";
    o->filter = pbd_new_format(&o->memory, "%s%s(%s)", before, *before ? "|" : "", word);
    return pbd_arena_check(&o->memory);
}

/* Moves Google Benchmark's flags from argv to o->google. *argc is the number of arguments that are left in argv. */
static pbd_status take_google(int *argc, char **argv, bench_options *o) {
    static char name[] = "pbdbench";
    int left = 0;
    o->google[o->googles++] = name;
    for (int i = 0; i < *argc; i++) {
        if (strncmp(argv[i], "--benchmark_", 12) != 0) {
            argv[left++] = argv[i];
            continue;
        }
        if (o->googles + 1 >= MOST_WORDS)
            return pbd_error(PBD_BAD_INPUT, "more than %d flags of Google Benchmark", MOST_WORDS - 2);
        o->google[o->googles++] = argv[i];
    }
    argv[left] = NULL;
    *argc = left;
    return pbd_ok();
}

static const pbd_option table[] = {
    PBD_OPT_TEXT(bench_options, cases_text, "cases", 'c', "LIST", PBD_WORDS_CASES,
                 "with neither cases nor methods a default set runs; with one of them,\n"
                 "all of the other that fit"),
    PBD_OPT_TEXT(bench_options, methods_text, "methods", 'm', "LIST", PBD_WORDS_METHODS, "see there"),
    PBD_OPT_MANY(bench_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "a parameter of the case or the method"),
    PBD_OPT_MANY(bench_options, axes_texts, "axis", 'a', "KEY=LIST", PBD_WORDS_SETTINGS,
                 "key=lo:hi:step or key=a,b,c: one benchmark for each value; several\naxes make a grid"),
    PBD_OPT_TEXT(bench_options, backends_text, "backends", 'b', "LIST", PBD_WORDS_BACKENDS,
                 "cpu, emu, cuda; default cpu, and cuda if there is a device"),
    PBD_OPT_TEXT(bench_options, precisions_text, "precisions", 'p', "LIST", PBD_WORDS_PRECISIONS, "default f32,f64"),
    PBD_OPT_TEXT(bench_options, threads_text, "threads", 't', "LIST", PBD_WORDS_NONE,
                 "cpu only; default 1 and all cores"),
    PBD_OPT_TEXT(bench_options, kernel, "kernel", 0, "NAME", PBD_WORDS_NONE,
                 "one kernel of one case and method: checked against its plain form,\nthen timed alone; 'list': those "
                 "that a step launches"),
    PBD_OPT_INTEGER(bench_options, repetitions, "repetitions", 'n', 1, 1000000,
                    "of --kernel: how often it is timed; default 100"),
    PBD_OPT_INTEGER(bench_options, warmup, "warmup", 0, 0, 1000000, "of --kernel: steps before; default 3"),
    PBD_OPT_REAL(bench_options, bound, "bound", 0, "X", 0, 1,
                 "of --kernel: the difference from the plain form that is let pass,\nover the largest number written; "
                 "default 1e-3 in f32, 1e-10 in f64"),
    PBD_OPTION_PLUGIN(bench_options),
    PBD_OPTION_ENGINE(bench_options),
    PBD_OPTION_DB(bench_options),
    PBD_OPT_FLAG(bench_options, no_store, "no-store", 0, "print only"),
    PBD_OPTION_JSON(bench_options, "the same as --benchmark_format=json"),
    PBD_OPTION_QUIET(bench_options, "does not list what cannot run"),
    {0}};

static pbd_status split_lists(bench_options *o) {
    const struct {
        const char *option, *text;
        words *out;
    } list[] = {{"--cases", o->cases_text, &o->cases},
                {"--methods", o->methods_text, &o->methods},
                {"--backends", o->backends_text, &o->backends},
                {"--precisions", o->precisions_text, &o->precisions},
                {"--threads", o->threads_text, &o->threads}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].text) PBD_TRY(split(o, list[i].option, list[i].text, list[i].out));
    return pbd_ok();
}

static pbd_status take_words(bench_options *o) {
    PBD_TRY(split_lists(o));
    for (size_t i = 0; i < o->sets.count; i++) PBD_TRY(add_setting(o, o->sets.item[i]));
    for (size_t i = 0; i < o->axes_texts.count; i++) PBD_TRY(add_axis(o, o->axes_texts.item[i]));
    for (size_t i = 0; i < o->filters->count; i++) PBD_TRY(add_filter(o, o->filters->item[i]));
    return pbd_ok();
}

static void free_options(bench_options *o) {
    for (size_t i = 0; i < o->axes; i++) pbd_axis_free(&o->axis[i]);
    for (size_t i = 0; i < o->settings; i++) pbd_setting_free(&o->setting[i]);
    pbd_arena_free(&o->memory);
}

static bool has_google(const bench_options *o, const char *flag) {
    for (int i = 1; i < o->googles; i++)
        if (strncmp(o->google[i], flag, strlen(flag)) == 0) return true;
    return false;
}

/* ---- What runs --------------------------------------------------------------------------------------------------- */

/* Defaults: cpu, and cuda if it is available; both precisions; one thread and all. */
static pbd_status fill_in(bench_options *o) {
    char threads[32];
    snprintf(threads, sizeof threads, omp_get_num_procs() > 1 ? "1,%d" : "%d", omp_get_num_procs());
    const char *backends = pbd_backend_at(PBD_BACKEND_CUDA).available ? "cpu,cuda" : "cpu";
    if (!o->backends.count) PBD_TRY(split(o, "--backends", backends, &o->backends));
    if (!o->precisions.count) PBD_TRY(split(o, "--precisions", "f32,f64", &o->precisions));
    if (!o->threads.count) PBD_TRY(split(o, "--threads", threads, &o->threads));
    return pbd_ok();
}

/* Defaults of --kernel, which takes one cell: cpu, f32, one thread. */
static pbd_status fill_in_kernel(bench_options *o) {
    if (o->cases.count != 1 || o->methods.count != 1 || o->filter || o->googles > 1)
        return pbd_error(PBD_BAD_INPUT,
                         "--kernel is of one case (-c) and one method (-m), without filters or flags of "
                         "Google Benchmark");
    if (!o->backends.count) PBD_TRY(split(o, "--backends", "cpu", &o->backends));
    if (!o->precisions.count) PBD_TRY(split(o, "--precisions", "f32", &o->precisions));
    if (!o->threads.count) PBD_TRY(split(o, "--threads", "1", &o->threads));
    return pbd_ok();
}

static pbd_status check_kernel_options(const bench_options *o) {
    const bool given = o->repetitions >= 0 || o->warmup >= 0 || o->bound > 0;
    if (o->kernel || !given) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "--repetitions, --warmup and --bound are of --kernel: name one");
}

/* Unknown names are reported first. */
static pbd_status check_names(const bench_options *o) {
    const pbd_case *c;
    const pbd_method_entry *m;
    pbd_backend backend;
    pbd_precision precision;
    for (size_t i = 0; i < o->cases.count; i++) PBD_TRY(pbd_find_case(o->cases.word[i], &c));
    for (size_t i = 0; i < o->methods.count; i++) PBD_TRY(pbd_find_method(o->methods.word[i], &m));
    for (size_t i = 0; i < o->backends.count; i++) PBD_TRY(pbd_find_backend(o->backends.word[i], &backend));
    for (size_t i = 0; i < o->precisions.count; i++) PBD_TRY(pbd_find_precision(o->precisions.word[i], &precision));
    for (size_t i = 0; i < o->threads.count; i++) {
        char *end;
        const long n = strtol(o->threads.word[i], &end, 10);
        if (*end || n < 1 || n > 4096)
            return pbd_error(PBD_BAD_INPUT, "--threads=%.40s must be whole numbers in [1, 4096]", o->threads.word[i]);
    }
    return pbd_ok();
}

/* The canonical spelling of a parameter's value in a cell. */
static const char *value_of(const pbd_cell *cell, const char *key) {
    const pbd_values *both[] = {&cell->method_values, &cell->case_values};
    for (int k = 0; k < 2; k++)
        if (pbd_value_named(both[k], key)) return pbd_value_text(pbd_value_named(both[k], key));
    return "";
}

/* pbd_distance/cube_shear/solver:coloured_gs/cells:20/cpu/f32/threads:1: axes first, then settings. */
static char *name_of(const pbd_request *request, const pbd_cell *cell) {
    char *name = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&name, &bytes);
    if (!out) return NULL;
    fprintf(out, "%s/%s", request->method_name, request->case_name);
    for (size_t i = 0; i < request->axes; i++)
        fprintf(out, "/%s:%s", request->axis[i].key, value_of(cell, request->axis[i].key));
    for (size_t i = 0; i < request->settings; i++) {
        /* A repeated key appears once, at its first place, with its effective value; keys of axes come before all. */
        bool again = false;
        for (size_t k = 0; k < i; k++) again |= strcmp(request->setting[k].key, request->setting[i].key) == 0;
        for (size_t k = 0; k < request->axes; k++) again |= strcmp(request->axis[k].key, request->setting[i].key) == 0;
        if (!again) fprintf(out, "/%s:%s", request->setting[i].key, value_of(cell, request->setting[i].key));
    }
    fprintf(out, "/%s/%s/threads:%d", pbd_backend_at(cell->backend).name, pbd_precision_name(cell->precision),
            cell->threads);
    if (fclose(out) == 0) return name;
    free(name);
    return NULL;
}

static pbd_status leave_out(bench_plan *b, const pbd_request *request, const pbd_status *why) {
    char *lines;
    if (asprintf(&lines, "%spbdbench: skipped %s/%s on %s in %s: %s\n", b->left_out ? b->left_out : "",
                 request->method_name, request->case_name, request->backend, request->precision, why->text) < 0)
        return pbd_no_memory();
    free(b->left_out);
    b->left_out = lines;
    if (b->refused.code == PBD_OK || (b->refused.code == PBD_NOT_SUPPORTED && why->code == PBD_BAD_INPUT))
        b->refused = *why;
    return pbd_ok();
}

/* Adds the request's benchmarks, or notes why they cannot run. Only lack of memory is returned as an error. */
static pbd_status add_request(bench_plan *b, const pbd_request *request) {
    const size_t before = b->plan.count;
    const pbd_status status = pbd_plan_add(&b->plan, request, 0);
    if (status.code == PBD_FAILED) return status;
    if (status.code != PBD_OK) return leave_out(b, request, &status);
    char **grown = realloc(b->name, (b->plan.count + 1) * sizeof *grown);
    if (!grown) return pbd_no_memory();
    b->name = grown;
    for (size_t i = before; i < b->plan.count; i++) {
        b->name[i] = name_of(request, &b->plan.item[i].cell);
        if (!b->name[i]) return pbd_no_memory();
        b->names++;
    }
    return pbd_ok();
}

/* One method on one case over backends, precisions and threads; `request` names the rest. */
static pbd_status add_pair(const bench_options *o, bench_plan *b, pbd_request *request) {
    request->seed = 1;
    for (size_t k = 0; k < o->backends.count; k++)
        for (size_t p = 0; p < o->precisions.count; p++)
            for (size_t t = 0; t < o->threads.count; t++) {
                const bool is_cpu = strcmp(o->backends.word[k], "cpu") == 0;
                if (!is_cpu && t > 0) break;
                request->backend = o->backends.word[k];
                request->precision = o->precisions.word[p];
                request->threads = is_cpu ? atoi(o->threads.word[t]) : 1;
                const size_t before = b->plan.count;
                PBD_TRY(add_request(b, request));
                if (b->plan.count == before) break; /* refused for any number of threads */
            }
    return pbd_ok();
}

static pbd_status add_named(const bench_options *o, bench_plan *b) {
    const size_t cases = o->cases.count ? o->cases.count : pbd_case_count();
    const size_t methods = o->methods.count ? o->methods.count : pbd_method_count();
    for (size_t m = 0; m < methods; m++)
        for (size_t c = 0; c < cases; c++) {
            /* A case that needs a file is run only when it is named. */
            if (!o->cases.count && pbd_param_asked(pbd_case_at(c)->params)) continue;
            pbd_request request = {.setting = o->setting, .settings = o->settings, .axis = o->axis, .axes = o->axes};
            request.method_name =
                o->methods.count ? o->methods.word[m] : pbd_method_at(m)->by_precision[PBD_PRECISION_F64]->name;
            request.case_name = o->cases.count ? o->cases.word[c] : pbd_case_at(c)->name;
            PBD_TRY(add_pair(o, b, &request));
        }
    return pbd_ok();
}

/* Adds one line of bench.def. Settings and axes of the command line take precedence over its own. */
static pbd_status add_default(const bench_options *o, bench_plan *b, const char *method, const char *case_name,
                              const char *settings, const char *axes) {
    bench_options all = {0};
    char setting_text[200], axis_text[200], *rest = setting_text, *word;
    snprintf(setting_text, sizeof setting_text, "%s", settings);
    snprintf(axis_text, sizeof axis_text, "%s", axes);
    pbd_status status = pbd_ok();
    while ((word = strsep(&rest, " ")) != NULL && status.code == PBD_OK)
        if (*word) status = add_setting(&all, word);
    rest = axis_text;
    while ((word = strsep(&rest, " ")) != NULL && status.code == PBD_OK) {
        bool given = !*word;
        for (size_t i = 0; i < o->settings; i++) given |= strncmp(word, o->setting[i].key, strcspn(word, "=")) == 0;
        for (size_t i = 0; i < o->axes; i++) given |= strncmp(word, o->axis[i].key, strcspn(word, "=")) == 0;
        if (!given) status = add_axis(&all, word);
    }
    const size_t own = all.axes, own_settings = all.settings; /* the rest is borrowed from the command line */
    for (size_t i = 0; i < o->settings && all.settings < MOST_WORDS; i++) all.setting[all.settings++] = o->setting[i];
    for (size_t i = 0; i < o->axes && all.axes < MOST_WORDS; i++) all.axis[all.axes++] = o->axis[i];
    pbd_request request = {.method_name = method,
                           .case_name = case_name,
                           .setting = all.setting,
                           .settings = all.settings,
                           .axis = all.axis,
                           .axes = all.axes};
    if (status.code == PBD_OK) status = add_pair(o, b, &request);
    for (size_t i = 0; i < own; i++) pbd_axis_free(&all.axis[i]);
    for (size_t i = 0; i < own_settings; i++) pbd_setting_free(&all.setting[i]);
    return status;
}

static pbd_status add_defaults(const bench_options *o, bench_plan *b) {
#define BENCH(method, case_name, settings, axes) PBD_TRY(add_default(o, b, method, case_name, settings, axes));
#include "harness/bench/bench.def"
#undef BENCH
    return pbd_ok();
}

static pbd_status make_plan(bench_options *o, bench_plan *b) {
    PBD_TRY(check_kernel_options(o));
    PBD_TRY(o->kernel ? fill_in_kernel(o) : fill_in(o));
    PBD_TRY(check_names(o));
    PBD_TRY(o->cases.count || o->methods.count ? add_named(o, b) : add_defaults(o, b));
    if (b->plan.count == 0) return b->refused;
    if (o->kernel && b->plan.count > 1)
        return pbd_error(PBD_BAD_INPUT,
                         "--kernel is of one cell, these are %zu: one backend, precision, number of threads "
                         "and no axes",
                         b->plan.count);
    if (b->left_out && !o->quiet) fputs(b->left_out, stderr);
    return pbd_ok();
}

static void free_plan(bench_plan *b) {
    for (size_t i = 0; i < b->names; i++) free(b->name[i]);
    free(b->name);
    free(b->left_out);
    pbd_plan_free(&b->plan);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct bench_run {
    pbd_bench_cell **cell;
    pbd_bench_entry *entry;
    size_t count;
    pbd_limits limits;
    pbd_bench_shared shared;
} bench_run;

/* Opens the store for the results, and reads the machine's limits from it; without a store there are no limits. */
static pbd_status open_store(const bench_options *o, bench_run *r) {
    pbd_machine machine;
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    PBD_TRY(pbd_this_machine(&machine));
    pbd_bench_note("machine", machine.fingerprint);
    PBD_TRY(o->no_store ? pbd_open_store_if_any(o->db, &store) : pbd_open_store(o->db, PBD_STORE_WRITE, &store));
    if (store) PBD_TRY(pbd_limits_load(store, machine.fingerprint, &r->limits));
    if (o->no_store) return pbd_ok();
    PBD_TRY(pbd_store_begin(store, o->argc, o->argv));
    r->shared.store = store;
    store = NULL;
    return pbd_ok();
}

static void note_build(void) {
    const pbd_build *build = pbd_this_build();
    pbd_bench_note("pbdbench", build->version);
    pbd_bench_note("git_sha", build->git_sha);
    pbd_bench_note("sources", build->source);
    pbd_bench_note("compiler", build->compiler);
    pbd_bench_note("flags", build->flags);
}

static pbd_status make_entries(const bench_options *o, const bench_plan *b, bench_run *r) {
    r->cell = calloc(b->plan.count, sizeof *r->cell);
    r->entry = calloc(b->plan.count, sizeof *r->entry);
    if (!r->cell || !r->entry) return pbd_no_memory();
    r->shared.limits = &r->limits;
    for (; r->count < b->plan.count; r->count++) {
        const size_t i = r->count;
        PBD_TRY(pbd_bench_cell_create(&b->plan.item[i], b->name[i], &r->shared, &r->cell[i]));
        r->entry[i] = pbd_bench_cell_entry(r->cell[i], has_google(o, "--benchmark_min_time") ? 0 : ITERATIONS);
    }
    return pbd_ok();
}

/* Google Benchmark ends the process when it cannot write its file: check that first. */
static pbd_status check_out_file(const bench_options *o) {
    static const char flag[] = "--benchmark_out=";
    for (int i = 1; i < o->googles; i++) {
        if (strncmp(o->google[i], flag, strlen(flag)) != 0) continue;
        const char *path = o->google[i] + strlen(flag);
        FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "a");
        if (!file) return pbd_error(PBD_BAD_INPUT, "--benchmark_out: '%.200s' cannot be written", path);
    }
    return pbd_ok();
}

/* Accepts seconds with or without the suffix «s». Google Benchmark expects no suffix before 1.8 and requires it
 * since, and ends the process on a value that it cannot parse. */
static pbd_status spell_min_time(bench_options *o) {
    static const char flag[] = "--benchmark_min_time=";
    for (int i = 1; i < o->googles; i++) {
        if (strncmp(o->google[i], flag, strlen(flag)) != 0) continue;
        const char *text = o->google[i] + strlen(flag);
        char *end;
        const double seconds = pbd_decimal(text, &end);
        if (end == text || strcmp(*end == 's' ? end + 1 : end, "") != 0 || !(seconds > 0 && isfinite(seconds)))
            return pbd_error(PBD_BAD_INPUT, "%.60s must be seconds above 0: %s0.5", o->google[i], flag);
        o->google[i] = pbd_new_format(&o->memory, "%s%.*s%s", flag, (int)(end - text), text, PBD_BENCHMARK_SECONDS);
    }
    return pbd_arena_check(&o->memory);
}

static pbd_status take_flags(bench_options *o) {
    static char json[] = "--benchmark_format=json";
    char *flags[MOST_WORDS]; /* a copy: pbd_bench_flags removes those that it knows */
    PBD_TRY(spell_min_time(o));
    if (o->json) o->google[o->googles++] = json;
    memcpy(flags, o->google, sizeof flags);
    PBD_TRY(pbd_bench_flags(o->googles, flags));
    return check_out_file(o);
}

static pbd_status run_google(const bench_options *o, bench_run *r) {
    size_t matched;
    PBD_TRY(pbd_bench_run(r->entry, r->count, o->filter, &matched));
    if (r->shared.trouble.code != PBD_OK) return r->shared.trouble;
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted; reported results are stored");
    if (matched == 0) return pbd_error(PBD_BAD_INPUT, "no benchmark's name matches; --benchmark_list_tests lists them");
    return pbd_ok();
}

static pbd_status run_kernel(const bench_options *o, const bench_plan *b, bench_run *r) {
    const pbd_kernel_request request = {.kernel = o->kernel,
                                        .warmup = o->warmup < 0 ? 3 : (long)o->warmup,
                                        .repetitions = o->repetitions < 0 ? 100 : (long)o->repetitions,
                                        .bound = o->bound,
                                        .json = o->json};
    const pbd_status status =
        pbd_bench_kernel(&request, &b->plan.item[0], b->name[0], &r->limits, r->shared.store, stdout);
    if (status.code != PBD_FAILED && status.code != PBD_DIVERGED) return status;
    r->shared.failed = 1;
    fprintf(stderr, "pbdbench: %s\n", status.text);
    return pbd_ok();
}

static void free_run(bench_run *r) {
    for (size_t i = 0; i < r->count; i++) pbd_bench_cell_destroy(r->cell[i]);
    pbd_store_close(r->shared.store);
    pbd_limits_free(&r->limits);
    free(r->cell);
    free(r->entry);
}

static pbd_status execute(bench_options *o, size_t *failed) {
    bench_plan b PBD_CLEANUP(free_plan) = {0};
    bench_run r PBD_CLEANUP(free_run) = {0};
    if (!o->kernel) PBD_TRY(take_flags(o));
    PBD_TRY(make_plan(o, &b));
    if (!has_google(o, "--benchmark_list_tests")) PBD_TRY(open_store(o, &r));
    if (!o->kernel) PBD_TRY(make_entries(o, &b, &r));
    if (!o->kernel) note_build();
    PBD_TRY(o->kernel ? run_kernel(o, &b, &r) : run_google(o, &r));
    *failed = r.shared.failed;
    return pbd_ok();
}

static int bench(bench_options *o) {
    size_t failed = 0;
    pbd_status status = take_words(o);
    pbd_catch_interrupts();
    if (status.code == PBD_OK) status = execute(o, &failed);
    return status.code != PBD_OK ? pbd_complain(status) : failed ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
}

/* With plug-ins the whole bench runs in a child process: a crash there loses nothing that was reported before. */
static void bench_here(void *context, pbd_place *place, FILE *answer) {
    (void)place;
    fprintf(answer, "%d", bench(context));
}

static int bench_apart(bench_options *o) {
    pbd_apart apart PBD_CLEANUP(pbd_apart_free) = {0};
    pbd_catch_interrupts();
    const pbd_status status = pbd_apart_run(bench_here, o, PBD_STDOUT_KEPT, &apart);
    if (status.code != PBD_OK) return pbd_complain(status);
    return apart.answered ? atoi(apart.answer) : pbd_complain(pbd_apart_status(&apart, "a bench with plug-ins"));
}

static pbd_status act(void *options, pbd_call *call) {
    bench_options *o = options;
    o->filters = call->words;
    PBD_TRY(pbd_plugins_load(&o->plugins));
    PBD_TRY(pbd_engines_load(&o->engines));
    call->exit_code = pbd_plugin_count() > 0 ? bench_apart(o) : bench(o);
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    bench_options o PBD_CLEANUP(free_options) = {.repetitions = -1, .warmup = -1, .argc = argc};
    o.argv = pbd_new(&o.memory, char *, (size_t)argc + 1);
    if (!o.argv) return pbd_complain(pbd_no_memory());
    memcpy(o.argv, argv, (size_t)argc * sizeof *o.argv);
    const pbd_status status = take_google(&argc, argv, &o);
    return status.code == PBD_OK ? pbd_verb_call(&pbd_verb_bench, argc, argv, &o, act) : pbd_complain(status);
}

const pbd_verb pbd_verb_bench = {
    .name = "bench",
    .summary = "time methods with Google Benchmark",
    .usage =
        "bench [FILTER...] [-c CASES] [-m METHODS] [-s key=value]... [-a key=a,b,c]... [options]\n"
        "bench --kernel NAME|list -c CASE -m METHOD [-s key=value]... [-n N] [options]",
    .about =
        "Times methods with Google Benchmark: a number of steps (solves, where a method has no steps) from the same\n"
        "state, repeatedly. A FILTER is a regular expression on the names, which look like\n"
        "  pbd_distance/cube_shear/solver:coloured_gs/cells:20/cpu/f32/threads:1\n"
        "Lists are separated by commas; every combination runs; those that cannot are listed with the reason.",
    .more =
        "Google Benchmark's own options are passed on: --benchmark_repetitions=N, --benchmark_format=json,\n"
        "--benchmark_out=FILE, --benchmark_filter=REGEX, --benchmark_list_tests...\n\n"
        "Time is that of the steps only (on a GPU by its events); CPU time is of all threads. A repetition has 20\n"
        "iterations of 10 ms or more; with --benchmark_min_time Google Benchmark chooses how many. Counters: the\n"
        "method's counts and its kernels' declared bytes and operations, per second; the fraction of constraints\n"
        "applied; and the fractions of the machine's bandwidth and multiply-adds, once `pbdbench env --measure` has\n"
        "measured them. Bytes that come from a cache may exceed the memory bandwidth. `pbdbench env --markdown`\n"
        "makes a table.\n"
        "\n"
        "--kernel NAME takes the kernel's first series of launches in a step (one launch, or a sweep over colours)\n"
        "with their arguments and memory. The result is compared with that of the plain form (one item a thread\n"
        "without SIMD, as the emulation runs it; on emu: as the CPU does) and refused where the difference exceeds "
        "the\n"
        "bound; the emulation takes about a second for 1,000 particles. Then the series is timed, from the same "
        "memory\n"
        "each time. One thread in f32 unless -t and -p say otherwise; stored as a bench.\n\n"
        "Exit 5 when a benchmark failed or diverged, 2 for bad input or when nothing matches.",
    .options = table,
    .main = verb_main,
};
