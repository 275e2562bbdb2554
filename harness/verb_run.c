/* run: one method on one case, over axes and repeats; prints metrics and timings and stores the runs. */
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"

typedef struct run_options {
    const char *db;
    bool json, quiet, again, no_store, help;
    pbd_request request;
    pbd_setting *setting;
    pbd_axis *axis;
} run_options;

static void free_options(run_options *o) {
    for (size_t i = 0; i < o->request.axes; i++) pbd_axis_free(&o->axis[i]);
    for (size_t i = 0; i < o->request.settings; i++) pbd_setting_free(&o->setting[i]);
    free(o->axis);
    free(o->setting);
}

static void print_params(const char *title, const pbd_param *params) {
    printf("\n%s\n", title);
    for (; params && params->name; params++) {
        char range[160] = "";
        if (params->kind == PBD_CHOICE)
            for (size_t i = 0; params->choices[i]; i++)
                snprintf(range + strlen(range), sizeof range - strlen(range), "%s%s", i ? "|" : "", params->choices[i]);
        else
            snprintf(range, sizeof range, "%c%g, %g%c%s%s", params->open & PBD_OPEN_MIN ? '(' : '[', params->min,
                     params->max, params->open & PBD_OPEN_MAX || isinf(params->max) ? ')' : ']',
                     *params->unit ? " " : "", params->unit);
        printf("  %-20s %s\n  %-20s %s; default %s\n", params->name, params->doc, "", range, params->preset);
    }
}

static int print_help(const run_options *o) {
    puts(
        "usage: pbdbench run CASE -m METHOD [-s key=value]... [-a key=lo:hi:step]... [options]\n\n"
        "Runs a method on a case, prints its errors and its timings, and stores the run.\n\n"
        "  -m, --method METHOD    see `pbdbench list methods`\n"
        "  -s, --set key=value    a parameter of the case or the method\n"
        "  -a, --axis key=lo:hi:step or key=a,b,c   a run for each value; several axes make a grid\n"
        "  -b, --backend cpu|emu|cuda      default cpu\n"
        "  -p, --precision f32|f64         default f64\n"
        "  -t, --threads N                 default: all cores\n"
        "  -r, --repeats R                 runs of each cell; default 1\n"
        "  -w, --warm-ups N                untimed solves before the timed one; default 0\n"
        "      --time SECONDS              after the run, solve again and again for so long and record the time of a\n"
        "                                  solve: metrics solve_wall and solve_cpu; implies --again\n"
        "      --seed N                    stored with the run; default 1\n"
        "      --db FILE                   the store; default results/pbdbench.db\n"
        "      --no-store                  print only\n"
        "      --again                     run even when the store has this run\n"
        "      --json                      one object a line and run\n"
        "  -q, --quiet                     no progress\n\n"
        "`pbdbench run CASE -m METHOD --help` lists the parameters of both.\n"
        "Exit 5 when a run failed or diverged, 2 for bad input (nothing is stored then).");
    const pbd_case *c;
    const pbd_method_entry *m;
    if (o->request.case_name && pbd_find_case(o->request.case_name, &c).code == PBD_OK)
        print_params("Parameters of the case", c->params);
    if (o->request.method_name && pbd_find_method(o->request.method_name, &m).code == PBD_OK)
        print_params("Parameters of the method", m->by_precision[PBD_PRECISION_F64]->params);
    return PBD_EXIT_OK;
}

static pbd_status whole_number(const char *option, const char *text, long long min, long long max, long long *out) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || value < min || value > max)
        return pbd_error(PBD_BAD_INPUT, "%s=%.40s must be a whole number in [%lld, %lld]", option, text, min, max);
    *out = value;
    return pbd_ok();
}

static pbd_status positive_number(const char *option, const char *text, double max, double *out) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value <= max))
        return pbd_error(PBD_BAD_INPUT, "%s=%.40s must be a number in (0, %g]", option, text, max);
    *out = value;
    return pbd_ok();
}

static pbd_status add_setting(run_options *o, const char *word) {
    pbd_setting *grown = realloc(o->setting, (o->request.settings + 1) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory");
    o->setting = grown;
    o->request.setting = grown;
    PBD_TRY(pbd_setting_parse(word, &grown[o->request.settings]));
    o->request.settings++;
    return pbd_ok();
}

static pbd_status add_axis(run_options *o, const char *text) {
    pbd_axis *grown = realloc(o->axis, (o->request.axes + 1) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory");
    o->axis = grown;
    o->request.axis = grown;
    PBD_TRY(pbd_axis_parse(text, &grown[o->request.axes]));
    for (size_t i = 0; i < o->request.axes; i++)
        if (strcmp(o->axis[i].key, grown[o->request.axes].key) == 0) {
            pbd_status status = pbd_error(PBD_BAD_INPUT, "axis '%.60s' is given twice", text);
            pbd_axis_free(&grown[o->request.axes]);
            return status;
        }
    o->request.axes++;
    return pbd_ok();
}

static pbd_status take_option(run_options *o, int option) {
    long long n = 0;
    switch (option) {
        case 'm':
            o->request.method_name = optarg;
            break;
        case 's':
            return add_setting(o, optarg);
        case 'a':
            return add_axis(o, optarg);
        case 'b':
            o->request.backend = optarg;
            break;
        case 'p':
            o->request.precision = optarg;
            break;
        case 't':
            PBD_TRY(whole_number("--threads", optarg, 1, 4096, &n));
            o->request.threads = (int)n;
            break;
        case 'r':
            PBD_TRY(whole_number("--repeats", optarg, 1, 100000, &n));
            o->request.repeats = (int)n;
            break;
        case 'w':
            PBD_TRY(whole_number("--warm-ups", optarg, 0, 1000, &n));
            o->request.warmups = (int)n;
            break;
        case 'T':
            return positive_number("--time", optarg, 3600, &o->request.seconds);
        case 'S':
            PBD_TRY(whole_number("--seed", optarg, 0, LLONG_MAX, &n));
            o->request.seed = (uint64_t)n;
            break;
        case 'd':
            o->db = optarg;
            break;
        case 'j':
            o->json = true;
            break;
        case 'q':
            o->quiet = true;
            break;
        case 'A':
            o->again = true;
            break;
        case 'N':
            o->no_store = true;
            break;
        case 'h':
            o->help = true;
            break;
        default:
            return pbd_error(PBD_BAD_INPUT, "see `pbdbench run --help`");
    }
    return pbd_ok();
}

static pbd_status take_options(int argc, char **argv, run_options *o) {
    static const struct option options[] = {{"method", required_argument, NULL, 'm'},
                                            {"set", required_argument, NULL, 's'},
                                            {"axis", required_argument, NULL, 'a'},
                                            {"backend", required_argument, NULL, 'b'},
                                            {"precision", required_argument, NULL, 'p'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"repeats", required_argument, NULL, 'r'},
                                            {"warm-ups", required_argument, NULL, 'w'},
                                            {"time", required_argument, NULL, 'T'},
                                            {"seed", required_argument, NULL, 'S'},
                                            {"db", required_argument, NULL, 'd'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"again", no_argument, NULL, 'A'},
                                            {"no-store", no_argument, NULL, 'N'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    o->request.seed = 1;
    for (int option; (option = getopt_long(argc, argv, "m:s:a:b:p:t:r:w:qh", options, NULL)) != -1;)
        PBD_TRY(take_option(o, option));
    if (optind < argc) o->request.case_name = argv[optind];
    if (o->help) return pbd_ok();
    if (optind >= argc) return pbd_error(PBD_BAD_INPUT, "run needs a case: `pbdbench list cases` shows them all");
    if (optind + 1 < argc)
        return pbd_error(PBD_BAD_INPUT, "run takes one case; '%.60s' is one word too many", argv[optind + 1]);
    if (!o->request.method_name)
        return pbd_error(PBD_BAD_INPUT, "run needs a method: -m NAME; `pbdbench list methods` shows them all");
    return pbd_ok();
}

/* ---- Printing
 * ------------------------------------------------------------------------------------------------------------- */

static void print_result(const pbd_result *r, const char *label) {
    printf("%s  %s %s, %d thread%s  %s\n", label, r->backend, r->precision, r->threads, r->threads == 1 ? "" : "s",
           r->run_id[0] ? r->run_id : "(not stored)");
    if (strcmp(r->state, "ok") != 0) printf("  %s: %s\n", r->state, r->says);
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        const char *unit = strcmp(m->unit, "1") == 0 ? "" : m->unit;
        if (m->is_count)
            printf("  %-30s %14llu %s\n", m->name, (unsigned long long)m->count, unit);
        else
            printf("  %-30s %14.6g %s\n", m->name, m->value, unit);
    }
    for (size_t i = 0; i < r->phases; i++)
        printf("  time %-25s %14.6f s wall, %.6f s CPU\n", r->phase[i].name, r->phase[i].wall_s, r->phase[i].cpu_s);
    for (size_t i = 0; i < r->warnings; i++)
        printf("  warning %s (%llux): %s\n", r->warning[i].name, (unsigned long long)r->warning[i].count,
               r->warning[i].says);
}

typedef struct run_context {
    const run_options *options;
    pbd_store *store;
    pbd_progress progress;
    pbd_status trouble;
    size_t failed;
} run_context;

static void observe(void *context, const pbd_plan_item *item, const pbd_result *made, size_t done, size_t total) {
    run_context *c = context;
    pbd_result stored = {0};
    const pbd_result *r = made;
    if (!r) {
        c->trouble = pbd_store_get(c->store, item->run_id, &stored);
        if (c->trouble.code != PBD_OK) return;
        r = &stored;
    }
    if (strcmp(r->state, "ok") != 0) c->failed++;
    if (c->progress.on) fputs("\r\033[K", stderr);
    if (c->options->json) {
        char *line = pbd_result_json(r);
        puts(line ? line : "{}");
        free(line);
    } else {
        print_result(r, item->label);
        if (!made) puts("  (already in the store; --again runs it anew)");
    }
    fflush(stdout);
    pbd_progress_show(&c->progress, done, total, made != NULL, item->label);
    if (!made) pbd_result_free(&stored);
}

static pbd_status execute(const run_options *o, int argc, char **argv, run_context *context) {
    pbd_plan plan = {0};
    pbd_status planned = pbd_plan_add(&plan, &o->request, 0);
    if (planned.code != PBD_OK) {
        pbd_plan_free(&plan);
        return planned;
    }
    char *path = pbd_db_path(o->db);
    pbd_status status = path ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory");
    if (status.code == PBD_OK && !o->no_store) {
        status = pbd_store_open(path, PBD_STORE_WRITE, &context->store);
        if (status.code == PBD_OK) status = pbd_store_begin(context->store, argc, argv);
    }
    if (status.code == PBD_OK) {
        pbd_progress_begin(&context->progress, o->quiet || plan.count == 1);
        status = pbd_plan_execute(&plan, context->store, o->again, observe, context);
        pbd_progress_end(&context->progress);
    }
    if (status.code == PBD_OK) status = context->trouble;
    pbd_store_close(context->store);
    pbd_plan_free(&plan);
    free(path);
    return status;
}

int pbd_verb_run(int argc, char **argv) {
    run_options o = {0};
    run_context context = {.options = &o, .trouble = {.code = PBD_OK}};
    pbd_status status = take_options(argc, argv, &o);
    int code;
    if (status.code == PBD_OK && o.help)
        code = print_help(&o);
    else {
        pbd_catch_interrupts();
        if (status.code == PBD_OK) status = execute(&o, argc, argv, &context);
        code = status.code != PBD_OK ? pbd_complain(status) : context.failed ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
    }
    free_options(&o);
    return code;
}
