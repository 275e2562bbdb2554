#include "harness/verbs/run_print.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 11 }; /* columns of «error      » */

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

void pbd_print_named(const char *name, size_t columns, const char *format, ...) {
    char *text = NULL;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    printf("%-*s", NAME, name);
    pbd_print_folded(length >= 0 ? text : "(no memory)", NAME, NAME, columns);
    if (length >= 0) free(text);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* The error that is shown of a run: that of the frozen problem to which it belongs, else the first that the case
 * measures, else the first that the method reports. */
typedef struct shown_error {
    char name[120]; /* "": the run has none */
    const char *unit;
    double value;
    const pbd_problem *problem; /* NULL: its parameters match no problem */
} shown_error;

static double number_of(const pbd_metric_item *m) { return m->is_count ? (double)m->count : m->value; }

static const pbd_metric_item *metric_named(const pbd_result *r, const char *name) {
    for (size_t i = 0; i < r->metrics; i++)
        if (strcmp(r->metric[i].name, name) == 0) return &r->metric[i];
    return NULL;
}

/* A run reports counts of kernels, such as kernel_launches, after the errors of the method and before those of the
 * case. */
static const pbd_metric_item *first_error(const pbd_result *r) {
    const pbd_metric_item *of_method = NULL;
    bool of_case = false;
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        of_case = of_case || strcmp(m->name, "kernel_launches") == 0;
        if (m->kind != PBD_ERROR || !pbd_is_shown_error(m)) continue;
        if (of_case) return m;
        if (!of_method) of_method = m;
    }
    return of_method;
}

static shown_error error_of(const pbd_run_printer *p, const pbd_result *r) {
    json_auto_t *params = json_loads(r->params, 0, NULL);
    shown_error e = {.unit = "", .value = NAN};
    e.problem = p->problems ? pbd_problem_of(p->problems, r->case_name, params) : NULL;
    const pbd_metric_item *m = e.problem ? metric_named(r, e.problem->metric) : first_error(r);
    if (!m) return e;
    if (e.problem)
        pbd_problem_error_name(e.problem, e.name, sizeof e.name);
    else
        snprintf(e.name, sizeof e.name, "%s", m->name);
    e.unit = strcmp(m->unit, "1") == 0 ? "" : m->unit;
    e.value = e.problem ? fabs(number_of(m) - e.problem->target) : number_of(m);
    return e;
}

static double phase_of(const pbd_result *r, const char *name) {
    for (size_t i = 0; i < r->phases; i++)
        if (strcmp(r->phase[i].name, name) == 0) return r->phase[i].wall_s;
    return NAN;
}

static bool is_well(const pbd_result *r) { return strcmp(r->state, "ok") == 0; }

/* ---- One run ----------------------------------------------------------------------------------------------------- */

static void print_error(const pbd_run_printer *p, const pbd_result *r, const shown_error *e) {
    const char *said = is_well(r) ? "" : r->says;
    if (*e->name)
        pbd_print_named("error", p->columns, "%s = %.4g%s%s%s%s%s%s", e->name, e->value, *e->unit ? " " : "", e->unit,
                        is_well(r) ? "" : "; ", is_well(r) ? "" : r->state, *said ? ": " : "", said);
    else if (!is_well(r))
        pbd_print_named("error", p->columns, "none: %s: %s", r->state, r->says);
    else
        pbd_print_named("error", p->columns, "none: %s has no reference for these parameters", r->case_name);
    if (e->problem)
        pbd_print_named("tolerance", p->columns, "%g, of %s%s", e->problem->tolerance, e->problem->id,
                        !is_well(r) || isnan(e->value)      ? ""
                        : e->value <= e->problem->tolerance ? ": within it"
                                                            : ": above it");
    else
        pbd_print_named("tolerance", p->columns, "none: no frozen problem has these parameters (list problems)");
}

static void print_time(const pbd_run_printer *p, const pbd_result *r) {
    const pbd_metric_item *simulated = metric_named(r, "simulated_time");
    const double solve = phase_of(r, "solve"), moved = simulated ? simulated->value : 0;
    const double setup = fmax(phase_of(r, "build"), 0) + fmax(phase_of(r, "create"), 0);
    char cell[80], before[60] = "";
    if (moved > 0 || setup >= 0.1) snprintf(before, sizeof before, ", after %.2g s of setup", setup);
    snprintf(cell, sizeof cell, "%s %s, %d thread%s", r->backend, r->precision, r->threads, r->threads == 1 ? "" : "s");
    if (isnan(solve))
        pbd_print_named("time", p->columns, "none of a solve; %s", cell);
    else if (moved > 0)
        pbd_print_named("time", p->columns, "%.4g ms a frame of 1/60 s (%.4g s for %.4g s%s), %s",
                        1e3 * solve / (60 * moved), solve, moved, before, cell);
    else
        pbd_print_named("time", p->columns, "%.4g s of a solve%s, %s", solve, before, cell);
}

void pbd_run_print_answer(const pbd_run_printer *p, const pbd_result *r) {
    const shown_error e = error_of(p, r);
    print_error(p, r, &e);
    print_time(p, r);
}

static void print_brief(const pbd_run_printer *p, const pbd_result *r, const pbd_plan_item *item) {
    pbd_run_print_answer(p, r);
    pbd_print_named("run", p->columns, "%s  %s", r->run_id[0] ? r->run_id : "(not stored)", item->label);
    if (*item->chosen) printf("  auto:"), pbd_print_folded(item->chosen, 7, 8, p->columns);
}

static void print_warnings(const pbd_run_printer *p, const pbd_result *r) {
    for (size_t i = 0; i < r->warnings; i++) {
        char text[1000];
        snprintf(text, sizeof text, "warning %s (%llux): %s", r->warning[i].name,
                 (unsigned long long)r->warning[i].count, r->warning[i].says);
        fputs("  ", stdout);
        pbd_print_folded(text, 2, 4, p->columns);
    }
}

/* Prints every metric and phase. Names of up to 30 characters and numbers of up to 14 fit into 60 columns. */
static void print_all(const pbd_run_printer *p, const pbd_result *r) {
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        const char *unit = strcmp(m->unit, "1") == 0 ? "" : m->unit;
        if (m->is_count)
            printf("  %-30s %14llu %s\n", m->name, (unsigned long long)m->count, unit);
        else
            printf("  %-30s %14.6g %s\n", m->name, m->value, unit);
    }
    for (size_t i = 0; i < r->phases; i++) {
        char text[200];
        snprintf(text, sizeof text, "  time %-19s %9.3g s wall %9.3g s CPU", r->phase[i].name, r->phase[i].wall_s,
                 r->phase[i].cpu_s);
        pbd_print_folded(text, 0, 4, p->columns);
    }
}

/* ---- A grid ------------------------------------------------------------------------------------------------------ */

/* «nu=0.3 solver=jacobi»: the label without case and method. */
static const char *varied_of(const pbd_plan_item *item) {
    const char *at = strchr(item->label, ' ');
    at = at ? strchr(at + 1, ' ') : NULL;
    return at ? at + 1 : "";
}

enum { NUMBERS = 34 }; /* columns of error, time and run, with the blanks before them */

static size_t widest(const pbd_plan *plan) {
    size_t most = 4;
    for (size_t i = 0; i < plan->count; i++) {
        const size_t wide = pbd_letters(varied_of(&plan->item[i]), strlen(varied_of(&plan->item[i])));
        if (wide > most) most = wide;
    }
    return most;
}

/* The width of the column of varied settings; 0: they have a line of their own. */
static size_t column_of(const pbd_run_printer *p) {
    const size_t wide = widest(p->plan) + 2;
    return p->columns > 0 && wide + NUMBERS > p->columns ? 0 : wide;
}

static void print_heading(const pbd_run_printer *p, const pbd_result *r, const shown_error *e) {
    char text[400];
    snprintf(text, sizeof text, "%s %s, %s %s, %d thread%s; error: %s%s%s", r->case_name, r->method_name, r->backend,
             r->precision, r->threads, r->threads == 1 ? "" : "s", *e->name ? e->name : "none", *e->unit ? ", " : "",
             e->unit);
    pbd_print_folded(text, 0, 2, p->columns);
    printf("%*s %11s %11s  %s\n", (int)column_of(p), "", "error", "time", "run");
}

static void print_row(pbd_run_printer *p, const pbd_result *r, const pbd_plan_item *item, bool made) {
    const shown_error e = error_of(p, r);
    const double solve = phase_of(r, "solve");
    const size_t column = column_of(p);
    char error[32] = "-", time[32] = "-", text[1000];
    if (!p->begun) print_heading(p, r, &e);
    p->begun = true;
    if (!is_well(r))
        snprintf(error, sizeof error, "%s",
                 strlen(r->state) > 11 ? "failed" : r->state); /* the line below has the full state */
    else if (*e.name)
        snprintf(error, sizeof error, "%.4g", e.value);
    if (!isnan(solve)) snprintf(time, sizeof time, "%.3g s", solve);
    fputs("  ", stdout);
    if (column == 0)
        pbd_print_folded(varied_of(item), 2, 4, p->columns);
    else
        printf("%-*s", (int)column - 2, varied_of(item));
    printf(" %11s %11s  %.8s\n", error, time, r->run_id[0] ? r->run_id : "-");
    if (!is_well(r)) {
        snprintf(text, sizeof text, "%s: %s%s", r->state, r->says, made ? "" : " (already in the store)");
        fputs("    ", stdout);
        pbd_print_folded(text, 4, 6, p->columns);
    }
    for (size_t i = 0; i < r->warnings; i++) printf("    warning %s\n", r->warning[i].name);
}

void pbd_run_print(pbd_run_printer *p, const pbd_result *r, const pbd_plan_item *item, bool made) {
    if (p->grid && !p->all) {
        print_row(p, r, item, made);
        return;
    }
    print_brief(p, r, item);
    if (p->all) print_all(p, r);
    print_warnings(p, r);
    if (!made) puts("  (already in the store; --again repeats it)");
}
