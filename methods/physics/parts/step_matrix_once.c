#include "methods/physics/parts/step_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/space/element_shape.h"

void step_matrix_free(step_matrix *m) {
    pbd_sparse_free(&m->sparse);
    pbd_factors_free(m->factors);
    free(m->mass);
    free(m->elastic);
    free(m->packed);
    *m = (step_matrix){0};
}

static int row_of(const step_matrix *m, size_t particle) { return m->sparse.unknown[3 * particle]; }

static pbd_status add_element(step_matrix *m, const pbd_scene *scene, size_t e, double weight) {
    element_shape shape;
    double g[4][3] = {{0}};
    PBD_TRY(element_shape_of(scene, 4, e, &shape));
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 3; c++) {
            g[c][d] = shape.inverse[3 * d + c];
            g[3][d] -= g[c][d];
        }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const int row = row_of(m, scene->tets.corner[4 * e + (size_t)a]);
            const int column = row_of(m, scene->tets.corner[4 * e + (size_t)b]);
            if (row < 0 || column < 0) continue;
            *pbd_sparse_at(&m->sparse, row, column) +=
                weight * shape.size * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
        }
    return pbd_ok();
}

/* One unknown per particle: in the pattern the other two coordinates count as held. */
static pbd_status make_pattern(step_matrix *m, const pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    bool *held = pbd_new(&a, bool, 3 * m->particles);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < 3 * m->particles; i++) held[i] = i % 3 > 0;
    for (size_t k = 0; k < scene->particles.fixed; k++) held[3 * scene->particles.fixed_particle[k]] = true;
    return pbd_sparse_create(m->particles, scene->tets.corner, scene->tets.count, 4, held, &m->sparse);
}

pbd_status step_matrix_create(const pbd_scene *scene, const double *weight, step_matrix *out) {
    *out = (step_matrix){.particles = scene->particles.count};
    PBD_TRY(make_pattern(out, scene));
    const size_t entries = (size_t)out->sparse.column[out->sparse.n];
    PBD_TRY_NEW(out->mass, out->particles);
    PBD_TRY_NEW(out->packed, 3 * (size_t)out->sparse.n);
    PBD_TRY_NEW(out->elastic, entries);
    for (size_t i = 0; i < out->particles; i++) out->mass[i] = row_of(out, i) >= 0 ? scene->particles.masses[i] : 0;
    for (size_t e = 0; e < scene->tets.count; e++)
        PBD_TRY(add_element(out, scene, e, weight[scene->tets.material ? scene->tets.material[e] : 0]));
    memcpy(out->elastic, out->sparse.value, entries * sizeof *out->elastic);
    return pbd_ok();
}

/* ---- Solving ----------------------------------------------------------------------------------------------------- */

pbd_status step_matrix_factorise(step_matrix *m, double h, bool *done) {
    *done = m->factored != h;
    if (!*done) return pbd_ok();
    m->factored = 0;
    memcpy(m->sparse.value, m->elastic, (size_t)m->sparse.column[m->sparse.n] * sizeof *m->elastic);
    for (size_t i = 0; i < m->particles; i++)
        if (row_of(m, i) >= 0) *pbd_sparse_at(&m->sparse, row_of(m, i), row_of(m, i)) += m->mass[i] / (h * h);
    PBD_TRY(pbd_factors_update(&m->factors, &m->sparse));
    m->factored = h;
    return pbd_ok();
}

pbd_status step_matrix_solve(step_matrix *m, double *d) {
    const size_t n = (size_t)m->sparse.n;
    for (size_t i = 0; i < 3 * m->particles; i++)
        if (row_of(m, i / 3) >= 0) m->packed[n * (i % 3) + (size_t)row_of(m, i / 3)] = d[i];
    PBD_TRY(pbd_factors_solve(m->factors, m->packed, 3));
    for (size_t i = 0; i < 3 * m->particles; i++)
        if (row_of(m, i / 3) >= 0) d[i] = m->packed[n * (i % 3) + (size_t)row_of(m, i / 3)];
    return pbd_ok();
}

/* ---- The diagonal ------------------------------------------------------------------------------------------------ */

static double *elastic_diagonal(const step_matrix *m, int row) {
    return m->elastic + (pbd_sparse_at(&m->sparse, row, row) - m->sparse.value);
}

void step_matrix_diagonal(const step_matrix *m, double *out) {
    for (size_t i = 0; i < m->particles; i++) out[i] = row_of(m, i) < 0 ? 0 : *elastic_diagonal(m, row_of(m, i));
}

double step_matrix_bound(const step_matrix *m, double h) {
    double most = 0;
    for (size_t i = 0; i < m->particles; i++) {
        const int row = row_of(m, i);
        if (row < 0) continue;
        const double inertia = m->mass[i] / (h * h);
        double sum = inertia;
        for (int k = m->sparse.column[row]; k < m->sparse.column[row + 1]; k++) sum += fabs(m->elastic[k]);
        most = fmax(most, sum / (inertia + *elastic_diagonal(m, row)));
    }
    return most;
}
