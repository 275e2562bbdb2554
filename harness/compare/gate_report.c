/* What a gate found, for people and for machines. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/gate.h"
#include "harness/files/json.h"
#include "harness/files/numbers.h"
#include "harness/machine/environment.h"
#include "harness/query/run_command.h"

/* ---- Parts of a line --------------------------------------------------------------------------------------------- */

enum { WORDS = 160 };

static double percent(double log_ratio) { return 100 * expm1(log_ratio); }

static void ratio_text(const pbd_pairing *pairs, char out[WORDS]) {
    const pbd_judgement *j = &pairs->judgement;
    if (pairs->pairs == 0 || pairs->differs.code != PBD_OK || j->pairs == 0)
        snprintf(out, WORDS, "-");
    else
        snprintf(out, WORDS, "%+.1f %% [%+.1f, %+.1f], %zu pairs", percent(j->log_ratio.estimate),
                 percent(j->log_ratio.low), percent(j->log_ratio.high), j->pairs);
}

/* The error that changed most, else the last, which is the case's. */
static void error_text(const pbd_gate_line *line, char out[WORDS]) {
    const pbd_arm_run *now = &line->current;
    double largest = 0;
    snprintf(out, WORDS, "-");
    for (size_t i = 0; i < now->metrics; i++) {
        const pbd_metric_item *m = &now->metric[i], *before = pbd_arm_metric(&line->baseline, m->name);
        if (m->kind != PBD_ERROR) continue;
        const double change = before ? fabs(m->value - before->value) / (fabs(before->value) + 1e-12) : 0;
        if (change < largest) continue;
        largest = change;
        if (before)
            snprintf(out, WORDS, "%s %.4g -> %.4g", m->name, before->value, m->value);
        else
            snprintf(out, WORDS, "%s %.4g", m->name, m->value);
    }
}

/* The median process of the tested program. */
static void time_text(const pbd_gate_line *line, char out[WORDS]) {
    const size_t n = line->pairs.pairs;
    snprintf(out, WORDS, "-");
    if (n == 0 || line->pairs.differs.code != PBD_OK) return;
    double sorted[PBD_MOST_PAIRS];
    memcpy(sorted, line->pairs.b_s, n * sizeof *sorted);
    snprintf(out, WORDS, "%.3g ms", 1e3 * pbd_median(sorted, n));
}

static const char *summary_of(const pbd_gate *gate, char out[WORDS]) {
    if (gate->wrong)
        snprintf(out, WORDS, "%zu wrong: times were not judged", gate->wrong);
    else if (gate->alarm)
        snprintf(out, WORDS, "inconclusive: on this machine the baseline differs from itself");
    else if (gate->regressions)
        snprintf(out, WORDS, "%zu slower than allowed", gate->regressions);
    else if (gate->undecided)
        snprintf(out, WORDS, "inconclusive: %zu undecided", gate->undecided);
    else if (!gate->compared)
        snprintf(out, WORDS, "inconclusive: the baseline can run none of the cells");
    else if (gate->time_owed)
        snprintf(out, WORDS, "inconclusive: the baseline can run none of the cells that are timed");
    else if (!gate->timed)
        snprintf(out, WORDS, "no error is larger; the suite times nothing");
    else
        snprintf(out, WORDS, "no regression");
    return out;
}

static const char *clock_text(const pbd_pairing *pairs) {
    return pairs->pairs == 0 ? "" : pairs->clock == PBD_CLOCK_CPU ? "CPU time" : "wall time";
}

/* ---- For a terminal ---------------------------------------------------------------------------------------------- */

void pbd_gate_print(const pbd_gate *gate, const pbd_gate_request *r, FILE *out) {
    char a[WORDS], b[WORDS], c[WORDS];
    fprintf(out, "against %s, at most %.3g %% slower, seed %llu\n\n", r->baseline_name, 100 * r->max_regression,
            (unsigned long long)r->seed);
    fprintf(out, "  %-24s %-11s %-10s %-38s %s\n", "cell", "verdict", "time", "slowdown [98 % interval]", "error");
    for (size_t i = 0; i < gate->lines; i++) {
        const pbd_gate_line *line = &gate->line[i];
        time_text(line, a);
        ratio_text(&line->pairs, b);
        error_text(line, c);
        fprintf(out, "  %-24s %-11s %-10s %-38s %s\n", r->suite->cells[i].name, pbd_gate_verdict_name(line->verdict), a,
                b, c);
        if (line->again.pairs > 0) {
            ratio_text(&line->again, b);
            fprintf(out, "  %-24s %-11s %-10s %s\n", "", "again", "", b);
        }
        if (*line->says) fprintf(out, "      %s\n", line->says);
    }
    if (gate->timed) {
        ratio_text(&gate->control, b);
        fprintf(out, "  %-24s %-11s %-10s %-38s %s of the baseline against itself\n", "control",
                gate->alarm ? "ALARM" : "quiet", "", b, r->suite->cells[gate->control_cell].name);
        if (gate->control.differs.code != PBD_OK) fprintf(out, "      %s\n", gate->control.differs.text);
    }
    for (size_t i = 0; i < gate->figures; i++) {
        const pbd_gate_claims *f = &gate->figure[i];
        fprintf(out, "  %-24s %-11s %zu claims: %zu reproduced, %zu partly, %zu not%s%s\n", f->figure,
                pbd_gate_verdict_name(f->verdict), f->claims, f->reproduced, f->partly, f->not_reproduced,
                *f->says ? ": " : "", f->says);
    }
    fprintf(out, "\n%s\n", summary_of(gate, a));
}

/* ---- For a pull request ------------------------------------------------------------------------------------------ */

/* A bar is escaped: it would end the cell. */
static void markdown_cell(FILE *out, const char *text) {
    fputs(" ", out);
    for (; *text; text++) fputs(*text == '|' ? "\\|" : *text == '\n' ? " " : (char[2]){*text, '\0'}, out);
    fputs(" |", out);
}

static void markdown_row(FILE *out, const char *const *cells, size_t count) {
    fputs("|", out);
    for (size_t i = 0; i < count; i++) markdown_cell(out, cells[i]);
    fputs("\n", out);
}

static void markdown_lines(const pbd_gate *gate, const pbd_gate_request *r, FILE *out) {
    char time[WORDS], ratio[WORDS], error[WORDS];
    for (size_t i = 0; i < gate->lines; i++) {
        const pbd_gate_line *line = &gate->line[i];
        time_text(line, time);
        ratio_text(&line->pairs, ratio);
        error_text(line, error);
        const char *const row[] = {
            r->suite->cells[i].name, pbd_gate_verdict_name(line->verdict), time, ratio, error, line->says};
        markdown_row(out, row, 6);
        if (line->again.pairs == 0) continue;
        ratio_text(&line->again, ratio);
        const char *const again[] = {"", "", "", ratio, "", "measured again"};
        markdown_row(out, again, 6);
    }
    if (!gate->timed) return;
    ratio_text(&gate->control, ratio);
    const char *const control[] = {"control", gate->alarm ? "alarm" : "quiet", "", ratio,
                                   "",        "the baseline against itself"};
    markdown_row(out, control, 6);
}

/* The command line as it was given, with the drawn seed where it gave none. */
static void print_again(const pbd_gate_request *r, FILE *out) {
    bool seeded = false;
    for (int i = 0; i < r->argc; i++) {
        fputs(" ", out);
        pbd_write_word(out, r->argv[i]);
        seeded = seeded || strncmp(r->argv[i], "--seed", 6) == 0;
    }
    if (!seeded) fprintf(out, " --seed %llu", (unsigned long long)r->seed);
}

void pbd_gate_markdown(const pbd_gate *gate, const pbd_gate_request *r, FILE *out) {
    char text[WORDS];
    pbd_machine machine;
    const pbd_build *build = pbd_this_build();
    fprintf(out, "### pbdbench gate: %s\n\n", summary_of(gate, text));
    fputs("| cell | verdict | time | slowdown, 98 % interval | error | |\n| --- | --- | ---: | --- | --- | --- |\n",
          out);
    markdown_lines(gate, r, out);
    for (size_t i = 0; i < gate->figures; i++) {
        const pbd_gate_claims *f = &gate->figure[i];
        char claims[WORDS];
        snprintf(claims, sizeof claims, "%zu claims: %zu reproduced, %zu partly, %zu not", f->claims, f->reproduced,
                 f->partly, f->not_reproduced);
        const char *const row[] = {f->figure, pbd_gate_verdict_name(f->verdict), "", "", claims, f->says};
        markdown_row(out, row, 6);
    }
    fputs("\n", out);
    if (gate->timed) fprintf(out, "%s, ", clock_text(&gate->control));
    fprintf(out, "against `%s`, at most %.3g %% slower", r->baseline_name, 100 * r->max_regression);
    if (pbd_this_machine(&machine).code == PBD_OK) fprintf(out, "; %s, %d cores", machine.cpu, machine.cores);
    if (r->other_program)
        fprintf(out, "; program tested: `%s`", r->current);
    else
        fprintf(out, "; commit %.12s%s, %s", build->git_sha, build->dirty ? " with changes" : "", build->compiler);
    fputs(". Again: `pbdbench", out);
    print_again(r, out);
    fputs("`\n", out);
}

/* ---- For a machine ----------------------------------------------------------------------------------------------- */

static json_t *pairing_json(const pbd_pairing *pairs) {
    const pbd_judgement *j = &pairs->judgement;
    if (pairs->pairs == 0) return json_null();
    const bool claimed = pairs->differs.code == PBD_OK && j->pairs > 0;
    return json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:s}", "comparison_id", pairs->comparison_id, "pairs",
                     (json_int_t)pairs->pairs, "clock", pairs->clock == PBD_CLOCK_CPU ? "cpu" : "wall", "slowdown",
                     claimed ? pbd_finite_json(expm1(j->log_ratio.estimate)) : json_null(), "low",
                     claimed ? pbd_finite_json(expm1(j->log_ratio.low)) : json_null(), "high",
                     claimed ? pbd_finite_json(expm1(j->log_ratio.high)) : json_null(), "differs", pairs->differs.text);
}

static json_t *errors_json(const pbd_arm_run *run) {
    json_t *object = json_object();
    for (size_t i = 0; i < run->metrics; i++)
        if (run->metric[i].kind == PBD_ERROR)
            json_object_set_new(object, run->metric[i].name, pbd_finite_json(run->metric[i].value));
    return object;
}

static json_t *line_json(const pbd_gate_line *line, const char *name) {
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "cell", name, "verdict",
                     pbd_gate_verdict_name(line->verdict), "says", line->says, "p", pbd_finite_json(line->p), "pairs",
                     pairing_json(&line->pairs), "confirm", pairing_json(&line->again), "errors",
                     errors_json(&line->current), "baseline_errors", errors_json(&line->baseline), "run_id",
                     line->current.run_id, "baseline_run_id", line->baseline.run_id);
}

void pbd_gate_json(const pbd_gate *gate, const pbd_gate_request *r, FILE *out) {
    char text[WORDS];
    json_t *lines = json_array(), *figures = json_array();
    for (size_t i = 0; i < gate->lines; i++)
        json_array_append_new(lines, line_json(&gate->line[i], r->suite->cells[i].name));
    for (size_t i = 0; i < gate->figures; i++) {
        const pbd_gate_claims *f = &gate->figure[i];
        json_array_append_new(
            figures, json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:s}", "figure", f->figure, "verdict",
                               pbd_gate_verdict_name(f->verdict), "exit", f->code, "claims", (json_int_t)f->claims,
                               "reproduced", (json_int_t)f->reproduced, "partly", (json_int_t)f->partly,
                               "not_reproduced", (json_int_t)f->not_reproduced, "says", f->says));
    }
    json_t *object = json_pack(
        "{s:s, s:i, s:s, s:f, s:I, s:o, s:o, s:{s:b, s:b, s:s, s:o}}", "baseline", r->baseline_name, "exit",
        pbd_gate_code(gate), "summary", summary_of(gate, text), "max_regression", r->max_regression, "seed",
        (json_int_t)r->seed, "cells", lines, "figures", figures, "control", "timed", gate->timed, "alarm", gate->alarm,
        "cell", gate->timed ? r->suite->cells[gate->control_cell].name : "", "pairs", pairing_json(&gate->control));
    pbd_write_json(object, out);
}
