/* Printing: claims with their numbers, pictures, differences from what was accepted; and forecasts. */
#include "harness/figure/figure_report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/folded.h"
#include "harness/files/json.h"
#include "harness/process/exit_codes.h"
#include "harness/process/progress.h"
#include "harness/store/rows.h"

enum { LABELS_SHOWN = 8 }; /* of the runs a dry run would make; --json has them all */

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text) { return text && *text ? pbd_text_json(text) : json_null(); }

static json_t *claim_json(const pbd_claim_result *r, bool compared) {
    json_t *ids = json_array(), *readings = json_array();
    for (size_t k = 0; k < r->readings; k++) {
        const pbd_claim_reading *reading = &r->reading[k];
        json_array_append_new(readings,
                              json_pack("{s:o, s:o, s:s, s:o}", "reading", pbd_text_json(reading->name), "value",
                                        pbd_finite_json(reading->value), "verdict", reading->verdict, "accepted",
                                        compared ? text_or_null(reading->accepted) : json_null()));
    }
    for (size_t i = 0; i < r->runs; i++) json_array_append_new(ids, json_string(r->run_id[i]));
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "id", r->claim->id, "says", r->claim->says,
                     "value", pbd_finite_json(r->value), "verdict", r->verdict, "reason", text_or_null(r->reason),
                     "accepted", compared ? text_or_null(r->accepted) : json_null(), "note", text_or_null(r->note),
                     "readings", readings, "run_ids", ids, "beyond", r->claim->beyond);
}

static void add_text(json_t *array, const char *text) { json_array_append_new(array, pbd_text_json(text)); }

static json_t *warnings_json(const pbd_figure_report *report, bool compared) {
    json_t *warnings = json_array();
    char line[300];
    if (report->drawing->warning) add_text(warnings, report->drawing->warning);
    if (compared && report->trouble.code == PBD_OK && !report->claims->any_accepted && report->claims->count)
        add_text(warnings, "no accepted verdicts yet; --accept writes them");
    for (unsigned i = 0; i < report->file->runs_count; i++) {
        char left_out[500];
        pbd_left_out_text(&report->file->runs[i], left_out);
        if (*left_out) add_text(warnings, left_out);
    }
    for (size_t i = 0; i < report->claims->stales; i++) {
        snprintf(line, sizeof line, "verdicts.csv holds the claim '%s', which the figure does not have",
                 report->claims->stale[i]);
        add_text(warnings, line);
    }
    return warnings;
}

static void report_json(const pbd_figure_report *report, const pbd_report_style *style) {
    json_t *claims = json_array(), *plots = json_array(), *errors = json_array();
    for (size_t i = 0; i < report->claims->count; i++)
        json_array_append_new(claims, claim_json(&report->claims->item[i], style->scale == PBD_SCALE_USUAL));
    for (size_t i = 0; i < report->drawing->plots; i++) add_text(plots, report->drawing->plot[i]);
    if (report->trouble.code != PBD_OK) add_text(errors, report->trouble.text);
    if (report->trouble.code != PBD_OK && report->drawing->output && *report->drawing->output)
        add_text(errors, report->drawing->output);
    pbd_print_json(json_pack("{s:s, s:b, s:b, s:o, s:o, s:o, s:o}", "figure", report->file->figure, "quick",
                             style->scale == PBD_SCALE_QUICK, "full", style->scale == PBD_SCALE_FULL, "claims", claims,
                             "plots", plots, "warnings", warnings_json(report, style->scale == PBD_SCALE_USUAL),
                             "errors", errors));
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static const char *colour_of(const char *verdict) {
    if (strcmp(verdict, "reproduced") == 0) return "\033[32m";
    if (strcmp(verdict, "partly") == 0) return "\033[33m";
    if (strcmp(verdict, "not_reproduced") == 0) return "\033[31m";
    return "\033[2m";
}

static const char *plain_verdict(const char *verdict) {
    if (strcmp(verdict, "not_reproduced") == 0) return "not reproduced";
    return strcmp(verdict, "not_run") == 0 ? "not run" : verdict;
}

/* Indented under the verdict, without the line break that a folded YAML text ends with. */
static void print_below(const char *text) {
    int length = (int)strlen(text);
    while (length > 0 && text[length - 1] == '\n') length--;
    if (length) printf("%18s%.*s\n", "", length, text);
}

static void print_bounds(const pbd_claim *claim) {
    char text[300];
    snprintf(text, sizeof text, "reproduced: %.80s%s%.80s%s%s", claim->reproduced, claim->partly ? "; partly: " : "",
             claim->partly ? claim->partly : "", claim->rule ? "; of its readings: " : "",
             claim->rule ? claim->rule : "");
    print_below(text);
    if (claim->because) print_below(claim->because);
}

static void print_reading(const pbd_claim_reading *r) {
    printf("%18s%-14s  %s", "", plain_verdict(r->verdict), r->name);
    if (isfinite(r->value)) printf("  = %.6g", r->value);
    putchar('\n');
}

static void print_claim(const pbd_claim_result *r, const char *mark) {
    bool colour = pbd_is_terminal(stdout);
    const char *verdict = r->left_out ? "not judged" : plain_verdict(r->verdict);
    printf("  %s%-14s%s  %s%s%s", colour ? colour_of(r->verdict) : "", verdict, colour ? "\033[0m" : "", r->claim->id,
           r->claim->beyond ? " (ours)" : "", mark);
    if (isfinite(r->value)) printf("  = %.6g", r->value);
    putchar('\n');
    print_below(r->claim->says);
    print_bounds(r->claim);
    for (size_t k = 0; k < r->readings; k++) print_reading(&r->reading[k]);
    if (r->note) print_below(r->note);
    if (r->claim->notes) print_below(r->claim->notes);
}

static size_t count_judged(const pbd_claim_results *c) {
    size_t judged = 0;
    for (size_t i = 0; i < c->count; i++) judged += !c->item[i].left_out;
    return judged;
}

static void print_difference(const pbd_claim_result *r) {
    if (strcmp(r->verdict, r->accepted) != 0)
        printf("  DIFFERS: %s is %s; accepted: %s\n", r->claim->id, plain_verdict(r->verdict),
               *r->accepted ? plain_verdict(r->accepted) : "nothing");
    for (size_t k = 0; k < r->readings; k++) {
        const pbd_claim_reading *reading = &r->reading[k];
        if (strcmp(reading->verdict, reading->accepted) == 0) continue;
        printf("  DIFFERS: %s (%s) is %s; accepted: %s\n", r->claim->id, reading->name, plain_verdict(reading->verdict),
               *reading->accepted ? plain_verdict(reading->accepted) : "nothing");
    }
}

static void print_differences(const pbd_figure_report *report) {
    const pbd_claim_results *c = report->claims;
    const char *id = report->file->figure;
    if (report->trouble.code != PBD_OK && !c->any_accepted) return; /* it happened before they were read */
    if (report->accepted_now) {
        printf("  accepted: plots/%s/verdicts.csv now holds these verdicts\n", id);
    } else if (!c->any_accepted) {
        if (c->count)
            printf("  no accepted verdicts yet: `pbdbench reproduce %s --accept` writes plots/%s/verdicts.csv\n", id,
                   id);
    } else if (c->differing == 0) {
        const size_t judged = count_judged(c);
        printf("  all %zu verdicts%s are as accepted\n", judged, judged < c->count ? " that could be judged" : "");
    }
    if (report->accepted_now || !c->any_accepted) return;
    for (size_t i = 0; i < c->count; i++)
        if (pbd_claim_differs(&c->item[i])) print_difference(&c->item[i]);
    for (size_t i = 0; i < c->stales; i++)
        printf("  DIFFERS: verdicts.csv holds the claim %s, which the figure does not have\n", c->stale[i]);
}

static void print_counts(const pbd_figure_report *report) {
    static const char *const words[] = {"reproduced", "partly", "not_reproduced", "not_run"};
    const char *comma = "";
    for (size_t w = 0; w < 4; w++) {
        size_t count = 0;
        for (size_t i = 0; i < report->claims->count; i++)
            count += !report->claims->item[i].left_out && strcmp(report->claims->item[i].verdict, words[w]) == 0;
        if (count) printf("%s%zu %s", comma, count, plain_verdict(words[w]));
        if (count) comma = ", ";
    }
    const size_t left_out = report->claims->count - count_judged(report->claims);
    if (left_out) printf("%s%zu not judged", comma, left_out);
    if (left_out) comma = ", ";
    puts(*comma ? "" : report->file->claims_count ? "claims not judged" : "no claims");
}

static void print_left_out(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->runs_count; i++) {
        char left_out[500];
        pbd_left_out_text(&file->runs[i], left_out);
        if (*left_out) pbd_print_line(2, "%s", left_out);
    }
}

static void report_text(const pbd_figure_report *report, const pbd_report_style *style) {
    const char *mark = pbd_scale_mark(style->scale);
    if (style->quiet) {
        printf("%s%s: ", report->file->figure, mark);
        print_counts(report);
    } else {
        printf("%s%s: %s\n", report->file->figure, mark, report->file->title);
        for (size_t i = 0; i < report->claims->count; i++) print_claim(&report->claims->item[i], mark);
        for (size_t i = 0; i < report->drawing->plots; i++) printf("  drawn%s: %s\n", mark, report->drawing->plot[i]);
        print_left_out(report->file);
    }
    if (report->drawing->warning) printf("  warning: %s\n", report->drawing->warning);
    if (style->scale == PBD_SCALE_USUAL && !(style->quiet && report->claims->differing == 0)) print_differences(report);
}

void pbd_report_figure(const pbd_figure_report *report, const pbd_report_style *style) {
    if (style->json)
        report_json(report, style);
    else
        report_text(report, style);
    fflush(stdout);
    /* Warnings also go to standard error when the JSON goes to a file or a pipe. */
    if (style->json && report->drawing->warning) fprintf(stderr, "pbdbench: warning: %s\n", report->drawing->warning);
    if (report->trouble.code == PBD_OK) return;
    if (report->drawing->output) fputs(report->drawing->output, stderr);
    pbd_complain(report->trouble);
}

/* ---- Forecasts --------------------------------------------------------------------------------------------------- */

/* Mean seconds of stored runs of a case and method, or NAN. The mean over all parameters is an estimate, and the output
 * says so. */
static double stored_seconds(pbd_store *store, const pbd_group *group) {
    static const char query[] =
        "SELECT avg(seconds) FROM (SELECT sum(wall_s) AS seconds FROM phase JOIN run_view USING (run_id) "
        "WHERE case_name = ?1 AND method = ?2 AND name NOT LIKE '%/%' GROUP BY run_id)";
    sqlite3_stmt *mean;
    double seconds = NAN;
    if (!store || sqlite3_prepare_v2(pbd_store_sql(store), query, -1, &mean, NULL) != SQLITE_OK) return NAN;
    sqlite3_bind_text(mean, 1, group->case_name, -1, SQLITE_STATIC);
    sqlite3_bind_text(mean, 2, group->method, -1, SQLITE_STATIC);
    if (sqlite3_step(mean) == SQLITE_ROW && sqlite3_column_type(mean, 0) != SQLITE_NULL)
        seconds = sqlite3_column_double(mean, 0);
    sqlite3_finalize(mean);
    return seconds;
}

/* The file's seconds cover the runs within reach and without engines; returns the share of one of them. */
static pbd_status share_of_file(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_scale scale,
                                const pbd_plan_tally *runs, double *out) {
    const double whole[] = {file->seconds, file->quick_seconds, 0};
    size_t shares = runs->runs - runs->left_out;
    for (unsigned i = 0; i < file->runs_count; i++) {
        pbd_plan_tally tally;
        if (!file->runs[i].engine) continue;
        PBD_TRY(pbd_plan_count(plan, first_group + i, first_group + i + 1, &tally));
        const size_t engine = tally.runs - tally.left_out;
        shares = shares > engine ? shares - engine : 0;
    }
    *out = whole[scale] > 0 && shares > 0 ? whole[scale] / (double)shares : NAN;
    return pbd_ok();
}

pbd_status pbd_forecast_figure(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_scale scale,
                               pbd_store *store, double *each, pbd_forecast *out) {
    pbd_arena a PBD_ARENA;
    double share, alone;
    bool known = true;
    if (!each) each = pbd_new(&a, double, plan->count);
    PBD_TRY(pbd_arena_check(&a));
    *out = (pbd_forecast){.memory_mib = file->memory_mib, .measured = true};
    PBD_TRY(pbd_plan_count(plan, first_group, first_group + file->runs_count, &out->runs));
    PBD_TRY(share_of_file(file, plan, first_group, scale, &out->runs, &share));
    for (unsigned i = 0; i < file->runs_count; i++) {
        pbd_plan_tally tally;
        PBD_TRY(pbd_plan_count(plan, first_group + i, first_group + i + 1, &tally));
        if (tally.missing == tally.left_out) continue;
        const double stored = scale == PBD_SCALE_QUICK ? NAN : stored_seconds(store, &file->runs[i]);
        const double seconds = isnan(stored) ? share : stored;
        if (isnan(stored)) out->measured = false;
        if (isnan(seconds)) known = false;
        for (size_t k = 0; k < plan->count; k++)
            if (plan->item[k].group == first_group + i) each[k] = seconds;
    }
    PBD_TRY(pbd_plan_seconds(plan, first_group, first_group + file->runs_count, each, &out->seconds, &alone));
    if (!known) out->seconds = NAN;
    return pbd_ok();
}

static void forecast_json(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group,
                          const pbd_forecast *forecast, pbd_scale scale) {
    json_t *labels = json_array(), *cells = json_array();
    for (size_t i = 0; i < plan->count; i++) {
        const pbd_plan_item *item = &plan->item[i];
        if (item->group >= first_group && item->group < first_group + file->runs_count && !item->run_id[0] &&
            !pbd_out_of_reach(item)) {
            add_text(labels, item->label);
            add_text(cells, item->cell_id);
        }
    }
    const char *name = file->figure ? file->figure : file->shown_as;
    pbd_print_json(json_pack("{s:o, s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "figure",
                             pbd_text_json(name), "quick", scale == PBD_SCALE_QUICK, "full", scale == PBD_SCALE_FULL,
                             "dry_run", 1, "runs", (json_int_t)forecast->runs.runs, "stored",
                             (json_int_t)(forecast->runs.runs - forecast->runs.missing), "to_make",
                             (json_int_t)(forecast->runs.missing - forecast->runs.left_out), "left_out",
                             (json_int_t)forecast->runs.left_out, "labels", labels, "cells", cells, "seconds",
                             pbd_finite_json(forecast->seconds), "memory_mib",
                             forecast->memory_mib > 0 ? json_real(forecast->memory_mib) : json_null()));
}

void pbd_report_forecast(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group,
                         const pbd_forecast *forecast, const pbd_report_style *style) {
    if (style->json) {
        forecast_json(file, plan, first_group, forecast, style->scale);
        return;
    }
    const size_t to_make = forecast->runs.missing - forecast->runs.left_out;
    char time[80] = "", memory[40] = "";
    if (to_make && isfinite(forecast->seconds))
        snprintf(time, sizeof time, "; about %.2g s (%s)", forecast->seconds,
                 forecast->measured ? "from stored runs" : "as its file says");
    else if (to_make)
        snprintf(time, sizeof time, "; time unknown: no similar run is stored");
    if (forecast->memory_mib > 0) snprintf(memory, sizeof memory, "; about %.3g MiB", forecast->memory_mib);
    pbd_print_line(0, "%s%s: %zu runs, %zu stored, %zu to make%s%s", file->figure ? file->figure : file->shown_as,
                   pbd_scale_mark(style->scale), forecast->runs.runs, forecast->runs.runs - forecast->runs.missing,
                   to_make, time, memory);
    for (unsigned i = 0; i < file->runs_count && !style->quiet; i++) {
        pbd_plan_tally tally;
        if (pbd_plan_count(plan, first_group + i, first_group + i + 1, &tally).code != PBD_OK) return;
        pbd_print_line(2, "%s: %zu runs, %zu to make", file->runs[i].name, tally.runs, tally.missing - tally.left_out);
        pbd_plan_print_missing(plan, first_group + i, first_group + i + 1, LABELS_SHOWN);
    }
    if (!style->quiet) print_left_out(file);
}
