/* quasi_newton: implicit Euler of tetrahedra by descent with a constant matrix (Liu, Bouaziz and Kavan 2017).
 *
 * A step minimises G of methods/physics/parts/step_function.h. Its direction is -A^-1 grad G with A = M/h^2 + (2 mu +
 * lambda) L, a scalar matrix for all three coordinates that is factorised once for a step size, corrected by L-BFGS.
 * README.md has the equations. Host code in f64. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/exec/real.h"
#include "methods/params.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/parts/step_function.h"
#include "methods/physics/parts/step_matrix.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                                          \
    INTEGER(iterations, "10", 1, 100000, "of descent in a substep")                                            \
    INTEGER(window, "5", 0, 100, "pairs of L-BFGS; 0: the constant matrix alone")                              \
    CHOICE(guess, "adaptive", (inertia, previous, velocity, adaptive),                                         \
           "x + h v + h^2 g; x; x + h v; x + h v and the part of h^2 g that the last step's acceleration had") \
    INTEGER(substeps, "1", 1, 10000, "of a step")                                                              \
    REAL(dt, "s", "0.005", 0, 1e3, PBD_OPEN_MIN, "time step")                                                  \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")
PBD_SETTINGS(quasi_newton_settings, PARAMS)
static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct quasi_newton {
    quasi_newton_settings set;
    pbd_recorder *recorder;
    step_function f;
    size_t dofs;
    double gravity[3];
    double *forces;          /* particles x 3, N; NULL: none */
    step_matrix matrix;      /* A */
    double *x, *v, *before;  /* dofs: m; m/s; m/s: velocities one substep earlier */
    double *at, *trial;      /* dofs, m: the iterate, and along the line */
    double *gradient, *next; /* dofs, N */
    double *direction;
    double *moved, *turned; /* window x dofs: differences of iterates and of gradients */
    double *alpha;          /* window */
    size_t pairs, newest;
    pbd_residual *left;
} quasi_newton;

static void destroy(void *state) {
    quasi_newton *q = state;
    if (!q) return;
    step_function_free(&q->f);
    step_matrix_free(&q->matrix);
    double *owned[] = {q->forces,   q->x,    q->v,         q->before, q->at,     q->trial,
                       q->gradient, q->next, q->direction, q->moved,  q->turned, q->alpha};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(q);
}

static pbd_status allocate(quasi_newton *q) {
    const size_t n = q->dofs, window = (size_t)q->set.window;
    double **wanted[] = {&q->x, &q->v, &q->before, &q->at, &q->trial, &q->gradient, &q->next, &q->direction};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) PBD_TRY_NEW(*wanted[i], n);
    PBD_TRY_NEW(q->moved, window * n);
    PBD_TRY_NEW(q->turned, window * n);
    PBD_TRY_NEW(q->alpha, window);
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec;
    quasi_newton *q = *state = calloc(1, sizeof *q);
    if (!q) return pbd_no_memory();
    *q = (quasi_newton){.set = quasi_newton_settings_read(values), .recorder = recorder};
    q->dofs = 3 * scene->particles.count;
    PBD_TRY(step_function_create(scene, &q->f));
    PBD_TRY(allocate(q));
    memcpy(q->gravity, scene->loads.gravity, sizeof q->gravity);
    if (scene->loads.forces) {
        PBD_TRY_NEW(q->forces, q->dofs);
        memcpy(q->forces, scene->loads.forces, q->dofs * sizeof *q->forces);
    }
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    memcpy(q->x, start, q->dofs * sizeof *q->x);
    for (size_t i = 0; i < q->dofs && scene->particles.velocities; i++)
        q->v[i] = q->f.held[i] ? 0 : scene->particles.velocities[i];
    memcpy(q->before, q->v, q->dofs * sizeof *q->v);
    double weight[PBD_MOST_MATERIALS];
    for (size_t k = 0; k < q->f.materials; k++) {
        const double E = q->f.of[k].E, nu = q->f.of[k].nu;
        weight[k] = E / (1 + nu) + E * nu / ((1 + nu) * (1 - 2 * nu)); /* 2 mu + lambda */
    }
    return step_matrix_create(scene, weight, &q->matrix);
}

/* ---- Descent ----------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The two loops of L-BFGS (Nocedal and Wright, algorithm 7.4) about A^-1. */
static pbd_status find_direction(quasi_newton *q) {
    const size_t n = q->dofs, window = (size_t)q->set.window;
    for (size_t i = 0; i < n; i++) q->direction[i] = -q->gradient[i];
    for (size_t k = 0; k < q->pairs; k++) {
        const size_t p = (q->newest + window - k) % window;
        const double *s = q->moved + n * p, *t = q->turned + n * p;
        q->alpha[p] = dot(s, q->direction, n) / dot(s, t, n);
        for (size_t i = 0; i < n; i++) q->direction[i] -= q->alpha[p] * t[i];
    }
    PBD_TRY(step_matrix_solve(&q->matrix, q->direction));
    for (size_t k = q->pairs; k-- > 0;) {
        const size_t p = (q->newest + window - k) % window;
        const double *s = q->moved + n * p, *t = q->turned + n * p;
        const double beta = dot(t, q->direction, n) / dot(s, t, n);
        for (size_t i = 0; i < n; i++) q->direction[i] += (q->alpha[p] - beta) * s[i];
    }
    return pbd_ok();
}

static void keep_pair(quasi_newton *q) {
    const size_t n = q->dofs, window = (size_t)q->set.window;
    if (window == 0) return;
    const size_t p = q->pairs == 0 ? 0 : (q->newest + 1) % window;
    double *s = q->moved + n * p, *t = q->turned + n * p;
    for (size_t i = 0; i < n; i++) s[i] = q->trial[i] - q->at[i], t[i] = q->next[i] - q->gradient[i];
    if (!(dot(s, t, n) > 1e-12 * sqrt(dot(s, s, n) * dot(t, t, n)))) { /* no curvature to learn from */
        if (q->pairs == window) q->pairs--;                            /* this was written over the oldest */
        return;
    }
    q->newest = p;
    if (q->pairs < window) q->pairs++;
}

enum { HALVINGS = 40 };

/* Moves along the direction, by halving until G falls enough. Where G is flat to rounding the gradient must fall.
 * False: it does not. */
static bool search_line(quasi_newton *q, double *value) {
    const size_t n = q->dofs;
    const double slope = dot(q->gradient, q->direction, n), size = dot(q->gradient, q->gradient, n);
    double length = 1;
    for (int k = 0; k < HALVINGS && slope < 0; k++, length *= 0.5) {
        for (size_t i = 0; i < n; i++) q->trial[i] = q->at[i] + length * q->direction[i];
        const double there = step_function_value(&q->f, q->trial), change = there - *value;
        const bool falls = change <= 1e-4 * length * slope && fabs(change) > 1e-13 * fabs(*value);
        const bool flat = fabs(change) <= 1e-11 * fabs(*value);
        if (!isfinite(there) || !(falls || flat)) continue;
        step_function_gradient(&q->f, q->trial, q->next);
        if (!falls && !(dot(q->next, q->next, n) < size)) continue;
        *value = there;
        return true;
    }
    return false;
}

static void start_from(quasi_newton *q, double h) {
    const double *g = q->gravity, square = dot(g, g, 3);
    for (size_t p = 0; p < q->f.particles; p++) {
        double share = 0;
        for (size_t d = 0; d < 3 && square > 0; d++)
            share += (q->v[3 * p + d] - q->before[3 * p + d]) / h * g[d] / square;
        share = fmin(fmax(share, 0), 1);
        for (size_t i = 3 * p; i < 3 * p + 3; i++) {
            const double flown = q->x[i] + h * q->v[i];
            q->at[i] = q->set.guess == guess_inertia    ? q->f.y[i]
                       : q->set.guess == guess_previous ? q->x[i]
                       : q->set.guess == guess_velocity ? flown
                                                        : flown + share * h * h * g[i % 3];
            if (q->f.held[i]) q->at[i] = q->x[i];
        }
    }
}

static pbd_status minimise(quasi_newton *q, bool last) {
    const bool shown = last && pbd_wants_iterates(q->recorder);
    double value = step_function_value(&q->f, q->at);
    if (!isfinite(value))
        return pbd_error(PBD_DIVERGED, "the initial guess has no energy: set guess=previous, or reduce dt");
    step_function_gradient(&q->f, q->at, q->gradient);
    const double first = sqrt(dot(q->gradient, q->gradient, q->dofs));
    q->pairs = 0;
    if (shown) pbd_iterate(q->recorder, 0, q->at);
    bool moving = true;
    for (long k = 0; k < q->set.iterations; k++) {
        if (moving) PBD_TRY(find_direction(q));
        moving = moving && search_line(q, &value);
        if (!moving && q->pairs > 0) { /* once more without what was learnt */
            q->pairs = 0;
            PBD_TRY(find_direction(q));
            moving = search_line(q, &value);
        }
        if (!moving) break; /* as low as rounding allows */
        keep_pair(q);
        memcpy(q->at, q->trial, q->dofs * sizeof *q->at);
        memcpy(q->gradient, q->next, q->dofs * sizeof *q->gradient);
        if (shown) pbd_iterate(q->recorder, k + 1, q->at);
        pbd_count(q->recorder, "descents", 1);
    }
    if (last && q->left) {
        const double end = sqrt(dot(q->gradient, q->gradient, q->dofs));
        *q->left = (pbd_residual){first, end, moving ? 0 : end};
    }
    return pbd_ok();
}

static pbd_status step(void *state, double dt) {
    quasi_newton *q = state;
    const double h = dt / (double)q->set.substeps, kept = exp(-q->set.damping * h);
    bool factorised;
    PBD_TRY(step_matrix_factorise(&q->matrix, h, &factorised));
    pbd_count(q->recorder, "factorisations", factorised);
    for (long k = 0; k < q->set.substeps; k++) {
        step_function_begin(&q->f, h, q->x, q->v, q->gravity, q->forces);
        start_from(q, h);
        PBD_TRY(minimise(q, k + 1 == q->set.substeps));
        memcpy(q->before, q->v, q->dofs * sizeof *q->v);
        for (size_t i = 0; i < q->dofs; i++) {
            q->v[i] = q->f.held[i] ? 0 : kept * (q->at[i] - q->x[i]) / h;
            q->x[i] = q->at[i];
        }
    }
    q->left = NULL;
    pbd_count(q->recorder, "steps", 1);
    return pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const quasi_newton *q = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "quasi_newton has positions and velocities only");
    memcpy(out, field == PBD_POSITIONS ? q->x : q->v, q->dofs * sizeof *out);
    return pbd_ok();
}

static void watch(void *state, pbd_residual *out) { ((quasi_newton *)state)->left = out; }

static size_t saved_of(const quasi_newton *q, device_array *row) {
    const device_array rows[] = {HOST_ARRAY_SAVED(q->x, q->dofs), HOST_ARRAY_SAVED(q->v, q->dofs),
                                 HOST_ARRAY_SAVED(q->before, q->dofs)};
    return DEVICE_ROWS(row, rows);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    device_array row[DEVICE_MOST_ARRAYS];
    return device_arrays_save(NULL, row, saved_of(state, row), blob, bytes);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    device_array row[DEVICE_MOST_ARRAYS];
    return device_arrays_load(NULL, row, saved_of(state, row), "quasi_newton", blob, bytes);
}

const pbd_method PBD_NAME(quasi_newton) = {
    .bytes = sizeof(pbd_method),
    .name = "quasi_newton",
    .summary = "implicit Euler of tetrahedra by descent with a constant matrix and L-BFGS",
    .source = "Liu, Bouaziz and Kavan 2017",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_TETS,
    .takes = PBD_TAKES_START | PBD_TAKES_MATERIALS | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU,
    .precisions = PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
    .residual = "2-norm of the gradient of the step's function over the free particles",
    .watch = watch,
};
