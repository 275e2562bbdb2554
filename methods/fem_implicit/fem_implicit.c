/* fem_implicit: hyperelastic finite elements, the reference of every method for solids.
 *
 * Statics and each implicit time step minimise one function of the displacements u,
 *
 *     Pi(u) = sum_q V_q Psi(F_q(u)) - fraction * f.u + c/2 (u - target)' M (u - target),
 *
 * by Newton's method with a line search. Statics has c = 0; begin_step sets c and target of a time step. The solver
 * seeks a minimiser, not any root of the forces: a line search that decreases the energy cannot end in the crumpled
 * states at which forces also balance. An equilibrium is accepted only if no element is inverted, at the quadrature
 * points and at the nodes.
 *
 * A load for which one solve does not converge is applied in steps; when the smallest step does not converge, the run
 * ends as no_equilibrium with the fraction that was reached.
 *
 * Newton stops when the residual is small relative to the load, or at the level of rounding. Forces are sums of
 * stresses, whose error is the modulus times the rounding of F = I + grad u, however small the load is. Each evaluation
 * sums that rounding. The displacements keep their accuracy: a Newton step from the last residual above that level has
 * all digits of the linear solution. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/clock.h"
#include "methods/fem_implicit/fem_body.h"
#include "methods/physics/device/device_state.h"

static const pbd_param params[] = {PBD_ROWS(FEM_IMPLICIT_PARAMS){0}};

static void destroy(void *state) {
    fem_implicit *fem = state;
    if (!fem) return;
    fem_body_free(fem);
    free(fem);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec;
    fem_implicit *fem = *state = calloc(1, sizeof *fem);
    if (!fem) return pbd_error(PBD_FAILED, "out of memory for fem_implicit");
    *fem = (fem_implicit){.recorder = recorder, .set = fem_implicit_settings_read(values)};
    return fem_body_create(fem, scene);
}

/* ---- Energy, forces, stiffness ----------------------------------------------------------------------------------- */

/* F = I + sum_a u_a (x) grad N_a, row-major. */
static void deformation_gradient(const fem_implicit *fem, const double *u, size_t element, const double *gradient,
                                 double F[9]) {
    const uint32_t *node = fem->mesh.element + element * (size_t)fem->mesh.corners;
    for (int i = 0; i < 9; i++) F[i] = i % 4 == 0;
    for (int a = 0; a < fem->mesh.corners; a++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) F[3 * i + k] += u[3 * node[a] + (size_t)i] * gradient[3 * a + k];
}

static void pack(const fem_implicit *fem, const double *from, double *packed) {
    for (size_t i = 0; i < fem->dofs; i++)
        if (fem->matrix.unknown[i] >= 0) packed[fem->matrix.unknown[i]] = from[i];
}

/* Pi at some u, and the rounding errors. */
typedef struct balance {
    double energy;          /* Pi, J; infinite where the law is undefined */
    double energy_rounding; /* J */
    double force_rounding;  /* N: of the norm of the residual */
} balance;

/* force = -c M (u - target) on the free unknowns, 0 elsewhere; adds c/2 (u - target)' M (u - target). */
static void add_inertia(const fem_implicit *fem, const double *u, double *force, balance *at) {
    const pbd_sparse *m = &fem->matrix;
    double rounding = 0;
    for (size_t i = 0; i < fem->dofs; i++) fem->work[i] = u[i] - fem->target[i];
    pack(fem, fem->work, fem->packed);
    for (size_t i = 0; i < fem->dofs; i++) {
        const int column = m->unknown[i];
        double sum = 0, size = 0;
        for (int k = column < 0 ? 0 : m->column[column]; column >= 0 && k < m->column[column + 1]; k++) {
            sum += fem->mass[k] * fem->packed[m->row[k]];
            size += fabs(fem->mass[k]);
        }
        const double lost = DBL_EPSILON * fem->inertia * size * fabs(u[i]);
        at->energy += 0.5 * fem->inertia * sum * fem->work[i];
        at->energy_rounding += lost * fabs(fem->work[i]);
        rounding += lost * lost;
        if (force) force[i] = -fem->inertia * sum;
    }
    at->force_rounding = hypot(at->force_rounding, sqrt(rounding));
}

/* Adds the rounding errors of one point: eps (|F| + |u| |grad|) in F, and in P eps |P| plus the modulus times the error
 * in F. */
static void add_rounding(const fem_implicit *fem, size_t point, double largest, const double F[9], const double P[9],
                         balance *at, double *squares) {
    const double dF = DBL_EPSILON * (fem_norm(F, 9) + largest * fem->pull[point]), stress = fem_norm(P, 9);
    const double force = fem->volume[point] * fem->pull[point] * (DBL_EPSILON * stress + fem->material.modulus * dF);
    at->energy_rounding += fem->volume[point] * (stress + fem->material.modulus * dF) * dF;
    *squares += force * force;
}

static void add_load(const fem_implicit *fem, const double *u, double *residual, balance *at) {
    for (size_t i = 0; i < fem->dofs; i++) {
        const double work = fem->fraction * fem->acting[i] * u[i];
        at->energy -= work;
        at->energy_rounding += DBL_EPSILON * fabs(work);
        residual[i] = fem->matrix.unknown[i] < 0 ? 0 : residual[i] + fem->fraction * fem->acting[i];
    }
}

/* Returns Pi at u; residual: -dPi/du there. */
static balance evaluate(const fem_implicit *fem, const double *u, double *residual) {
    balance at = {0};
    double F[9], P[9], largest = 0, squares = 0;
    memset(residual, 0, fem->dofs * sizeof *residual);
    for (size_t i = 0; i < fem->dofs; i++) largest = fmax(largest, fabs(u[i]));
    if (fem->inertia > 0) add_inertia(fem, u, residual, &at);
    for (size_t e = 0; e < fem->mesh.elements; e++) {
        const uint32_t *node = fem->mesh.element + e * (size_t)fem->mesh.corners;
        for (int q = 0; q < fem->rule.points; q++) {
            const double *gradient = fem_gradients_at(fem, e, q);
            const double weight = fem_volume_at(fem, e, q);
            deformation_gradient(fem, u, e, gradient, F);
            const double psi = material_stress(&fem->material, fem_plastic_at(fem, e, q), F, P);
            if (!isfinite(psi)) return (balance){.energy = INFINITY};
            at.energy += weight * psi;
            add_rounding(fem, e * (size_t)fem->rule.points + (size_t)q, largest, F, P, &at, &squares);
            for (int a = 0; a < fem->mesh.corners; a++)
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++)
                        residual[3 * node[a] + (size_t)i] -= weight * P[3 * i + k] * gradient[3 * a + k];
        }
    }
    add_load(fem, u, residual, &at);
    at.force_rounding = hypot(at.force_rounding, sqrt(squares));
    return at;
}

/* One point's share of an element's stiffness: K[ai][bj] += V sum_kl dN_a/dX_k dP_ik/dF_jl dN_b/dX_l. */
static void add_point_stiffness(int corners, const double *gradient, double weight, const double dPdF[81], double *K) {
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++) {
            double row[9] = {0}, *out = K + (3 * a + i) * 3 * corners;
            for (int k = 0; k < 3; k++)
                for (int jl = 0; jl < 9; jl++) row[jl] += weight * gradient[3 * a + k] * dPdF[9 * (3 * i + k) + jl];
            for (int b = 0; b < corners; b++) {
                const double x = gradient[3 * b], y = gradient[3 * b + 1], z = gradient[3 * b + 2];
                for (int j = 0; j < 3; j++)
                    out[3 * b + j] = out[3 * b + j] + row[3 * j] * x + row[3 * j + 1] * y + row[3 * j + 2] * z;
            }
        }
}

/* The Hessian of Pi at u; with `definite` each point's tangent is made positive semi-definite first. */
static void assemble(fem_implicit *fem, const double *u, bool definite) {
    double K[9 * ELEMENT_MOST_NODES * ELEMENT_MOST_NODES], F[9], dPdF[81];
    pbd_sparse_clear(&fem->matrix);
    for (size_t e = 0; e < fem->mesh.elements; e++) {
        memset(K, 0, 9 * (size_t)fem->mesh.corners * (size_t)fem->mesh.corners * sizeof *K);
        for (int q = 0; q < fem->rule.points; q++) {
            deformation_gradient(fem, u, e, fem_gradients_at(fem, e, q), F);
            material_tangent(&fem->material, fem_plastic_at(fem, e, q), F, definite, dPdF);
            add_point_stiffness(fem->mesh.corners, fem_gradients_at(fem, e, q), fem_volume_at(fem, e, q), dPdF, K);
        }
        const size_t corners = (size_t)fem->mesh.corners;
        pbd_sparse_add(&fem->matrix, fem->mesh.element + e * corners, fem->place + e * corners * corners,
                       fem->mesh.corners, K);
    }
    const int entries = fem->matrix.column[fem->matrix.n];
    for (int k = 0; k < entries && fem->inertia > 0; k++) fem->matrix.value[k] += fem->inertia * fem->mass[k];
}

static bool is_midpoint(const fem_implicit *fem) { return fem->set.integrator == integrator_implicit_midpoint; }

/* ---- Newton ------------------------------------------------------------------------------------------------------ */

/* The scale of the residual: the load, and in a time step the inertia at its start; without either, the size of the
 * stresses. */
static double force_scale(const fem_implicit *fem, double first_residual, const balance *at) {
    double load = 0;
    for (size_t i = 0; i < fem->dofs; i++)
        if (fem->matrix.unknown[i] >= 0) load += fem->acting[i] * fem->acting[i];
    load = fem->fraction * sqrt(load);
    if (fem->inertia > 0 && first_residual > load) load = first_residual;
    return load > 0 ? load : at->force_rounding / DBL_EPSILON;
}

/* fem->step = K^-1 residual at u; falls back on the definite tangent where the exact one increases the energy. *slope
 * is the rate at which the energy falls along fem->step. */
static pbd_status find_step(fem_implicit *fem, const double *u, double *slope) {
    for (int definite = 0; definite < 2; definite++) {
        assemble(fem, u, definite);
        pack(fem, fem->residual, fem->packed);
        pbd_status status = pbd_factors_update(&fem->factors, &fem->matrix);
        if (status.code == PBD_OK) status = pbd_factors_solve(fem->factors, fem->packed, 1);
        pbd_count(fem->recorder, "factorisations", 1);
        if (status.code == PBD_FAILED) return status;
        if (status.code != PBD_OK) continue;
        *slope = 0;
        for (size_t i = 0; i < fem->dofs; i++) {
            const int unknown = fem->matrix.unknown[i];
            fem->step[i] = unknown >= 0 ? fem->packed[unknown] : 0;
            *slope += fem->step[i] * fem->residual[i];
        }
        if (definite) pbd_count(fem->recorder, "definite_tangents", 1);
        if (*slope > 0) return pbd_ok();
    }
    return pbd_error(PBD_NO_EQUILIBRIUM,
                     "no descent direction of the energy: the body is not fixed, or its material fails");
}

enum { HALVINGS = 30 };
/* Factor of the rounding estimates, which assume independent errors; measured sums are 0.1 to 2.5 times the estimate.
 */
static const double MARGIN = 8;

/* Halves the step until the energy decreases enough (Armijo). Near the minimum the energy is flat to rounding; there a
 * step is also accepted if the residual halves or is at the level of rounding. */
static bool search_line(fem_implicit *fem, double *u, const balance *here, double residual, double slope) {
    double length = 1;
    for (int halving = 0; halving < HALVINGS; halving++, length *= 0.5) {
        for (size_t i = 0; i < fem->dofs; i++) fem->trial[i] = u[i] + length * fem->step[i];
        const balance there = evaluate(fem, fem->trial, fem->trial_residual);
        if (!isfinite(there.energy)) continue;
        const double change = there.energy - here->energy;
        const bool flat = fabs(change) <= fmax(1e-10 * (fabs(here->energy) + slope),
                                               MARGIN * (here->energy_rounding + there.energy_rounding));
        if (!(change <= -1e-4 * length * slope) &&
            !(flat && fem_norm(fem->trial_residual, fem->dofs) <= fmax(0.5 * residual, MARGIN * there.force_rounding)))
            continue;
        memcpy(u, fem->trial, fem->dofs * sizeof *u);
        return true;
    }
    return false;
}

static void watch_residual(fem_implicit *fem, long iteration, double residual) {
    if (!fem->watch.now) return;
    if (iteration == 0) fem->watch.first = residual, fem->watch.begun = pbd_wall_seconds();
    const double spent = pbd_wall_seconds() - fem->watch.begun, number = (double)iteration;
    const double relative = fem->watch.first > 0 ? residual / fem->watch.first : 0;
    pbd_series(fem->recorder, "residual", "value", "1", &relative, 1, 1);
    pbd_series(fem->recorder, "residual_iteration", "value", "1", &number, 1, 1);
    pbd_series(fem->recorder, "residual_time", "value", "s", &spent, 1, 1);
}

static void record_residual(fem_implicit *fem, double relative) {
    if (fem->inertia > 0) return; /* not for time steps: they are too many */
    pbd_series(fem->recorder, "newton_residual", "value", "1", &relative, 1, 1);
    pbd_series(fem->recorder, "newton_load_fraction", "value", "1", &fem->fraction, 1, 1);
}

/* Only for backward Euler: its unknown is the position at the end of the step, that of the midpoint rule is not. */
static void report_iterate(fem_implicit *fem, long iteration, const double *u) {
    if (!(fem->inertia > 0) || is_midpoint(fem) || !pbd_wants_iterates(fem->recorder)) return;
    for (size_t i = 0; i < fem->dofs; i++) fem->work[i] = fem->mesh.position[i] + u[i];
    pbd_iterate(fem->recorder, iteration, fem->work);
}

/* Minimises Pi, starting from u. PBD_NO_EQUILIBRIUM if it does not converge; u is then undefined. The test against
 * rounding begins after the first step, because the load itself may be that small. */
static pbd_status minimise(fem_implicit *fem, double *u) {
    double scale = 0, first = 0;
    for (long iteration = 0; iteration <= fem->set.newton_iterations; iteration++) {
        const balance at = evaluate(fem, u, fem->residual);
        const double residual = fem_norm(fem->residual, fem->dofs);
        if (!isfinite(at.energy)) return pbd_error(PBD_NO_EQUILIBRIUM, "the energy is infinite at the start of a step");
        if (iteration == 0) first = residual, scale = force_scale(fem, residual, &at);
        const double relative = residual / scale;
        record_residual(fem, relative);
        watch_residual(fem, iteration, residual);
        report_iterate(fem, iteration, u);
        if (relative <= fem->set.newton_tolerance || (iteration > 0 && residual <= MARGIN * at.force_rounding)) {
            fem->ended[0] = relative, fem->ended[1] = at.force_rounding / scale;
            if (fem->left) *fem->left = (pbd_residual){first, residual, MARGIN * at.force_rounding};
            return pbd_ok();
        }
        if (iteration == fem->set.newton_iterations) break;
        double slope = 0;
        PBD_TRY(find_step(fem, u, &slope));
        pbd_count(fem->recorder, "newton_iterations", 1);
        if (!search_line(fem, u, &at, residual, slope))
            return pbd_error(PBD_NO_EQUILIBRIUM, "the line search finds no lower energy at a relative residual of %.1e",
                             relative);
        if (pbd_stop_requested(fem->recorder)) return pbd_error(PBD_INTERRUPTED, "interrupted");
    }
    return pbd_error(PBD_NO_EQUILIBRIUM, "Newton's method did not converge in %ld iterations",
                     fem->set.newton_iterations);
}

/* ---- Inversion --------------------------------------------------------------------------------------------------- */

static double determinant(const double F[9]) {
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* The smallest det F over the quadrature points and the nodes of all elements. */
static double smallest_volume_ratio(const fem_implicit *fem, size_t *where) {
    element_rule nodal;
    double smallest = INFINITY, F[9], gradient[ELEMENT_MOST_NODES][3];
    element_nodal_rule(fem->mesh.kind, &nodal);
    for (size_t e = 0; e < fem->mesh.elements; e++)
        for (int q = 0; q < fem->rule.points + nodal.points; q++) {
            const double *at = gradient[0];
            if (q < fem->rule.points)
                at = fem_gradients_at(fem, e, q);
            else
                element_gradients(&fem->mesh, e, &nodal, q - fem->rule.points, gradient);
            deformation_gradient(fem, fem->u, e, at, F);
            const double ratio = determinant(F);
            if (ratio < smallest) smallest = ratio, *where = e;
        }
    return smallest;
}

static pbd_status check_shape(const fem_implicit *fem, double *smallest) {
    size_t element = 0;
    const double found = smallest_volume_ratio(fem, &element);
    if (!(found > 0))
        return pbd_error(PBD_NO_EQUILIBRIUM, "the forces balance, but element %zu is inverted (det F = %.3g)", element,
                         found);
    *smallest = found;
    return pbd_ok();
}

/* ---- Statics ----------------------------------------------------------------------------------------------------- */

static const double SMALLEST_LOAD_STEP = 1.0 / 4096;

/* Increases the load from equilibrium to equilibrium. Without convergence, or if an element is inverted, the load step
 * is halved. *reached: load fraction of the last equilibrium, *smallest: its smallest det F; fem->u: its solution. */
static pbd_status put_load_on(fem_implicit *fem, double *reached, double *smallest) {
    double step = 1.0 / (double)fem->set.load_steps;
    double *u = fem->target; /* unused in statics: holds the last equilibrium */
    *reached = 0, *smallest = 1;
    memcpy(u, fem->u, fem->dofs * sizeof *u);
    while (*reached < 1) {
        fem->fraction = *reached + step > 1 - 1e-12 ? 1 : *reached + step;
        pbd_status status = minimise(fem, fem->u);
        if (status.code == PBD_OK) status = check_shape(fem, smallest);
        if (status.code == PBD_OK) {
            *reached = fem->fraction;
            memcpy(u, fem->u, fem->dofs * sizeof *u);
            step *= 2;
            if (step > 1.0 / (double)fem->set.load_steps) step = 1.0 / (double)fem->set.load_steps;
            continue;
        }
        memcpy(fem->u, u, fem->dofs * sizeof *u);
        if (status.code != PBD_NO_EQUILIBRIUM || step <= SMALLEST_LOAD_STEP) return status;
        step *= 0.5;
    }
    return pbd_ok();
}

static pbd_status solve(void *state) {
    fem_implicit *fem = state;
    double reached, smallest;
    fem->inertia = 0;
    const pbd_status status = put_load_on(fem, &reached, &smallest);
    fem->left = NULL;
    pbd_metric(fem->recorder, "load_fraction", "1", PBD_QUALITY, reached);
    if (reached > 0) pbd_metric(fem->recorder, "smallest_det_F", "1", PBD_QUALITY, smallest);
    pbd_metric(fem->recorder, "residual", "1", PBD_FLAW, fem->ended[0]);
    pbd_metric(fem->recorder, "residual_rounding", "1", PBD_FLAW, fem->ended[1]);
    if (status.code == PBD_NO_EQUILIBRIUM)
        return pbd_error(PBD_NO_EQUILIBRIUM, "beyond %.3g of the load: %s", reached, status.text);
    return status;
}

/* ---- Dynamics ---------------------------------------------------------------------------------------------------- */

/* The inertia term for which the minimiser of Pi solves the step. Backward Euler seeks u at the end,
 *     M ((u - u0)/dt^2 - v0/dt) + damping M (u - u0)/dt = forces(u);
 * the midpoint rule seeks w at the middle, with u = 2 w - u0 and v = 2 (u - u0)/dt - v0 after,
 *     M (4 (w - u0)/dt^2 - 2 v0/dt) + damping M 2 (w - u0)/dt = forces(w). */
static void begin_step(fem_implicit *fem, double dt) {
    const double m = is_midpoint(fem) ? 2 : 1, from_rest = m * fem->set.damping / dt;
    fem->inertia = m * m / (dt * dt) + from_rest;
    for (size_t i = 0; i < fem->dofs; i++) fem->target[i] = fem->u[i] + m / dt * fem->v[i] / fem->inertia;
    fem->fraction = 1;
    fem->watch.now = fem->watched > 0 && fem->time + 1.5 * dt > fem->watched;
    /* Tolerance: half a step, because sums of dt are rounded. */
    fem->acting = fem->later && fem->time > fem->forces_end - 0.5 * dt ? fem->later : fem->load;
}

/* Plastic strain is constant while a step is solved, and is updated with its result. */
static void flow(fem_implicit *fem, double dt) {
    const double share = 1 - exp(-fem->creep * dt);
    double F[9];
    for (size_t e = 0; e < fem->mesh.elements; e++)
        for (int q = 0; q < fem->rule.points; q++) {
            deformation_gradient(fem, fem->u, e, fem_gradients_at(fem, e, q), F);
            material_flow(fem_plastic_at(fem, e, q), F, fem->yield, share,
                          fem->set.plastic_flow == plastic_flow_von_mises);
        }
}

static pbd_status advance(void *state, double dt) {
    fem_implicit *fem = state;
    begin_step(fem, dt);
    double *w = fem->middle;
    memcpy(w, fem->u, fem->dofs * sizeof *w);
    const pbd_status status = minimise(fem, w);
    fem->left = NULL;
    for (size_t i = 0; i < fem->dofs && status.code == PBD_OK; i++) {
        const double u = is_midpoint(fem) ? 2 * w[i] - fem->u[i] : w[i], moved = (u - fem->u[i]) / dt;
        fem->v[i] = is_midpoint(fem) ? 2 * moved - fem->v[i] : moved;
        fem->u[i] = u;
    }
    if (status.code == PBD_OK && fem->plastic) flow(fem, dt);
    if (status.code == PBD_OK) fem->time += dt;
    if (status.code == PBD_NO_EQUILIBRIUM)
        return pbd_error(PBD_DIVERGED, "a time step has no solution: %s", status.text);
    return status;
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const fem_implicit *fem = state;
    const size_t n = 3 * fem->particles;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "fem_implicit has positions and velocities only");
    for (size_t i = 0; i < n; i++) out[i] = field == PBD_POSITIONS ? fem->mesh.position[i] + fem->u[i] : fem->v[i];
    return pbd_ok();
}

static void watch(void *state, pbd_residual *out) { ((fem_implicit *)state)->left = out; }

static void mesh_of(const void *state, pbd_mesh *out) {
    const fem_implicit *fem = state;
    *out = (pbd_mesh){0};
    if (fem->mesh.nodes == fem->particles) return;
    *out = (pbd_mesh){.nodes = fem->mesh.nodes,
                      .elements = fem->mesh.elements,
                      .corners = fem->mesh.corners,
                      .node = fem->mesh.element,
                      .rest = fem->mesh.position,
                      .displacement = fem->u,
                      .velocity = fem->v};
}

/* The state from which a step starts. */
static size_t saved_of(const fem_implicit *fem, device_array *row) {
    const device_array rows[] = {HOST_ARRAY_SAVED(fem->u, fem->dofs), HOST_ARRAY_SAVED(fem->v, fem->dofs),
                                 HOST_SAVED(fem->time),
                                 HOST_ARRAY_SAVED(fem->plastic, fem->plastic ? fem_plastic_entries(fem) : 0)};
    return DEVICE_ROWS(row, rows);
}

DEVICE_SAVING(fem_implicit, NULL, saved_of, pbd_ok())

const pbd_method PBD_NAME(fem_implicit) = {
    .bytes = sizeof(pbd_method),
    .name = "fem_implicit",
    .summary = "hyperelastic finite elements: static Newton, backward Euler, implicit midpoint",
    .source = "Zienkiewicz, Taylor and Fox 2014; laws as in methods/physics",
    .needs = PBD_NEEDS_PARTICLES,
    .takes = PBD_TAKES_START | PBD_TAKES_FIBRES | PBD_TAKES_PLASTICITY | PBD_TAKES_FORCES_END | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU,
    .precisions = PBD_F64,
    .step = advance,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
    .mesh = mesh_of,
    .residual = "2-norm of the forces on free nodes that do not balance, in the last load step or the time step",
    .watch = watch,
};
