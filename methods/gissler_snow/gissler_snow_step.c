#include "methods/gissler_snow/gissler_snow_step.h"

#include <math.h>
#include <string.h>

#include "methods/physics/device/device_state.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/matter/flow_material.h"

size_t gissler_snow_blocks(const gissler_snow *s) { return (s->particles + GISSLER_BLOCK - 1) / GISSLER_BLOCK; }

/* ---- The start of a step ----------------------------------------------------------------------------------------- */

static pbd_work work_of(const gissler_snow *s) {
    return (pbd_work){.items = s->particles, .entries = (size_t)s->near.entries};
}

/* The law for a step of dt. */
static gissler_law law_of(const gissler_snow *s, double dt) {
    return (gissler_law){.mu = (real)s->mu,
                         .lambda = (real)s->lambda,
                         .flows = s->flows,
                         .hardens = flow_hardens(&s->material),
                         .corrected = s->set.divergence == divergence_corrected,
                         .dt = (real)dt,
                         .rule = flow_rule_of(&s->material, dt)};
}

static pbd_status search(gissler_snow *s) {
    gissler_lists *l = &s->p.lists;
    PBD_TRY(neighbours_update(&s->near, s->p.x, NULL));
    l->first = s->near.first;
    l->list = s->near.list;
    if (l->pair && s->near.entries <= s->pair_capacity) return pbd_ok();
    pbd_free(s->exec, l->pair);
    l->pair = NULL;
    s->pair_capacity = (size_t)s->near.entries + (size_t)s->near.entries / 4 + 64;
    return pbd_alloc(s->exec, 3 * s->pair_capacity * sizeof(real), (void **)&l->pair);
}

static pbd_status find_kernels(gissler_snow *s) {
    const gissler_args args = {s->p};
    PBD_TRY(PBD_RUN(s->exec, gissler_volume, s->particles,
                    s->p.tracked ? (pbd_work){.items = s->particles} : work_of(s), &args));
    return PBD_RUN(s->exec, gissler_pairs, s->particles, work_of(s), &args);
}

static pbd_status push(gissler_snow *s, double dt) {
    const bool ended = s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt;
    const gissler_push_args args = {.p = s->p,
                                    .out = s->star,
                                    .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                    .dt = (real)dt,
                                    .keep = (real)exp(-s->set.damping * dt),
                                    .loaded = s->loaded && !ended};
    return PBD_RUN(s->exec, gissler_push, s->particles, &args);
}

static gissler_contact_args contact_args(const gissler_snow *s, const real *unconstrained, double dt) {
    return (gissler_contact_args){.p = s->p,
                                  .collider = s->colliders.device,
                                  .colliders = (int)s->colliders.count,
                                  .unconstrained = unconstrained,
                                  .out = s->target,
                                  .dt = (real)dt,
                                  .inverse_dt = (real)(1 / dt)};
}

/* Computes the velocities after contact and supports, in `target`, and the kinds of constraints, from the velocities by
 * forces, `unconstrained`. */
static pbd_status apply_contacts(gissler_snow *s, const real *unconstrained, double dt) {
    const gissler_contact_args args = contact_args(s, unconstrained, dt);
    return PBD_RUN(s->exec, gissler_apply_contacts, s->particles, &args);
}

static pbd_status sum_contact(gissler_snow *s, double dt) {
    gissler_contact_args args = contact_args(s, s->unconstrained, dt);
    args.sums = collider_sums_of(&s->colliders);
    return args.sums.row ? PBD_RUN(s->exec, gissler_sum_contact, s->particles, &args) : pbd_ok();
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* Sums the blocks' two numbers. */
static pbd_status add_blocks(const gissler_snow *s, double out[2]) {
    out[0] = out[1] = 0;
    return device_blocks_take(s->exec, s->block, gissler_snow_blocks(s), 2, 0, out);
}

/* sum m x.y and sum m x.z. */
static pbd_status dots(const gissler_snow *s, const real *x, const real *y, const real *z, double out[2]) {
    const gissler_dots_args args = {
        .x = x, .y = y, .z = z, .place = s->p.x, .particles = s->particles, .out = s->block};
    PBD_TRY(PBD_RUN(s->exec, gissler_dots, gissler_snow_blocks(s), &args));
    return add_blocks(s, out);
}

static pbd_status combine(const gissler_snow *s, real *out, double a, const real *x, double b, const real *y, double c,
                          const real *z) {
    const gissler_combine_args args = {.out = out, .x = x, .y = y, .z = z, .a = (real)a, .b = (real)b, .c = (real)c};
    return PBD_RUN(s->exec, gissler_combine, s->particles, &args);
}

/* ---- Forces ------------------------------------------------------------------------------------------------------ */

static gissler_force_args force_args(const gissler_snow *s, const real *base, real *out, double scale, int form) {
    return (gissler_force_args){
        .p = s->p, .base = base, .target = s->target, .out = out, .scale = (real)scale, .form = form};
}

/* The tensors Q of a velocity: the stress after the step, or only its part linear in the velocity. */
static pbd_status make_stress(gissler_snow *s, const real *w, bool whole) {
    const gissler_stress_args args = {
        .p = s->p, .w = w, .whole = whole, .shear = 1, .volume = s->set.solve == solve_together};
    return PBD_RUN(s->exec, gissler_stress, s->particles, work_of(s), &args);
}

static pbd_status run_force(gissler_snow *s, const gissler_force_args *args) {
    pbd_count(s->recorder, "neighbour_updates", 2 * s->near.entries);
    return PBD_RUN(s->exec, gissler_force, s->particles, work_of(s), args);
}

/* ---- Pressure ---------------------------------------------------------------------------------------------------- */

/* Relative residuals below this are rounding error. */
static double rounding(void) { return 4 * REAL_EPSILON; }

/* Solves for p. Then `pressed` is the velocity with that pressure, and w the same with constrained components set. */
static pbd_status solve_pressure(gissler_snow *s, double dt, double *left) {
    const gissler_pressure_args args = {s->p, s->w, s->particles, (real)s->set.relaxation};
    const gissler_force_args step = force_args(s, s->star, s->w, dt, GISSLER_SET);
    const gissler_sums_args sums = {.square = s->p.square, .particles = s->particles, .out = s->block};
    double first = 0, sum[2];
    *left = 0;
    PBD_TRY(PBD_RUN(s->exec, gissler_pressure_begin, s->particles, work_of(s), &args));
    for (long k = 0; k <= s->set.iterations; k++) {
        PBD_TRY(run_force(s, &step));
        PBD_TRY(PBD_RUN(s->exec, gissler_pressure_improve, s->particles, work_of(s), &args));
        PBD_TRY(PBD_RUN(s->exec, gissler_sums, gissler_snow_blocks(s), &sums));
        PBD_TRY(add_blocks(s, sum));
        s->jacobi++;
        const double error = sqrt(sum[0]), size = sqrt(sum[1]);
        if (k == 0) first = error;
        *left = first > 0 ? error / first : 0;
        if (!(error > s->set.tolerance * first) || error <= rounding() * size) break;
    }
    const gissler_force_args all = force_args(s, s->star, s->pressed, dt, GISSLER_ALL);
    PBD_TRY(run_force(s, &all));
    return run_force(s, &step);
}

/* ---- Shear: BiCGSTAB (van der Vorst 1992), preconditioned from the right, in the masses' inner product ----------- */

/* out: the free part of w - dt a(w), with the linear a. */
static pbd_status apply(gissler_snow *s, const real *w, real *out, double dt) {
    PBD_TRY(make_stress(s, w, false));
    const gissler_force_args args = force_args(s, w, out, -dt, GISSLER_FREE_PART);
    return run_force(s, &args);
}

static pbd_status precondition(gissler_snow *s, const real *in, real *out) {
    const gissler_precondition_args args = {s->p, in, out};
    if (s->set.preconditioner == preconditioner_masses) return combine(s, out, 1, in, 0, NULL, 0, NULL);
    return PBD_RUN(s->exec, gissler_precondition, s->particles, &args);
}

static pbd_status make_preconditioner(gissler_snow *s) {
    const gissler_diagonal_args args = {.p = s->p, .shear = 1, .pressure = s->set.solve == solve_together};
    if (s->set.preconditioner == preconditioner_masses) return pbd_ok();
    return PBD_RUN(s->exec, gissler_diagonal, s->particles, work_of(s), &args);
}

/* Writes the residual of w = base + dt a(w) to row R. *size: its norm; *of: the norm of w. */
static pbd_status krylov_residual(gissler_snow *s, const real *base, double dt, double *size, double *of) {
    double sum[2];
    PBD_TRY(make_stress(s, s->w, true));
    gissler_force_args args = force_args(s, base, s->row[ROW_R], dt, GISSLER_FREE_PART);
    args.minus = s->w;
    PBD_TRY(run_force(s, &args));
    PBD_TRY(dots(s, s->row[ROW_R], s->row[ROW_R], s->row[ROW_R], sum));
    *size = sqrt(sum[0]);
    PBD_TRY(dots(s, s->w, s->w, s->w, sum));
    *of = sqrt(sum[0]);
    return pbd_ok();
}

typedef struct krylov {
    double rho, alpha, omega, size; /* size: of the residual */
    bool stuck;                     /* breakdown: a divisor is 0 */
} krylov;

/* One iteration; updates w. */
static pbd_status krylov_step(gissler_snow *s, krylov *k, double dt) {
    real *r = s->row[ROW_R], *shadow = s->row[ROW_SHADOW], *p = s->row[ROW_P], *ap = s->row[ROW_AP];
    real *sr = s->row[ROW_S], *y = s->row[ROW_Y], *t = s->row[ROW_T];
    double sum[2];
    PBD_TRY(dots(s, r, shadow, r, sum));
    const double rho = sum[0], beta = rho / k->rho * (k->alpha / k->omega);
    k->stuck = rho == 0 || !isfinite(beta);
    if (k->stuck) return pbd_ok();
    k->rho = rho;
    PBD_TRY(combine(s, p, 1, r, beta, p, -beta * k->omega, ap));
    PBD_TRY(precondition(s, p, y));
    PBD_TRY(apply(s, y, ap, dt));
    PBD_TRY(dots(s, shadow, ap, ap, sum));
    k->alpha = rho / sum[0];
    k->stuck = !isfinite(k->alpha);
    if (k->stuck) return pbd_ok();
    PBD_TRY(combine(s, s->w, 1, s->w, k->alpha, y, 0, NULL));
    PBD_TRY(combine(s, sr, 1, r, -k->alpha, ap, 0, NULL));
    PBD_TRY(precondition(s, sr, y));
    PBD_TRY(apply(s, y, t, dt));
    PBD_TRY(dots(s, t, sr, t, sum));
    k->omega = sum[1] > 0 ? sum[0] / sum[1] : 0;
    PBD_TRY(combine(s, s->w, 1, s->w, k->omega, y, 0, NULL));
    PBD_TRY(combine(s, r, 1, sr, -k->omega, t, 0, NULL));
    PBD_TRY(dots(s, r, r, r, sum));
    k->size = sqrt(sum[0]);
    k->stuck = k->omega == 0;
    return pbd_ok();
}

/* Solves w = base + dt a(w) for the free part of w; w is the initial guess. */
static pbd_status solve_shear(gissler_snow *s, const real *base, double dt, double *left) {
    double first, of;
    *left = 0;
    PBD_TRY(krylov_residual(s, base, dt, &first, &of));
    if (!isfinite(first)) return pbd_ok(); /* reported at the end of the step */
    if (!(first > rounding() * of)) return pbd_ok();
    PBD_TRY(make_preconditioner(s));
    PBD_TRY(combine(s, s->row[ROW_SHADOW], 1, s->row[ROW_R], 0, NULL, 0, NULL));
    PBD_TRY(combine(s, s->row[ROW_P], 0, s->row[ROW_R], 0, NULL, 0, NULL));
    PBD_TRY(combine(s, s->row[ROW_AP], 0, s->row[ROW_R], 0, NULL, 0, NULL));
    krylov k = {.rho = 1, .alpha = 1, .omega = 1, .size = first};
    for (long i = 0; i < s->set.iterations && !k.stuck; i++) {
        PBD_TRY(krylov_step(s, &k, dt));
        s->krylov++;
        if (!(k.size > s->set.tolerance * first) || k.size <= rounding() * of) break;
    }
    *left = k.size / first;
    return pbd_ok();
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

/* Over all particles: the largest v^2; the numbers of deficient and isolated particles, and of changed constraints. */
static pbd_status watch(const gissler_snow *s, double out[GISSLER_MEASURED]) {
    const size_t blocks = gissler_snow_blocks(s);
    const gissler_measure_args args = {s->p, s->target, s->particles, s->block};
    PBD_TRY(PBD_RUN(s->exec, gissler_measure, blocks, &args));
    memset(out, 0, GISSLER_MEASURED * sizeof *out);
    return device_blocks_take(s->exec, s->block, blocks, GISSLER_MEASURED, 1, out);
}

/* Solves once with the current constraints, then updates them from the colliders. */
static pbd_status solve_pass(gissler_snow *s, double dt, double left[2], double seen[GISSLER_MEASURED]) {
    const bool split = s->set.solve == solve_split;
    left[0] = 0;
    PBD_TRY(PBD_PHASE(s->recorder, "pressure",
                      split ? solve_pressure(s, dt, &left[0]) : combine(s, s->w, 1, s->target, 0, NULL, 0, NULL)));
    const real *base = split ? s->pressed : s->star;
    PBD_TRY(PBD_PHASE(s->recorder, "shear", solve_shear(s, base, dt, &left[1])));
    PBD_TRY(make_stress(s, s->w, true));
    gissler_force_args reaction = force_args(s, base, s->unconstrained, dt, GISSLER_REACTION);
    reaction.target = s->w;
    PBD_TRY(run_force(s, &reaction));
    PBD_TRY(PBD_PHASE(s->recorder, collider_poses_phase(&s->colliders, "colliders"),
                      apply_contacts(s, s->unconstrained, dt)));
    return watch(s, seen);
}

static pbd_status solve_step(gissler_snow *s, double dt, double seen[GISSLER_MEASURED]) {
    double left[2] = {0, 0};
    for (long pass = 0; pass < s->set.contact_passes; pass++) {
        PBD_TRY(solve_pass(s, dt, left, seen));
        pbd_count(s->recorder, "solves", 1);
        if (!isfinite(seen[0]) || seen[3] == 0) break;
    }
    if (s->left) *s->left = (pbd_residual){.first = 1, .last = fmax(left[0], left[1])};
    s->left = NULL;
    s->worst_pressure = fmax(s->worst_pressure, left[0]);
    s->worst_shear = fmax(s->worst_shear, left[1]);
    s->unsolved += left[0] > s->set.tolerance || left[1] > s->set.tolerance;
    s->unsettled += seen[3] > 0;
    return pbd_ok();
}

static pbd_status advance(gissler_snow *s) {
    const gissler_advance_args args = {s->p, s->target};
    PBD_TRY(PBD_RUN(s->exec, gissler_advance, s->particles, work_of(s), &args));
    return PBD_RUN(s->exec, gissler_move, s->particles, &args);
}

static void warn(gissler_snow *s, double dt, const double seen[GISSLER_MEASURED]) {
    neighbours_warn(s->recorder, sqrt(seen[0]), 0.5 * s->support, dt, seen[1], s->particles);
    if (s->unsolved > 0)
        pbd_warning(s->recorder, "solver_residual",
                    "a solver reached %.3g (pressure) or %.3g (shear) of its residual after %ld iterations, where %g "
                    "is required: use more iterations or a smaller dt",
                    s->worst_pressure, s->worst_shear, s->set.iterations, s->set.tolerance);
}

static pbd_status report(gissler_snow *s, double dt, const double seen[GISSLER_MEASURED]) {
    pbd_count(s->recorder, "steps", 1);
    if (!isfinite(seen[0]))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a velocity is not finite", s->time,
                         (unsigned long long)s->steps);
    warn(s, dt, seen);
    s->looked += (double)s->particles;
    s->deficient += seen[1];
    s->alone += seen[2];
    const double steps = (double)s->steps;
    pbd_metric(s->recorder, "deficient_fraction", "1", PBD_FLAW, s->deficient / s->looked);
    pbd_metric(s->recorder, "lone_fraction", "1", PBD_STATE, s->alone / s->looked);
    pbd_metric(s->recorder, "pressure_residual", "1", PBD_FLAW, s->worst_pressure);
    pbd_metric(s->recorder, "shear_residual", "1", PBD_FLAW, s->worst_shear);
    pbd_metric(s->recorder, "pressure_iterations", "1", PBD_FLAW, (double)s->jacobi / steps);
    pbd_metric(s->recorder, "shear_iterations", "1", PBD_FLAW, (double)s->krylov / steps);
    pbd_metric(s->recorder, "unsettled_contacts", "1", PBD_FLAW, (double)s->unsettled / steps);
    pbd_metric(s->recorder, "neighbours_total", "1", PBD_STATE, (double)s->near.entries);
    return pbd_ok();
}

pbd_status gissler_snow_step(void *state, double dt) {
    gissler_snow *s = state;
    double seen[GISSLER_MEASURED] = {0};
    s->p.law = law_of(s, dt);
    PBD_TRY(PBD_PHASE(s->recorder, "neighbour_search", search(s)));
    PBD_TRY(PBD_PHASE(s->recorder, "kernels", find_kernels(s)));
    PBD_TRY(PBD_PHASE(s->recorder, "state_update", push(s, dt)));
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    PBD_TRY(apply_contacts(s, s->star, dt));
    PBD_TRY(solve_step(s, dt, seen));
    PBD_TRY(sum_contact(s, dt));
    PBD_TRY(PBD_PHASE(s->recorder, "state_update", advance(s)));
    s->time += dt;
    s->steps++;
    return report(s, dt, seen);
}
