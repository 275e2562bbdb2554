/* Whether the errors of two arms allow a comparison of their times. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/compare/pairing.h"
#include "harness/exec/arena.h"
#include "harness/files/nearest.h"
#include "harness/store/rows.h"

const pbd_metric_item *pbd_arm_metric(const pbd_arm_run *run, const char *name) {
    for (size_t i = 0; i < run->metrics; i++)
        if (strcmp(run->metric[i].name, name) == 0) return &run->metric[i];
    return NULL;
}

/* ---- References -------------------------------------------------------------------------------------------------- */

typedef struct reference_row {
    char metric[64];
    double value, uncertainty; /* NaN: not stated */
} reference_row;

typedef struct references { /* those that hold for one run */
    reference_row *row;
    size_t count;
} references;

/* A reference holds for a run when each parameter it names has the same value there. */
static const char holding_references[] =
    "SELECT reference.metric, reference.value, reference.uncertainty"
    " FROM reference JOIN cell USING (case_name) JOIN run USING (cell_id)"
    " WHERE run.run_id = ?1 AND reference.value IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM json_each(params_today(case_name, method, reference.params)) AS p"
    "  WHERE json_extract(params_today(case_name, method, cell.params), '$.\"' || p.key || '\"') IS NOT p.value)";

static pbd_status read_references(const char *db, const char *run_id, pbd_arena *a, references *out) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool any;
    if (!db || !*run_id) return pbd_ok();
    PBD_TRY(pbd_store_open(db, PBD_STORE_READ, &store));
    PBD_TRY(pbd_store_prepare(store, holding_references, &run_id, 1, &stmt));
    for (;;) {
        PBD_TRY(pbd_store_step(store, stmt, &any, "reading references"));
        if (!any) return pbd_ok();
        if (!pbd_arena_more(a, &out->row, out->count, sizeof *out->row)) return pbd_arena_check(a);
        reference_row *r = &out->row[out->count++];
        snprintf(r->metric, sizeof r->metric, "%s", pbd_column_text(stmt, 0));
        r->value = sqlite3_column_double(stmt, 1);
        r->uncertainty = sqlite3_column_type(stmt, 2) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(stmt, 2);
    }
}

static const reference_row *reference_of(const references *all, const char *metric) {
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->row[i].metric, metric) == 0) return &all->row[i];
    return NULL;
}

/* ---- Tolerances -------------------------------------------------------------------------------------------------- */

typedef struct judging {
    const pbd_arm_run *run[2]; /* A, B */
    references known[2];
    const pbd_tolerance *tolerance;
    size_t tolerances;
    pbd_status *differs;
} judging;

static double metric_value(const pbd_metric_item *m) { return m->is_count ? (double)m->count : m->value; }

static bool has_tolerance(const judging *j, const char *metric) {
    for (size_t i = 0; i < j->tolerances; i++)
        if (strcmp(j->tolerance[i].metric, metric) == 0) return true;
    return false;
}

static pbd_status unknown_metric(const judging *j, const char *metric) {
    const char *names[256];
    size_t count = 0;
    for (int arm = 0; arm < 2; arm++)
        for (size_t i = 0; i < j->run[arm]->metrics && count < 256; i++) names[count++] = j->run[arm]->metric[i].name;
    const char *nearest = pbd_nearest(metric, names, count);
    return pbd_error(PBD_BAD_INPUT, "--tolerance %.60s: %s does not report it%s%s%s", metric,
                     pbd_arm_metric(j->run[0], metric) ? "arm B" : "arm A", nearest ? "; did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "");
}

/* One arm against one requested tolerance. */
static pbd_status check_tolerance(judging *j, int arm, const pbd_tolerance *t) {
    const pbd_metric_item *m = pbd_arm_metric(j->run[arm], t->metric);
    if (!m) return unknown_metric(j, t->metric);
    const reference_row *r = reference_of(&j->known[arm], t->metric);
    if (!r && !pbd_is_error(m->kind))
        return pbd_error(
            PBD_BAD_INPUT,
            "--tolerance %.60s: it is neither an error nor a flaw, and the store has no reference of it for this case",
            t->metric);
    const double off = fabs(metric_value(m) - (r ? r->value : 0));
    if (j->differs->code == PBD_OK && !(off <= t->value))
        *j->differs = pbd_error(PBD_BAD_INPUT, "arm %c is outside its tolerance: %s is %s%.6g, allowed is %g",
                                'A' + arm, m->name, r ? "off its reference by " : "", off, t->value);
    return pbd_ok();
}

/* One arm against the references whose uncertainty is stated. */
static void check_references(judging *j, int arm) {
    for (size_t i = 0; i < j->known[arm].count && j->differs->code == PBD_OK; i++) {
        const reference_row *r = &j->known[arm].row[i];
        const pbd_metric_item *m = pbd_arm_metric(j->run[arm], r->metric);
        if (!m || isnan(r->uncertainty) || has_tolerance(j, r->metric)) continue;
        const double off = fabs(metric_value(m) - r->value);
        if (!(off <= r->uncertainty))
            *j->differs =
                pbd_error(PBD_BAD_INPUT,
                          "arm %c is outside its tolerance: %s is off its reference by %.6g, whose uncertainty is %g; "
                          "--tolerance %s=VALUE allows more",
                          'A' + arm, m->name, off, r->uncertainty, m->name);
    }
}

/* ---- The same cell twice ----------------------------------------------------------------------------------------- */

static void compare_count(judging *j, const pbd_metric_item *a, const pbd_metric_item *b) {
    if (!b || b->kind != PBD_COUNT || a->count == b->count) return;
    *j->differs = pbd_error(PBD_BAD_INPUT, "the builds give different results: %s is %llu in A and %llu in B", a->name,
                            (unsigned long long)a->count, (unsigned long long)b->count);
}

/* Some errors have a sign, such as energy lost, which is gained where it is negative. */
static void compare_error(judging *j, const pbd_metric_item *a, const pbd_metric_item *b) {
    const bool f32 = strcmp(j->run[0]->precision, "f32") == 0, pure = strcmp(a->unit, "1") == 0;
    const double relative = f32 ? 1e-4 : 1e-9, rounding = !pure ? 0 : f32 ? 1e-6 : 1e-12;
    if (!b)
        *j->differs = pbd_error(PBD_BAD_INPUT, "B does not report the error %s, which A does", a->name);
    else if (!(fabs(b->value) <= (1 + relative) * fabs(a->value) + rounding))
        *j->differs =
            pbd_error(PBD_BAD_INPUT, "B is worse than A: %s is %.17g in B and %.17g in A", a->name, b->value, a->value);
}

static void compare_builds(judging *j) {
    const pbd_arm_run *a = j->run[0], *b = j->run[1];
    for (size_t i = 0; i < a->metrics && j->differs->code == PBD_OK; i++) {
        const pbd_metric_item *m = &a->metric[i], *other = pbd_arm_metric(b, m->name);
        if (has_tolerance(j, m->name)) continue;
        if (m->is_count)
            compare_count(j, m, other);
        else if (pbd_is_error(m->kind))
            compare_error(j, m, other);
    }
}

static bool is_same_cell(const pbd_arm_run *a, const pbd_arm_run *b) {
    if (*a->cell_id && strcmp(a->cell_id, b->cell_id) == 0) return true;
    return a->cell_today && b->cell_today && strcmp(a->cell_today, b->cell_today) == 0;
}

static bool is_same_problem(const pbd_arm_run *a, const pbd_arm_run *b) {
    return a->problem && b->problem && strcmp(a->problem, b->problem) == 0;
}

/* Flaws do not count: a method that hardly moves has none. */
static bool has_error(const judging *j) {
    const pbd_arm_run *a = j->run[0], *b = j->run[1];
    if (j->tolerances > 0) return true;
    for (size_t i = 0; i < a->metrics; i++) {
        const pbd_metric_item *m = &a->metric[i];
        if (!pbd_arm_metric(b, m->name)) continue;
        if (m->kind == PBD_ERROR || (reference_of(&j->known[0], m->name) && reference_of(&j->known[1], m->name)))
            return true;
    }
    return false;
}

pbd_status pbd_judge_errors(const pbd_arm_run *a, const pbd_arm_run *b, const char *db, const pbd_tolerance *tolerance,
                            size_t tolerances, pbd_status *differs) {
    pbd_arena owned PBD_ARENA;
    judging j = {{a, b}, {{0}, {0}}, tolerance, tolerances, differs};
    *differs = pbd_ok();
    for (int arm = 0; arm < 2; arm++) PBD_TRY(read_references(db, j.run[arm]->run_id, &owned, &j.known[arm]));
    for (size_t i = 0; i < tolerances; i++)
        for (int arm = 0; arm < 2; arm++) PBD_TRY(check_tolerance(&j, arm, &tolerance[i]));
    for (int arm = 0; arm < 2; arm++) check_references(&j, arm);
    if (differs->code == PBD_OK && is_same_cell(a, b)) compare_builds(&j);
    if (differs->code == PBD_OK && !is_same_cell(a, b) && !is_same_problem(a, b) && !has_error(&j))
        *differs = pbd_error(PBD_BAD_INPUT,
                             "A and B differ in method or settings and have no error in common, so that nothing tells "
                             "which result is better; --tolerance METRIC=VALUE allows a flaw up to a value");
    return pbd_ok();
}
