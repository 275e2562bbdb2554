/* rank: the numbers of a ranking against numbers by hand, and the verb on a small file of problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>

#include "harness/rank/profiles.h"
#include "harness/rank/rank.h"
#include "tests/program.h"
#include "tests/store_sample.h"

/* ---- Profiles: three problems, three methods ----------------------------------------------------------------------
 */

/*           A    B    C
 *   first   1    2    8
 *   second  4    1    -
 *   third   -    -    -      none solves it */
static const double cost[9] = {1, 2, 8, 4, 1, INFINITY, INFINITY, INFINITY, INFINITY};
enum { A, B, C, NONE };

static double share(size_t method, size_t without, double ratio) {
    return pbd_performance_profile(cost, 3, 3, method, without, ratio);
}

static void test_performance_profile(void **state) {
    (void)state;
    /* ratios: A 1 and 4, B 2 and 1, C 8 and none */
    assert_true(share(A, NONE, 1) == 1.0 / 3 && share(B, NONE, 1) == 1.0 / 3 && share(C, NONE, 1) == 0);
    assert_true(share(A, NONE, 2) == 1.0 / 3 && share(B, NONE, 2) == 2.0 / 3);
    assert_true(share(A, NONE, 4) == 2.0 / 3 && share(C, NONE, 7.9) == 0 && share(C, NONE, 8) == 1.0 / 3);
    assert_true(share(A, NONE, INFINITY) == 2.0 / 3 && share(C, NONE, INFINITY) == 1.0 / 3); /* the share solved */
    assert_true(pbd_performance_profile(cost, 0, 3, A, NONE, 1) == 0);
}

/* Without A, B is the best on both; without B, A is: the order of the two depends on who else is there. */
static void test_rival_removed(void **state) {
    (void)state;
    assert_true(share(B, A, 1) == 2.0 / 3 && share(A, B, 1) == 2.0 / 3);
    assert_true(share(C, A, 4) == 1.0 / 3 && share(C, B, 8) == 1.0 / 3 && share(C, A, 3.9) == 0);
}

static void test_data_profile(void **state) {
    (void)state;
    static const double unit[3] = {1, 0.5, 1}; /* A: 1 and 8 units; B: 2 and 2; C: 8 */
    assert_true(pbd_data_profile(cost, unit, 3, 3, A, 0.9) == 0 && pbd_data_profile(cost, unit, 3, 3, A, 1) == 1.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 3, 3, A, 7.9) == 1.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 3, 3, A, 8) == 2.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 3, 3, B, 2) == 2.0 / 3 &&
                pbd_data_profile(cost, unit, 3, 3, C, 100) == 1.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 0, 3, A, 1) == 0);
}

/* ---- Trials -------------------------------------------------------------------------------------------------------
 */

static pbd_result run_of(const char *how, double value, double solve) {
    static pbd_metric_item metric[2];
    static pbd_phase_item phase[2];
    metric[0] = (pbd_metric_item){.name = (char *)(uintptr_t) "tip_ratio", .value = value};
    metric[1] = (pbd_metric_item){.name = (char *)(uintptr_t) "simulated_time", .value = 2};
    phase[0] = (pbd_phase_item){.name = (char *)(uintptr_t) "create", .wall_s = 0.5};
    phase[1] = (pbd_phase_item){.name = (char *)(uintptr_t) "solve", .wall_s = solve};
    return (pbd_result){.state = (char *)(uintptr_t)how, .metric = metric, .metrics = 2, .phase = phase, .phases = 2};
}

static pbd_trial judged(const char *kind, const char *how, double value, double solve, double limit) {
    const pbd_problem problem = {.kind = (char *)(uintptr_t)kind,
                                 .metric = (char *)(uintptr_t) "tip_ratio",
                                 .target = 1,
                                 .uncertainty = 0.01,
                                 .tolerance = 0.05};
    const pbd_result run = run_of(how, value, solve);
    pbd_trial trial = {0};
    pbd_trial_judge(&problem, &run, limit, &trial);
    return trial;
}

static bool near(double a, double b) { return fabs(a - b) < 1e-12; }

static void test_judging_a_trial(void **state) {
    (void)state;
    /* |0.9 - 1| / 0.05 = 2; 1.2 s for 2 s, of which a frame is 1/120 */
    pbd_trial t = judged("moving", "ok", 0.9, 1.2, 30);
    assert_true(t.counts && near(t.over, 2) && near(t.time, 0.01));
    t = judged("static", "ok", 0.9, 1.2, 30);
    assert_true(near(t.time, 1.7)); /* with what precedes it */
    t = judged("moving", "ok", 1.001, 1.2, 30);
    assert_true(near(t.over, 0.2)); /* below the uncertainty: that */
    t = judged("moving", "ok", 1.2, 1.2, 1);
    assert_true(!t.counts && t.late);
    t = judged("moving", "unphysical", 1, 1.2, 30);
    assert_true(!t.counts && !t.late);
    t = judged("moving", "ok", NAN, 1.2, 30);
    assert_true(!t.counts);
    t = judged("moving", "ok", 1, 0, 30);
    assert_true(!t.counts && isnan(t.time));
}

static void test_best_and_fastest(void **state) {
    (void)state;
    const pbd_trial trial[] = {{.over = 5, .time = 1, .counts = true},
                               {.over = 0.5, .time = 4, .counts = true},
                               {.over = 0.5, .time = 3, .counts = true},
                               {.over = 0.1, .time = 0.1, .counts = false},
                               {.over = 0.05, .time = 9, .counts = true}};
    assert_null(pbd_best_trial(trial, 5, 0.9));
    assert_ptr_equal(pbd_best_trial(trial, 5, 1), &trial[0]);
    assert_ptr_equal(pbd_best_trial(trial, 5, 4), &trial[2]); /* of equal errors the faster */
    assert_ptr_equal(pbd_best_trial(trial, 5, INFINITY), &trial[4]);
    assert_ptr_equal(pbd_fastest_trial(trial, 5, 10), &trial[0]);
    assert_ptr_equal(pbd_fastest_trial(trial, 5, 1), &trial[2]);
    assert_ptr_equal(pbd_fastest_trial(trial, 5, 0.1), &trial[4]);
    assert_null(pbd_fastest_trial(trial, 5, 0.01));
}

static void test_budgets(void **state) {
    (void)state;
    double s;
    char text[32];
    assert_true(pbd_budget_parse("10ms", &s).code == PBD_OK && near(s, 0.01));
    assert_true(pbd_budget_parse("0.5s", &s).code == PBD_OK && near(s, 0.5));
    assert_true(pbd_budget_parse("2", &s).code == PBD_OK && near(s, 2));
    static const char *const wrong[] = {"", "ms", "-1ms", "0", "nan", "1 hour", "inf"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pbd_budget_parse(wrong[i], &s).code, PBD_BAD_INPUT);
    pbd_budget_text(0.01, text);
    assert_string_equal(text, "10 ms");
    pbd_budget_text(INFINITY, text);
    assert_string_equal(text, "any");
    assert_int_equal(pbd_default_budgets(true).count, 5);
    assert_int_equal(pbd_default_budgets(false).count, 4);
}

/* ---- The program's own file ---------------------------------------------------------------------------------------
 */

/* Loading checks names, fixed parameters and the number of trials; planning that no two trials are alike. */
static void test_own_problems(void **state) {
    (void)state;
    pbd_problems *all;
    size_t quick = 0;
    assert_fine(pbd_problems_load(&all));
    for (unsigned i = 0; i < all->problems_count; i++) {
        const pbd_problem *p = &all->problems[i];
        quick += p->quick;
        for (unsigned k = 0; k < p->methods_count; k++)
            for (int scale = 0; scale < (p->quick ? 2 : 1); scale++) {
                pbd_plan plan = {0};
                assert_fine(pbd_problem_plan(all, p, &p->methods[k], NULL, 1, scale == 1, 0, &plan));
                assert_int_equal(plan.count, scale ? all->quick_trials : all->trials);
                pbd_plan_free(&plan);
            }
    }
    assert_true(all->problems_count >= 30);
    assert_int_equal(quick, 10);
    pbd_problems_free(all);
}

static bool is_named(const pbd_problem *p, const char *method) {
    for (unsigned k = 0; k < p->methods_count; k++)
        if (strcmp(p->methods[k].method, method) == 0) return true;
    for (unsigned k = 0; k < p->left_out_count; k++)
        if (strcmp(p->left_out[k].name, method) == 0) return true;
    return false;
}

/* A method that runs a problem's case by its defaults has trials there, or a reason. */
static void test_no_method_is_forgotten(void **state) {
    (void)state;
    pbd_problems *all;
    assert_fine(pbd_problems_load(&all));
    told answer = tell("list", "pairs", "--json");
    expect_code(answer, 0);
    json_t *pairs = json_loads(answer.out, 0, NULL), *pair;
    size_t index, forgotten = 0;
    json_array_foreach(pairs, index, pair) {
        const char *ends = json_string_value(json_object_get(pair, "state"));
        const char *of = json_string_value(json_object_get(pair, "case"));
        const char *method = json_string_value(json_object_get(pair, "method"));
        for (unsigned i = 0; i < all->problems_count && strcmp(ends, "refused") != 0; i++) {
            if (strcmp(all->problems[i].case_name, of) != 0 || is_named(&all->problems[i], method)) continue;
            print_message("%s says nothing of %s\n", all->problems[i].id, method);
            forgotten++;
        }
    }
    assert_true(json_array_size(pairs) > 100);
    assert_int_equal(forgotten, 0);
    json_decref(pairs);
    forget(&answer);
    pbd_problems_free(all);
}

/* ---- The verb -----------------------------------------------------------------------------------------------------
 */

static const char file_head[] =
    "trials: 2\nquick_trials: 1\nseconds: 20\nquick_seconds: 10\nchoices: [cells, mode]\nproblems:\n";
static const char shear[] =
    "  - id: shear\n    title: a cube is sheared\n    case: cube_shear\n    kind: static\n    quick: true\n"
    "    set: [E=1, nu=0.3, density=0, edge=2, load=small, loads=equal, base=reset, shared=once, convention=printed,\n"
    "      reference=fem]\n"
    "    metric: displacement_error\n    uncertainty: 0\n    tolerance: 0.2\n    reference: FEM on the same mesh\n"
    "    methods:\n"
    "      - {method: pbd_distance, axes: [\"cells=1,2\"], quick: [cells=1]}\n"
    "      - {method: fem_linear, axes: [\"cells=1,2\"], quick: [cells=1], authors: none}\n"
    "    left_out: [{name: vbd, because: no static solver}]\n";
/* quasi_newton comes within 1e-3 of the minimiser in ten descents; a bar that explodes fails. */
static const char step[] =
    "  - id: step\n    title: one step of implicit Euler\n    case: implicit_step\n    kind: moving\n"
    "    set: [E=1e5, nu=0.3, density=100, material=macklin_neo_hookean, length=1, width=0.2, gravity=9.81, "
    "step=0.005,\n"
    "      start=rest, swing_time=0.1, contrast_E=1, contrast_density=1,\n"
    "      contrast_at=tip]\n"
    "    metric: step_error\n    uncertainty: 1e-12\n    tolerance: 0.01\n    reference: Newton\n"
    "    methods:\n"
    "      - {method: quasi_newton, set: [cells=1], axes: [\"iterations=10,20\"]}\n"
    "      - {method: vbd, set: [cells=1], axes: [\"iterations=1,2\"]}\n";
/* vbd has no static solver, mpm's own step explodes the bar. */
static const char fails[] =
    "  - id: fails\n    title: trials that do not count\n    case: cantilever\n    kind: moving\n"
    "    set: [E=1e5, nu=0.3, density=100, material=hencky, length=1, width=0.2, sampling=lattice, jitter=0.1, "
    "seed=1,\n"
    "      same_mesh=off, held_layers=1, gravity=9.81, settle_tolerance=1e-6, max_steps=200000, duration=0.1]\n"
    "    metric: tip_ratio\n    target: 1\n    uncertainty: 0.01\n    tolerance: 0.05\n    reference: FEM\n"
    "    methods:\n"
    "      - {method: vbd, set: [cells=1, mode=dynamic], axes: [\"dt=0.05,0.1\"]}\n"
    "      - {method: mpm, set: [cells=3, mode=dynamic], axes: [\"dt=0.05,0.02\"]}\n"
    "      - {method: xpbd_cloth, set: [cells=1, mode=dynamic], axes: [\"dt=0.05,0.02\"]}\n";

static char root[PATH_MAX + 64], db[PATH_MAX + 64];

static void write_problems(const char *text) {
    char path[PATH_MAX + 100];
    snprintf(path, sizeof path, "%s/cases/problems.yaml", root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_all_problems(const char *head) {
    char text[6000];
    snprintf(text, sizeof text, "%s%s%s%s", head, shear, step, fails);
    write_problems(text);
}

static int setup(void **state) {
    (void)state;
    char path[PATH_MAX + 100];
    snprintf(root, sizeof root, "%s", in_workplace("rank"));
    snprintf(db, sizeof db, "%s", in_workplace("rank.db"));
    assert_int_equal(mkdir(root, 0777), 0);
    snprintf(path, sizeof path, "%s/cases", root);
    assert_int_equal(mkdir(path, 0777), 0);
    setenv("PBDBENCH_ROOT", root, 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    write_all_problems(file_head);
    return 0;
}

static json_t *rank_json(const char *option) {
    told answer = option ? tell("rank", "--json", "-q", "--db", db, option) : tell("rank", "--json", "-q", "--db", db);
    expect_code(answer, 0);
    json_t *object = json_loads(answer.out, 0, NULL);
    if (!object) fail_msg("no JSON: %s", answer.out);
    forget(&answer);
    return object;
}

static long long number(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* The row of a method on one thread. */
static const json_t *row_of(const json_t *ranking, size_t problem, const char *method) {
    const json_t *rows = json_object_get(json_array_get(json_object_get(ranking, "problems"), problem), "rows"), *row;
    size_t i;
    json_array_foreach(rows, i, row) if (strcmp(json_string_value(json_object_get(row, "method")), method) == 0 &&
                                         number(row, "threads") == 1) return row;
    fail_msg("no row of %s", method);
    return NULL;
}

static void test_ranking(void **state) {
    (void)state;
    json_t *r = rank_json(NULL);
    assert_true(number(r, "made") > 0);
    assert_int_equal(number(r, "stored"), 0);
    assert_int_equal(json_array_size(json_object_get(r, "problems")), 3);
    static const char *const keys[] = {"cpu", "git_sha", "dirty", "backend", "quick", "trials", "limit_s", "profiles"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) assert_non_null(json_object_get(r, keys[i]));
    const json_t *exact = row_of(r, 0, "fem_linear"), *fitted = row_of(r, 0, "pbd_distance");
    assert_int_equal(json_array_size(json_object_get(exact, "within")), 4);
    assert_int_equal(json_array_size(json_object_get(row_of(r, 1, "vbd"), "within")), 5);
    assert_int_equal(json_array_size(json_object_get(fitted, "trials")), 2);
    /* 0.157131 of cells=1 over 0.2, as `run cube_shear -m pbd_distance` prints it */
    const json_t *first = json_array_get(json_object_get(fitted, "trials"), 0);
    assert_true(fabs(json_real_value(json_object_get(first, "over_tolerance")) - 0.157131 / 0.2) < 1e-4);
    assert_string_equal(json_string_value(json_object_get(first, "settings")), "cells=1");
    assert_true(json_is_true(json_object_get(first, "counts")));
    const json_t *newton = row_of(r, 1, "quasi_newton");
    assert_true(json_is_number(json_object_get(json_array_get(json_object_get(newton, "time_to"), 1), "time_s")));
    json_decref(r);
    r = rank_json(NULL); /* a second call makes none */
    assert_int_equal(number(r, "made"), 0);
    json_decref(r);
}

static void test_failures_are_rows(void **state) {
    (void)state;
    json_t *r = rank_json("--stored");
    const json_t *mpm = row_of(r, 2, "mpm"), *cloth = row_of(r, 2, "xpbd_cloth"), *trial;
    size_t i;
    json_array_foreach(json_object_get(mpm, "trials"), i, trial) {
        assert_true(json_is_false(json_object_get(trial, "counts")));
        assert_true(strlen(json_string_value(json_object_get(trial, "says"))) > 0);
    }
    expect_says(json_string_value(json_object_get(cloth, "refused")), "triangles");
    json_decref(r);
    told answer = tell("rank", "-q", "--stored", "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "refused: method xpbd_cloth needs triangles");
    expect_says(answer.out, "depends on the others in it");
    forget(&answer);
}

static void test_budget_answers(void **state) {
    (void)state;
    told answer = tell("rank", "--problem", "shear", "--budget", "10s", "-q", "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "within 10 s a solve, 1 thread");
    expect_says(answer.out, "   1  fem_linear");
    expect_says(answer.out, "answer: fem_linear");
    expect_says(answer.out, "0 runs made");
    assert_null(strstr(answer.out, "implicit Euler"));
    forget(&answer);
    answer = tell("rank", "--problem", "shear", "--budget", "0.000001ms", "-q", "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "none of 2 methods has an answer within 1e-06 ms");
    forget(&answer);
    answer = tell("rank", "--problem", "shear", "-m", "pbd_distance", "-q", "--db", db);
    expect_code(answer, 0);
    assert_null(strstr(answer.out, "fem_linear"));
    forget(&answer);
}

static void test_tables(void **state) {
    (void)state;
    told answer = tell("rank", "--markdown", "-q", "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "| shear");
    expect_says(answer.out, "Problems that move");
    expect_says(answer.out, "Share of 3 problems solved");
    forget(&answer);
    answer = tell("rank", "--latex", "-q", "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "\\toprule");
    forget(&answer);
}

static void test_plans(void **state) {
    (void)state;
    told answer = tell("rank", "--dry-run", "--json", "--quick", "--db", in_workplace("none.db"));
    expect_code(answer, 0);
    json_t *plan = json_loads(answer.out, 0, NULL);
    assert_int_equal(number(plan, "to_make"), number(plan, "runs"));
    assert_int_equal(number(plan, "runs") % 2, 0); /* two methods, a trial each, by numbers of threads */
    json_decref(plan);
    forget(&answer);
    answer = tell("rank", "--sweep", in_workplace("rank.yaml"), "--db", db);
    expect_code(answer, 0);
    forget(&answer);
    answer = tell("sweep", in_workplace("rank.yaml"), "--dry-run", "--db", db); /* the same cells */
    expect_code(answer, 0);
    expect_says(answer.out, " 0 to make");
    forget(&answer);
}

/* A trial that is stopped at its limit is stored, and not made again unless it may take longer. */
static void test_limit(void **state) {
    (void)state;
    const char *store = in_workplace("limit.db");
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s", store);
    static const char slow[] =
        "  - id: slow\n    title: a long swing\n    case: cantilever\n    kind: moving\n"
        "    set: [E=1e5, nu=0.3, density=100, material=hencky, length=1, width=0.2, sampling=lattice, jitter=0.1,\n"
        "      seed=1, same_mesh=off, held_layers=1, gravity=9.81, settle_tolerance=1e-6, max_steps=200000,\n"
        "      duration=2000, mode=dynamic]\n"
        "    metric: tip_ratio\n    target: 1\n    uncertainty: 0.01\n    tolerance: 0.05\n    reference: FEM\n"
        "    methods: [{method: strain_energy, set: [cells=1], axes: [\"dt=0.001\"]}]\n";
    char text[3000];
    static const char heads[] =
        "trials: 1\nquick_trials: 1\nseconds: %s\nquick_seconds: 0.1\nchoices: [cells]\nproblems:\n%s";
    static const struct {
        const char *seconds, *says;
    } calls[] = {
        {"0.2", "made, 0 already stored"}, {"0.2", "0 runs made"}, {"0.1", "0 runs made"}, {"0.3", "made, 0 already"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(text, sizeof text, heads, calls[i].seconds, slow);
        write_problems(text);
        told answer = tell("rank", "-q", "--db", file);
        expect_code(answer, 0);
        expect_says(answer.out, calls[i].says);
        expect_says(answer.out, "1 longer than ");
        forget(&answer);
    }
    told answer = tell("list", "runs", "--state", "interrupted", "--db", file);
    expect_code(answer, 0);
    expect_says(answer.out, "interrupted");
    forget(&answer);
    write_all_problems(file_head);
}

/* Runs of another machine are not used. */
static void test_other_machine(void **state) {
    (void)state;
    sqlite3 *sql;
    char *says = NULL;
    assert_int_equal(sqlite3_open(db, &sql), SQLITE_OK);
    sqlite3_exec(sql, "DROP TRIGGER env_update", NULL, NULL, NULL);
    const int changed =
        sqlite3_exec(sql, "UPDATE env SET fingerprint = 'bbbb0000bbbb0000bbbb0000bbbb0000'", NULL, NULL, &says);
    if (changed != SQLITE_OK) fail_msg("%s", says);
    sqlite3_close(sql);
    json_t *r = rank_json("--stored");
    assert_int_equal(number(r, "stored"), 0);
    json_decref(r);
}

static void test_slips(void **state) {
    (void)state;
    static const char *const slips[][7] = {
        {"did you mean 'shear'", "--problem", "sheer"},
        {"did you mean 'fem_linear'", "-m", "fem_liner"},
        {"expected a time above 0", "--budget", "soon"},
        {"is none of --quick", "--quick", "--problem", "step"},
        {"exclude each other", "--json", "--latex"},
        {"exclude each other", "--dry-run", "--stored"},
        {"use --problem", "shear"},
        {"has no trials on these problems", "--problem", "shear", "-m", "vbd"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const char *words[12] = {"rank", "--db", db};
        for (size_t k = 1; k < 7 && slips[i][k]; k++) words[2 + k] = slips[i][k];
        told answer = tell_to(STDOUT_KEPT, words);
        expect_code(answer, 2);
        expect_says(answer.err, slips[i][0]);
        assert_string_equal(answer.out, "");
        forget(&answer);
    }
}

/* What the file gets wrong, with the place. */
static void test_files(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } slips[] = {{"nu=0.3, ", "", "leaves the parameter nu of case cube_shear open"},
                 {"[\"cells=1,2\"], quick: [cells=1]}", "[\"cells=1,2,3\"], quick: [cells=1]}", "has 3 trials"},
                 {"quick: [cells=1]}", "quick: [\"cells=1,2\"]}", "has 2 trials with its quick axes"},
                 {"[\"cells=1,2\"], quick", "[\"nu=0.1,0.2\"], quick", "sets what the problem fixes"},
                 {"kind: static", "kind: still", "expected moving or static"},
                 {"tolerance: 0.2", "tolerance: 0", "must be above 0"},
                 {"uncertainty: 0\n", "uncertainty: 0.3\n", "must lie in [0, tolerance)"},
                 {"tolerance: 0.2", "tolernace: 0.2", "line 16, column 5: unknown key 'tolernace'"},
                 {"id: shear", "id: Shear", "expected an id"},
                 {"case: cube_shear", "case: cube_shaer", "did you mean 'cube_shear'"},
                 {"pbd_distance, axes", "pbd_distanc, axes", "did you mean 'pbd_distance'"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        char text[4000], *at;
        snprintf(text, sizeof text, "%s%s", file_head, shear);
        if (!(at = strstr(text, slips[i].from))) fail_msg("no '%s'", slips[i].from);
        char tail[4000];
        snprintf(tail, sizeof tail, "%s", at + strlen(slips[i].from));
        snprintf(at, sizeof text - (size_t)(at - text), "%s%s", slips[i].to, tail);
        write_problems(text);
        told answer = tell("list", "problems");
        expect_code(answer, 2);
        expect_says(answer.err, slips[i].says);
        expect_says(answer.err, "cases/problems.yaml");
        forget(&answer);
    }
    write_all_problems(file_head);
}

static void test_list(void **state) {
    (void)state;
    told answer = tell("list", "problems");
    expect_code(answer, 0);
    expect_says(answer.out, "cube_shear, static; displacement_error <= 0.2");
    expect_says(answer.out, "|tip_ratio - 1| <= 0.05");
    forget(&answer);
    answer = tell("list", "problems", "--json");
    expect_code(answer, 0);
    json_t *list = json_loads(answer.out, 0, NULL);
    assert_int_equal(json_array_size(list), 3);
    static const char *const keys[] = {"name",      "summary", "case",    "kind",        "set",
                                       "metric",    "error",   "target",  "uncertainty", "tolerance",
                                       "reference", "quick",   "methods", "left_out"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(json_object_get(json_array_get(list, 0), keys[i]));
    json_decref(list);
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_problems), /* before the root changes */
        cmocka_unit_test(test_no_method_is_forgotten),
        cmocka_unit_test(test_performance_profile),
        cmocka_unit_test(test_rival_removed),
        cmocka_unit_test(test_data_profile),
        cmocka_unit_test(test_judging_a_trial),
        cmocka_unit_test(test_best_and_fastest),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test_setup(test_ranking, setup),
        cmocka_unit_test(test_failures_are_rows),
        cmocka_unit_test(test_budget_answers),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_other_machine), /* spoils the store */
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
