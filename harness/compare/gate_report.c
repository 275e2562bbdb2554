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
    const pbd_judgement *j = &pairs->of_b.judgement;
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
        if (!pbd_is_error(m->kind)) continue;
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
    memcpy(sorted, line->pairs.s[PBD_ARM_B], n * sizeof *sorted);
    snprintf(out, WORDS, "%.3g ms", 1e3 * pbd_median(sorted, n));
}

static const char *summary_of(const pbd_gate *gate, char out[WORDS]) {
    if (gate->wrong)
        snprintf(out, WORDS, "%zu wrong: times were not judged", gate->wrong);
    else if (gate->regressions)
        snprintf(out, WORDS, "%zu slower than allowed", gate->regressions);
    else if (gate->undecided)
        snprintf(out, WORDS, "inconclusive: %zu undecided%s", gate->undecided,
                 gate->alarms ? ", since the baseline differs from itself on this machine" : "");
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

/* Of the first cell that has times: all of a suite are taken alike. */
static const char *clock_text(const pbd_gate *gate) {
    for (size_t i = 0; i < gate->lines; i++)
        if (gate->line[i].pairs.pairs > 0) return gate->line[i].pairs.clock == PBD_CLOCK_CPU ? "CPU time" : "wall time";
    return "";
}

/* The largest difference of the baseline from itself. */
static const char *control_text(const pbd_gate *gate, char out[WORDS]) {
    double largest = 0;
    for (size_t i = 0; i < gate->lines; i++) {
        const double ratio = gate->line[i].pairs.of_control.judgement.log_ratio.estimate;
        if (fabs(ratio) > fabs(largest)) largest = ratio;
    }
    snprintf(out, WORDS, "the baseline against itself in each cell: %zu alarms, largest difference %+.1f %%",
             gate->alarms, percent(largest));
    return out;
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
    if (gate->timed) fprintf(out, "  %-24s %s\n", "control", control_text(gate, a));
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
    if (gate->timed) fprintf(out, "Control: %s. ", control_text(gate, text));
    if (gate->timed) fprintf(out, "%s, ", clock_text(gate));
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

static json_t *ratios_json(const pbd_pair_ratios *of, bool claimed) {
    const pbd_interval *i = &of->judgement.log_ratio;
    return json_pack("{s:s, s:o, s:o, s:o}", "comparison_id", of->comparison_id, "slowdown",
                     claimed ? pbd_finite_json(expm1(i->estimate)) : json_null(), "low",
                     claimed ? pbd_finite_json(expm1(i->low)) : json_null(), "high",
                     claimed ? pbd_finite_json(expm1(i->high)) : json_null());
}

static json_t *pairing_json(const pbd_pairing *pairs) {
    if (pairs->pairs == 0) return json_null();
    const bool claimed = pairs->differs.code == PBD_OK && pairs->of_b.judgement.pairs > 0;
    json_t *object = ratios_json(&pairs->of_b, claimed);
    json_t *more = json_pack("{s:I, s:s, s:o, s:f, s:f, s:s, s:s}", "pairs", (json_int_t)pairs->pairs, "clock",
                             pairs->clock == PBD_CLOCK_CPU ? "cpu" : "wall", "control",
                             ratios_json(&pairs->of_control, claimed), "load", pairs->load.others, "steal",
                             pairs->load.steal, "doubt", pairs->doubt, "differs", pairs->differs.text);
    json_object_update_new(object, more);
    return object;
}

static json_t *errors_json(const pbd_arm_run *run) {
    json_t *object = json_object();
    for (size_t i = 0; i < run->metrics; i++)
        if (pbd_is_error(run->metric[i].kind))
            json_object_set_new(object, run->metric[i].name, pbd_finite_json(run->metric[i].value));
    return object;
}

static json_t *line_json(const pbd_gate_line *line, const char *name) {
    return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "cell", name, "verdict",
                     pbd_gate_verdict_name(line->verdict), "says", line->says, "alarm", line->alarm, "p",
                     pbd_finite_json(line->p), "control_p", pbd_finite_json(line->control_p), "pairs",
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
    json_t *object =
        json_pack("{s:s, s:i, s:s, s:f, s:I, s:o, s:o, s:I}", "baseline", r->baseline_name, "exit", pbd_gate_code(gate),
                  "summary", summary_of(gate, text), "max_regression", r->max_regression, "seed", (json_int_t)r->seed,
                  "cells", lines, "figures", figures, "alarms", (json_int_t)gate->alarms);
    pbd_write_json(object, out);
}
