/* Pairs of processes.
 *
 * Processes, because the memory layout of a process and the state of the machine during its life shift all its times:
 * the samples of one process are not independent. Pairs in ABBA order, because drift (clock rates, temperature, other
 * programs) then affects both arms equally, and a linear drift over two pairs cancels. A random first arm, because a
 * disturbance with the period of the pairs then favours no arm. */
#include "harness/compare/pairing.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/renamed.h"
#include "harness/exec/arena.h"
#include "harness/exec/clock.h"
#include "harness/files/numbers.h"
#include "harness/plan/record.h"
#include "harness/process/child.h"
#include "harness/process/interrupt.h"
#include "harness/run/run.h"

/* ---- The output of a process ----------------------------------------------------------------------------------------
 */

void pbd_arm_run_free(pbd_arm_run *run) {
    for (size_t i = 0; i < run->metrics; i++) {
        free(run->metric[i].name);
        free(run->metric[i].unit);
    }
    free(run->metric);
    free(run->cell_today);
    free(run->state);
    free(run->says);
    *run = (pbd_arm_run){0};
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *value) { return json_is_number(value) ? json_number_value(value) : (double)NAN; }

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
        m->is_count = json_is_integer(value);
        m->count = m->is_count ? (uint64_t)json_integer_value(value) : 0;
        m->value = number_of(value);
        if (!m->name || !m->unit) return false;
        m->kind = pbd_kind_read(json_string_value(json_object_get(item, "kind")), m->name, m->unit,
                                text_of(item, "direction"), m->is_count);
    }
    return true;
}

/* The samples' median, or the time of the only solve. */
static double time_of(const json_t *run, const pbd_arm_run *out, const char *metric, const char *clock) {
    const pbd_metric_item *m = pbd_arm_metric(out, metric);
    if (m) return m->value;
    return number_of(json_object_get(json_object_get(json_object_get(run, "timing"), "solve"), clock));
}

/* Builds may give one cell two ids when a parameter was renamed between them. */
static bool spell_cell(const json_t *run, char **out) {
    const char *case_name = text_of(run, "case"), *method = text_of(run, "method");
    if (!pbd_has_renamed(case_name, method)) return true;
    char *params PBD_CLEANUP(pbd_free_memory) =
        json_dumps(json_object_get(run, "params"), JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    char *today PBD_CLEANUP(pbd_free_memory) = params ? pbd_params_today(case_name, method, params) : NULL;
    return today && asprintf(out, "%s %s %s %s %s %lld", case_name, method, today, text_of(run, "backend"),
                             text_of(run, "precision"), json_integer_value(json_object_get(run, "threads"))) >= 0;
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
    if (!spell_cell(run, &out->cell_today)) return false;
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
        return pbd_error(PBD_BAD_INPUT, "%.60s: '%.120s' is older than `run --time`, which comparisons need", arm->name,
                         arm->program);
    json_auto_t *run = json_loads(child->out, JSON_REJECT_DUPLICATES, NULL);
    if (is_run(run)) return read_run(run, out) ? pbd_ok() : pbd_no_memory();
    if (child->code == 2 && *words) return pbd_error(PBD_BAD_INPUT, "%.60s: %s", arm->name, words);
    char printed[80];
    pbd_last_words(child->out, printed, sizeof printed);
    return pbd_error(PBD_BAD_INPUT, "%.60s: '%.80s' prints no run (exit %d)%s%s%s%s", arm->name, arm->program,
                     child->code, *printed ? ", but: " : "", printed, *words ? "; " : "", words);
}

/* The words of one process; owned by `arm` and `out` itself. */
typedef struct arm_words {
    const char *word[MOST_WORDS + 16];
    char time[32], former[1000]; /* former: settings by the names that an older program knows */
    size_t former_bytes;
} arm_words;

static bool has_word(const char *text, const char *word) {
    const size_t bytes = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += bytes)
        if ((at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) && !isalnum((unsigned char)at[bytes]) &&
            at[bytes] != '_')
            return true;
    return false;
}

/* The name by which the arm's program lists the parameter, where it is a former one; else NULL. */
static pbd_status find_former(const pbd_arm *arm, const char *today, const char **out) {
    *out = pbd_name_before(arm->word[0], arm->word[2], today);
    if (!*out) return pbd_ok();
    const char *const word[] = {arm->program, "run", arm->word[0], arm->word[1], arm->word[2], "--help", NULL};
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    PBD_TRY(pbd_child_run(word, NULL, -1, &child));
    if (has_word(child.out, today)) *out = NULL;
    while (*out && !has_word(child.out, *out)) *out = pbd_name_before(arm->word[0], arm->word[2], *out);
    return pbd_ok();
}

/* A setting `key=value`, with the name that the arm's program has for the key. Words begin with CASE -m METHOD. */
static pbd_status spell_setting(const pbd_arm *arm, const char *setting, arm_words *out, const char **word) {
    char today[80];
    *word = setting;
    const char *equals = strchr(setting, '=');
    if (!equals || (size_t)(equals - setting) >= sizeof today) return pbd_ok();
    snprintf(today, sizeof today, "%.*s", (int)(equals - setting), setting);
    const char *former;
    PBD_TRY(find_former(arm, today, &former));
    if (!former) return pbd_ok();
    char *text = out->former + out->former_bytes;
    const size_t room = sizeof out->former - out->former_bytes;
    const int length = snprintf(text, room, "%s%s", former, equals);
    if ((size_t)length >= room)
        return pbd_error(PBD_BAD_INPUT, "%.60s: more than %zu characters of renamed parameters", arm->name,
                         sizeof out->former);
    out->former_bytes += (size_t)length + 1;
    *word = text;
    return pbd_ok();
}

static pbd_status spell_arm(const pbd_arm *arm, const char *db, double seconds, bool turns, arm_words *out) {
    size_t n = 0;
    out->former_bytes = 0;
    out->word[n++] = arm->program;
    out->word[n++] = "run";
    for (size_t i = 0; arm->word[i]; i++) {
        if (n == MOST_WORDS) return pbd_error(PBD_BAD_INPUT, "more than %d words for a run", MOST_WORDS);
        out->word[n] = arm->word[i];
        if (i > 2 && strcmp(arm->word[i - 1], "-s") == 0) PBD_TRY(spell_setting(arm, arm->word[i], out, &out->word[n]));
        n++;
    }
    out->word[n++] = "--json";
    out->word[n++] = "--quiet";
    out->word[n++] = "--again";
    if (seconds > 0) {
        snprintf(out->time, sizeof out->time, "%.9g", seconds);
        out->word[n++] = "--time";
        out->word[n++] = out->time;
    }
    if (turns) out->word[n++] = "--turns";
    out->word[n++] = db ? "--db" : "--no-store";
    if (db) out->word[n++] = db;
    out->word[n] = NULL;
    return pbd_ok();
}

static pbd_status finish_arm(const pbd_arm *arm, pbd_child_process *process, pbd_arm_run *out) {
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    PBD_TRY(pbd_child_finish(process, &child));
    const pbd_status status = read_answer(arm, &child, out);
    if (status.code != PBD_OK) pbd_arm_run_free(out);
    return status;
}

pbd_status pbd_arm_call(const pbd_arm *arm, const char *db, double seconds, int core, pbd_arm_run *out) {
    arm_words words;
    pbd_child_process process;
    *out = (pbd_arm_run){0};
    PBD_TRY(spell_arm(arm, db, seconds, false, &words));
    PBD_TRY(pbd_child_start(words.word, NULL, core, false, &process));
    return finish_arm(arm, &process, out);
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

/* At least five rounds, so that the median is robust. */
enum { FEWEST_ROUNDS = 5, MOST_ROUNDS = 400 };

/* The samples in the rounds of a pair: [0] of A, [1] of B. */
typedef struct turns {
    double wall[2][MOST_ROUNDS], cpu[2][MOST_ROUNDS];
    size_t rounds;
} turns;

/* One sample of one arm. */
static bool take_turn(const pbd_child_process *process, double *wall, double *cpu) {
    char line[80];
    if (!pbd_child_tell(process, 'g') || !pbd_child_hear(process, line, sizeof line)) return false;
    return sscanf(line, "%lf %lf", wall, cpu) == 2;
}

static void play_rounds(const pbd_child_process process[2], bool b_first, double seconds, turns *t) {
    double spent = 0;
    while (t->rounds < MOST_ROUNDS && (t->rounds < FEWEST_ROUNDS || spent < 2 * seconds) && !pbd_interrupted()) {
        const size_t i = t->rounds;
        const double begin = pbd_wall_seconds();
        for (int turn = 0; turn < 2; turn++) {
            const bool b = (turn == 0) == (b_first != (i % 2 == 1)); /* ABBA */
            if (!take_turn(&process[b], &t->wall[b][i], &t->cpu[b][i])) return;
        }
        spent += pbd_wall_seconds() - begin;
        t->rounds++;
    }
}

/* Both arms at one time. Each gets ready alone; one that ends before it is ready leaves the other to sample alone. */
static pbd_status call_both(const pbd_pairing_request *r, int core, bool b_first, pbd_arm_run run[2], turns *t) {
    const pbd_arm *arm[2] = {&r->a, &r->b};
    pbd_child_process process[2];
    arm_words words;
    bool ready = true, started[2] = {false, false};
    char line[80];
    pbd_status status = pbd_ok();
    for (int turn = 0; turn < 2 && status.code == PBD_OK; turn++) {
        const bool b = (turn == 0) == b_first;
        status = spell_arm(arm[b], r->db, r->seconds, true, &words);
        if (status.code == PBD_OK) status = pbd_child_start(words.word, NULL, core, true, &process[b]);
        started[b] = status.code == PBD_OK;
        if (started[b] && !pbd_child_hear(&process[b], line, sizeof line)) ready = false;
    }
    if (status.code == PBD_OK && ready) play_rounds(process, b_first, r->seconds, t);
    for (int b = 0; b < 2; b++) {
        if (!started[b]) continue;
        const pbd_status finished = finish_arm(arm[b], &process[b], &run[b]);
        if (status.code == PBD_OK) status = finished;
    }
    return status;
}

/* ---- A pair ------------------------------------------------------------------------------------------------------ */

typedef struct making {
    const pbd_pairing_request *request;
    pbd_pairing *out;
    int core;
    bool turns;   /* the two processes of a pair live at one time */
    bool b_first; /* of the first pair */
} making;

void pbd_pairing_free(pbd_pairing *pairing) {
    pbd_arm_run_free(&pairing->a);
    pbd_arm_run_free(&pairing->b);
}

/* «-t 1» in any spelling: whether to pin an arm is decided before it runs. */
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

/* On one thread CPU time excludes other programs. The work of a GPU is not in CPU time. */
static pbd_clock clock_of(const pbd_pairing_request *r, const pbd_arm_run *a, const pbd_arm_run *b) {
    if (r->clock != PBD_CLOCK_AUTO) return r->clock;
    const bool single = a->threads == 1 && b->threads == 1;
    const bool device = strcmp(a->backend, "cuda") == 0 || strcmp(b->backend, "cuda") == 0;
    return single && !device ? PBD_CLOCK_CPU : PBD_CLOCK_WALL;
}

static pbd_status check_state(const pbd_arm_run *run, char letter) {
    if (strcmp(run->state, "ok") == 0) return pbd_ok();
    return pbd_error(PBD_DIVERGED, "arm %c did not succeed: its state is %s%s%s", letter, run->state,
                     *run->says ? ": " : "", run->says);
}

/* States and errors of every pair: an arm may fail in some processes only. */
static pbd_status judge_answers(making *p, const pbd_arm_run *a, const pbd_arm_run *b) {
    pbd_pairing *out = p->out;
    out->differs = check_state(a, 'A');
    if (out->differs.code == PBD_OK) out->differs = check_state(b, 'B');
    out->unwell = out->differs.code != PBD_OK;
    if (out->unwell) return pbd_ok();
    return pbd_judge_errors(a, b, p->request->db, p->request->tolerance, p->request->tolerances, &out->differs);
}

/* The median over the rounds: the edges of a disturbance affect one or two of them. */
static double median_log_ratio(const turns *t, bool cpu) {
    double ratio[MOST_ROUNDS];
    const size_t n = t->rounds;
    for (size_t i = 0; i < n; i++)
        ratio[i] = cpu ? log(t->cpu[1][i] / t->cpu[0][i]) : log(t->wall[1][i] / t->wall[0][i]);
    return pbd_median(ratio, n);
}

static pbd_status keep_times(making *p, const pbd_arm_run *a, const pbd_arm_run *b, const turns *t) {
    pbd_pairing *out = p->out;
    const size_t i = out->pairs;
    if (i == 0) out->clock = clock_of(p->request, a, b);
    const bool cpu = out->clock == PBD_CLOCK_CPU;
    out->a_s[i] = cpu ? a->cpu_s : a->wall_s;
    out->b_s[i] = cpu ? b->cpu_s : b->wall_s;
    out->rounds[i] = t->rounds;
    out->log_ratio[i] = t->rounds > 0 ? median_log_ratio(t, cpu) : log(out->b_s[i] / out->a_s[i]);
    memcpy(out->run_a[i], a->run_id, sizeof out->run_a[i]);
    memcpy(out->run_b[i], b->run_id, sizeof out->run_b[i]);
    out->pairs++;
    if (out->differs.code != PBD_OK || (out->a_s[i] > 0 && out->b_s[i] > 0 && isfinite(out->log_ratio[i])))
        return pbd_ok();
    return pbd_error(PBD_FAILED, "pair %zu has no times: %g s and %g s", i + 1, out->a_s[i], out->b_s[i]);
}

static pbd_status check_not_interrupted(const pbd_pairing_request *r, const pbd_arm_run run[2]) {
    for (int b = 0; b < 2; b++)
        if (strcmp(run[b].state, "interrupted") == 0)
            return pbd_error(PBD_INTERRUPTED, "a process of %.60s was interrupted", b ? r->b.name : r->a.name);
    return pbd_ok();
}

static pbd_status call_pair(const making *p, bool b_first, pbd_arm_run run[2], turns *t) {
    const pbd_pairing_request *r = p->request;
    if (p->turns)
        PBD_TRY(call_both(r, p->core, b_first, run, t));
    else
        for (int turn = 0; turn < 2; turn++) {
            const bool b = (turn == 0) == b_first;
            PBD_TRY(pbd_arm_call(b ? &r->b : &r->a, r->db, r->seconds, p->core, &run[b]));
        }
    return check_not_interrupted(r, run);
}

static pbd_status make_pair(making *p) {
    pbd_pairing *out = p->out;
    pbd_arm_run run[2]; /* A, B */
    turns t = {.rounds = 0};
    memset(run, 0, sizeof run);
    const bool b_first = p->b_first != (out->pairs % 2 == 1);
    out->b_first[out->pairs] = b_first;
    pbd_status status = call_pair(p, b_first, run, &t);
    if (status.code == PBD_OK) status = judge_answers(p, &run[0], &run[1]);
    if (status.code == PBD_OK) status = keep_times(p, &run[0], &run[1], &t);
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
                     "%zu pairs at most: it must be 8, 12, 20 or 40, where a comparison evaluates its pairs",
                     r->most_pairs);
}

double pbd_pairing_p(const pbd_pairing *pairing, double margin, int sign) {
    double p = 1, x[PBD_MOST_PAIRS];
    const size_t n = pairing->judgement.pairs;
    if (pairing->differs.code != PBD_OK || n == 0) return 1;
    for (size_t i = 0; i < n; i++) x[i] = sign * pairing->log_ratio[i];
    if (pbd_signed_rank_p(x, n, sign * log1p(margin), &p).code != PBD_OK) return 1;
    return fmin(1, p * PBD_ERROR_RATE / pairing->judgement.alpha);
}

bool pbd_pairing_within(const pbd_pairing *pairing, double margin) {
    return pbd_pairing_p(pairing, margin, -1) <= 0.05;
}

static bool is_decided(const pbd_pairing_request *r, const pbd_pairing *out) {
    if (!r->bound_only) return out->judgement.verdict != PBD_INCONCLUSIVE;
    return out->judgement.log_ratio.low > log1p(r->margin) || pbd_pairing_within(out, r->margin);
}

/* True when the comparison is over. */
static pbd_status look(making *p, bool *over) {
    const pbd_pairing_request *r = p->request;
    pbd_pairing *out = p->out;
    *over = false;
    for (size_t i = 0; i < PBD_LOOKS; i++) {
        if (pbd_looks[i].pairs != out->pairs) continue;
        PBD_TRY(pbd_judge(out->log_ratio, out->pairs, i, r->margin, r->seed, &out->judgement));
        *over = out->pairs >= r->most_pairs || (is_decided(r, out) && out->pairs >= r->first_pairs);
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

/* Where results differ the pairs are stored without times. */
static void fill_pairs(const pbd_pairing *p, bool claimed, pbd_comparison_pair pair[PBD_MOST_PAIRS]) {
    for (size_t i = 0; i < p->pairs; i++)
        pair[i] = (pbd_comparison_pair){p->b_first[i],
                                        p->run_a[i],
                                        p->run_b[i],
                                        claimed ? p->a_s[i] : (double)NAN,
                                        claimed ? p->b_s[i] : (double)NAN,
                                        claimed ? p->log_ratio[i] : (double)NAN,
                                        p->rounds[i]};
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
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    PBD_TRY(pbd_store_open(r->db, PBD_STORE_WRITE, &store));
    PBD_TRY(pbd_store_begin(store, r->argc, r->argv));
    return pbd_store_put_comparison(store, &c, out->comparison_id);
}

pbd_status pbd_pair(const pbd_pairing_request *r, pbd_pairing_observer observer, void *context, pbd_pairing *out) {
    *out = (pbd_pairing){.differs = {.code = PBD_OK}};
    PBD_TRY(check_request(r));
    pbd_random random = pbd_random_seeded(r->seed);
    const bool single = is_single_threaded(&r->a) && is_single_threaded(&r->b);
    making p = {r, out, single ? pbd_last_core() : -1, single && r->seconds > 0, pbd_random_uniform(&random) >= 0.5};
    pbd_status status = make_pairs(&p, observer, context);
    if (status.code == PBD_OK && r->db) status = store_comparison(r, out);
    if (status.code != PBD_OK) pbd_pairing_free(out);
    return status;
}
