/* Sample runs to put into stores, and queries of the stores. Include after <cmocka.h> and program.h. */
#ifndef PBD_TESTS_STORE_SAMPLE_H
#define PBD_TESTS_STORE_SAMPLE_H

#include <math.h>
#include <sqlite3.h>

#include "harness/store/store.h"

/* Fails with the status text if a call returns an error. */
#define assert_fine(CALL)                                                \
    do {                                                                 \
        const pbd_status fine_ = (CALL);                                 \
        if (fine_.code != PBD_OK) fail_msg("%s: %s", #CALL, fine_.text); \
    } while (0)

static inline void *need(void *memory) {
    if (memory == NULL) abort();
    return memory;
}

static inline char *word(const char *text) { return need(strdup(text)); }

/* ---- A run that holds what is hard to keep ----------------------------------------------------------------------- */

enum { SAMPLE_METRICS = 8, SAMPLE_VALUES = 10 };

static const double sample_values[SAMPLE_VALUES] = {0.1,
                                                    (double)NAN,
                                                    (double)INFINITY,
                                                    -(double)INFINITY,
                                                    5e-324,
                                                    1.7976931348623157e308,
                                                    -1.0 / 3.0,
                                                    9007199254740993.0,
                                                    0.0,
                                                    36028797018963968.0};

static inline void add_metric(pbd_result *r, const char *name, double value) {
    r->metric[r->metrics++] =
        (pbd_metric_item){.name = word(name), .unit = word("m"), .kind = PBD_ERROR, .value = value};
}

static inline void add_count(pbd_result *r, const char *name, uint64_t count) {
    r->metric[r->metrics++] = (pbd_metric_item){.name = word(name),
                                                .unit = word("1"),
                                                .kind = PBD_COUNT,
                                                .is_count = true,
                                                .count = count,
                                                .value = (double)count};
}

static inline void add_series(pbd_result *r, const char *component, const double *values, size_t count) {
    double *copy = need(malloc((count + 1) * sizeof *copy));
    for (size_t i = 0; i < count; i++) copy[i] = values[i];
    r->series[r->series_count++] = (pbd_series_item){.name = word("displacement"),
                                                     .component = word(component),
                                                     .unit = word("m"),
                                                     .values = copy,
                                                     .count = count,
                                                     .capacity = count};
}

/* Run number n: the same n gives the same run; another n gives another cell, seed and values. */
static inline pbd_result sample_run(unsigned n) {
    pbd_result r = {.threads = 2, .repeat = 1, .warmups = 3, .seed = 18446744073709551615u - n};
    snprintf(r.cell_id, sizeof r.cell_id, "%032x", n);
    snprintf(r.started_at, sizeof r.started_at, "2025-01-02T03:04:05.%03uZ", n % 1000);
    char params[80];
    snprintf(params, sizeof params, "{\"E\":1e+300,\"cells\":%u,\"nu\":0.1,\"solver\":\"jacobi\"}", n);
    r.case_name = word("cube_shear");
    r.method_name = word("a_method_this_program_lacks");
    r.params = word(params);
    r.backend = word("cpu");
    r.precision = word("f64");
    r.state = word("diverged");
    r.says = word("says \"runaway\" at\nstep 3, |v| \u2265 1e9 m/s \\ 'end'");
    r.metric = need(calloc(SAMPLE_METRICS, sizeof *r.metric));
    add_metric(&r, "not_a_number", (double)NAN);
    add_metric(&r, "infinite", (double)INFINITY);
    add_metric(&r, "minus_infinite", -(double)INFINITY);
    add_metric(&r, "a_third", 1.0 / 3.0 + n);
    add_metric(&r, "minus_nothing", -0.0);
    add_metric(&r, "tiny", 5e-324);
    add_count(&r, "past_double", 9007199254740993u);
    add_count(&r, "largest", 18446744073709551615u);
    r.series = need(calloc(3, sizeof *r.series));
    add_series(&r, "x", sample_values, SAMPLE_VALUES);
    add_series(&r, "y", sample_values, 1);
    add_series(&r, "z", sample_values, 0);
    r.phase = need(calloc(2, sizeof *r.phase));
    r.phase[r.phases++] = (pbd_phase_item){.name = word("solve"), .wall_s = 0.25, .cpu_s = 0.125, .calls = 7};
    r.phase[r.phases++] = (pbd_phase_item){.name = word("build"), .wall_s = 1e-9, .cpu_s = 0, .calls = 1};
    r.warning = need(calloc(1, sizeof *r.warning));
    r.warning[r.warnings++] = (pbd_warning_item){.name = word("cut_off"), .says = word("3 % left out"), .count = 12};
    return r;
}

/* Puts run n and copies its id. Child processes call it too, so it returns a status instead of failing the test. */
static inline pbd_status put_sample(pbd_store *store, unsigned n, char run_id[33]) {
    const pbd_machine_sample before = {0.5, 2400, 3, 1000}, after = {0.75, -1, -1, -1};
    pbd_result r = sample_run(n);
    const pbd_status status = pbd_store_put(store, &r, &before, &after);
    memcpy(run_id, r.run_id, 33);
    pbd_result_free(&r);
    return status;
}

/* Returns the path of this name in the workplace, after removing any file there; the string stays valid. */
static inline const char *fresh(const char *name) {
    static char paths[48][PATH_MAX + 64];
    static size_t count;
    const char *path = in_workplace(name);
    unlink(path);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(paths[i], path) == 0) return paths[i];
    }
    if (count == sizeof paths / sizeof *paths) abort();
    return strcpy(paths[count++], path);
}

/* A new store with runs 0 .. count-1, closed. */
static inline void make_store(const char *path, unsigned count) {
    pbd_store *store;
    char run_id[33];
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    for (unsigned n = 0; n < count; n++) assert_fine(put_sample(store, n, run_id));
    pbd_store_close(store);
}

/* ---- Looks from outside ------------------------------------------------------------------------------------------ */

/* Runs SQL as another program would; returns SQLite's result code. */
static inline int plain_sql(const char *path, const char *sql) {
    sqlite3 *db;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        fail_msg("%s: %s", path, sqlite3_errmsg(db));
    const int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    return code;
}

/* The first column of the first row as text, "(null)" for NULL and "(none)" without a row; the caller frees. */
static inline char *plain_text(const char *path, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *stmt = NULL;
    const char *text = "(none)";
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        fail_msg("%s: %s", path, sqlite3_errmsg(db));
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_step(stmt) == SQLITE_ROW) text = (const char *)sqlite3_column_text(stmt, 0);
    char *copy = word(text != NULL ? text : "(null)");
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return copy;
}

#define assert_sql(PATH, SQL, WANTED)                                                                   \
    do {                                                                                                \
        char *sql_got_ = plain_text(PATH, SQL);                                                         \
        if (strcmp(sql_got_, WANTED) != 0) fail_msg("%s\n gives %s, wanted %s", SQL, sql_got_, WANTED); \
        free(sql_got_);                                                                                 \
    } while (0)

/* The store's export as one string. */
static inline char *export_of(const char *path) {
    pbd_store *store;
    char *text = NULL;
    size_t bytes = 0, runs;
    FILE *out = need(open_memstream(&text, &bytes));
    assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
    assert_fine(pbd_store_export(store, out, &runs));
    pbd_store_close(store);
    fclose(out);
    return text;
}

/* Returns the number of problems that `check` finds; its output goes to *says, which the caller frees. */
static inline size_t problems_of(const char *path, char **says) {
    pbd_store *store;
    size_t bytes = 0, problems = 0;
    FILE *out = need(open_memstream(says, &bytes));
    assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
    assert_fine(pbd_store_check(store, out, &problems));
    pbd_store_close(store);
    fclose(out);
    return problems;
}

static inline void assert_clean(const char *path) {
    char *says;
    if (problems_of(path, &says) != 0) fail_msg("%s:\n%s", path, says);
    free(says);
}

typedef struct file_bytes {
    size_t count;
    unsigned char *byte;
} file_bytes;

static inline file_bytes read_bytes(const char *path) {
    file_bytes out = {0, NULL};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return out;
    struct stat info;
    fstat(fileno(file), &info);
    out.byte = need(malloc((size_t)info.st_size + 1));
    out.count = fread(out.byte, 1, (size_t)info.st_size, file);
    out.byte[out.count] = '\0';
    fclose(file);
    return out;
}

static inline void write_bytes(const char *path, const void *byte, size_t count) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) fail_msg("%s: %s", path, strerror(errno));
    if (fwrite(byte, 1, count, file) != count || fclose(file) != 0) fail_msg("%s: %s", path, strerror(errno));
}

#endif
