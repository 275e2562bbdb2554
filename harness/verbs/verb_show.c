/* show: one stored run with everything that belongs to it, and the command that makes it again. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/query/run_command.h"
#include "harness/store/rows.h"
#include "harness/verbs/cli.h"

typedef struct show_options {
    const char *run, *db;
    bool json;
} show_options;

static const pbd_option table[] = {
    PBD_OPTION_DB(show_options),
    PBD_OPTION_JSON(show_options, "one object: the run as written by `pbdbench db export`, and \"command\""),
    {0}};

static pbd_status take_words(const pbd_texts *words, show_options *o) {
    if (words->count == 0)
        return pbd_error(PBD_BAD_INPUT, "show needs a run: its id, or at least the first 4 digits of it");
    if (words->count > 1)
        return pbd_error(PBD_BAD_INPUT, "show takes one run; '%.60s' is an extra argument", words->item[1]);
    o->run = words->item[0];
    return pbd_ok();
}

/* ---- Pieces of a record ------------------------------------------------------------------------------------------ */

static const char *text_at(const json_t *record, const char *name, const char *column) {
    const char *text = json_string_value(json_object_get(json_object_get(record, name), column));
    return text != NULL ? text : "";
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static long long number_at(const json_t *record, const char *name, const char *column) {
    return json_integer_value(json_object_get(json_object_get(record, name), column));
}

static void print_origin(const json_t *record) {
    printf("  build      %.12s%s, %s, %s\n", text_at(record, "build", "git_sha"),
           number_at(record, "build", "dirty") ? " with changes" : "", text_at(record, "build", "preset"),
           text_at(record, "build", "compiler"));
    printf("  version    %s\n", text_at(record, "build", "version"));
    printf("  flags      %s\n  sources    %s\n", text_at(record, "build", "flags"), text_at(record, "build", "source"));
    printf("  machine    %s, %lld cores, %s\n", text_at(record, "env", "cpu"), number_at(record, "env", "cores"),
           text_at(record, "env", "os"));
    if (*text_at(record, "env", "gpu")) printf("  gpu        %s\n", text_at(record, "env", "gpu"));
    fputs("  made by    ", stdout);
    pbd_write_argv(stdout, text_at(record, "invocation", "argv"));
    putchar('\n');
}

/* Load, clock and the rest before and after; what could not be read (-1) is left out. */
static void print_samples(const json_t *record) {
    static const struct {
        const char *column, *before, *after;
        int decimals;
    } parts[] = {{"load_1min", "load ", "", 2},
                 {"clock_mhz", "clock ", " MHz", 0},
                 {"memory_free_mib", "", " MiB free", 0},
                 {"throttle_count", "throttled ", " times so far", 0}};
    const json_t *sample;
    size_t i;
    json_array_foreach(json_object_get(record, "env_sample"), i, sample) {
        char line[200] = "";
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            const double value = pbd_json_real(json_object_get(sample, parts[p].column));
            const size_t used = strlen(line);
            if (value >= 0)
                snprintf(line + used, sizeof line - used, ", %s%.*f%s", parts[p].before, parts[p].decimals, value,
                         parts[p].after);
        }
        if (*line != '\0') printf("  %-10s %s\n", json_string_value(json_object_get(sample, "moment")), line + 2);
    }
}

/* Dimensionless numbers have the unit "1", which is not printed. */
static const char *unit_text(const char *unit) { return strcmp(unit, "1") == 0 ? "" : unit; }

static void print_params(const pbd_result *r) {
    json_auto_t *params = json_loads(r->params, 0, NULL);
    json_t *value;
    const char *key;
    puts("\nparameters");
    json_object_foreach(params, key, value) {
        char number[40];
        printf("  %-30s %14s\n", key, pbd_spell_param(value, number));
    }
}

static void print_metrics(const pbd_result *r) {
    if (r->metrics > 0) puts("\nmetrics");
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        if (m->is_count) {
            printf("  %-30s %14" PRIu64 " %s\n", m->name, m->count, unit_text(m->unit));
        } else {
            printf("  %-30s %14.8g %s\n", m->name, m->value, unit_text(m->unit));
        }
    }
}

static void print_series(const pbd_result *r) {
    if (r->series_count > 0) puts("\nseries");
    for (size_t i = 0; i < r->series_count; i++) {
        const pbd_series_item *s = &r->series[i];
        printf("  %-30s %-5s %8zu values", s->name, s->component, s->count);
        if (s->count > 0) printf(", %.6g ... %.6g %s", s->values[0], s->values[s->count - 1], unit_text(s->unit));
        putchar('\n');
    }
}

static void print_times_and_warnings(const pbd_result *r) {
    if (r->phases > 0) puts("\ntimes");
    for (size_t i = 0; i < r->phases; i++) {
        const pbd_phase_item *p = &r->phase[i];
        printf("  %-30s %14.6f s wall, %.6f s CPU, %" PRIu64 " times\n", p->name, p->wall_s, p->cpu_s, p->calls);
    }
    if (r->warnings > 0) puts("\nwarnings");
    for (size_t i = 0; i < r->warnings; i++)
        printf("  %s (%" PRIu64 " times): %s\n", r->warning[i].name, r->warning[i].count, r->warning[i].says);
}

static void print_run(const json_t *record, const pbd_result *r, const char *command) {
    printf("run %s  %s%s%s\n", r->run_id, r->state, *r->says ? ": " : "", r->says);
    printf("  case       %s: %s\n  method     %s: %s\n", r->case_name, text_at(record, "case", "summary"),
           r->method_name, text_at(record, "method", "summary"));
    printf("  on         %s, %s, %d thread%s\n", r->backend, r->precision, r->threads, r->threads == 1 ? "" : "s");
    printf("  repeat     %d, after %d warm-ups, seed %" PRIu64 "\n", r->repeat, r->warmups, r->seed);
    printf("  started    %s\n", r->started_at);
    print_origin(record);
    print_samples(record);
    print_params(r);
    print_metrics(r);
    print_series(r);
    print_times_and_warnings(r);
    if (strcmp(r->kind, "external") == 0)
        printf("\nmeasured by another tool; imported by\n  %s\n", command);
    else
        printf(
            "\n"
            "to repeat it%s\n"
            "  %s\n",
            r->repeat > 0 ? " (the last of the repeats)" : "", command);
}

static pbd_status print_json(json_t *record, const char *command) {
    PBD_TRY(pbd_record_open(record));
    json_object_set_new(record, "command", json_string(command));
    const char *text PBD_CLEANUP(pbd_free_memory) =
        json_dumps(record, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (text == NULL) return pbd_no_memory();
    puts(text);
    return pbd_ok();
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static pbd_status act(void *options, pbd_call *call) {
    show_options *o = options;
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    json_auto_t *record = NULL;
    PBD_TRY(take_words(call->words, o));
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_READ, &store));
    PBD_TRY(pbd_store_get(store, o->run, &result));
    PBD_TRY(pbd_record_load(store, result.run_id, &record));
    const char *command PBD_CLEANUP(pbd_free_memory) = pbd_run_command(&result, text_at(record, "invocation", "argv"));
    if (command == NULL) return pbd_no_memory();
    if (o->json) return print_json(record, command);
    print_run(record, &result, command);
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    show_options o = {0};
    return pbd_verb_call(&pbd_verb_show, argc, argv, &o, act);
}

const pbd_verb pbd_verb_show = {
    .name = "show",
    .summary = "one stored run, with the command that repeats it",
    .usage = "show RUN [options]",
    .about =
        "Prints one stored run: its cell, build and machine, what it reported, and the command that repeats it.\n"
        "RUN is its id, or at least the first 4 digits of it.",
    .more = "Exit 2 when there is no such run.",
    .options = table,
    .main = verb_main,
};
