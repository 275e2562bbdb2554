#include "methods/strain_energy/global_solve.h"

#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

enum { MOST_COMPONENTS = 6, ENTRIES = 12 };

void global_solve_free(global_solve *g) {
    pbd_sparse_free(&g->matrix);
    pbd_factors_free(g->factors);
    double *owned[] = {g->packed, g->gradient, g->left, g->stiff, g->position, g->multiplier};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(g->corner);
    free(g->place);
    *g = (global_solve){0};
}

pbd_status global_solve_create(size_t particles, size_t elements, size_t components, const uint32_t *corner,
                               const double *position, global_solve *g) {
    pbd_arena a PBD_ARENA;
    bool *held = pbd_new(&a, bool, 3 * particles);
    PBD_TRY(pbd_arena_check(&a));
    *g = (global_solve){.particles = particles, .elements = elements, .components = components};
    PBD_TRY_NEW(g->corner, 4 * elements);
    memcpy(g->corner, corner, 4 * elements * sizeof *corner);
    for (size_t i = 0; i < 3 * particles; i++) held[i] = !(position[4 * (i / 3) + 3] > 0);
    PBD_TRY(pbd_sparse_create(particles, corner, elements, 4, held, &g->matrix));
    PBD_TRY(pbd_sparse_find_places(&g->matrix, g->corner, elements, 4, &g->place));
    PBD_TRY_NEW(g->packed, g->matrix.n);
    PBD_TRY_NEW(g->gradient, ENTRIES * components * elements);
    PBD_TRY_NEW(g->left, components * elements);
    PBD_TRY_NEW(g->stiff, components * components * elements);
    PBD_TRY_NEW(g->position, 4 * particles);
    PBD_TRY_NEW(g->multiplier, components * elements);
    return pbd_ok();
}

/* The contribution of an element to the system. */
typedef struct share {
    size_t components;
    double gradient[MOST_COMPONENTS][ENTRIES], left[MOST_COMPONENTS];
    double stiff[MOST_COMPONENTS][MOST_COMPONENTS];
    int unknown[ENTRIES]; /* -1: held */
} share;

static void load(const global_solve *g, size_t e, share *s) {
    const size_t n = s->components = g->components;
    for (size_t c = 0; c < n; c++) {
        for (size_t i = 0; i < ENTRIES; i++) s->gradient[c][i] = g->gradient[(ENTRIES * c + i) * g->elements + e];
        for (size_t k = 0; k < n; k++) s->stiff[c][k] = g->stiff[(n * c + k) * g->elements + e];
        s->left[c] = g->left[c * g->elements + e];
    }
    for (size_t i = 0; i < ENTRIES; i++)
        s->unknown[i] = g->matrix.unknown[3 * (size_t)g->corner[4 * e + i / 3] + i % 3];
}

/* a^-1 v. */
static void stiffen(const share *s, const double *v, double *out) {
    for (size_t c = 0; c < s->components; c++) {
        out[c] = 0;
        for (size_t k = 0; k < s->components; k++) out[c] += s->stiff[c][k] * v[k];
    }
}

static void add_element(global_solve *g, size_t e, const share *s) {
    double forced[MOST_COMPONENTS], K[ENTRIES][ENTRIES] = {{0}};
    stiffen(s, s->left, forced);
    for (size_t j = 0; j < ENTRIES; j++) {
        double column[MOST_COMPONENTS], stiff[MOST_COMPONENTS];
        if (s->unknown[j] < 0) continue;
        for (size_t c = 0; c < s->components; c++) column[c] = s->gradient[c][j];
        stiffen(s, column, stiff);
        for (size_t c = 0; c < s->components; c++) g->packed[s->unknown[j]] -= s->gradient[c][j] * forced[c];
        for (size_t i = 0; i < ENTRIES; i++)
            for (size_t c = 0; c < s->components; c++) K[i][j] += s->gradient[c][i] * stiff[c];
    }
    pbd_sparse_add(&g->matrix, g->corner + 4 * e, g->place + 16 * e, 4, K[0]);
}

/* Adds dl = -a^-1 (C + a l + J dx) to the multipliers, with dx in `packed`, and W J^T dl to the positions. */
static void move_element(global_solve *g, size_t e, const share *s) {
    double left[MOST_COMPONENTS], change[MOST_COMPONENTS];
    for (size_t c = 0; c < s->components; c++) {
        left[c] = s->left[c];
        for (size_t i = 0; i < ENTRIES; i++)
            if (s->unknown[i] >= 0) left[c] += s->gradient[c][i] * g->packed[s->unknown[i]];
    }
    stiffen(s, left, change);
    for (size_t c = 0; c < s->components; c++) {
        g->multiplier[c * g->elements + e] -= change[c];
        for (size_t i = 0; i < ENTRIES; i++) {
            double *row = g->position + 4 * (size_t)g->corner[4 * e + i / 3];
            row[i % 3] -= row[3] * s->gradient[c][i] * change[c];
        }
    }
}

pbd_status global_solve_once(global_solve *g) {
    share s;
    pbd_sparse_clear(&g->matrix);
    memset(g->packed, 0, (size_t)g->matrix.n * sizeof *g->packed);
    for (size_t e = 0; e < g->elements; e++) {
        load(g, e, &s);
        add_element(g, e, &s);
    }
    for (size_t i = 0; i < 3 * g->particles; i++) {
        const int k = g->matrix.unknown[i];
        if (k >= 0) *pbd_sparse_at(&g->matrix, k, k) += 1 / g->position[4 * (i / 3) + 3];
    }
    pbd_status status = pbd_factors_update(&g->factors, &g->matrix);
    if (status.code == PBD_OK) status = pbd_factors_solve(g->factors, g->packed, 1);
    if (status.code == PBD_NO_EQUILIBRIUM)
        return pbd_error(PBD_DIVERGED,
                         "solve=global: the linearised system has no finite solution: reduce dt, or set solve=local");
    PBD_TRY(status);
    for (size_t e = 0; e < g->elements; e++) {
        load(g, e, &s);
        move_element(g, e, &s);
    }
    return pbd_ok();
}
