#include "methods/pbd_distance/linear.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* One constraint on every column of X (3 particles rows, n columns): s = g'X, then target -= k w g s / (g'Wg).
 * Gauss-Seidel has target == X; Jacobi keeps X as it was before the sweep. */
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
    if (!(denominator > 0)) return; /* all its particles are held by w = 0: it can move nothing */
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
    double *X = calloc(rows * n + 1, sizeof *X), *before = malloc((rows * n + 1) * sizeof *before);
    double *s = malloc((n + 1) * sizeof *s);
    if (!X || !before || !s) {
        free(X);
        free(before);
        free(s);
        return pbd_error(PBD_FAILED, "out of memory for the linear map of %zu unknowns", n);
    }
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
    free(X);
    free(before);
    free(s);
    return pbd_ok();
}

pbd_status linear_rest(const linear_system *sys, const double *f, const double *mass, double dt, double *predicted,
                       double *after) {
    size_t n = linear_unknowns(sys);
    PBD_TRY(check_size(n));
    double *A = malloc((n * n + 1) * sizeof *A), *push = malloc((2 * n + 1) * sizeof *push);
    lapack_int *pivot = malloc((n + 1) * sizeof *pivot);
    pbd_status status = pbd_ok();
    if (!A || !push || !pivot)
        status = pbd_error(PBD_FAILED, "out of memory for the static problem of %zu unknowns", n);
    if (status.code == PBD_OK) status = linear_map(sys, A);
    if (status.code == PBD_OK) {
        /* At rest the push of the load, dt^2 f/m, is what the projection undoes: (I - A) u = push. */
        double *u = push + n, largest = 0;
        for (size_t i = 0; i < n * n; i++) A[i] = -A[i];
        for (size_t i = 0; i < n; i++) A[i * n + i] += 1;
        size_t row = 0;
        for (size_t i = 0; i < 3 * sys->particles; i++)
            if (!sys->held[i / 3]) {
                push[row] = u[row] = dt * dt / mass[i / 3] * f[i];
                largest = fmax(largest, fabs(push[row++]));
            }
        double norm = LAPACKE_dlange(LAPACK_ROW_MAJOR, '1', (lapack_int)n, (lapack_int)n, A, (lapack_int)n), rcond = 0;
        lapack_int info = LAPACKE_dgetrf(LAPACK_ROW_MAJOR, (lapack_int)n, (lapack_int)n, A, (lapack_int)n, pivot);
        if (info == 0) LAPACKE_dgecon(LAPACK_ROW_MAJOR, '1', (lapack_int)n, A, (lapack_int)n, norm, &rcond);
        if (info != 0 || rcond < 1e-14)
            status = pbd_error(
                PBD_NO_EQUILIBRIUM,
                "the constraints do not resist every motion (reciprocal condition %.1e): some stiffness is 0", rcond);
        else
            LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', (lapack_int)n, 1, A, (lapack_int)n, pivot, u, 1);
        row = 0;
        for (size_t i = 0; i < 3 * sys->particles && status.code == PBD_OK; i++) {
            bool held = sys->held[i / 3];
            predicted[i] = held ? 0 : u[row];
            after[i] = held ? 0 : u[row] - push[row];
            row += !held;
        }
    }
    free(A);
    free(push);
    free(pivot);
    return status;
}

pbd_status linear_largest_eigenvalue(const linear_system *sys, double *out) {
    linear_system once = *sys;
    once.solver = PBD_SOLVER_JACOBI;
    once.iterations = 1;
    size_t n = linear_unknowns(&once);
    PBD_TRY(check_size(n));
    double *A = malloc((n * n + 1) * sizeof *A), *w = malloc((n + 1) * sizeof *w),
           *value = malloc((n + 1) * sizeof *value);
    lapack_int found = 0, support[2];
    pbd_status status = pbd_ok();
    if (!A || !w || !value) status = pbd_error(PBD_FAILED, "out of memory for the spectrum of %zu unknowns", n);
    if (status.code == PBD_OK) status = linear_map(&once, A);
    if (status.code == PBD_OK) {
        /* I - A = W G with G symmetric: sqrt(W) G sqrt(W) has the same eigenvalues and is symmetric. */
        size_t row = 0;
        for (size_t p = 0; p < sys->particles; p++)
            for (int d = 0; d < 3 && !sys->held[p]; d++) w[row++] = sqrt(sys->w[p]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) A[i * n + j] = ((i == j) - A[i * n + j]) * w[j] / w[i];
        lapack_int info = LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'N', 'I', 'U', (lapack_int)n, A, (lapack_int)n, 0, 0,
                                         (lapack_int)n, (lapack_int)n, 0, &found, value, NULL, (lapack_int)n, support);
        if (info != 0 || found != 1)
            status = pbd_error(PBD_FAILED, "LAPACK found no largest eigenvalue of the projection");
        else
            *out = value[0];
    }
    free(A);
    free(w);
    free(value);
    return status;
}
