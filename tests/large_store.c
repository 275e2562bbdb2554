/* Makes a store of a million runs, to see whether queries on a store of several years are fast.
 *
 *     large_store FILE [CELLS BUILDS REPEATS [PROBLEM_BUILDS]]        default 1000 100 10 9
 *
 * Runs of two methods on the cubes, some of them diverged, by each of BUILDS builds on this machine. Some cells have a
 * step: in solve_cpu and solve_wall every fifth cell is 15 % slower from 40 % of the builds on, every eleventh 20 %
 * faster from 80 % on; in displacement_error every seventh is 25 % worse from 60 % on. Otherwise times have noise of
 * 2 %, errors none. The runs are invented: their ids are no hashes of their content, which `db check` would report.
 *
 * Beside these, every declared trial of every frozen problem (cases/problems.yaml), on one thread and on two, by the
 * last PROBLEM_BUILDS builds: some 20,000 runs. Their errors lie between a twentieth and twenty times the tolerance.
 *
 * Rows are inserted in the order of their keys, without triggers and indices, which come back at the end. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "harness/rank/rank.h"
#include "harness/run/run_plan.h"

typedef struct sizes {
    long long cells, builds, repeats, problem_builds;
} sizes;

/* A run to be inserted, sorted by id. */
typedef struct planned {
    XXH128_hash_t id;
    uint32_t number;
} planned;

static sqlite3 *db;

static void fail(const char *doing) {
    fprintf(stderr, "large_store: %s: %s\n", doing, db ? sqlite3_errmsg(db) : "failed");
    exit(1);
}

static void check(bool good, const char *doing) {
    if (!good) fail(doing);
}

static void run_sql(const char *sql) { check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sql); }

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, sql);
    return statement;
}

static void finish_row(sqlite3_stmt *statement) {
    check(sqlite3_step(statement) == SQLITE_DONE, "inserting");
    sqlite3_reset(statement);
}

/* ---- Chance, the same on every machine --------------------------------------------------------------------------- */

static double uniform(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; }

/* A normal deviate, different for each run and purpose. */
static double normal(uint32_t number, uint32_t purpose) {
    const uint32_t words[2] = {number, purpose};
    const XXH128_hash_t bits = XXH3_128bits(words, sizeof words);
    return sqrt(-2 * log(uniform(bits.low64))) * cos(2 * 3.14159265358979 * uniform(bits.high64));
}

static int by_id(const void *left, const void *right) {
    return XXH128_cmp(&((const planned *)left)->id, &((const planned *)right)->id);
}

static planned *plan_runs(size_t count) {
    planned *plan = malloc(count * sizeof *plan);
    check(plan != NULL, "planning");
    for (size_t i = 0; i < count; i++) {
        plan[i].number = (uint32_t)i;
        plan[i].id = XXH3_128bits(&plan[i].number, sizeof plan[i].number);
    }
    qsort(plan, count, sizeof *plan, by_id);
    return plan;
}

/* ---- What a run says --------------------------------------------------------------------------------------------- */

typedef struct made {
    char id[33];
    uint32_t number, cell, build, repeat;
    bool diverged;
    double error, seconds;
} made;

static made make(const planned *p, const sizes *s) {
    made m = {.number = p->number};
    snprintf(m.id, sizeof m.id, "%016" PRIx64 "%016" PRIx64, p->id.high64, p->id.low64);
    m.repeat = p->number % (uint32_t)s->repeats;
    m.cell = p->number / (uint32_t)s->repeats % (uint32_t)s->cells;
    m.build = p->number / (uint32_t)(s->repeats * s->cells);
    const double age = (double)m.build / (double)s->builds;
    m.diverged = m.cell % 97 == 96;
    m.error = 0.3 * exp(-(double)(m.cell % 50) / 10) * (m.cell % 7 == 0 && age >= 0.6 ? 1.25 : 1);
    m.seconds = 1e-4 * exp((double)(m.cell % 50) / 8) * exp(0.02 * normal(p->number, 1));
    if (m.cell % 5 == 0 && age >= 0.4) m.seconds *= 1.15;
    if (m.cell % 11 == 0 && age >= 0.8) m.seconds *= 0.8;
    return m;
}

/* One build per day from 2020 on; its runs are 40 ms apart. */
static void start_text(const made *m, const sizes *s, char text[32]) {
    const uint32_t within = m->number % (uint32_t)(s->repeats * s->cells);
    const time_t when = 1577836800 + 86400 * (time_t)m->build + within / 25;
    struct tm utc;
    gmtime_r(&when, &utc);
    const size_t used = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + used, 32 - used, ".%03uZ", within % 25 * 40);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void insert_builds_and_cells(const sizes *s) {
    char *sql = sqlite3_mprintf(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %lld)"
        " INSERT INTO build SELECT printf('b%%031x', i), printf('%%08x%%032x', i * 2654435761 %% 4294967296, i), 0,"
        " printf('5%%031x', i), compiler, flags, preset, licence, version FROM n, (SELECT * FROM build LIMIT 1);"
        "INSERT OR IGNORE INTO \"case\" VALUES ('cube_shear', '', ''), ('cube_torsion', '', ''), ('cube_traction', '', "
        "'');"
        "INSERT OR IGNORE INTO method VALUES ('pbd_distance', '', ''), ('fem_linear', '', '');"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %lld)"
        " INSERT INTO cell SELECT printf('c%%031x', i),"
        " CASE i / 2 %% 3 WHEN 0 THEN 'cube_shear' WHEN 1 THEN 'cube_torsion' ELSE 'cube_traction' END,"
        " CASE i %% 2 WHEN 0 THEN 'pbd_distance' ELSE 'fem_linear' END,"
        " json_object('E', 1.0 + i / 60, 'cells', 1 + i / 6 %% 10, 'nu', 0.3),"
        " 'cpu', CASE i / 6 %% 2 WHEN 0 THEN 'f64' ELSE 'f32' END, 1 FROM n;",
        s->builds, s->cells);
    check(sql != NULL, "composing");
    run_sql(sql);
    sqlite3_free(sql);
}

/* Inserts a row of a table that refers to runs: id, name, position, and the constants in the statement. */
static void insert_named(sqlite3_stmt *statement, const made *m, const char *name, int position, double value) {
    sqlite3_bind_text(statement, 1, m->id, 32, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_int(statement, 3, position);
    sqlite3_bind_double(statement, 4, value);
    finish_row(statement);
}

static void insert_runs(const planned *plan, size_t count, const sizes *s) {
    sqlite3_stmt *run = prepare(
        "INSERT INTO run SELECT ?1, printf('c%031x', ?2), printf('b%031x', ?3), env_id, invocation_id, 'run', ?4, 0, 1,"
        " ?5, ?6, '' FROM env, invocation");
    for (size_t i = 0; i < count; i++) {
        const made m = make(&plan[i], s);
        char start[32];
        start_text(&m, s, start);
        sqlite3_bind_text(run, 1, m.id, 32, SQLITE_STATIC);
        sqlite3_bind_int(run, 2, (int)m.cell);
        sqlite3_bind_int(run, 3, (int)m.build);
        sqlite3_bind_int(run, 4, (int)m.repeat);
        sqlite3_bind_text(run, 5, start, -1, SQLITE_STATIC);
        sqlite3_bind_text(run, 6, m.diverged ? "diverged" : "ok", -1, SQLITE_STATIC);
        finish_row(run);
    }
    sqlite3_finalize(run);
}

static void insert_metrics(const planned *plan, size_t count, const sizes *s) {
    sqlite3_stmt *lower = prepare("INSERT INTO metric VALUES (?1, ?2, ?3, 's', 'lower', ?4, NULL)");
    sqlite3_stmt *error = prepare("INSERT INTO metric VALUES (?1, ?2, ?3, '1', 'lower', ?4, NULL)");
    sqlite3_stmt *counter =
        prepare("INSERT INTO metric VALUES (?1, ?2, ?3, '1', 'neutral', NULL, CAST(?4 AS INTEGER))");
    for (size_t i = 0; i < count; i++) {
        const made m = make(&plan[i], s); /* in the order of names, as in the key */
        insert_named(counter, &m, "device_bytes_peak", 3, 4096 * (1 + m.cell % 50));
        if (!m.diverged) insert_named(error, &m, "displacement_error", 2, m.error);
        insert_named(lower, &m, "solve_cpu", 1, m.seconds);
        insert_named(lower, &m, "solve_wall", 0, m.seconds * (1 + 0.01 * fabs(normal(m.number, 2))));
        insert_named(counter, &m, "steps", 4, 100 + m.cell % 50);
    }
    sqlite3_finalize(lower);
    sqlite3_finalize(error);
    sqlite3_finalize(counter);
}

static void insert_phases_and_samples(const planned *plan, size_t count, const sizes *s) {
    static const char *const names[4] = {"build", "create", "measure", "solve"};
    static const int positions[4] = {0, 1, 3, 2};
    sqlite3_stmt *phase = prepare("INSERT INTO phase VALUES (?1, ?2, ?3, ?4, ?4, 1)");
    sqlite3_stmt *sample = prepare("INSERT INTO env_sample VALUES (?1, ?2, ?3, ?4, 2400, 0, 8000)");
    for (size_t i = 0; i < count; i++) {
        const made m = make(&plan[i], s);
        for (int k = 0; k < 4; k++) insert_named(phase, &m, names[k], positions[k], k == 3 ? m.seconds : 1e-5);
        insert_named(sample, &m, "after", 1, 0.5);
        insert_named(sample, &m, "before", 0, 0.5);
    }
    sqlite3_finalize(phase);
    sqlite3_finalize(sample);
}

/* ---- Runs of problems -------------------------------------------------------------------------------------------- */

/* The statements for one run of a problem. */
typedef struct writers {
    sqlite3_stmt *cell, *names, *run, *metric, *phase;
} writers;

static writers prepare_writers(void) {
    return (writers){
        prepare("INSERT OR IGNORE INTO cell VALUES (?1, ?2, ?3, ?4, 'cpu', ?5, ?6)"),
        prepare("INSERT OR IGNORE INTO method VALUES (?1, '', '')"),
        prepare(
            "INSERT INTO run SELECT ?1, ?2, printf('b%031x', ?3), env_id, invocation_id, 'run', 0, 0, ?4, ?5, ?6, ''"
            " FROM env, invocation"),
        prepare("INSERT INTO metric VALUES (?1, ?2, ?3, '1', 'lower', ?4, NULL)"),
        prepare("INSERT INTO phase VALUES (?1, ?2, ?3, ?4, ?4, 1)"),
    };
}

static void write_cell(const writers *w, const pbd_result *r) {
    const char *const text[] = {r->cell_id, r->case_name, r->method_name, r->params, r->precision};
    for (int i = 0; i < 5; i++) sqlite3_bind_text(w->cell, i + 1, text[i], -1, SQLITE_STATIC);
    sqlite3_bind_int(w->cell, 6, r->threads);
    sqlite3_bind_text(w->names, 1, r->method_name, -1, SQLITE_STATIC);
    finish_row(w->names);
    finish_row(w->cell);
}

static void write_run(const writers *w, const pbd_result *r, const pbd_problem *p, uint32_t number, int build) {
    char id[33], start[32];
    const XXH128_hash_t hash = XXH3_128bits(&number, sizeof number);
    const bool diverged = number % 23 == 0;
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    const made m = {.build = (uint32_t)build, .number = number % 100000};
    start_text(&m, &(sizes){.cells = 100000, .repeats = 1}, start);
    sqlite3_bind_text(w->run, 1, id, 32, SQLITE_STATIC);
    sqlite3_bind_text(w->run, 2, r->cell_id, 32, SQLITE_STATIC);
    sqlite3_bind_int(w->run, 3, build);
    sqlite3_bind_int64(w->run, 4, (sqlite3_int64)r->seed);
    sqlite3_bind_text(w->run, 5, start, -1, SQLITE_STATIC);
    sqlite3_bind_text(w->run, 6, diverged ? "diverged" : "ok", -1, SQLITE_STATIC);
    finish_row(w->run);
    made run = {.number = number};
    memcpy(run.id, id, sizeof run.id);
    if (!diverged)
        insert_named(w->metric, &run, p->metric, 0, p->target + p->tolerance * exp(fmod(normal(number, 3), 3)));
    insert_named(w->metric, &run, "simulated_time", 1, 1);
    insert_named(w->phase, &run, "create", 0, 1e-3);
    insert_named(w->phase, &run, "solve", 1, 0.5 * exp(fmod(normal(number, 4), 2.5)));
}

static void insert_problems(const sizes *s) {
    pbd_problems *problems = NULL;
    pbd_rank rank = {.all_threads = 2};
    check(pbd_problems_load(&problems).code == PBD_OK, "reading the problems");
    rank.problems = problems;
    for (unsigned i = 0; i < problems->problems_count; i++) {
        const char *name = problems->problems[i].case_name;
        sqlite3_stmt *one = prepare("INSERT OR IGNORE INTO \"case\" VALUES (?1, '', '')");
        sqlite3_bind_text(one, 1, name, -1, SQLITE_STATIC);
        finish_row(one);
        sqlite3_finalize(one);
        check(pbd_rank_add(&rank, &problems->problems[i], NULL).code == PBD_OK, "planning a problem");
    }
    const writers w = prepare_writers();
    uint32_t number = 1u << 30;
    for (size_t row = 0; row < rank.rows; row++)
        for (size_t i = rank.row[row].first; i < rank.row[row].last; i++) {
            pbd_result run = {0};
            check(pbd_describe_run(&rank.plan.item[i], &run).code == PBD_OK, "describing a run");
            /* Two problems may share their trials. */
            sqlite3_stmt *known = prepare("SELECT 1 FROM cell WHERE cell_id = ?1");
            sqlite3_bind_text(known, 1, run.cell_id, -1, SQLITE_STATIC);
            const bool again = sqlite3_step(known) == SQLITE_ROW;
            sqlite3_finalize(known);
            if (!again) write_cell(&w, &run);
            for (int k = 1; !again && k <= s->problem_builds && k <= s->builds; k++)
                write_run(&w, &run, rank.row[row].problem, number++, (int)s->builds - k);
            pbd_result_free(&run);
        }
    sqlite3_stmt *const all[] = {w.cell, w.names, w.run, w.metric, w.phase};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
    pbd_rank_free(&rank);
    pbd_problems_free(problems);
    printf("%u runs of problems\n", number - (1u << 30));
}

/* ---- Triggers and indices, which wait ---------------------------------------------------------------------------- */

/* Drops triggers and indices and returns the SQL that creates them again. */
static char *set_aside(void) {
    sqlite3_str *again = sqlite3_str_new(db), *drop = sqlite3_str_new(db);
    sqlite3_stmt *all =
        prepare("SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql <> ''");
    while (sqlite3_step(all) == SQLITE_ROW) {
        sqlite3_str_appendf(drop, "DROP %s \"%w\";", sqlite3_column_text(all, 0), sqlite3_column_text(all, 1));
        sqlite3_str_appendf(again, "%s;", sqlite3_column_text(all, 2));
    }
    sqlite3_finalize(all);
    char *sql = sqlite3_str_finish(drop);
    check(sql != NULL, "composing");
    run_sql(sql);
    sqlite3_free(sql);
    sql = sqlite3_str_finish(again);
    check(sql != NULL, "composing");
    return sql;
}

static void fill(const sizes *s) {
    const size_t count = (size_t)(s->cells * s->builds * s->repeats);
    planned *plan = plan_runs(count);
    run_sql(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -200000");
    char *again = set_aside();
    run_sql("BEGIN");
    insert_builds_and_cells(s);
    insert_runs(plan, count, s);
    insert_metrics(plan, count, s);
    insert_phases_and_samples(plan, count, s);
    insert_problems(s);
    run_sql(again);
    run_sql("COMMIT; PRAGMA journal_mode = WAL");
    sqlite3_free(again);
    free(plan);
}

static bool take_sizes(int argc, char **argv, sizes *s) {
    long long *const wanted[4] = {&s->cells, &s->builds, &s->repeats, &s->problem_builds};
    for (int i = 2; i < argc; i++) {
        *wanted[i - 2] = strtoll(argv[i], NULL, 10);
        if (*wanted[i - 2] < (i < 5) || *wanted[i - 2] > 100000) return false;
    }
    return s->cells * s->builds <= 10000000 / s->repeats;
}

int main(int argc, char **argv) {
    sizes s = {1000, 100, 10, 9};
    struct stat info;
    if (argc < 2 || argc > 6 || !take_sizes(argc, argv, &s)) {
        fputs("usage: large_store FILE [CELLS BUILDS REPEATS [PROBLEM_BUILDS]]  (10 million runs at most)\n", stderr);
        return 2;
    }
    if (stat(argv[1], &info) == 0) {
        fprintf(stderr, "large_store: there is a '%s' already\n", argv[1]);
        return 2;
    }
    pbd_store *store = NULL;
    pbd_status status = pbd_store_open(argv[1], PBD_STORE_WRITE, &store);
    if (status.code == PBD_OK) status = pbd_store_begin(store, argc, argv);
    if (status.code != PBD_OK) {
        fprintf(stderr, "large_store: %s\n", status.text);
        return 1;
    }
    db = pbd_store_sql(store);
    fill(&s);
    pbd_store_close(store);
    printf("%s: %lld runs\n", argv[1], s.cells * s.builds * s.repeats);
    return 0;
}
