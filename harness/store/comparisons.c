/* Stores comparisons. */
#include <math.h>
#include <string.h>

#include "harness/store/rows.h"

/* Ids of the cells, builds and machine of a pair's runs. */
typedef struct arms {
    char cell[2][33], build[2][33], env[33];
} arms;

static pbd_status look_up_run(const pbd_store *store, const char *run_id, size_t arm, arms *out) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(pbd_store_row(store, "SELECT cell_id, build_id, env_id FROM run WHERE run_id = ?1", &run_id, 1,
                          "storing a comparison", &row, &stmt));
    if (!row)
        return pbd_error(PBD_BAD_INPUT, "the store '%s' has no run '%s', which a comparison refers to", store->path,
                         run_id);
    snprintf(out->cell[arm], 33, "%s", pbd_column_text(stmt, 0));
    snprintf(out->build[arm], 33, "%s", pbd_column_text(stmt, 1));
    snprintf(out->env, 33, "%s", pbd_column_text(stmt, 2));
    return pbd_ok();
}

static json_t *pairs_json(const pbd_comparison *c) {
    json_t *rows = json_array();
    for (size_t i = 0; i < c->pairs; i++) {
        const pbd_comparison_pair *p = &c->pair[i];
        json_array_append_new(rows, json_pack("{ss so so so so so sI}", "first", p->b_first ? "b" : "a", "run_a",
                                              pbd_text_json(p->run_a), "run_b", pbd_text_json(p->run_b), "a_s",
                                              pbd_real_json(p->a_s), "b_s", pbd_real_json(p->b_s), "log_ratio",
                                              pbd_real_json(p->log_ratio), "rounds", (json_int_t)p->rounds));
    }
    return rows;
}

/* NULL without memory. */
static json_t *comparison_json(const pbd_store *store, const pbd_comparison *c, const arms *a) {
    char now[32];
    pbd_store_now(now);
    return json_pack("{ss ss so so so ss ss ss ss ss so so so sI so so so so so so so so ss}", "comparison_id", "",
                     "invocation_id", pbd_origin_text(store, "invocation", "invocation_id"), "purpose",
                     pbd_text_json(c->purpose), "name_a", pbd_text_json(c->name_a), "name_b", pbd_text_json(c->name_b),
                     "cell_a", a->cell[0], "cell_b", a->cell[1], "build_a", a->build[0], "build_b", a->build[1],
                     "env_id", a->env, "clock", pbd_text_json(c->clock), "margin", pbd_real_json(c->margin), "seed",
                     pbd_count_json(c->seed), "pairs", (json_int_t)c->pairs, "alpha", pbd_real_json(c->alpha),
                     "log_ratio", pbd_real_json(c->log_ratio), "low", pbd_real_json(c->low), "high",
                     pbd_real_json(c->high), "bootstrap_low", pbd_real_json(c->bootstrap_low), "bootstrap_high",
                     pbd_real_json(c->bootstrap_high), "verdict", pbd_text_json(c->verdict), "says",
                     pbd_text_json(c->says), "decided_at", now);
}

static json_t *record_of(const pbd_store *store, const pbd_comparison *c, const arms *a) {
    json_t *pairs = pairs_json(c);
    json_t *record = json_pack("{so sO so}", "comparison", comparison_json(store, c, a), "invocation",
                               json_object_get(store->origin, "invocation"), "comparison_pair", pairs);
    if (record == NULL) return NULL;
    char id[33];
    json_t *row = json_object_get(record, "comparison");
    if (json_array_size(pairs) == c->pairs && pbd_comparison_hash(record, id).code == PBD_OK &&
        json_object_set_new(row, "comparison_id", json_string(id)) == 0)
        return record;
    json_decref(record);
    return NULL;
}

pbd_status pbd_store_put_comparison(pbd_store *store, const pbd_comparison *c, char comparison_id[33]) {
    arms a;
    if (c->pairs == 0) return pbd_error(PBD_BAD_INPUT, "a comparison needs at least one pair");
    PBD_TRY(pbd_store_begin(store, 0, NULL));
    PBD_TRY(look_up_run(store, c->pair[0].run_a, 0, &a));
    PBD_TRY(look_up_run(store, c->pair[0].run_b, 1, &a));
    json_auto_t *record = record_of(store, c, &a);
    if (record == NULL) return pbd_store_no_memory(store);
    PBD_TRY(pbd_store_start(store, "storing a comparison"));
    PBD_TRY(pbd_store_end(store, pbd_comparison_insert(store, record), "storing a comparison"));
    snprintf(comparison_id, 33, "%s",
             json_string_value(json_object_get(json_object_get(record, "comparison"), "comparison_id")));
    return pbd_ok();
}
