/* Stores of planted runs, with builds, machines, cells and numbers chosen by the test, without running anything. Ids
 * are not hashes, which only `db check` would report. Include after store_sample.h. */
#ifndef PBD_TESTS_PLANTED_STORE_H
#define PBD_TESTS_PLANTED_STORE_H

#include "tests/store_sample.h"

static sqlite3 *planted;
static unsigned planted_runs;

static inline void plant(const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *sql = need(sqlite3_vmprintf(format, list)), *says = NULL;
    va_end(list);
    if (sqlite3_exec(planted, sql, NULL, NULL, &says) != SQLITE_OK) fail_msg("%s\n%s", says, sql);
    sqlite3_free(sql);
}

/* Begins a new store with machine aaaa... and the only methods and cases that a test may name. */
static inline void plant_store(const char *path) {
    pbd_store *store;
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    pbd_store_close(store);
    planted_runs = 0;
    assert_int_equal(sqlite3_open_v2(path, &planted, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    plant(
        "PRAGMA synchronous = OFF; BEGIN;"
        "INSERT INTO \"case\" VALUES ('cube_shear', '', ''), ('cube_torsion', '', ''), ('hex_fit', '', ''), "
        "('cantilever', '', '');"
        "INSERT INTO method VALUES ('fem_linear', '', ''), ('pbd_distance', '', '');"
        "INSERT INTO invocation VALUES ('i', '[]', '2024-01-01T00:00:00.000Z', 1)");
}

static inline void plant_machine(const char *fingerprint, const char *cpu) {
    plant("INSERT INTO env VALUES (%Q, %Q, %Q, 'os', 'isa', 1, 1, 1, 0, 0, 0, 0, '')", fingerprint, fingerprint, cpu);
}

/* Build n of a preset: commit 00abc0nn00..., sources of its own; a letter for each preset, 's' with sanitizers. */
static inline void plant_build(unsigned n, char letter, const char *preset, bool dirty) {
    plant("INSERT INTO build VALUES ('%c%u', '%08x%032x', %d, '%032x', 'cc', %Q, %Q, '', '0')", letter, n, n + 0xabc000,
          n, dirty, n + (unsigned)letter * 65536, letter == 's' ? "-fsanitize=address" : "", preset);
}

static inline void plant_cell(const char *id, const char *case_name, const char *method, const char *params,
                              const char *precision, int threads) {
    plant("INSERT INTO cell VALUES (%Q, %Q, %Q, %Q, 'cpu', %Q, %d)", id, case_name, method, params, precision, threads);
}

/* A run of build `letter``n`, which began on day n; plant_metric adds its metrics. */
static inline void plant_run(const char *cell, char letter, unsigned n, const char *machine, const char *state) {
    const unsigned id = ++planted_runs;
    plant(
        "INSERT INTO run VALUES ('%032x', %Q, '%c%u', %Q, 'i', 'run', %u, 0, 1,"
        " strftime('%%Y-%%m-%%dT%%H:%%M:%%S', '2024-01-01', '+%u days', '+%u seconds') || '.000Z', %Q, '')",
        id, cell, letter, n, machine, id, n, id % 60000, state);
}

/* Adds a metric to the run planted last. */
static inline void plant_metric(const char *name, const char *unit, const char *direction, double value) {
    plant("INSERT INTO metric VALUES ('%032x', %Q, 0, %Q, %Q, %!.17g, NULL)", planted_runs, name, unit, direction,
          value);
}

static inline void plant_count(const char *name, unsigned value) {
    plant("INSERT INTO metric VALUES ('%032x', %Q, 0, '1', 'neutral', NULL, %u)", planted_runs, name, value);
}

static inline void plant_solve(double wall, double cpu) {
    plant("INSERT INTO phase VALUES ('%032x', 'solve', 0, %!.17g, %!.17g, 1)", planted_runs, wall, cpu);
}

static inline void plant_end(void) {
    plant("COMMIT");
    sqlite3_close(planted);
}

#endif
