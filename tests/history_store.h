/* Stores with a history of cells, builds and repeats, written straight into the tables (their ids are not hashes, so
 * `db check` would complain). The values are known. The time of a solve is 20 ms with noise of ±1 % that depends on
 * the run's number alone; in cell 0 it is 10 % longer from the middle build on. The error is 0.25, and 0.2 in the last
 * build. */
#ifndef PBD_TESTS_HISTORY_STORE_H
#define PBD_TESTS_HISTORY_STORE_H

#include <stdio.h>
#include <stdlib.h>

#include "harness/store/store.h"

static inline pbd_status fill_history(sqlite3 *sql, long cells, long builds, long repeats) {
    static const char rows[] =
        "INSERT INTO env VALUES (printf('%%032x', 1), printf('%%032x', 77), 'a processor', 'linux', 'avx2', 1, 2, 2, "
        "32, "
        "512, 8192, 16000, '');"
        "INSERT INTO invocation VALUES (printf('%%032x', 1), '[\"run\"]', '2026-01-01T00:00:00.000Z', 1);"
        "INSERT INTO method VALUES ('pbd_distance', 'a method', 'a paper');"
        "INSERT INTO \"case\" VALUES ('cube_shear', 'a case', 'a paper');"
        "WITH RECURSIVE b(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM b WHERE i + 1 < %2$ld)"
        " INSERT INTO build SELECT printf('%%032x', i), printf('%%040x', i + 4096), 0, printf('%%032x', i), 'gcc', "
        "'-O3', "
        "'release', 'MIT', '0.1' FROM b;"
        "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i + 1 < %1$ld)"
        " INSERT INTO cell SELECT printf('%%032x', i), 'cube_shear', 'pbd_distance', json_object('cells', i, 'nu', "
        "0.3), "
        "'cpu', 'f32', 1 FROM c;"
        "CREATE TEMP TABLE made AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %1$ld "
        "* "
        "%2$ld * %3$ld) SELECT i, i %% %1$ld AS cell, i / (%1$ld * %3$ld) AS build, (i / %1$ld) %% %3$ld AS repeat, "
        "0.02 * (1 + 0.01 * (((i * 2654435761) %% 1000003) / 500001.5 - 1)) AS noisy FROM n;"
        "INSERT INTO run SELECT printf('%%032x', i), printf('%%032x', cell), printf('%%032x', build), printf('%%032x', "
        "1), "
        "printf('%%032x', 1), 'run', repeat, 0, 1, strftime('%%Y-%%m-%%dT%%H:%%M:%%S', 1767225600 + i, 'unixepoch') || "
        "'.000Z', 'ok', '' FROM made;"
        "INSERT INTO metric SELECT printf('%%032x', i), 'displacement_error', 0, '1', 'lower', CASE WHEN build + 1 = "
        "%2$ld THEN 0.2 ELSE 0.25 END, NULL FROM made;"
        "INSERT INTO metric SELECT printf('%%032x', i), 'solve_cpu', 1, 's', 'lower', noisy * CASE WHEN cell = 0 AND "
        "build "
        "* 2 >= %2$ld THEN 1.1 ELSE 1 END, NULL FROM made;"
        "INSERT INTO metric SELECT printf('%%032x', i), 'steps', 2, '1', 'neutral', NULL, 120 FROM made;"
        "INSERT INTO metric SELECT printf('%%032x', i), 'bytes_moved', 3, 'B', 'neutral', 1e6, NULL FROM made;"
        "INSERT INTO phase SELECT printf('%%032x', i), 'solve', 0, noisy, noisy, 1 FROM made;"
        "DROP TABLE made;";
    char *text = NULL, *why = NULL;
    if (asprintf(&text, rows, cells, builds, repeats) < 0) return pbd_error(PBD_FAILED, "out of memory");
    pbd_status status = pbd_ok();
    if (sqlite3_exec(sql, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(sql, text, NULL, NULL, &why) != SQLITE_OK ||
        sqlite3_exec(sql, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        status = pbd_error(PBD_FAILED, "the history cannot be made: %s", why ? why : sqlite3_errmsg(sql));
    sqlite3_free(why);
    free(text);
    return status;
}

/* Creates the store at `path`. */
static inline pbd_status make_history(const char *path, long cells, long builds, long repeats) {
    pbd_store *store = NULL;
    PBD_TRY(pbd_store_open(path, PBD_STORE_WRITE, &store));
    const pbd_status status = fill_history(pbd_store_sql(store), cells, builds, repeats);
    pbd_store_close(store);
    return status;
}

#endif
