/* The order of the gate's phases; gate.h gives the reasons. */
#include "harness/compare/gate.h"

#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/clock.h"
#include "harness/process/child.h"
#include "harness/process/exit_codes.h"
#include "harness/process/interrupt.h"
#include "harness/run/run.h"

static const double FALSE_DISCOVERIES = 0.05;
/* With 8 pairs the smallest p-value, for its look, is 0.01: too large to stand out among ten cells. */
enum { FIRST_PAIRS = 12, MOST_WORDS = 96, MOST_TOLERANCES = 16 };

const char *pbd_gate_verdict_name(pbd_gate_verdict verdict) {
    static const char *const names[] = {"ok", "wrong", "regression", "undecided", "new", "not timed"};
    return names[verdict];
}

/* ---- A cell as words --------------------------------------------------------------------------------------------- */

typedef struct cell_words {
    const char *word[MOST_WORDS];
    char threads[16], name[512];
    char metric[MOST_TOLERANCES][64];
    pbd_tolerance tolerance[MOST_TOLERANCES];
    size_t tolerances;
} cell_words;

static pbd_status spell_cell(const pbd_gate_cell *cell, cell_words *out) {
    size_t n = 0;
    if (cell->set_count > MOST_WORDS / 2 - 8 || cell->tolerances_count > MOST_TOLERANCES)
        return pbd_error(PBD_BAD_INPUT, "cell '%.60s' has more than %d settings or %d tolerances", cell->name,
                         MOST_WORDS / 2 - 8, MOST_TOLERANCES);
    snprintf(out->threads, sizeof out->threads, "%u", cell->threads ? cell->threads : 1);
    snprintf(out->name, sizeof out->name, "%s", cell->name);
    const char *const head[] = {cell->case_name,
                                "-m",
                                cell->method,
                                "-b",
                                cell->backend ? cell->backend : "cpu",
                                "-p",
                                cell->precision ? cell->precision : "f64",
                                "-t",
                                out->threads};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) out->word[n++] = head[i];
    for (unsigned i = 0; i < cell->set_count; i++) {
        out->word[n++] = "-s";
        out->word[n++] = cell->set[i];
    }
    out->word[n] = NULL;
    out->tolerances = cell->tolerances_count;
    for (unsigned i = 0; i < cell->tolerances_count; i++) {
        const char *equals = strchr(cell->tolerances[i], '=');
        snprintf(out->metric[i], sizeof out->metric[i], "%.*s", (int)(equals - cell->tolerances[i]),
                 cell->tolerances[i]);
        out->tolerance[i] = (pbd_tolerance){out->metric[i], strtod(equals + 1, NULL)};
    }
    return pbd_ok();
}

static pbd_arm baseline_arm(const pbd_gate_request *r, const char *name, const cell_words *words) {
    return (pbd_arm){.name = name,
                     .program = r->baseline,
                     .plugin = r->baseline_plugin,
                     .engine = r->baseline_engine,
                     .word = words->word};
}

static pbd_arm current_arm(const pbd_gate_request *r, const char *name, const cell_words *words) {
    return (pbd_arm){.name = name,
                     .program = r->current,
                     .plugin = r->current_plugin,
                     .engine = r->current_engine,
                     .word = words->word};
}

static void tell(const pbd_gate_request *r, const char *what, size_t done, size_t total) {
    if (r->observe) r->observe(r->context, what, done, total);
}

/* ---- Errors, counts, claims -------------------------------------------------------------------------------------- */

static void set_line(pbd_gate *gate, pbd_gate_line *line, pbd_gate_verdict verdict, const char *says) {
    line->verdict = verdict;
    snprintf(line->says, sizeof line->says, "%s", says);
    gate->wrong += verdict == PBD_GATE_WRONG;
}

static bool is_fine(const pbd_arm_run *run) { return strcmp(run->state, "ok") == 0; }

/* A cell that the baseline lacks is run too: it must succeed. */
static pbd_status judge_cell(const pbd_gate_request *r, const cell_words *words, pbd_gate *gate, pbd_gate_line *line) {
    const pbd_arm a = baseline_arm(r, "the baseline", words), b = current_arm(r, "the program", words);
    const pbd_arm_settings once = {.db = r->db, .core = -1};
    char says[400];
    PBD_TRY(pbd_arm_call(&b, &once, &line->current));
    if (!is_fine(&line->current)) {
        snprintf(says, sizeof says, "it ended %s: %.300s", line->current.state, line->current.says);
        set_line(gate, line, PBD_GATE_WRONG, says);
        return pbd_ok();
    }
    pbd_status status = pbd_arm_call(&a, &once, &line->baseline);
    if (status.code == PBD_BAD_INPUT) {
        set_line(gate, line, PBD_GATE_NEW, status.text);
        return pbd_ok();
    }
    PBD_TRY(status);
    if (!is_fine(&line->baseline)) {
        snprintf(says, sizeof says, "the baseline ended %s: %.300s", line->baseline.state, line->baseline.says);
        set_line(gate, line, PBD_GATE_NEW, says);
        return pbd_ok();
    }
    gate->compared = true;
    pbd_status differs = pbd_ok();
    PBD_TRY(pbd_judge_errors(&line->baseline, &line->current, r->db, words->tolerance, words->tolerances, &differs));
    if (differs.code != PBD_OK) set_line(gate, line, PBD_GATE_WRONG, differs.text);
    return pbd_ok();
}

static void count_verdicts(const json_t *claims, pbd_gate_claims *out) {
    size_t i;
    const json_t *claim;
    json_array_foreach((json_t *)(uintptr_t)claims, i, claim) {
        const char *verdict = json_string_value(json_object_get(claim, "verdict"));
        if (!verdict) continue;
        out->claims++;
        out->reproduced += strcmp(verdict, "reproduced") == 0;
        out->partly += strcmp(verdict, "partly") == 0;
        out->not_reproduced += strcmp(verdict, "not_reproduced") == 0;
    }
}

/* Where `reproduce` draws, and stores its runs when nothing is to be stored: a folder that is removed afterwards, so
 * that a gate changes neither pictures nor store. */
static pbd_status make_scratch(char path[PATH_MAX]) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%.3000s/pbdbench-gate-XXXXXX", folder && *folder ? folder : "/tmp");
    if (mkdtemp(path)) return pbd_ok();
    const pbd_status status = pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be made: %s", path, strerror(errno));
    *path = '\0';
    return status;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static void remove_scratch(const char *path) {
    if (*path) nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The result of a figure, by the exit code of `reproduce`: it compares verdicts with the accepted ones itself. */
static pbd_gate_verdict figure_verdict(const pbd_gate_claims *f, const char *last, char *says, size_t size) {
    if (f->code == 0) return PBD_GATE_OK;
    const bool changed = f->code == PBD_EXIT_VALIDATION;
    if (changed || f->code == PBD_EXIT_RUN_FAILED || f->code < 0) {
        const char *why = changed ? "a claim's verdict differs from the accepted one" : *last ? last : "a run failed";
        if (f->code < 0)
            snprintf(says, size, "signal %d ended it", -f->code);
        else
            snprintf(says, size, "%s", why);
        return PBD_GATE_WRONG;
    }
    snprintf(says, size, "it could not be judged: %.300s", *last ? last : "reproduce printed nothing");
    return PBD_GATE_UNDECIDED;
}

static pbd_status judge_claims(const pbd_gate_request *r, const char *scratch, pbd_gate *gate, pbd_gate_claims *out) {
    char store[PATH_MAX + 16], last[300];
    snprintf(store, sizeof store, "%s/gate.db", scratch);
    const char *word[] = {r->current, "reproduce", out->figure,           "--json", "--quiet", "--out",
                          scratch,    "--db",      r->db ? r->db : store, NULL};
    pbd_child child;
    PBD_TRY(pbd_child_run(word, NULL, -1, &child));
    json_t *answer = json_loads(child.out, 0, NULL);
    count_verdicts(json_object_get(answer, "claims"), out);
    json_decref(answer);
    out->code = child.code;
    pbd_last_words(child.err, last, sizeof last);
    const bool interrupted = pbd_interrupted() || child.code == PBD_EXIT_INTERRUPTED;
    pbd_child_free(&child);
    if (interrupted) return pbd_error(PBD_INTERRUPTED, "interrupted while %s was reproduced", out->figure);
    out->verdict = figure_verdict(out, last, out->says, sizeof out->says);
    gate->wrong += out->verdict == PBD_GATE_WRONG;
    gate->undecided += out->verdict == PBD_GATE_UNDECIDED;
    return pbd_ok();
}

static pbd_status judge_figures(const pbd_gate_request *r, pbd_gate *gate) {
    char scratch[PATH_MAX] = "";
    if (gate->figures == 0) return pbd_ok();
    pbd_status status = make_scratch(scratch);
    for (size_t i = 0; i < gate->figures && status.code == PBD_OK; i++) {
        tell(r, gate->figure[i].figure, gate->lines + i, gate->lines + gate->figures);
        status = judge_claims(r, scratch, gate, &gate->figure[i]);
    }
    remove_scratch(scratch);
    return status;
}

static pbd_status judge_answers(const pbd_gate_request *r, const cell_words *words, pbd_gate *gate) {
    const size_t total = gate->lines + gate->figures;
    for (size_t i = 0; i < gate->lines; i++) {
        tell(r, words[i].name, i, total);
        PBD_TRY(judge_cell(r, &words[i], gate, &gate->line[i]));
    }
    return judge_figures(r, gate);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

typedef struct timing {
    const pbd_gate_request *request;
    const char *what;
    size_t before, planned; /* pairs */
} timing;

static void on_pair(void *context, size_t pairs, size_t most) {
    const timing *t = context;
    (void)most;
    const size_t done = t->before + pairs;
    tell(t->request, t->what, done, done < t->planned ? t->planned : done + 1);
}

static pbd_status time_cell(timing *t, const cell_words *words, const char *purpose, uint64_t seed, pbd_pairing *out) {
    const pbd_gate_request *r = t->request;
    const pbd_pairing_request pairing = {.a = baseline_arm(r, r->baseline_name, words),
                                         .b = current_arm(r, "current", words),
                                         .db = r->db,
                                         .margin = r->max_regression,
                                         .seconds = r->seconds,
                                         .bound_only = true,
                                         .first_pairs = FIRST_PAIRS < r->most_pairs ? FIRST_PAIRS : r->most_pairs,
                                         .most_pairs = r->most_pairs,
                                         .seed = seed,
                                         .max_load = r->max_load,
                                         .max_steal = r->max_steal,
                                         .purpose = purpose,
                                         .tolerance = words->tolerance,
                                         .tolerances = words->tolerances,
                                         .argc = r->argc,
                                         .argv = r->argv};
    t->what = words->name;
    PBD_TRY(pbd_pair(&pairing, on_pair, t, out));
    t->before += out->pairs;
    return pbd_ok();
}

/* A result that differs between two processes of one program is wrong too. */
static bool is_timed(pbd_gate *gate, pbd_gate_line *line, const pbd_pairing *pairs) {
    if (pairs->differs.code == PBD_OK) return true;
    set_line(gate, line, PBD_GATE_WRONG, pairs->differs.text);
    return false;
}

static void set_undecided(pbd_gate *gate, pbd_gate_line *line, const char *says) {
    line->verdict = PBD_GATE_UNDECIDED;
    gate->undecided++;
    snprintf(line->says, sizeof line->says, "%s", says);
}

/* Where the machine was too busy, or the baseline differs from itself (`alarm`), a cell is undecided. */
static bool is_doubted(pbd_gate *gate, pbd_gate_line *line, const pbd_pairing *pairs, bool alarm) {
    char says[160];
    const pbd_interval *control = &pairs->of_control.judgement.log_ratio;
    if (pairs->overloaded) {
        set_undecided(gate, line, pairs->doubt);
        return true;
    }
    if (!alarm) return false;
    gate->alarms += !line->alarm;
    line->alarm = true;
    snprintf(says, sizeof says, "the baseline differs from another process of itself by %+.1f %% [%+.1f, %+.1f]",
             100 * expm1(control->estimate), 100 * expm1(control->low), 100 * expm1(control->high));
    set_undecided(gate, line, says);
    return true;
}

/* A disturbance that sits on one of two programs can last for minutes. */
static pbd_status wait_for_the_second_block(timing *t, const cell_words *words, const pbd_gate_line *line) {
    const pbd_gate_request *r = t->request;
    if (!pbd_is_busy(&line->pairs.load)) return pbd_ok();
    while (pbd_wall_seconds() - line->timed_at < r->confirm_after) {
        char what[600];
        snprintf(what, sizeof what, "%s: the second block follows in %.0f s", words->name,
                 ceil(r->confirm_after - (pbd_wall_seconds() - line->timed_at)));
        tell(r, what, t->before, t->before + FIRST_PAIRS);
        sleep(1);
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted before the second block of a cell");
    }
    return pbd_ok();
}

static pbd_status confirm(timing *t, const cell_words *words, uint64_t seed, pbd_gate *gate, pbd_gate_line *line) {
    const double limit = t->request->max_regression;
    PBD_TRY(wait_for_the_second_block(t, words, line));
    PBD_TRY(time_cell(t, words, "confirm", seed, &line->again));
    if (!is_timed(gate, line, &line->again)) return pbd_ok();
    if (is_doubted(gate, line, &line->again, pbd_control_p(&line->again, limit) <= FALSE_DISCOVERIES)) return pbd_ok();
    const bool slower = pbd_pairing_p(&line->again, limit, 1) <= FALSE_DISCOVERIES;
    if (slower && line->again.same_work)
        set_undecided(gate, line, PBD_SAME_WORK);
    else if (slower) {
        gate->regressions++;
        line->verdict = PBD_GATE_REGRESSION;
    } else if (pbd_pairing_within(&line->again, limit))
        snprintf(line->says, sizeof line->says, "the second block does not confirm the first");
    else
        set_undecided(gate, line, "the second block does not confirm the first, and does not exclude it");
    return pbd_ok();
}

static void judge_time(const pbd_gate_request *r, pbd_gate *gate, pbd_gate_line *line) {
    const pbd_judgement *j = &line->pairs.of_b.judgement;
    char says[160];
    if (pbd_pairing_within(&line->pairs, r->max_regression)) return;
    const double half = 0.5 * (j->log_ratio.high - j->log_ratio.low),
                 room = fabs(log1p(r->max_regression) - j->log_ratio.estimate);
    const double more = (double)j->pairs * (half * half / (room * room) - 1);
    if (more < 10000)
        snprintf(says, sizeof says,
                 "the interval holds %.3g %%: about %.0f more pairs would decide, or a quieter machine",
                 100 * r->max_regression, fmax(1, ceil(more)));
    else
        snprintf(says, sizeof says, "the slowdown is too close to %.3g %% to be distinguished from it",
                 100 * r->max_regression);
    set_undecided(gate, line, says);
}

static bool is_timeable(const pbd_gate_request *r, const pbd_gate *gate, size_t cell) {
    return gate->line[cell].verdict == PBD_GATE_OK && !r->suite->cells[cell].untimed;
}

static bool wants_times(const pbd_gate_suite *suite) {
    for (unsigned i = 0; i < suite->cells_count; i++)
        if (!suite->cells[i].untimed) return true;
    return false;
}

static pbd_status time_all(timing *t, const cell_words *words, pbd_gate *gate) {
    const pbd_gate_request *r = t->request;
    size_t count = 0;
    for (size_t i = 0; i < gate->lines; i++) count += is_timeable(r, gate, i);
    gate->time_owed = count == 0 && wants_times(r->suite);
    gate->timed = count > 0;
    t->planned = FIRST_PAIRS * count;
    for (size_t i = 0; i < gate->lines; i++) {
        pbd_gate_line *line = &gate->line[i];
        if (!is_timeable(r, gate, i)) continue;
        PBD_TRY(time_cell(t, &words[i], "gate", r->seed + 1 + i, &line->pairs));
        line->timed_at = pbd_wall_seconds();
        if (!is_timed(gate, line, &line->pairs)) continue;
        line->p = pbd_pairing_p(&line->pairs, r->max_regression, 1);
        line->control_p = pbd_control_p(&line->pairs, r->max_regression);
    }
    return pbd_ok();
}

/* index[0 .. count): the cells that have times; which of them are suspects, and where the control alarms. */
typedef struct suspicion {
    size_t *index, count;
    double *p;
    bool *suspect, *alarm;
} suspicion;

static pbd_status suspect_cells(const pbd_gate *gate, suspicion *s) {
    for (size_t i = 0; i < gate->lines; i++)
        if (gate->line[i].verdict == PBD_GATE_OK && gate->line[i].pairs.pairs > 0) s->index[s->count++] = i;
    for (size_t k = 0; k < s->count; k++) s->p[k] = gate->line[s->index[k]].p;
    PBD_TRY(pbd_benjamini_hochberg(s->p, s->count, FALSE_DISCOVERIES, s->suspect));
    for (size_t k = 0; k < s->count; k++) s->p[k] = gate->line[s->index[k]].control_p;
    return pbd_benjamini_hochberg(s->p, s->count, FALSE_DISCOVERIES, s->alarm);
}

static pbd_status judge_times(timing *t, const cell_words *words, pbd_gate *gate) {
    pbd_arena a PBD_ARENA;
    suspicion s = {.index = pbd_new(&a, size_t, gate->lines),
                   .p = pbd_new(&a, double, gate->lines),
                   .suspect = pbd_new(&a, bool, gate->lines),
                   .alarm = pbd_new(&a, bool, gate->lines)};
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(suspect_cells(gate, &s));
    for (size_t k = 0; k < s.count; k++) {
        pbd_gate_line *line = &gate->line[s.index[k]];
        if (is_doubted(gate, line, &line->pairs, s.alarm[k])) continue;
        if (s.suspect[k])
            PBD_TRY(confirm(t, &words[s.index[k]], t->request->seed + 2000003 + k, gate, line));
        else
            judge_time(t->request, gate, line);
    }
    return pbd_ok();
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static pbd_status run_phases(const pbd_gate_request *r, const cell_words *words, pbd_gate *gate) {
    PBD_TRY(judge_answers(r, words, gate));
    if (gate->wrong > 0) {
        for (size_t i = 0; i < gate->lines; i++)
            if (gate->line[i].verdict == PBD_GATE_OK) gate->line[i].verdict = PBD_GATE_NOT_TIMED;
        return pbd_ok();
    }
    timing t = {.request = r};
    PBD_TRY(time_all(&t, words, gate));
    return judge_times(&t, words, gate);
}

pbd_status pbd_gate_run(const pbd_gate_request *r, pbd_gate *out) {
    *out = (pbd_gate){.lines = r->suite->cells_count, .figures = r->suite->figures_count};
    out->line = pbd_new(&out->owned, pbd_gate_line, out->lines);
    out->figure = pbd_new(&out->owned, pbd_gate_claims, out->figures);
    cell_words *words = pbd_new(&out->owned, cell_words, out->lines);
    if (pbd_arena_check(&out->owned).code != PBD_OK) out->lines = out->figures = 0;
    PBD_TRY(pbd_arena_check(&out->owned));
    for (size_t i = 0; i < out->figures; i++) out->figure[i].figure = r->suite->figures[i];
    for (size_t i = 0; i < out->lines; i++) {
        out->line[i].p = out->line[i].control_p = (double)NAN;
        PBD_TRY(spell_cell(&r->suite->cells[i], &words[i]));
    }
    return run_phases(r, words, out);
}

void pbd_gate_free(pbd_gate *gate) {
    for (size_t i = 0; i < gate->lines; i++) {
        pbd_arm_run_free(&gate->line[i].baseline);
        pbd_arm_run_free(&gate->line[i].current);
        pbd_pairing_free(&gate->line[i].pairs);
        pbd_pairing_free(&gate->line[i].again);
    }
    pbd_arena_free(&gate->owned);
    *gate = (pbd_gate){0};
}

int pbd_gate_code(const pbd_gate *gate) {
    if (gate->wrong) return PBD_EXIT_VALIDATION;
    if (gate->regressions) return PBD_EXIT_REGRESSION;
    return gate->undecided || gate->time_owed || !gate->compared ? PBD_EXIT_INCONCLUSIVE : PBD_EXIT_OK;
}
