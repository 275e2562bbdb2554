/* Summaries and sources of cases and methods: they may change from version to version and the store keeps the latest,
 * so that they are not part of a run's hash. Table `about` has a hash of its own for them. */
#include <string.h>

#include "harness/store/rows.h"

/* Stores the hash only if the store's row has this text: it may still hold the row of another version. */
static pbd_status note(const pbd_store *store, const char *kind, const json_t *row, bool replace) {
    json_auto_t *copy = json_deep_copy(row);
    if (copy == NULL || !pbd_row_identify(kind, copy)) return pbd_store_no_memory(store);
    const char *const text[] = {
        kind, json_string_value(json_object_get(row, "name")), json_string_value(json_object_get(copy, "name")),
        json_string_value(json_object_get(row, "summary")), json_string_value(json_object_get(row, "source"))};
    char sql[400];
    snprintf(sql, sizeof sql,
             "INSERT INTO about (kind, name, hash) SELECT ?1, name, ?3 FROM \"%s\""
             " WHERE name = ?2 AND summary = ?4 AND source = ?5 ON CONFLICT (kind, name) DO %s",
             kind, replace ? "UPDATE SET hash = excluded.hash WHERE hash <> excluded.hash" : "NOTHING");
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool more;
    return pbd_store_row(store, sql, text, 5, "storing a run", &more, &stmt);
}

pbd_status pbd_about_insert(const pbd_store *store, const char *kind, const json_t *row) {
    return note(store, kind, row, false);
}

pbd_status pbd_about_refresh(const pbd_store *store, const char *kind, const json_t *row) {
    const char *const text[] = {json_string_value(json_object_get(row, "name")),
                                json_string_value(json_object_get(row, "summary")),
                                json_string_value(json_object_get(row, "source"))};
    if (!*text[1] && !*text[2]) return pbd_ok();
    char sql[200];
    snprintf(sql, sizeof sql,
             "UPDATE \"%s\" SET summary = ?2, source = ?3 WHERE name = ?1 AND (summary <> ?2 OR source <> ?3)", kind);
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool more;
    PBD_TRY(pbd_store_row(store, sql, text, 3, "storing a run", &more, &stmt));
    return note(store, kind, row, true);
}

typedef struct about_check {
    pbd_about_fault tell;
    void *context;
} about_check;

static pbd_status check_row(void *context, sqlite3_stmt *row) {
    const about_check *c = context;
    const char *kind = pbd_column_text(row, 0), *name = pbd_column_text(row, 1);
    json_auto_t *about =
        json_pack("{ss ss ss}", "name", name, "summary", pbd_column_text(row, 2), "source", pbd_column_text(row, 3));
    const char *hash =
        about != NULL && pbd_row_identify(kind, about) ? json_string_value(json_object_get(about, "name")) : "";
    if (strcmp(hash, pbd_column_text(row, 4)) != 0) c->tell(c->context, kind, name);
    return pbd_ok();
}

pbd_status pbd_about_check(const pbd_store *store, pbd_about_fault tell, void *context) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(pbd_store_row(store, "SELECT 1 FROM sqlite_schema WHERE name = 'about'", NULL, 0, "checking summaries",
                          &row, &stmt));
    if (!row) return pbd_ok(); /* a store of version 1 */
    about_check c = {tell, context};
    return pbd_store_each(store,
                          "SELECT 'case', c.name, c.summary, c.source, a.hash FROM \"case\" AS c"
                          " JOIN about AS a ON a.kind = 'case' AND a.name = c.name"
                          " UNION ALL SELECT 'method', m.name, m.summary, m.source, a.hash FROM method AS m"
                          " JOIN about AS a ON a.kind = 'method' AND a.name = m.name",
                          "checking summaries", check_row, &c);
}
