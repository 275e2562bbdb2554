/* A small paper made for tests, in a checkout of its own: fixture of the tests of reproduce, plot, cite and sweep. */
#ifndef PBD_TEST_PAPER_H
#define PBD_TEST_PAPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>

#include "tests/program.h"

static const char papers[] =
    "papers:\n"
    "  - key: tiny\n"
    "    kind: article\n"
    "    title: A Tiny Paper\n"
    "    authors: [A. One, B. Two]\n"
    "    year: 1999\n"
    "    venue: Journal of Small Things\n"
    "    figures:\n"
    "      - {id: tiny-fig1, shows: stiffness of one cube}\n"
    "      - {id: tiny-fig2, shows: never drawn}\n"
    "  - {key: other, kind: misc, title: Another, venue: nowhere, figures: [{id: other-fig1, shows: nothing yet}]}\n";

/* k_edge(0) = 0.0511 and dt(0) = 0.473 s are the paper's numbers for one cube (claims.md, R-1 and Eq. 10). */
static __attribute__((unused)) const char tiny_fig1[] =
    "figure: tiny-fig1\n"
    "paper: tiny\n"
    "title: Stiffness of one cube\n"
    "seconds: 2\n"
    "quick_seconds: 0.5\n"
    "memory_mib: 10\n"
    "runs:\n"
    "  - name: fit\n"
    "    case: hex_fit\n"
    "    method: pbd_distance\n"
    "    threads: 1\n"
    "    axes: [\"nu=0:0.4:0.1\"]\n"
    "    quick: [\"nu=0,0.4\"]\n"
    "data:\n"
    "  - name: fitted\n"
    "    sql: SELECT f.nu, f.k_edge, f.param_k_edge, p.k_edge AS paper, NULL AS lacking, f.state FROM fit AS f LEFT "
    "JOIN paper AS p\n"
    "      ON abs(f.nu - p.nu) < 1e-9 ORDER BY f.nu\n"
    "plots: [tiny-fig1.png]\n"
    "claims:\n"
    "  - id: tiny-fig1.holds\n"
    "    says: k_edge is what the paper prints\n"
    "    runs: [fit]\n"
    "    sql: SELECT k_edge AS value, printf('at dt = %.3f s', dt) AS note FROM fit WHERE nu = 0\n"
    "    reproduced: 0.0506 to 0.0516\n"
    "  - id: tiny-fig1.fails\n"
    "    says: k_edge is negative\n"
    "    sql: SELECT min(k_edge) AS value FROM fit\n"
    "    reproduced: '< 0'\n"
    "  - id: tiny-fig1.no_row\n"
    "    says: something about runs that nobody made\n"
    "    sql: SELECT 1 AS value FROM fit WHERE nu > 0.45\n"
    "    reproduced: '= 1'\n"
    "    notes: the axis ends before\n";

static __attribute__((unused)) const char paper_csv[] = "# as printed\nnu,k_edge,says\n0,0.0511,\"first, and last\"\n";

static __attribute__((unused)) const char plot_gp[] =
    "load style\n"
    "set output out . '/tiny-fig1.png'\n"
    "set title 'one cube' . quick\n"
    "plot data . '/fitted.tsv' using 1:2 with linespoints ls 1 title 'fit'\n";

static __attribute__((unused)) void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s: %s", name, strerror(errno));
}

static __attribute__((unused)) char *read_text(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail_msg("%s: %s", path, strerror(errno));
    return slurp(file);
}

static __attribute__((unused)) bool exists(const char *name) { return access(in_workplace(name), F_OK) == 0; }

/* A folder with a figure.yaml that differs from tiny-fig1 in its claims. */
static __attribute__((unused)) void make_figure(const char *id, const char *claims) {
    char name[60], *text = NULL;
    snprintf(name, sizeof name, "plots/%s", id);
    assert_int_equal(mkdir(in_workplace(name), 0777), 0);
    snprintf(name, sizeof name, "plots/%s/figure.yaml", id);
    assert_true(asprintf(&text,
                         "figure: %s\npaper: tiny\ntitle: %s\nruns:\n  - {name: fit, case: hex_fit, method: "
                         "pbd_distance, threads: 1, "
                         "axes: [\"nu=0:0.4:0.1\"]}\n%s",
                         id, id, claims) > 0);
    write_text(name, text);
    free(text);
}

/* The workplace's plots is a link to the checkout's. Replaces it by a folder of the test's own, with the checkout's
 * style.gp. */
static __attribute__((unused)) int make_paper(void **state) {
    (void)state;
    const char *plots = in_workplace("plots");
    char checkout[PATH_MAX], style[PATH_MAX + 16];
    if (!realpath(plots, checkout) || unlink(plots) != 0 || mkdir(plots, 0777) != 0) return -1;
    snprintf(style, sizeof style, "%s/style.gp", checkout);
    if (symlink(style, in_workplace("plots/style.gp")) != 0) return -1;
    snprintf(style, sizeof style, "%s/chart.gp", checkout);
    if (symlink(style, in_workplace("plots/chart.gp")) != 0) return -1;
    if (mkdir(in_workplace("plots/tiny-fig1"), 0777) != 0 || mkdir(in_workplace("nothing"), 0777) != 0) return -1;
    write_text("plots/papers.yaml", papers);
    write_text("plots/tiny-fig1/figure.yaml", tiny_fig1);
    write_text("plots/tiny-fig1/paper.csv", paper_csv);
    write_text("plots/tiny-fig1/plot.gp", plot_gp);
    return 0;
}

static __attribute__((unused)) sqlite3_int64 count_rows(const char *db, const char *query) {
    sqlite3 *sql = NULL;
    sqlite3_stmt *count = NULL;
    if (sqlite3_open_v2(in_workplace(db), &sql, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(sql, query, -1, &count, NULL) != SQLITE_OK || sqlite3_step(count) != SQLITE_ROW)
        fail_msg("%s: %s", query, sqlite3_errmsg(sql));
    sqlite3_int64 rows = sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    sqlite3_close(sql);
    return rows;
}

static __attribute__((unused)) sqlite3_int64 count_runs(const char *db) {
    return count_rows(db, "SELECT count(*) FROM run");
}

#define DB(name) "--db", in_workplace(name), "--out", in_workplace("pictures")

static __attribute__((unused)) json_t *parse_line(const char *text) {
    json_error_t error;
    json_t *object = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
    if (!object) fail_msg("no JSON: %s:\n%s", error.text, text);
    return object;
}

static __attribute__((unused)) const char *string_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(none)";
}

static __attribute__((unused)) json_t *claim_named(const json_t *figure, const char *id) {
    size_t i;
    json_t *claim;
    json_array_foreach(json_object_get(figure, "claims"), i,
                       claim) if (strcmp(string_of(claim, "id"), id) == 0) return claim;
    fail_msg("no claim %s", id);
    return NULL;
}

#endif
