#include "methods/pbd_distance/linear.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "harness/exec/arena.h"

size_t linear_unknowns(const linear_system *s) {
    size_t n = 0;
    for (size_t p = 0; p < s->particles; p++) n += s->held[p] ? 0 : 3;
    return n;
}

static pbd_status check_size(size_t n) {
    if (n <= LINEAR_LARGEST) return pbd_ok();
    return pbd_error(
        PBD_NOT_SUPPORTED,
        "the linear analysis is dense and takes at most %d unknowns, not %zu: use mode=dynamic or fewer cells",
        LINEAR_LARGEST, n);
}

/* Applies one constraint to every column of X, 3 rows per particle and n columns: s = g'X, then
 * target -= k w g s / (g'Wg). Gauss-Seidel passes target == X; Jacobi passes X as it was before the sweep. */
static void project_columns(const linear_system *sys, const linear_constraint *c, const double *X, double *target,
                            size_t n, double *s) {
    double denominator = 0;
    memset(s, 0, n * sizeof *s);
    for (int a = 0; a < c->count; a++) {
        for (int d = 0; d < 3; d++) {
            const double *row = X + (3 * (size_t)c->particle[a] + (size_t)d) * n;
            double g = c->g[a][d];
            denominator += sys->w[c->particle[a]] * g * g;
            for (size_t j = 0; j < n; j++) s[j] += g * row[j];
        }
    }
    if (!(denominator > 0)) return; /* all its particles have w = 0 */
    for (int a = 0; a < c->count; a++) {
        double factor = sys->k[c->kind] * c->share * sys->w[c->particle[a]] / denominator;
        for (int d = 0; d < 3; d++) {
            double *row = target + (3 * (size_t)c->particle[a] + (size_t)d) * n;
            double step = factor * c->g[a][d];
            for (size_t j = 0; j < n; j++) row[j] -= step * s[j];
        }
    }
}

pbd_status linear_map(const linear_system *sys, double *A) {
    size_t n = linear_unknowns(sys), rows = 3 * sys->particles;
    PBD_TRY(check_size(n));
    pbd_arena a PBD_ARENA;
    double *X = pbd_new(&a, double, rows *n), *before = pbd_new(&a, double, rows *n), *s = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    size_t column = 0;
    for (size_t i = 0; i < rows; i++)
        if (!sys->held[i / 3]) X[i * n + column++] = 1;
    for (int iteration = 0; iteration < sys->iterations; iteration++) {
        const double *from = X;
        if (sys->solver == PBD_SOLVER_JACOBI) from = memcpy(before, X, rows * n * sizeof *X);
        for (size_t i = 0; i < sys->constraints; i++)
            project_columns(sys, &sys->constraint[sys->order ? sys->order[i] : i], from, X, n, s);
        for (size_t p = 0; p < sys->particles; p++)
            if (sys->held[p]) memset(X + 3 * p * n, 0, 3 * n * sizeof *X);
    }
    size_t row = 0;
    for (size_t i = 0; i < rows; i++)
        if (!sys->held[i / 3]) memcpy(A + row++ * n, X + i * n, n * sizeof *A);
    return pbd_ok();
}

pbd_status linear_rest(const linear_system *sys, const double *f, const double *mass, double dt, double *predicted,
                       double *after) {
    size_t n = linear_unknowns(sys);
    PBD_TRY(check_size(n));
    pbd_arena a PBD_ARENA;
    double *A = pbd_new(&a, double, n *n), *push = pbd_new(&a, double, 2 * n), *u = push + n;
    lapack_int *pivot = pbd_new(&a, lapack_int, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(linear_map(sys, A));
    /* At rest the projection cancels the displacement by the load, dt^2 f/m: (I - A) u = push. */
    for (size_t i = 0; i < n * n; i++) A[i] = -A[i];
    for (size_t i = 0; i < n; i++) A[i * n + i] += 1;
    size_t row = 0;
    for (size_t i = 0; i < 3 * sys->particles; i++)
        if (!sys->held[i / 3]) {
            push[row] = u[row] = dt * dt / mass[i / 3] * f[i];
            row++;
        }
    const lapack_int N = (lapack_int)n;
    double norm = LAPACKE_dlange(LAPACK_ROW_MAJOR, '1', N, N, A, N), rcond = 0;
    const lapack_int info = LAPACKE_dgetrf(LAPACK_ROW_MAJOR, N, N, A, N, pivot);
    if (info == 0) LAPACKE_dgecon(LAPACK_ROW_MAJOR, '1', N, A, N, norm, &rcond);
    if (info != 0 || rcond < 1e-14)
        return pbd_error(PBD_NO_EQUILIBRIUM,
                         "the constraints do not resist every motion (reciprocal condition %.1e): some stiffness is 0",
                         rcond);
    LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', N, 1, A, N, pivot, u, 1);
    row = 0;
    for (size_t i = 0; i < 3 * sys->particles; i++) {
        const bool held = sys->held[i / 3];
        predicted[i] = held ? 0 : u[row];
        after[i] = held ? 0 : u[row] - push[row];
        row += !held;
    }
    return pbd_ok();
}

pbd_status linear_largest_eigenvalue(const linear_system *sys, double *out) {
    linear_system once = *sys;
    once.solver = PBD_SOLVER_JACOBI;
    once.iterations = 1;
    size_t n = linear_unknowns(&once);
    PBD_TRY(check_size(n));
    pbd_arena a PBD_ARENA;
    double *A = pbd_new(&a, double, n *n), *w = pbd_new(&a, double, n), *value = pbd_new(&a, double, n);
    lapack_int found = 0, support[2];
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(linear_map(&once, A));
    /* I - A = W G with G symmetric: sqrt(W) G sqrt(W) has the same eigenvalues and is symmetric. */
    size_t row = 0;
    for (size_t p = 0; p < sys->particles; p++)
        for (int d = 0; d < 3 && !sys->held[p]; d++) w[row++] = sqrt(sys->w[p]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) A[i * n + j] = ((i == j) - A[i * n + j]) * w[j] / w[i];
    const lapack_int N = (lapack_int)n;
    const lapack_int info =
        LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'N', 'I', 'U', N, A, N, 0, 0, N, N, 0, &found, value, NULL, N, support);
    if (info != 0 || found != 1) return pbd_error(PBD_FAILED, "LAPACK found no largest eigenvalue of the projection");
    *out = value[0];
    return pbd_ok();
}
