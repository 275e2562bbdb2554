/* Pairs of processes.
 *
 * Processes, because the memory layout of a process and the state of the machine during its life shift all its times:
 * the samples of one process are not independent. Orders and their reverse, because drift (clock rates, temperature,
 * other programs) then affects all arms equally. Drawn orders, because a disturbance with the period of the pairs then
 * favours no arm. */
#include "harness/compare/pairing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/compare/program_image.h"
#include "harness/exec/arena.h"
#include "harness/exec/clock.h"
#include "harness/files/numbers.h"
#include "harness/plan/record.h"
#include "harness/process/interrupt.h"
#include "harness/run/run.h"

/* Counts of one program differ by 1e-4, since they contain the layout of its memory; any change of the code that costs
 * a percent of the time nearly always changes them by more than 1e-3. */
static const double SAME_WORK = 1e-3;

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

/* At least five rounds, so that the median is robust. */
enum { FEWEST_ROUNDS = 5, MOST_ROUNDS = 400 };

/* The samples in the rounds of a pair. */
typedef struct turns {
    double wall[PBD_ARMS][MOST_ROUNDS], cpu[PBD_ARMS][MOST_ROUNDS];
    size_t rounds;
} turns;

/* One sample of one arm. */
static bool take_turn(const pbd_child_process *process, double *wall, double *cpu) {
    char line[80];
    if (!pbd_child_tell(process, 'g') || !pbd_child_hear(process, line, sizeof line)) return false;
    return sscanf(line, "%lf %lf", wall, cpu) == 2;
}

static void play_rounds(const pbd_child_process process[PBD_ARMS], const unsigned char order[PBD_ARMS], double seconds,
                        turns *t) {
    double spent = 0;
    while (t->rounds < MOST_ROUNDS && (t->rounds < FEWEST_ROUNDS || spent < PBD_ARMS * seconds) && !pbd_interrupted()) {
        const size_t i = t->rounds;
        const double begin = pbd_wall_seconds();
        for (int turn = 0; turn < PBD_ARMS; turn++) {
            const unsigned arm = order[i % 2 ? PBD_ARMS - 1 - turn : turn];
            if (!take_turn(&process[arm], &t->wall[arm][i], &t->cpu[arm][i])) return;
        }
        spent += pbd_wall_seconds() - begin;
        t->rounds++;
    }
}

/* ---- A pair ------------------------------------------------------------------------------------------------------ */

typedef struct making {
    const pbd_pairing_request *request;
    pbd_pairing *out;
    int core;
    bool turns; /* the processes of a pair live at one time */
    pbd_random random;
    pbd_load_meter meter;
} making;

static const pbd_arm *arm_at(const pbd_pairing_request *r, unsigned arm) { return arm == PBD_ARM_B ? &r->b : &r->a; }

static pbd_arm_settings settings_of(making *p) {
    return (pbd_arm_settings){.db = p->request->db,
                              .seconds = p->request->seconds,
                              .core = p->core,
                              .turns = p->turns,
                              .pad = (size_t)(pbd_random_uniform(&p->random) * PBD_PAD_MOST)};
}

/* All at one time. Each gets ready alone; one that ends before it is ready leaves the others to sample alone. */
static pbd_status call_at_once(making *p, const unsigned char order[PBD_ARMS], pbd_arm_run run[PBD_ARMS], turns *t) {
    const pbd_pairing_request *r = p->request;
    pbd_child_process process[PBD_ARMS];
    bool ready = true, started[PBD_ARMS] = {false};
    char line[80];
    pbd_status status = pbd_ok();
    for (int turn = 0; turn < PBD_ARMS && status.code == PBD_OK; turn++) {
        const unsigned arm = order[turn];
        const pbd_arm_settings settings = settings_of(p);
        status = pbd_arm_start(arm_at(r, arm), &settings, &process[arm]);
        started[arm] = status.code == PBD_OK;
        if (started[arm] && !pbd_child_hear(&process[arm], line, sizeof line)) ready = false;
    }
    if (status.code == PBD_OK && ready) play_rounds(process, order, r->seconds, t);
    for (unsigned arm = 0; arm < PBD_ARMS; arm++) {
        if (!started[arm]) continue;
        const pbd_status finished = pbd_arm_finish(arm_at(r, arm), &process[arm], &run[arm]);
        if (status.code == PBD_OK) status = finished;
    }
    return status;
}

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
static pbd_status judge_answers(making *p, const pbd_arm_run run[PBD_ARMS]) {
    pbd_pairing *out = p->out;
    const pbd_arm_run *a = &run[PBD_ARM_A], *b = &run[PBD_ARM_B];
    out->differs = check_state(a, 'A');
    if (out->differs.code == PBD_OK) out->differs = check_state(b, 'B');
    if (out->differs.code == PBD_OK) out->differs = check_state(&run[PBD_ARM_CONTROL], 'A');
    out->unwell = out->differs.code != PBD_OK;
    if (out->unwell) return pbd_ok();
    return pbd_judge_errors(a, b, p->request->db, p->request->tolerance, p->request->tolerances, &out->differs);
}

/* The median over the rounds: the edges of a disturbance affect one or two of them. */
static double median_log_ratio(const turns *t, unsigned arm, bool cpu) {
    const double(*s)[MOST_ROUNDS] = cpu ? t->cpu : t->wall;
    double ratio[MOST_ROUNDS];
    for (size_t i = 0; i < t->rounds; i++) ratio[i] = log(s[arm][i] / s[PBD_ARM_A][i]);
    return pbd_median(ratio, t->rounds);
}

/* NaN where one of them has none. */
static double log_instructions(const pbd_arm_run *a, const pbd_arm_run *b) {
    const pbd_metric_item *of_a = pbd_arm_metric(a, "solve_instructions");
    const pbd_metric_item *of_b = pbd_arm_metric(b, "solve_instructions");
    return of_a && of_b && of_a->value > 0 && of_b->value > 0 ? log(of_b->value / of_a->value) : (double)NAN;
}

static pbd_status keep_times(making *p, const pbd_arm_run run[PBD_ARMS], const turns *t) {
    pbd_pairing *out = p->out;
    const size_t i = out->pairs;
    if (i == 0) out->clock = clock_of(p->request, &run[PBD_ARM_A], &run[PBD_ARM_B]);
    const bool cpu = out->clock == PBD_CLOCK_CPU;
    bool fine = true;
    for (unsigned arm = 0; arm < PBD_ARMS; arm++) {
        out->s[arm][i] = cpu ? run[arm].cpu_s : run[arm].wall_s;
        memcpy(out->run[arm][i], run[arm].run_id, sizeof out->run[arm][i]);
        fine = fine && out->s[arm][i] > 0;
    }
    out->rounds[i] = t->rounds;
    out->log_instructions[i] = log_instructions(&run[PBD_ARM_A], &run[PBD_ARM_B]);
    for (unsigned arm = PBD_ARM_B; arm < PBD_ARMS; arm++) {
        const double ratio = t->rounds > 0 ? median_log_ratio(t, arm, cpu) : log(out->s[arm][i] / out->s[PBD_ARM_A][i]);
        (arm == PBD_ARM_B ? &out->of_b : &out->of_control)->log_ratio[i] = ratio;
        fine = fine && isfinite(ratio);
    }
    out->pairs++;
    if (out->differs.code != PBD_OK || fine) return pbd_ok();
    return pbd_error(PBD_FAILED, "pair %zu has no times: %g s and %g s", i + 1, out->s[PBD_ARM_A][i],
                     out->s[PBD_ARM_B][i]);
}

static pbd_status check_not_interrupted(const pbd_pairing_request *r, const pbd_arm_run run[PBD_ARMS]) {
    for (unsigned arm = 0; arm < PBD_ARMS; arm++)
        if (strcmp(run[arm].state, "interrupted") == 0)
            return pbd_error(PBD_INTERRUPTED, "a process of %.60s was interrupted", arm_at(r, arm)->name);
    return pbd_ok();
}

static pbd_status call_arms(making *p, const unsigned char order[PBD_ARMS], pbd_arm_run run[PBD_ARMS], turns *t) {
    if (p->turns)
        PBD_TRY(call_at_once(p, order, run, t));
    else
        for (int turn = 0; turn < PBD_ARMS; turn++) {
            const pbd_arm_settings settings = settings_of(p);
            PBD_TRY(pbd_arm_call(arm_at(p->request, order[turn]), &settings, &run[order[turn]]));
        }
    return check_not_interrupted(p->request, run);
}

/* Any of the six orders, and for the next pair its reverse. */
static void draw_order(making *p, unsigned char order[PBD_ARMS]) {
    const pbd_pairing *out = p->out;
    if (out->pairs % 2 == 1) {
        for (int i = 0; i < PBD_ARMS; i++) order[i] = out->order[out->pairs - 1][PBD_ARMS - 1 - i];
        return;
    }
    for (unsigned char i = 0; i < PBD_ARMS; i++) order[i] = i;
    for (int i = PBD_ARMS - 1; i > 0; i--) { /* Fisher and Yates */
        const int k = (int)(pbd_random_uniform(&p->random) * (i + 1));
        const unsigned char other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}

static pbd_status make_pair(making *p) {
    pbd_pairing *out = p->out;
    pbd_arm_run run[PBD_ARMS];
    turns t = {.rounds = 0};
    memset(run, 0, sizeof run);
    draw_order(p, out->order[out->pairs]);
    pbd_load_sample(&p->meter);
    pbd_status status = call_arms(p, out->order[out->pairs], run, &t);
    if (status.code == PBD_OK) status = judge_answers(p, run);
    if (status.code == PBD_OK) status = keep_times(p, run, &t);
    if (status.code == PBD_OK && out->pairs == 1) {
        out->a = run[PBD_ARM_A];
        out->b = run[PBD_ARM_B];
        run[PBD_ARM_A] = run[PBD_ARM_B] = (pbd_arm_run){0};
    }
    for (unsigned arm = 0; arm < PBD_ARMS; arm++) pbd_arm_run_free(&run[arm]);
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

/* Of «the ratio is no more than 1 + margin» (sign 1) or «no less» (sign -1), multiplied for its look. */
static double ratios_p(const pbd_pairing *p, const pbd_pair_ratios *ratios, double margin, int sign) {
    double chance = 1, x[PBD_MOST_PAIRS];
    const size_t n = ratios->judgement.pairs;
    if (p->differs.code != PBD_OK || n == 0) return 1;
    for (size_t i = 0; i < n; i++) x[i] = sign * ratios->log_ratio[i];
    if (pbd_signed_rank_p(x, n, sign * log1p(margin), &chance).code != PBD_OK) return 1;
    return fmin(1, chance * PBD_ERROR_RATE / ratios->judgement.alpha);
}

double pbd_pairing_p(const pbd_pairing *pairing, double margin, int sign) {
    return ratios_p(pairing, &pairing->of_b, margin, sign);
}

double pbd_control_p(const pbd_pairing *p, double margin) {
    const double slower = ratios_p(p, &p->of_control, margin, 1);
    const double faster = ratios_p(p, &p->of_control, -margin / (1 + margin), -1); /* by as large a ratio */
    return fmin(1, 2 * fmin(slower, faster));
}

bool pbd_pairing_within(const pbd_pairing *pairing, double margin) {
    return pbd_pairing_p(pairing, margin, -1) <= 0.05;
}

static bool is_decided(const pbd_pairing_request *r, const pbd_pairing *out) {
    if (!r->bound_only) return out->of_b.judgement.verdict != PBD_INCONCLUSIVE;
    return out->of_b.judgement.log_ratio.low > log1p(r->margin) || pbd_pairing_within(out, r->margin);
}

/* True when the comparison is over. */
static pbd_status look(making *p, bool *over) {
    const pbd_pairing_request *r = p->request;
    pbd_pairing *out = p->out;
    *over = false;
    for (size_t i = 0; i < PBD_LOOKS; i++) {
        if (pbd_looks[i].pairs != out->pairs) continue;
        for (pbd_pair_ratios *of = &out->of_b; of; of = of == &out->of_b ? &out->of_control : NULL)
            PBD_TRY(pbd_judge(of->log_ratio, out->pairs, i, r->margin, r->seed, &of->judgement));
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

/* ---- Doubts ------------------------------------------------------------------------------------------------------ */

bool pbd_pair_is_b_first(const pbd_pairing *p, size_t pair) {
    for (int i = 0; i < PBD_ARMS; i++)
        if (p->order[pair][i] != PBD_ARM_CONTROL) return p->order[pair][i] == PBD_ARM_B;
    return false;
}

static bool is_different(pbd_verdict verdict) { return verdict == PBD_FASTER || verdict == PBD_SLOWER; }

/* Only of CPU time: instructions say nothing of a GPU's work, nor of time spent waiting. */
static bool is_same_work(const pbd_pairing *p) {
    if (p->clock != PBD_CLOCK_CPU) return false;
    for (size_t i = 0; i < p->pairs; i++)
        if (!(fabs(p->log_instructions[i]) < SAME_WORK)) return false;
    return p->pairs > 0;
}

/* Two runs of one program that differ by more than the margin allows; times that instructions contradict; a machine
 * busier than was tried. */
static void look_for_doubts(const pbd_pairing_request *r, pbd_pairing *out) {
    const pbd_interval *control = &out->of_control.judgement.log_ratio;
    out->verdict = out->of_b.judgement.verdict;
    if (out->differs.code != PBD_OK) return;
    out->same_work = is_same_work(out);
    out->overloaded = out->load.others > r->max_load || out->load.steal > r->max_steal;
    if (out->load.others > r->max_load)
        snprintf(out->doubt, sizeof out->doubt,
                 "%.1f other processes ran on each processor, and %.3g are allowed (--max-load)", out->load.others,
                 r->max_load);
    else if (out->overloaded)
        snprintf(out->doubt, sizeof out->doubt,
                 "the host took %.0f %% of the processor time of this virtual machine, and %.0f %% are allowed "
                 "(--max-steal)",
                 100 * out->load.steal, 100 * r->max_steal);
    else if (is_different(out->of_control.judgement.verdict))
        snprintf(out->doubt, sizeof out->doubt,
                 "arm A differs from another process of arm A by %+.2f %% (%+.2f to %+.2f): repeat it on a quieter "
                 "machine",
                 100 * expm1(control->estimate), 100 * expm1(control->low), 100 * expm1(control->high));
    else if (out->same_work && is_different(out->of_b.judgement.verdict))
        snprintf(out->doubt, sizeof out->doubt, "%s", PBD_SAME_WORK);
    if (*out->doubt) out->verdict = PBD_INCONCLUSIVE;
}

/* ---- The store --------------------------------------------------------------------------------------------------- */

/* Where results differ the pairs are stored without times. */
static void fill_pairs(const pbd_pairing *p, unsigned arm, bool claimed, pbd_comparison_pair pair[PBD_MOST_PAIRS]) {
    const pbd_pair_ratios *of = arm == PBD_ARM_B ? &p->of_b : &p->of_control;
    for (size_t i = 0; i < p->pairs; i++) {
        unsigned first = 0;
        while (p->order[i][first] != PBD_ARM_A && p->order[i][first] != arm) first++;
        pair[i] = (pbd_comparison_pair){p->order[i][first] == arm,
                                        p->run[PBD_ARM_A][i],
                                        p->run[arm][i],
                                        claimed ? p->s[PBD_ARM_A][i] : (double)NAN,
                                        claimed ? p->s[arm][i] : (double)NAN,
                                        claimed ? of->log_ratio[i] : (double)NAN,
                                        p->rounds[i]};
    }
}

static pbd_status store_arm(pbd_store *store, const pbd_pairing_request *r, pbd_pairing *out, unsigned arm) {
    const bool claimed = out->differs.code == PBD_OK, is_b = arm == PBD_ARM_B;
    pbd_pair_ratios *of = is_b ? &out->of_b : &out->of_control;
    const pbd_judgement *j = &of->judgement;
    const double none = (double)NAN;
    pbd_comparison_pair pair[PBD_MOST_PAIRS];
    fill_pairs(out, arm, claimed, pair);
    const pbd_comparison c = {
        .purpose = is_b ? r->purpose : "control",
        .name_a = r->a.name,
        .name_b = arm_at(r, arm)->name,
        .clock = out->clock == PBD_CLOCK_CPU ? "cpu" : "wall",
        .margin = r->margin,
        .seed = r->seed,
        .alpha = claimed ? j->alpha : none,
        .log_ratio = claimed ? j->log_ratio.estimate : none,
        .low = claimed ? j->log_ratio.low : none,
        .high = claimed ? j->log_ratio.high : none,
        .bootstrap_low = claimed ? j->bootstrap.low : none,
        .bootstrap_high = claimed ? j->bootstrap.high : none,
        .verdict = !claimed ? "errors_differ" : pbd_verdict_name(is_b ? out->verdict : j->verdict),
        .says = !claimed ? out->differs.text
                : is_b   ? out->doubt
                         : "",
        .pair = pair,
        .pairs = out->pairs};
    return pbd_store_put_comparison(store, &c, of->comparison_id);
}

static pbd_status store_comparison(const pbd_pairing_request *r, pbd_pairing *out) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    PBD_TRY(pbd_store_open(r->db, PBD_STORE_WRITE, &store));
    PBD_TRY(pbd_store_begin(store, r->argc, r->argv));
    PBD_TRY(store_arm(store, r, out, PBD_ARM_B));
    return store_arm(store, r, out, PBD_ARM_CONTROL);
}

pbd_status pbd_pair(const pbd_pairing_request *r, pbd_pairing_observer observer, void *context, pbd_pairing *out) {
    *out = (pbd_pairing){.differs = {.code = PBD_OK}};
    PBD_TRY(check_request(r));
    const bool single = is_single_threaded(&r->a) && is_single_threaded(&r->b);
    making p = {.request = r,
                .out = out,
                .core = single ? pbd_last_core() : -1,
                .turns = single && r->seconds > 0,
                .random = pbd_random_seeded(r->seed)};
    pbd_load_begin(&p.meter);
    pbd_status status = make_pairs(&p, observer, context);
    out->load = pbd_load_end(&p.meter);
    look_for_doubts(r, out);
    if (status.code == PBD_OK && r->db) status = store_comparison(r, out);
    if (status.code != PBD_OK) pbd_pairing_free(out);
    return status;
}
