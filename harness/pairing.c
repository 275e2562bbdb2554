/* Pairs of processes.
 *
 * Why processes: where the memory of a process lies, and what the machine does while it lives, shift its times as a
 * whole, so that samples of one process are one number and not many. Why pairs in ABBA order: what drifts (clocks,
 * heat, neighbours) meets both arms alike, and a slope over a quartet falls out. Why a first arm by chance: nothing
 * that beats in time with the pairs can favour an arm. */
#include "harness/pairing.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/child.h"
#include "harness/run.h"

/* ---- What a process says ----------------------------------------------------------------------------------------- */

void pbd_arm_run_free(pbd_arm_run *run) {
    for (size_t i = 0; i < run->metrics; i++) {
        free(run->metric[i].name);
        free(run->metric[i].unit);
    }
    free(run->metric);
    free(run->state);
    free(run->says);
    *run = (pbd_arm_run){0};
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *value) { return json_is_number(value) ? json_number_value(value) : (double)NAN; }

static pbd_direction direction_of(const char *word) {
    return strcmp(word, "lower") == 0    ? PBD_LOWER_IS_BETTER
           : strcmp(word, "higher") == 0 ? PBD_HIGHER_IS_BETTER
                                         : PBD_NEUTRAL;
}

static bool read_metrics(const json_t *metrics, pbd_arm_run *out) {
    const char *name;
    const json_t *item;
    out->metric = calloc(json_object_size(metrics) + 1, sizeof *out->metric);
    if (!out->metric) return false;
    json_object_foreach((json_t *)(uintptr_t)metrics, name, item) {
        pbd_metric_item *m = &out->metric[out->metrics++];
        const json_t *value = json_object_get(item, "value");
        m->name = strdup(name);
        m->unit = strdup(text_of(item, "unit"));
        m->direction = direction_of(text_of(item, "direction"));
        m->is_count = json_is_integer(value);
        m->count = m->is_count ? (uint64_t)json_integer_value(value) : 0;
        m->value = number_of(value);
        if (!m->name || !m->unit) return false;
    }
    return true;
}

/* The samples' median, or the time of the only solve. */
static double time_of(const json_t *run, const pbd_arm_run *out, const char *metric, const char *clock) {
    const pbd_metric_item *m = pbd_arm_metric(out, metric);
    if (m) return m->value;
    return number_of(json_object_get(json_object_get(json_object_get(run, "timing"), "solve"), clock));
}

static bool read_run(const json_t *run, pbd_arm_run *out) {
    snprintf(out->run_id, sizeof out->run_id, "%s", text_of(run, "run_id"));
    snprintf(out->cell_id, sizeof out->cell_id, "%s", text_of(run, "cell_id"));
    snprintf(out->backend, sizeof out->backend, "%s", text_of(run, "backend"));
    snprintf(out->precision, sizeof out->precision, "%s", text_of(run, "precision"));
    out->threads = (int)json_integer_value(json_object_get(run, "threads"));
    out->state = strdup(text_of(run, "state"));
    out->says = strdup(text_of(run, "says"));
    if (!out->state || !out->says || !read_metrics(json_object_get(run, "metrics"), out)) return false;
    out->wall_s = time_of(run, out, "solve_wall", "wall_s");
    out->cpu_s = time_of(run, out, "solve_cpu", "cpu_s");
    return true;
}

static bool is_run(const json_t *run) {
    return *text_of(run, "state") && json_is_string(json_object_get(run, "run_id")) &&
           json_is_object(json_object_get(run, "metrics"));
}

/* ---- One process ------------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 256 };

static pbd_status read_answer(const pbd_arm *arm, const pbd_child *child, pbd_arm_run *out) {
    char words[200];
    pbd_last_words(child->err, words, sizeof words);
    if (child->code == -SIGINT || child->code == -SIGTERM)
        return pbd_error(PBD_INTERRUPTED, "a process of %.60s was interrupted", arm->name);
    if (child->code < 0)
        return pbd_error(PBD_FAILED, "a process of %.60s was ended by signal %d (%s)%s%s", arm->name, -child->code,
                         strsignal(-child->code), *words ? ": " : "", words);
    if (child->code == 2 && strstr(child->err, "unrecognized option '--time'"))
        return pbd_error(PBD_BAD_INPUT, "%.60s: '%.120s' is older than `run --time`, which comparisons rest on",
                         arm->name, arm->program);
    json_t *run = json_loads(child->out, JSON_REJECT_DUPLICATES, NULL);
    pbd_status status = pbd_ok();
    if (!is_run(run)) {
        char printed[80];
        pbd_last_words(child->out, printed, sizeof printed);
        status = child->code == 2 && *words ? pbd_error(PBD_BAD_INPUT, "%.60s: %s", arm->name, words)
                                            : pbd_error(PBD_BAD_INPUT, "%.60s: '%.80s' prints no run (exit %d)%s%s%s%s",
                                                        arm->name, arm->program, child->code, *printed ? ", but: " : "",
                                                        printed, *words ? "; " : "", words);
    } else if (!read_run(run, out)) {
        status = pbd_error(PBD_FAILED, "out of memory for a run");
    }
    json_decref(run);
    return status;
}

pbd_status pbd_arm_call(const pbd_arm *arm, const char *db, double seconds, int core, pbd_arm_run *out) {
    const char *word[MOST_WORDS + 16] = {arm->program, "run"};
    char time[32];
    size_t n = 2;
    *out = (pbd_arm_run){0};
    for (size_t i = 0; arm->word[i]; i++) {
        if (n == MOST_WORDS) return pbd_error(PBD_BAD_INPUT, "more than %d words for a run", MOST_WORDS);
        word[n++] = arm->word[i];
    }
    word[n++] = "--json";
    word[n++] = "--quiet";
    word[n++] = "--again";
    if (seconds > 0) {
        snprintf(time, sizeof time, "%.9g", seconds);
        word[n++] = "--time";
        word[n++] = time;
    }
    word[n++] = db ? "--db" : "--no-store";
    if (db) word[n++] = db;
    pbd_child child;
    PBD_TRY(pbd_child_run(word, NULL, core, &child));
    pbd_status status = read_answer(arm, &child, out);
    pbd_child_free(&child);
    if (status.code != PBD_OK) pbd_arm_run_free(out);
    return status;
}

/* ---- A pair ------------------------------------------------------------------------------------------------------ */

typedef struct making {
    const pbd_pairing_request *request;
    pbd_pairing *out;
    int core;
    bool b_first; /* of the first pair */
} making;

void pbd_pairing_free(pbd_pairing *pairing) {
    pbd_arm_run_free(&pairing->a);
    pbd_arm_run_free(&pairing->b);
}

/* «-t 1» in any spelling: what is to be pinned must be known before it has run. */
static bool is_single_threaded(const pbd_arm *arm) {
    bool single = false;
    for (size_t i = 0; arm->word[i]; i++) {
        const char *word = arm->word[i], *value = NULL;
        if (strcmp(word, "-t") == 0 || strcmp(word, "--threads") == 0)
            value = arm->word[i + 1] ? arm->word[i + 1] : "";
        else if (strncmp(word, "-t", 2) == 0)
            value = word + 2;
        else if (strncmp(word, "--threads=", 10) == 0)
            value = word + 10;
        if (value) single = strcmp(value, "1") == 0;
    }
    return single;
}

/* On one thread CPU time leaves out what other programs take. A GPU's work is no CPU time at all. */
static pbd_clock clock_of(const pbd_pairing_request *r, const pbd_arm_run *a, const pbd_arm_run *b) {
    if (r->clock != PBD_CLOCK_AUTO) return r->clock;
    const bool single = a->threads == 1 && b->threads == 1;
    const bool device = strcmp(a->backend, "cuda") == 0 || strcmp(b->backend, "cuda") == 0;
    return single && !device ? PBD_CLOCK_CPU : PBD_CLOCK_WALL;
}

static pbd_status check_state(const pbd_arm_run *run, char letter) {
    if (strcmp(run->state, "ok") == 0) return pbd_ok();
    return pbd_error(PBD_DIVERGED, "arm %c did not end well, it is %s%s%s", letter, run->state, *run->says ? ": " : "",
                     run->says);
}

/* States and errors, of every pair: an arm that goes astray once in a while shows here too. */
static pbd_status judge_answers(making *p, const pbd_arm_run *a, const pbd_arm_run *b) {
    pbd_pairing *out = p->out;
    out->differs = check_state(a, 'A');
    if (out->differs.code == PBD_OK) out->differs = check_state(b, 'B');
    out->unwell = out->differs.code != PBD_OK;
    if (out->unwell) return pbd_ok();
    return pbd_judge_errors(a, b, p->request->db, p->request->tolerance, p->request->tolerances, &out->differs);
}

static pbd_status keep_times(making *p, const pbd_arm_run *a, const pbd_arm_run *b) {
    pbd_pairing *out = p->out;
    const size_t i = out->pairs;
    if (i == 0) out->clock = clock_of(p->request, a, b);
    const bool cpu = out->clock == PBD_CLOCK_CPU;
    out->a_s[i] = cpu ? a->cpu_s : a->wall_s;
    out->b_s[i] = cpu ? b->cpu_s : b->wall_s;
    out->log_ratio[i] = log(out->b_s[i] / out->a_s[i]);
    memcpy(out->run_a[i], a->run_id, sizeof out->run_a[i]);
    memcpy(out->run_b[i], b->run_id, sizeof out->run_b[i]);
    out->pairs++;
    if (out->differs.code != PBD_OK || (out->a_s[i] > 0 && out->b_s[i] > 0 && isfinite(out->log_ratio[i])))
        return pbd_ok();
    return pbd_error(PBD_FAILED, "pair %zu has no times: %g s and %g s", i + 1, out->a_s[i], out->b_s[i]);
}

static pbd_status call_pair(const making *p, bool b_first, pbd_arm_run run[2]) {
    const pbd_pairing_request *r = p->request;
    for (int turn = 0; turn < 2; turn++) {
        const bool b = (turn == 0) == b_first;
        PBD_TRY(pbd_arm_call(b ? &r->b : &r->a, r->db, r->seconds, p->core, &run[b]));
        if (strcmp(run[b].state, "interrupted") == 0)
            return pbd_error(PBD_INTERRUPTED, "a process of %.60s was interrupted", b ? r->b.name : r->a.name);
    }
    return pbd_ok();
}

static pbd_status make_pair(making *p) {
    pbd_pairing *out = p->out;
    pbd_arm_run run[2]; /* A, B */
    memset(run, 0, sizeof run);
    const bool b_first = p->b_first != (out->pairs % 2 == 1);
    out->b_first[out->pairs] = b_first;
    pbd_status status = call_pair(p, b_first, run);
    if (status.code == PBD_OK) status = judge_answers(p, &run[0], &run[1]);
    if (status.code == PBD_OK) status = keep_times(p, &run[0], &run[1]);
    if (status.code == PBD_OK && out->pairs == 1) {
        out->a = run[0];
        out->b = run[1];
        return status;
    }
    pbd_arm_run_free(&run[0]);
    pbd_arm_run_free(&run[1]);
    return status;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static pbd_status check_request(const pbd_pairing_request *r) {
    if (!(r->margin > 0 && r->margin < 1))
        return pbd_error(PBD_BAD_INPUT, "a margin of %g must lie between 0 and 1 (100 %%)", r->margin);
    for (size_t i = 0; i < PBD_LOOKS; i++)
        if (pbd_looks[i].pairs == r->most_pairs) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT,
                     "%zu pairs at most: it must be 8, 12, 20 or 40, where a comparison looks at its pairs",
                     r->most_pairs);
}

static bool is_decided(const pbd_pairing_request *r, const pbd_judgement *j) {
    const double limit = log1p(r->margin);
    if (r->bound_only) return j->log_ratio.high <= limit || j->log_ratio.low > limit;
    return j->verdict != PBD_INCONCLUSIVE;
}

/* True when the comparison is over. */
static pbd_status look(making *p, bool *over) {
    const pbd_pairing_request *r = p->request;
    pbd_pairing *out = p->out;
    *over = false;
    for (size_t i = 0; i < PBD_LOOKS; i++) {
        if (pbd_looks[i].pairs != out->pairs) continue;
        PBD_TRY(pbd_judge(out->log_ratio, out->pairs, i, r->margin, r->seed, &out->judgement));
        *over = out->pairs >= r->most_pairs || (is_decided(r, &out->judgement) && out->pairs >= r->first_pairs);
    }
    return pbd_ok();
}

static pbd_status make_pairs(making *p, pbd_pairing_observer observer, void *context) {
    pbd_pairing *out = p->out;
    for (bool over = false; !over && out->differs.code == PBD_OK;) {
        const pbd_status status = make_pair(p);
        if (status.code == PBD_INTERRUPTED)
            return pbd_error(PBD_INTERRUPTED,
                             "interrupted after %zu of at most %zu pairs: no verdict; their runs are %s", out->pairs,
                             p->request->most_pairs, p->request->db ? "in the store" : "gone");
        PBD_TRY(status);
        if (observer) observer(context, out->pairs, p->request->most_pairs);
        if (out->differs.code == PBD_OK) PBD_TRY(look(p, &over));
    }
    return pbd_ok();
}

/* An answer that differs: the pairs stay, without times. */
static void fill_pairs(const pbd_pairing *p, bool claimed, pbd_comparison_pair pair[PBD_MOST_PAIRS]) {
    for (size_t i = 0; i < p->pairs; i++)
        pair[i] = (pbd_comparison_pair){p->b_first[i], p->run_a[i], p->run_b[i], claimed ? p->a_s[i] : (double)NAN,
                                        claimed ? p->b_s[i] : (double)NAN};
}

static pbd_status store_comparison(const pbd_pairing_request *r, pbd_pairing *out) {
    const bool claimed = out->differs.code == PBD_OK;
    const pbd_judgement *j = &out->judgement;
    const double none = (double)NAN;
    pbd_comparison_pair pair[PBD_MOST_PAIRS];
    fill_pairs(out, claimed, pair);
    const pbd_comparison c = {.purpose = r->purpose,
                              .name_a = r->a.name,
                              .name_b = r->b.name,
                              .clock = out->clock == PBD_CLOCK_CPU ? "cpu" : "wall",
                              .margin = r->margin,
                              .seed = r->seed,
                              .alpha = claimed ? j->alpha : none,
                              .log_ratio = claimed ? j->log_ratio.estimate : none,
                              .low = claimed ? j->log_ratio.low : none,
                              .high = claimed ? j->log_ratio.high : none,
                              .bootstrap_low = claimed ? j->bootstrap.low : none,
                              .bootstrap_high = claimed ? j->bootstrap.high : none,
                              .verdict = claimed ? pbd_verdict_name(j->verdict) : "errors_differ",
                              .says = claimed ? "" : out->differs.text,
                              .pair = pair,
                              .pairs = out->pairs};
    pbd_store *store;
    PBD_TRY(pbd_store_open(r->db, PBD_STORE_WRITE, &store));
    pbd_status status = pbd_store_begin(store, r->argc, r->argv);
    if (status.code == PBD_OK) status = pbd_store_put_comparison(store, &c, out->comparison_id);
    pbd_store_close(store);
    return status;
}

pbd_status pbd_pair(const pbd_pairing_request *r, pbd_pairing_observer observer, void *context, pbd_pairing *out) {
    *out = (pbd_pairing){.differs = {.code = PBD_OK}};
    PBD_TRY(check_request(r));
    pbd_random random = pbd_random_seeded(r->seed);
    const bool single = is_single_threaded(&r->a) && is_single_threaded(&r->b);
    making p = {r, out, single ? pbd_last_core() : -1, pbd_random_uniform(&random) >= 0.5};
    pbd_status status = make_pairs(&p, observer, context);
    if (status.code == PBD_OK && r->db) status = store_comparison(r, out);
    if (status.code != PBD_OK) pbd_pairing_free(out);
    return status;
}
