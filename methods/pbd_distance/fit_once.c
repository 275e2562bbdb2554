#include "methods/pbd_distance/fit.h"

#include <lapacke.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "methods/pbd_distance/linear.h"
#include "methods/physics/parts/hex8.h"

static double frobenius(const double *A, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += A[i] * A[i];
    return sqrt(sum);
}

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Returns the problem's element as a scene: base held, corners in Zienkiewicz's order. Its arrays are static or the
 * caller's; nothing to free. */
static pbd_scene element_scene(const fit_problem *problem, double positions[24], double forces[24], double masses[8]) {
    static uint32_t hex[8] = {0, 1, 2, 3, 4, 5, 6, 7}, base[4] = {0, 1, 2, 3};
    memcpy(positions, problem->corner, 24 * sizeof *positions);
    for (int a = 0; a < 8; a++) masses[a] = problem->mass;
    return (pbd_scene){.particles.count = 8,
                       .particles.positions = positions,
                       .particles.masses = masses,
                       .loads.forces = forces,
                       .hexes.count = 1,
                       .hexes.corner = hex,
                       .particles.fixed = 4,
                       .particles.fixed_particle = base,
                       .hints.fixing = problem->fixing,
                       .material[0] = problem->material,
                       .extent = 1};
}

/* J of each kind: sum of share g g'/(g'g), for equal masses (A6). */
static void add_projections(fit_matrices *m) {
    for (size_t i = 0; i < m->constraints; i++) {
        const linear_constraint *c = &m->constraint[i];
        double norm = dot(&c->g[0][0], &c->g[0][0], 3 * (size_t)c->count);
        for (int a = 0; a < 3 * c->count; a++)
            for (int b = 0; b < 3 * c->count; b++) {
                size_t row = 3 * c->particle[a / 3] + (size_t)(a % 3),
                       column = 3 * c->particle[b / 3] + (size_t)(b % 3);
                m->J[c->kind][24 * row + column] += c->share * c->g[a / 3][a % 3] * c->g[b / 3][b % 3] / norm;
            }
    }
}

pbd_status fit_prepare(const fit_problem *problem, fit_matrices *out) {
    *out = (fit_matrices){.problem = *problem};
    const pbd_material *material = &problem->material;
    double D[36], positions[24], forces[24] = {0}, masses[8];
    hex8_elasticity(material->E, material->nu, material->convention, D);
    PBD_TRY(hex8_stiffness(problem->corner, D, 0, out->K_fem));
    out->norm_fem = frobenius(out->K_fem, 576);
    double norm_M = problem->mass * (problem->mass_norm == FIT_MASS_FROBENIUS ? sqrt(24) : 1);
    out->dt = sqrt(norm_M / out->norm_fem);

    pbd_scene scene = element_scene(problem, positions, forces, masses);
    hex_constraints h;
    PBD_TRY(hex_constraints_create(&scene, &h));
    pbd_status status = hex_linear_constraints(&h, positions, problem->split, &out->constraint, &out->constraints);
    hex_constraints_free(&h);
    PBD_TRY(status);
    add_projections(out);
    double scale = out->dt * out->dt / problem->mass; /* K_FEM in units of m/dt^2 */
    for (int a = 0; a < HEX_KINDS; a++) {
        for (int b = 0; b < HEX_KINDS; b++) out->gram[a][b] = dot(out->J[a], out->J[b], 576);
        out->right[a] = dot(out->J[a], out->K_fem, 576) * scale;
    }
    return pbd_ok();
}

void fit_release(fit_matrices *m) {
    free(m->constraint);
    m->constraint = NULL;
}

/* K = (m/dt^2)(I - (I - J)^N), J = sum k J_kind. */
void fit_stiffness_matrix(const fit_matrices *m, const double k[HEX_KINDS], double K[576]) {
    double once[576], power[576], next[576];
    for (int i = 0; i < 576; i++) {
        once[i] = i % 25 == 0; /* the diagonal of 24 x 24 */
        for (int kind = 0; kind < HEX_KINDS; kind++) once[i] -= k[kind] * m->J[kind][i];
    }
    memcpy(power, once, sizeof power);
    for (int n = 1; n < m->problem.iterations; n++) {
        memset(next, 0, sizeof next);
        for (int r = 0; r < 24; r++)
            for (int s = 0; s < 24; s++)
                for (int c = 0; c < 24; c++) next[24 * r + c] += power[24 * r + s] * once[24 * s + c];
        memcpy(power, next, sizeof power);
    }
    double scale = m->problem.mass / (m->dt * m->dt);
    for (int i = 0; i < 576; i++) K[i] = scale * ((i % 25 == 0) - power[i]);
}

double fit_error(const fit_matrices *m, const double k[HEX_KINDS]) {
    double K[576];
    fit_stiffness_matrix(m, k, K);
    for (int i = 0; i < 576; i++) K[i] -= m->K_fem[i];
    return frobenius(K, 576) / m->norm_fem;
}

/* ---- Bounded least squares --------------------------------------------------------------------------------------- */

/* Minimises over the free unknowns, with the others at their bounds (state 0: at 0, 1: at 1, 2: free). Returns false if
 * the solution leaves [0, 1]. */
static bool solve_active_set(const fit_matrices *m, const int state[HEX_KINDS], double k[HEX_KINDS]) {
    double A[HEX_KINDS * HEX_KINDS], b[HEX_KINDS];
    int unknown[HEX_KINDS], n = 0;
    for (int i = 0; i < HEX_KINDS; i++) {
        k[i] = state[i] == 1;
        if (state[i] == 2) unknown[n++] = i;
    }
    if (n == 0) return true;
    for (int i = 0; i < n; i++) {
        b[i] = m->right[unknown[i]];
        for (int j = 0; j < HEX_KINDS; j++) b[i] -= m->gram[unknown[i]][j] * k[j];
        for (int j = 0; j < n; j++) A[i * n + j] = m->gram[unknown[i]][unknown[j]];
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', n, 1, A, n, b, 1) != 0) return false;
    bool inside = true;
    for (int i = 0; i < n; i++) {
        k[unknown[i]] = b[i];
        inside = inside && b[i] >= 0 && b[i] <= 1;
    }
    return inside;
}

static double quadratic(const fit_matrices *m, const double k[HEX_KINDS]) {
    double sum = 0;
    for (int i = 0; i < HEX_KINDS; i++) {
        sum -= 2 * m->right[i] * k[i];
        for (int j = 0; j < HEX_KINDS; j++) sum += k[i] * m->gram[i][j] * k[j];
    }
    return sum;
}

pbd_status fit_bounded_least_squares(const fit_matrices *m, fit_answer *out) {
    if (m->problem.iterations != 1)
        return pbd_error(PBD_BAD_INPUT,
                         "fit=bounded_lsq is linear for fit_iterations=1 only, not %d: use fit=nelder_mead",
                         m->problem.iterations);
    double best = INFINITY;
    for (int choice = 0; choice < 81; choice++) { /* 3^4 */
        int state[HEX_KINDS];
        for (int i = 0, rest = choice; i < HEX_KINDS; i++, rest /= 3) state[i] = rest % 3;
        if (!m->problem.volume && state[HEX_VOLUME] != 0) continue;
        double k[HEX_KINDS];
        if (!solve_active_set(m, state, k) || quadratic(m, k) >= best) continue;
        best = quadratic(m, k);
        memcpy(out->k, k, sizeof k);
    }
    out->error = fit_error(m, out->k);
    out->evaluations = 0;
    return pbd_ok();
}

/* ---- Nelder-Mead ------------------------------------------------------------------------------------------------- */

typedef struct objective {
    const fit_matrices *m;
    const double *u_fem[3]; /* deformation tests: particles x 3 for torsion, shear, traction */
    const double *force[3];
    int evaluations;
} objective;

static double matrix_objective(unsigned n, const double *k, double *gradient, void *data) {
    (void)n, (void)gradient;
    objective *o = data;
    o->evaluations++;
    return fit_error(o->m, k);
}

/* Runs an NLopt search over the unknowns (k_volume is 0 without volume constraints). Overwrites k and *value only if
 * its result is better. */
static pbd_status search(nlopt_algorithm algorithm, nlopt_func f, objective *o, const double start[HEX_KINDS],
                         double k[HEX_KINDS], double *value) {
    double lower[HEX_KINDS] = {0}, upper[HEX_KINDS] = {1, 1, 1, 1}, x[HEX_KINDS], found = 0;
    if (!o->m->problem.volume) upper[HEX_VOLUME] = 0;
    for (int i = 0; i < HEX_KINDS; i++) x[i] = fmin(start[i], upper[i]);
    nlopt_opt opt = nlopt_create(algorithm, HEX_KINDS);
    if (!opt) return pbd_error(PBD_FAILED, "NLopt cannot make a search");
    nlopt_set_min_objective(opt, f, o);
    nlopt_set_lower_bounds(opt, lower);
    nlopt_set_upper_bounds(opt, upper);
    nlopt_set_xtol_rel(opt, 1e-10);
    nlopt_set_xtol_abs1(opt, 1e-12);
    nlopt_set_maxeval(opt, 20000);
    nlopt_result result = nlopt_optimize(opt, x, &found);
    nlopt_destroy(opt);
    if (result < 0 && result != NLOPT_ROUNDOFF_LIMITED)
        return pbd_error(PBD_FAILED, "NLopt's search for stiffnesses failed with code %d", (int)result);
    if (found < *value) {
        *value = found;
        memcpy(k, x, sizeof x);
    }
    return pbd_ok();
}

pbd_status fit_by_nelder_mead(const fit_matrices *m, double start, fit_answer *out) {
    objective o = {.m = m};
    double from[HEX_KINDS] = {start, start, start, start}, value = INFINITY;
    PBD_TRY(search(NLOPT_LN_NELDERMEAD, matrix_objective, &o, from, out->k, &value));
    out->error = value;
    out->evaluations = o.evaluations;
    return pbd_ok();
}

/* ---- Deformation tests ------------------------------------------------------------------------------------------- */

/* Torsion about z, shear along x, traction along z on the four top corners (rodero2016 Figure 6). */
static void test_forces(const fit_problem *problem, int test, double f[24]) {
    memset(f, 0, 24 * sizeof *f);
    double centre[2] = {0};
    for (int a = 4; a < 8; a++)
        for (int d = 0; d < 2; d++) centre[d] += problem->corner[a][d] / 4;
    for (int a = 4; a < 8; a++) {
        if (test == 0) {
            f[3 * a] = -(problem->corner[a][1] - centre[1]);
            f[3 * a + 1] = problem->corner[a][0] - centre[0];
        } else
            f[3 * a + (test == 1 ? 0 : 2)] = 1;
    }
}

static double relative_error(const double *u, const double *reference) {
    double sum = 0, scale = 0;
    for (int a = 4; a < 8; a++) {
        double difference[3];
        for (int d = 0; d < 3; d++) difference[d] = u[3 * a + d] - reference[3 * a + d];
        sum += frobenius(difference, 3);
        scale += frobenius(reference + 3 * a, 3);
    }
    return sum / scale;
}

static double test_objective(unsigned n, const double *k, double *gradient, void *data) {
    (void)n, (void)gradient;
    objective *o = data;
    o->evaluations++;
    const fit_problem *problem = &o->m->problem;
    static const bool held[8] = {true, true, true, true};
    double mass[8], w[8], sum = 0;
    for (int a = 0; a < 8; a++) {
        mass[a] = problem->mass;
        w[a] = held[a] && problem->fixing == PBD_FIXED_WEIGHT ? 0 : 1 / problem->mass;
    }
    linear_system s = {.constraint = o->m->constraint,
                       .constraints = o->m->constraints,
                       .k = k,
                       .w = w,
                       .held = held,
                       .particles = 8,
                       .solver = PBD_SOLVER_JACOBI,
                       .iterations = problem->iterations};
    for (int test = 0; test < 3; test++) {
        double predicted[24], after[24];
        if (linear_rest(&s, o->force[test], mass, o->m->dt, predicted, after).code != PBD_OK) return 1e6;
        double error = relative_error(after, o->u_fem[test]);
        sum += error * error;
    }
    return sum;
}

pbd_status fit_to_deformation_tests(const fit_matrices *m, fit_answer *out) {
    double positions[24], masses[8], force[3][24], u[3][24];
    objective o = {.m = m};
    for (int test = 0; test < 3; test++) {
        test_forces(&m->problem, test, force[test]);
        pbd_scene scene = element_scene(&m->problem, positions, force[test], masses);
        PBD_TRY(hex8_solve(&scene, NULL, u[test]));
        o.force[test] = force[test];
        o.u_fem[test] = u[test];
    }
    /* The objective is not convex: search from several starts, then refine the best result. */
    static const double starts[][HEX_KINDS] = {
        {0.06, 0.16, 0.11, 0.1}, {0.02, 0.05, 0.05, 0.5}, {0.3, 0.3, 0.3, 0.3}, {0.1, 0.02, 0.3, 0.8}};
    double value = INFINITY;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        double start[HEX_KINDS]; /* the more iterations, the smaller the stiffnesses */
        for (int kind = 0; kind < HEX_KINDS; kind++) start[kind] = starts[i][kind] / m->problem.iterations;
        PBD_TRY(search(NLOPT_LN_SBPLX, test_objective, &o, start, out->k, &value));
    }
    PBD_TRY(search(NLOPT_LN_NELDERMEAD, test_objective, &o, out->k, out->k, &value));
    out->error = fit_error(m, out->k);
    out->evaluations = o.evaluations;
    return pbd_ok();
}

/* ---- The paper's polynomials ------------------------------------------------------------------------------------- */

void fit_polynomials(double nu, double k[HEX_KINDS]) {
    bool low = nu < 0.29;
    k[HEX_EDGE] = low ? (0.0698 * nu + 0.0343) * nu + 0.0511 : (-0.7204 * nu + 0.4656) * nu - 0.0084;
    k[HEX_FACE] = low ? (-0.0302 * nu + 0.0614) * nu + 0.1572 : (-2.3822 * nu + 1.2909) * nu - 0.0044;
    k[HEX_DIAGONAL] = low ? 0.0527 * nu + 0.1147 : (-0.5795 * nu - 0.2818) * nu + 0.2636;
    k[HEX_VOLUME] = low ? 0 : ((-50.6270 * nu + 63.1461) * nu - 21.4563) * nu + 2.1615;
    for (int i = 0; i < HEX_KINDS; i++) k[i] = fmin(fmax(k[i], 0), 1);
}

/* ---- Gauss-Seidel by sampling ------------------------------------------------------------------------------------ */

/* splitmix64: a stream of 64-bit numbers from any seed (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void shuffle(uint32_t *order, size_t n, uint64_t *state) {
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(next_random(state) % i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

pbd_status fit_sample_orders(const fit_matrices *m, const double k[HEX_KINDS], int samples, uint64_t seed,
                             double *difference, double *spread) {
    static const bool held[8] = {false};
    double w[8], mean[576] = {0}, A[576], J[576] = {0}, squares = 0;
    uint32_t order[64];
    if (m->constraints > sizeof order / sizeof *order)
        return pbd_error(PBD_NOT_SUPPORTED, "sampling orders takes one element");
    for (int a = 0; a < 8; a++) w[a] = 1 / m->problem.mass;
    for (size_t i = 0; i < m->constraints; i++) order[i] = (uint32_t)i;
    for (int kind = 0; kind < HEX_KINDS; kind++)
        for (int i = 0; i < 576; i++) J[i] += k[kind] * m->J[kind][i];
    linear_system s = {.constraint = m->constraint,
                       .constraints = m->constraints,
                       .order = order,
                       .k = k,
                       .w = w,
                       .held = held,
                       .particles = 8,
                       .solver = PBD_SOLVER_COLOURED_GS,
                       .iterations = 1};
    for (int n = 0; n < samples; n++) {
        shuffle(order, m->constraints, &seed);
        PBD_TRY(linear_map(&s, A));
        for (int i = 0; i < 576; i++) {
            double entry = (i % 25 == 0) - A[i];
            mean[i] += entry / samples;
            squares += entry * entry / samples;
        }
    }
    double norm = frobenius(mean, 576);
    *spread = sqrt(fmax(squares - norm * norm, 0)) / norm;
    for (int i = 0; i < 576; i++) mean[i] -= J[i];
    *difference = frobenius(mean, 576) / frobenius(J, 576);
    return pbd_ok();
}
