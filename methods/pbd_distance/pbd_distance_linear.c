/* What pbd_distance computes from a step linearised about rest (linear.h): rest without stepping, the largest
 * eigenvalue of a Jacobi iteration, and a check of K_PBD against differences of the projection. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/pbd_distance/linear.h"
#include "methods/pbd_distance/pbd_distance.h"

/* Writes the Gauss-Seidel order as indices into the constraints of the linear analysis. */
static void projection_order(const pbd_distance *s, uint32_t *order) {
    uint32_t base = 0;
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        const uint32_t each = kind == HEX_VOLUME && s->set.face_split == HEX_SPLIT_MEAN ? 2 : 1;
        for (size_t i = 0; i < s->kind[kind].count; i++)
            for (uint32_t half = 0; half < each; half++) *order++ = base + each * s->kind[kind].order[i] + half;
        base += each * (uint32_t)s->kind[kind].count;
    }
}

typedef struct linearised {
    linear_system system;
    linear_constraint *constraint;
    pbd_arena memory;
} linearised;

static void linear_release(linearised *l) {
    free(l->constraint);
    pbd_arena_free(&l->memory);
}

static pbd_status linearise(const pbd_distance *s, const bool *held, linearised *l) {
    size_t count = 0;
    PBD_TRY(hex_linear_constraints(&s->constraints, s->rest, (hex_split)s->set.face_split, &l->constraint, &count));
    uint32_t *order = pbd_new(&l->memory, uint32_t, count);
    double *w = pbd_new(&l->memory, double, s->particles);
    PBD_TRY(pbd_arena_check(&l->memory));
    projection_order(s, order);
    for (size_t p = 0; p < s->particles; p++) w[p] = held[p] && s->fixing == PBD_FIXED_WEIGHT ? 0 : 1 / s->masses[p];
    l->system = (linear_system){.constraint = l->constraint,
                                .constraints = count,
                                .order = order,
                                .k = s->k,
                                .w = w,
                                .held = held,
                                .particles = s->particles,
                                .solver = (pbd_solver)s->set.solver,
                                .iterations = (int)s->set.iterations};
    return pbd_ok();
}

pbd_status pbd_distance_solve_static(pbd_distance *s) {
    const size_t n = 3 * s->particles;
    linearised l PBD_CLEANUP(linear_release) = {0};
    if (!s->static_predicted) s->static_predicted = calloc(n + 1, sizeof(double));
    if (!s->static_after) s->static_after = calloc(n + 1, sizeof(double));
    if (!s->static_predicted || !s->static_after) return pbd_error(PBD_FAILED, "out of memory for %zu unknowns", n);
    PBD_TRY(linearise(s, s->is_held, &l));
    return linear_rest(&l.system, s->forces, s->masses, s->dt, s->static_predicted, s->static_after);
}

pbd_status pbd_distance_record_jacobian_error(pbd_distance *s) {
    const size_t n = 3 * s->particles, bytes = 4 * s->particles * sizeof(real);
    if (s->fixing == PBD_FIXED_WEIGHT && s->held_count > 0)
        return pbd_error(PBD_BAD_INPUT, "jacobian=yes differentiates a free body: use base=reset");
    linearised l PBD_CLEANUP(linear_release) = {0};
    pbd_arena a PBD_ARENA;
    bool *none = pbd_new(&a, bool, s->particles);
    real *rows = pbd_new(&a, real, 4 * s->particles), *back = pbd_new(&a, real, 4 * s->particles);
    double *A = pbd_new(&a, double, n *n), *column = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(linearise(s, none, &l));
    l.system.iterations = 1;
    PBD_TRY(linear_map(&l.system, A));
    const double h = cbrt(REAL_EPSILON) * s->extent;
    double sum = 0, norm = 0;
    for (size_t j = 0; j < n; j++) {
        memset(column, 0, n * sizeof *column);
        for (int side = -1; side <= 1; side += 2) {
            for (size_t i = 0; i < s->particles; i++) {
                for (size_t d = 0; d < 3; d++) rows[4 * i + d] = (real)s->rest[3 * i + d];
                rows[4 * i + 3] = (real)(1 / s->masses[i]);
            }
            rows[4 * (j / 3) + j % 3] += (real)(side * h);
            PBD_TRY(pbd_upload(s->exec, s->p, rows, bytes));
            PBD_TRY(pbd_distance_project(s));
            PBD_TRY(pbd_download(s->exec, back, s->p, bytes));
            for (size_t i = 0; i < n; i++)
                column[i] += side * ((double)back[4 * (i / 3) + i % 3] - s->rest[i]) / (2 * h);
        }
        for (size_t i = 0; i < n; i++) {
            double closed = (i == j) - A[i * n + j], difference = (i == j) - column[i] - closed;
            sum += difference * difference;
            norm += closed * closed;
        }
    }
    pbd_metric(s->recorder, "jacobian_fd_error", "1", PBD_ERROR, sqrt(sum / norm));
    return pbd_ok();
}

pbd_status pbd_distance_record_spectrum(pbd_distance *s) {
    linearised l PBD_CLEANUP(linear_release) = {0};
    double largest = 0;
    PBD_TRY(linearise(s, s->is_held, &l));
    PBD_TRY(linear_largest_eigenvalue(&l.system, &largest));
    pbd_metric(s->recorder, "largest_eigenvalue", "1", PBD_ERROR, largest);
    return pbd_ok();
}
