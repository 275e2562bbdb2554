#include "methods/physics/parts/acceleration.h"

#include <math.h>

#include "methods/physics/parts/acceleration_kernels.h"

pbd_status acceleration_check(acceleration_settings set, bool touches) {
    if (set.acceleration == acceleration_none || !touches) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED,
                     "acceleration=%s would move particles back into what they touch: this "
                     "scene has contact, set acceleration=none",
                     set.acceleration == acceleration_chebyshev ? "chebyshev" : "anderson");
}

void acceleration_create(acceleration *a, acceleration_settings set, size_t particles, pbd_exec *exec,
                         pbd_recorder *recorder) {
    *a = (acceleration){.set = set, .exec = exec, .recorder = recorder, .rows = 4 * particles, .count = 4 * particles};
}

void acceleration_join(acceleration *a, size_t count, double scale) {
    a->count = a->rows + count;
    a->scale = scale;
}

static size_t blocks_of(const acceleration *a) { return (a->count + ACCELERATION_BLOCK - 1) / ACCELERATION_BLOCK; }

size_t acceleration_arrays(const acceleration *a, device_array *row) {
    const size_t any = a->set.acceleration == acceleration_none ? 0 : a->count;
    const size_t anderson = a->set.acceleration == acceleration_anderson ? a->count : 0;
    const size_t window = (size_t)a->set.window;
    const device_array rows[] = {DEVICE_ARRAY(a->old, any),
                                 DEVICE_ARRAY(a->older, any),
                                 DEVICE_ARRAY(a->plain, any),
                                 DEVICE_ARRAY(a->force, anderson),
                                 DEVICE_ARRAY(a->force_step, window * anderson),
                                 DEVICE_ARRAY(a->sweep_step, window * anderson),
                                 DEVICE_ARRAY(a->sums, any ? ACCELERATION_SUMS * blocks_of(a) : 0)};
    return DEVICE_ROWS(row, rows);
}

static accelerate_args args_of(const acceleration *a, real *rows) {
    return (accelerate_args){.x = rows,
                             .joined = a->joined,
                             .old = a->old,
                             .older = a->older,
                             .plain = a->plain,
                             .force = a->force,
                             .force_step = a->force_step,
                             .sweep_step = a->sweep_step,
                             .sums = a->sums,
                             .count = a->count,
                             .rows = a->rows,
                             .scale = (real)a->scale};
}

pbd_status acceleration_begin(acceleration *a, const real *rows, real *joined) {
    if (a->set.acceleration == acceleration_none) return pbd_ok();
    a->joined = joined;
    a->sweeps = 0;
    a->off = false;
    a->held = 0;
    a->rho = a->set.spectral_radius;
    a->omega = 1;
    a->changed = 0;
    a->energy = INFINITY;
    const accelerate_args args = args_of(a, (real *)(uintptr_t)rows);
    return PBD_RUN(a->exec, accelerate_start, a->count, &args);
}

/* Replaces the combination by the plain result of the sweep. */
static pbd_status take_plain(acceleration *a, real *rows) {
    const accelerate_args args = args_of(a, rows);
    pbd_count(a->recorder, "rejected_extrapolations", 1);
    return PBD_RUN(a->exec, accelerate_back, a->count, &args);
}

/* ---- Chebyshev --------------------------------------------------------------------------------------------------- */

/* |s_k - x_(k-1)|, m. */
static pbd_status change_of(const acceleration *a, real *rows, double *out) {
    const accelerate_args args = args_of(a, rows);
    PBD_TRY(PBD_RUN(a->exec, accelerate_change, blocks_of(a), &args));
    *out = 0;
    PBD_TRY(device_blocks_take(a->exec, a->sums, blocks_of(a), 1, 0, out));
    *out = sqrt(*out);
    return pbd_ok();
}

/* Sets omega for this sweep. It is 1 in the plain sweeps, which reduce the errors that a sweep removes quickly;
 * combinations would bring these back. If rho is not given, it is estimated from the changes in the plain sweeps. */
static pbd_status next_omega(acceleration *a, real *rows) {
    const long plain = a->set.plain_sweeps;
    if (a->sweeps > plain) {
        a->omega = a->sweeps == plain + 1 ? 2 / (2 - a->rho * a->rho) : 4 / (4 - a->rho * a->rho * a->omega);
        return pbd_ok();
    }
    if (a->set.spectral_radius > 0) return pbd_ok();
    double change;
    PBD_TRY(change_of(a, rows, &change));
    a->rho = a->changed > 0 ? change / a->changed : 0;
    a->changed = change;
    a->off = a->sweeps == plain && !(a->rho < 1);
    return pbd_ok();
}

static pbd_status chebyshev(acceleration *a, real *rows, acceleration_energy energy, void *self) {
    if (a->off) return pbd_ok();
    PBD_TRY(next_omega(a, rows));
    if (a->off) return pbd_ok();
    accelerate_args args = args_of(a, rows);
    args.weight[0] = (real)a->omega;
    PBD_TRY(PBD_RUN(a->exec, accelerate_chebyshev, a->count, &args));
    if (!energy) return pbd_ok();
    double now;
    PBD_TRY(energy(self, &now));
    if (!(now <= a->energy) && a->omega > 1) {
        a->off = true;
        return take_plain(a, rows);
    }
    a->energy = now + 16 * REAL_EPSILON * fabs(now);
    return pbd_ok();
}

/* ---- Anderson ---------------------------------------------------------------------------------------------------- */

/* Solves the n x n positive definite system by Cholesky, in place; directions whose pivot is lost in rounding get
 * weight 0. */
static void solve_small(double matrix[ACCELERATION_WINDOW][ACCELERATION_WINDOW], double *x, int n) {
    double trace = 0;
    for (int i = 0; i < n; i++) trace += matrix[i][i];
    const double least = 10 * REAL_EPSILON * trace;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = matrix[i][j];
            for (int k = 0; k < j; k++) sum -= matrix[i][k] * matrix[j][k];
            matrix[i][j] = i == j ? (sum > least ? sqrt(sum) : INFINITY) : sum / matrix[j][j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= matrix[i][k] * x[k];
        x[i] /= matrix[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= matrix[k][i] * x[k];
        x[i] /= matrix[i][i];
    }
}

/* Computes Anderson's t. For each difference, one launch computes a row of the matrix, its products with all
 * differences, and its product with f. */
static pbd_status weights(acceleration *a, real *rows, real *out) {
    double matrix[ACCELERATION_WINDOW][ACCELERATION_WINDOW], right[ACCELERATION_WINDOW] = {0};
    for (int i = 0; i < a->held; i++) {
        double sum[ACCELERATION_SUMS] = {0};
        accelerate_args args = args_of(a, rows);
        args.slot = (size_t)i;
        args.held = (size_t)a->held;
        PBD_TRY(PBD_RUN(a->exec, accelerate_products, blocks_of(a), &args));
        PBD_TRY(device_blocks_take(a->exec, a->sums, blocks_of(a), ACCELERATION_SUMS, 0, sum));
        for (int j = 0; j < a->held; j++) matrix[i][j] = sum[j];
        right[i] = sum[ACCELERATION_WINDOW + i];
    }
    solve_small(matrix, right, a->held);
    for (int i = 0; i < a->held; i++) out[i] = (real)right[i];
    return pbd_ok();
}

static pbd_status anderson(acceleration *a, real *rows, acceleration_energy energy, void *self) {
    accelerate_args args = args_of(a, rows);
    const long step = a->sweeps - 2; /* the first sweep has no difference */
    args.slot = step >= 0 ? (size_t)(step % a->set.window) : 0;
    PBD_TRY(PBD_RUN(a->exec, accelerate_push, a->count, &args));
    if (step < 0) return pbd_ok();
    if (a->held < a->set.window) a->held++;
    PBD_TRY(weights(a, rows, args.weight));
    double plain = 0, now = 0;
    if (energy) PBD_TRY(energy(self, &plain));
    args.held = (size_t)a->held;
    PBD_TRY(PBD_RUN(a->exec, accelerate_combine, a->count, &args));
    if (!energy) return pbd_ok();
    PBD_TRY(energy(self, &now));
    if (now <= plain + 16 * REAL_EPSILON * fabs(plain)) return pbd_ok();
    a->sweeps = 1;
    a->held = 0;
    return take_plain(a, rows);
}

pbd_status acceleration_sweep(acceleration *a, real *rows, acceleration_energy energy, void *self) {
    if (a->set.acceleration == acceleration_none) return pbd_ok();
    a->sweeps++;
    return a->set.acceleration == acceleration_chebyshev ? chebyshev(a, rows, energy, self)
                                                         : anderson(a, rows, energy, self);
}
