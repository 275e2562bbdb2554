/* show: one stored run with everything that belongs to it, and the command that makes it again. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/query/run_command.h"
#include "harness/store/rows.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/run_print.h"

typedef struct show_options {
    const char *run, *db;
    bool json, verbose;
} show_options;

static const pbd_option table[] = {
    PBD_OPT_FLAG(show_options, verbose, "verbose", 'v', "every parameter, metric, series, time and sample"),
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

static void print_origin(const json_t *record, size_t columns) {
    pbd_print_named("build", columns, "%.12s%s, %s, %s", text_at(record, "build", "git_sha"),
                    number_at(record, "build", "dirty") ? " with changes" : "", text_at(record, "build", "preset"),
                    text_at(record, "build", "compiler"));
    pbd_print_named("version", columns, "%s", text_at(record, "build", "version"));
    pbd_print_named("machine", columns, "%s, %lld cores, %s", text_at(record, "env", "cpu"),
                    number_at(record, "env", "cores"), text_at(record, "env", "os"));
    if (*text_at(record, "env", "gpu")) pbd_print_named("gpu", columns, "%s", text_at(record, "env", "gpu"));
}

static void print_making(const json_t *record, size_t columns) {
    char *command = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&command, &bytes);
    pbd_print_named("case", columns, "%s", text_at(record, "case", "summary"));
    pbd_print_named("method", columns, "%s", text_at(record, "method", "summary"));
    pbd_print_named("flags", columns, "%s", text_at(record, "build", "flags"));
    pbd_print_named("sources", columns, "%s", text_at(record, "build", "source"));
    if (!out) return;
    pbd_write_argv(out, text_at(record, "invocation", "argv"));
    if (fclose(out) == 0) pbd_print_named("made by", columns, "%s", command);
    free(command);
}

/* Prints load, clock, free memory and throttling at each moment. Values that could not be read (-1) are left out. */
static void print_samples(const json_t *record, size_t columns) {
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
        if (*line != '\0')
            pbd_print_named(json_string_value(json_object_get(sample, "moment")), columns, "%s", line + 2);
    }
}

/* Dimensionless numbers have the unit "1", which is not printed. */
static const char *unit_text(const char *unit) { return strcmp(unit, "1") == 0 ? "" : unit; }

/* Prints a row of a table, folded if it does not fit. */
__attribute__((format(printf, 2, 3))) static void print_row(size_t columns, const char *format, ...) {
    char text[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pbd_print_folded(text, 0, 4, columns);
}

static void print_params(const pbd_result *r, size_t columns) {
    json_auto_t *params = json_loads(r->params, 0, NULL);
    json_t *value;
    const char *key;
    puts("\nparameters");
    json_object_foreach(params, key, value) {
        char number[40];
        print_row(columns, "  %-30s %14s", key, pbd_spell_param(value, number));
    }
}

static void print_metrics(const pbd_result *r, size_t columns) {
    if (r->metrics > 0) puts("\nmetrics");
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        if (m->is_count)
            print_row(columns, "  %-30s %14" PRIu64 " %s", m->name, m->count, unit_text(m->unit));
        else
            print_row(columns, "  %-30s %14.8g %s", m->name, m->value, unit_text(m->unit));
    }
}

static void print_series(const pbd_result *r, size_t columns) {
    if (r->series_count > 0) puts("\nseries");
    for (size_t i = 0; i < r->series_count; i++) {
        const pbd_series_item *s = &r->series[i];
        char ends[120] = "";
        if (s->count > 0)
            snprintf(ends, sizeof ends, ", %.6g ... %.6g %s", s->values[0], s->values[s->count - 1],
                     unit_text(s->unit));
        print_row(columns, "  %-30s %-5s %8zu values%s", s->name, s->component, s->count, ends);
    }
}

static void print_times(const pbd_result *r, size_t columns) {
    if (r->phases > 0) puts("\ntimes");
    for (size_t i = 0; i < r->phases; i++) {
        const pbd_phase_item *p = &r->phase[i];
        print_row(columns, "  %-30s %14.6f s wall, %.6f s CPU, %" PRIu64 " times", p->name, p->wall_s, p->cpu_s,
                  p->calls);
    }
}

static void print_warnings(const pbd_result *r, size_t columns) {
    for (size_t i = 0; i < r->warnings; i++)
        pbd_print_named("warning", columns, "%s (%" PRIu64 "x): %s", r->warning[i].name, r->warning[i].count,
                        r->warning[i].says);
}

/* Prints the command as one line for a shell: where a terminal needs several, they end with a backslash. */
static void print_command(const pbd_result *r, const char *command, size_t columns) {
    if (strcmp(r->kind, "external") == 0)
        puts("\nmeasured by another tool; imported by");
    else
        printf("\nto repeat it%s\n", r->repeat > 0 ? " (the last of the repeats)" : "");
    size_t used = 2;
    fputs("  ", stdout);
    for (const char *at = command; *at;) {
        const size_t length = strcspn(at, " ");
        const bool option = *at == '-' && at[length]; /* stays with its value */
        const size_t more = option ? strcspn(at + length + 1, " ") + 1 : 0;
        if (columns > 0 && used > 2 && used + length + more + 3 > columns) {
            fputs("\\\n    ", stdout);
            used = 4;
        }
        used += (size_t)printf("%.*s%s", (int)(length + more), at, at[length + more] ? " " : "");
        at += length + more;
        at += *at == ' ';
    }
    putchar('\n');
}

static void print_run(const json_t *record, const pbd_result *r, const pbd_run_printer *printer, const char *command) {
    const size_t columns = printer->columns;
    if (strcmp(r->kind, "run") == 0)
        pbd_run_print_answer(printer, r);
    else
        pbd_print_named(r->kind, columns, "%s%s%s", r->state, *r->says ? ": " : "", r->says);
    pbd_print_named("run", columns, "%s  %s %s", r->run_id, r->case_name, r->method_name);
    print_warnings(r, columns);
    pbd_print_named("started", columns, "%s, repeat %d, after %d warm-ups, seed %" PRIu64, r->started_at, r->repeat,
                    r->warmups, r->seed);
    print_origin(record, columns);
    if (printer->all || strcmp(r->kind, "run") != 0) {
        print_making(record, columns);
        print_samples(record, columns);
        print_params(r, columns);
        print_metrics(r, columns);
        print_series(r, columns);
        print_times(r, columns);
    }
    print_command(r, command, columns);
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
    pbd_problems *problems PBD_CLEANUP(pbd_problems_release) = NULL;
    if (pbd_problems_load(&problems).code != PBD_OK) problems = NULL; /* no tolerances then */
    const pbd_run_printer printer = {.all = o->verbose, .columns = pbd_output_columns(), .problems = problems};
    print_run(record, &result, &printer, command);
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
        "Prints one stored run: error, tolerance and time as `run` does, its build and machine, and the command that\n"
        "repeats it; with -v all that it reported.\n"
        "RUN is its id, or at least the first 4 digits of it.",
    .more = "Exit 2 when there is no such run.",
    .options = table,
    .main = verb_main,
};
