/* quasi_newton: implicit Euler of tetrahedra by descent with a constant matrix (Liu, Bouaziz and Kavan 2017).
 *
 * A step minimises G of methods/physics/parts/step_function.h. The descent direction is -A^-1 grad G, corrected by
 * L-BFGS. A = M/h^2 + (2 mu + lambda) L is one scalar matrix for all three coordinates, factorised once per step size.
 * README.md has the equations. Host code in f64. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/parts/position_solver.h"
#include "methods/physics/parts/step_contact.h"
#include "methods/physics/parts/step_function.h"

#define PARAMS(REAL, INTEGER, CHOICE) INTEGER(window, "5", 0, 100, "pairs of L-BFGS; 0: the constant matrix alone")
PBD_SETTINGS(quasi_newton_settings, PARAMS)
static const pbd_param params[] = {PBD_ROWS(GUESS_PARAM) PBD_ROWS(PARAMS) PBD_ROWS(POSITION_PARAMS){0}};

typedef struct quasi_newton {
    position_solver position; /* first: the particles */
    quasi_newton_settings set;
    guess_settings guess;
    step_function f;
    size_t dofs;
    step_matrix matrix; /* A */
    step_contact touch;
    real *y, *before; /* device: rows of 4 (position_guess) */
    real *row;        /* host: rows of 4, positions and inverse masses, as on the device */
    /* Host, of the running substep. */
    double *start, *at, *trial; /* dofs, m: at the substep's start; the iterate; the line search's trial */
    double *gradient, *next;    /* dofs, N: of G, at the iterate and at the trial */
    double *contact;            /* dofs, N: contact forces of the last direction */
    double *direction;
    double *moved, *turned; /* window x dofs: differences of iterates and of gradients */
    double *alpha;          /* window */
    size_t pairs, newest;
    double value; /* J: G at the iterate */
    bool moving;  /* false: G is as low as rounding allows */
} quasi_newton;

static size_t arrays_of(const void *state, device_array *row) {
    const quasi_newton *q = state;
    const size_t n = 4 * q->position.particles;
    const device_array rows[] = {DEVICE_ARRAY(q->y, n), DEVICE_SAVED(q->before, n)};
    return DEVICE_ROWS(row, rows);
}

static void destroy(void *state) {
    quasi_newton *q = state;
    if (!q) return;
    position_free(&q->position);
    step_function_free(&q->f);
    step_matrix_free(&q->matrix);
    step_contact_free(&q->touch);
    double *owned[] = {q->start,   q->at,        q->trial, q->gradient, q->next,
                       q->contact, q->direction, q->moved, q->turned,   q->alpha};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(q->row);
    free(q);
}

/* ---- Descent ----------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The two-loop recursion of L-BFGS (Nocedal and Wright, algorithm 7.4), with A^-1 as the initial inverse Hessian. */
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

/* Pairs approximate G without contact, so none is kept while contact acts. */
static void keep_pair(quasi_newton *q) {
    const size_t n = q->dofs, window = (size_t)q->set.window;
    if (window == 0 || q->touch.acts) return;
    const size_t p = q->pairs == 0 ? 0 : (q->newest + 1) % window;
    double *s = q->moved + n * p, *t = q->turned + n * p;
    for (size_t i = 0; i < n; i++) s[i] = q->trial[i] - q->at[i], t[i] = q->next[i] - q->gradient[i];
    if (!(dot(s, t, n) > 1e-12 * sqrt(dot(s, s, n) * dot(t, t, n)))) { /* no usable curvature */
        if (q->pairs == window) q->pairs--;                            /* the oldest pair was overwritten */
        return;
    }
    q->newest = p;
    if (q->pairs < window) q->pairs++;
}

enum { HALVINGS = 40 };

/* |gradient - contact forces|^2 */
static double imbalance(const quasi_newton *q, const double *gradient) {
    double sum = 0;
    for (size_t i = 0; i < q->dofs; i++) sum += (gradient[i] - q->contact[i]) * (gradient[i] - q->contact[i]);
    return sum;
}

/* Line search: halves the step until G minus the work of the contact forces, held constant, falls enough. Where this
 * function is flat to rounding, the norm of its gradient must fall instead. Returns false if neither happens. */
static bool search_line(quasi_newton *q) {
    const size_t n = q->dofs;
    const double work = dot(q->contact, q->direction, n), slope = dot(q->gradient, q->direction, n) - work;
    const double size = imbalance(q, q->gradient);
    double length = 1;
    for (int k = 0; k < HALVINGS && slope < 0; k++, length *= 0.5) {
        for (size_t i = 0; i < n; i++) q->trial[i] = q->at[i] + length * q->direction[i];
        const double there = step_function_gradient(&q->f, q->trial, q->next),
                     change = there - q->value - length * work;
        const bool falls = change <= 1e-4 * length * slope && fabs(change) > 1e-13 * fabs(q->value);
        const bool flat = fabs(change) <= 1e-11 * fabs(q->value);
        if (!isfinite(there) || !(falls || flat)) continue;
        if (!falls && !(imbalance(q, q->next) < size)) continue;
        q->value = there;
        return true;
    }
    return false;
}

/* Finds the direction with contact. The L-BFGS direction is used if nothing touches along it; otherwise the pairs are
 * discarded, and the direction of A alone is constrained. */
static pbd_status find_move(quasi_newton *q) {
    long rounds;
    PBD_TRY(find_direction(q));
    if (q->touch.walls->count == 0) return pbd_ok();
    if (q->pairs > 0) {
        memcpy(q->trial, q->direction, q->dofs * sizeof *q->trial);
        PBD_TRY(step_contact_move(&q->touch, q->start, q->at, q->trial, &rounds));
        step_contact_forces(&q->touch, q->contact);
        if (!q->touch.acts) return pbd_ok();
        q->pairs = 0;
        PBD_TRY(find_direction(q));
    }
    PBD_TRY(step_contact_move(&q->touch, q->start, q->at, q->direction, &rounds));
    step_contact_forces(&q->touch, q->contact);
    pbd_count(q->position.run.recorder, "contact_rounds", (uint64_t)rounds);
    return pbd_ok();
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static pbd_status keep_rows(const quasi_newton *q) {
    for (size_t i = 0; i < q->dofs; i++) q->row[4 * (i / 3) + i % 3] = (real)q->at[i];
    return pbd_upload(q->position.run.exec, q->position.p, q->row, 4 * q->position.particles * sizeof *q->row);
}

/* Moves the initial guess out of the colliders, in the norm of A. */
static pbd_status leave_colliders(quasi_newton *q) {
    long rounds;
    memset(q->contact, 0, q->dofs * sizeof *q->contact);
    memset(q->direction, 0, q->dofs * sizeof *q->direction);
    PBD_TRY(step_contact_begin(&q->touch, q->position.run.time));
    PBD_TRY(step_contact_move(&q->touch, q->start, q->at, q->direction, &rounds));
    if (!q->touch.acts) return pbd_ok();
    for (size_t i = 0; i < q->dofs; i++) q->at[i] += q->direction[i];
    PBD_TRY(step_contact_begin(&q->touch, q->position.run.time));
    return keep_rows(q);
}

static pbd_status begin(void *state, stepper *run) {
    quasi_newton *q = state;
    const size_t n = q->position.particles;
    bool factorised;
    PBD_TRY(step_matrix_factorise(&q->matrix, run->dt, &factorised));
    pbd_count(run->recorder, "factorisations", factorised);
    PBD_TRY(position_guess(&q->position, run, q->guess, q->before, q->y));
    q->f.dt = run->dt;
    PBD_TRY(device_rows_read(run->exec, q->y, n, 4, 3, NULL, NULL, q->f.y));
    PBD_TRY(device_rows_read(run->exec, q->position.x, n, 4, 3, NULL, NULL, q->start));
    PBD_TRY(pbd_download(run->exec, q->row, q->position.p, 4 * n * sizeof *q->row));
    for (size_t i = 0; i < q->dofs; i++) q->at[i] = (double)q->row[4 * (i / 3) + i % 3];
    PBD_TRY(leave_colliders(q));
    q->pairs = 0;
    q->moving = true;
    q->value = step_function_gradient(&q->f, q->at, q->gradient);
    if (!isfinite(q->value))
        return pbd_error(PBD_DIVERGED, "the initial guess has no energy: set guess=previous, or reduce dt");
    return pbd_ok();
}

static pbd_status iterate(void *state, stepper *run) {
    quasi_newton *q = state;
    if (!q->moving) return pbd_ok();
    PBD_TRY(find_move(q));
    q->moving = search_line(q);
    if (!q->moving && q->pairs > 0) { /* try again without the pairs */
        q->pairs = 0;
        PBD_TRY(find_move(q));
        q->moving = search_line(q);
    }
    if (!q->moving) return pbd_ok();
    keep_pair(q);
    memcpy(q->at, q->trial, q->dofs * sizeof *q->at);
    memcpy(q->gradient, q->next, q->dofs * sizeof *q->gradient);
    pbd_count(run->recorder, "descents", 1);
    return keep_rows(q);
}

static pbd_status end(void *state, stepper *run) {
    quasi_newton *q = state;
    (void)run;
    step_contact_end(&q->touch, q->start);
    return pbd_ok();
}

static pbd_status residual(void *state, stepper *run, step_residual *out) {
    const quasi_newton *q = state;
    (void)run;
    const double norm = sqrt(imbalance(q, q->gradient));
    *out = (step_residual){norm, q->moving ? 0 : norm};
    return pbd_ok();
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static pbd_status allocate(quasi_newton *q) {
    const size_t n = q->dofs, window = (size_t)q->set.window;
    double **wanted[] = {&q->start, &q->at, &q->trial, &q->gradient, &q->next, &q->contact, &q->direction};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) PBD_TRY_NEW(*wanted[i], n);
    PBD_TRY_NEW(q->moved, window * n);
    PBD_TRY_NEW(q->turned, window * n);
    PBD_TRY_NEW(q->alpha, window);
    PBD_TRY_NEW(q->row, 4 * q->position.particles);
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    static const step_part own = {
        .begin = begin, .iterate = iterate, .end = end, .residual = residual, .arrays = arrays_of};
    quasi_newton *q = *state = calloc(1, sizeof *q);
    if (!q) return pbd_no_memory();
    q->set = quasi_newton_settings_read(values);
    q->guess = guess_settings_read(values);
    q->dofs = 3 * scene->particles.count;
    q->position = (position_solver){
        .name = "quasi_newton", .set = position_settings_read(values), .guesses = true, .touches = true};
    PBD_TRY(position_create(&q->position, &own, scene, NULL, NULL, (contact_settings){0}, exec, recorder));
    q->position.run.repeats = false;
    PBD_TRY(step_function_create(scene, &q->f));
    PBD_TRY(allocate(q));
    double weight[PBD_MOST_MATERIALS];
    for (size_t k = 0; k < q->f.materials; k++) {
        const double E = q->f.of[k].E, nu = q->f.of[k].nu;
        weight[k] = E / (1 + nu) + E * nu / ((1 + nu) * (1 - 2 * nu)); /* 2 mu + lambda */
    }
    PBD_TRY(step_matrix_create(scene, weight, &q->matrix));
    PBD_TRY(step_contact_create(&q->touch, scene, &q->position.run.colliders, &q->matrix));
    PBD_TRY(position_allocate(&q->position));
    return position_guess_start(&q->position, q->before);
}

const pbd_method PBD_NAME(quasi_newton) = {
    .name = "quasi_newton",
    .summary = "implicit Euler of tetrahedra by descent with a constant matrix and L-BFGS",
    .source = "Liu, Bouaziz and Kavan 2017",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_TETS,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_MATERIALS | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .destroy = destroy,
    .backends = PBD_CPU,
    .precisions = PBD_F64,
    .residual = "2-norm of the gradient of the step's function less contact forces, over the free particles",
    POSITION_CALLS,
};
