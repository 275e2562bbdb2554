/* The flow rules as printed in the papers, and states to try them on: the oracle of flow_rules_checks.h for the rules
 * of methods/physics/matter/flow.h. Stresses are computed from the F that a rule returns: its stretches by GSL in f64,
 * and from these the textbook's stresses. */
#ifndef PBD_FLOW_RULES_BOOK_H
#define PBD_FLOW_RULES_BOOK_H

#include "methods/method.h"
#include "methods/physics/matter/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_linalg.h>

#define UNUSED __attribute__((unused))
#define MATRIX_NUMBER double
#include "tests/random_matrices.h"

/* Not inlined: copies at 30 calls would take a minute to compile. */
static __attribute__((noinline)) flowed_matrix flow_at(const flow_rule *r, mat3 f, real state) {
    return flow_matrix(r, f, state);
}

static matrix diagonal(double x, double y, double z) { return (matrix){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

static const real *entries(const mat3 *m) { return &m->x.x; }

UNUSED static double largest(mat3 m) { /* NaN if any entry is */
    double most = 0;
    for (int i = 0; i < 9; i++)
        if (!(fabs((double)entries(&m)[i]) <= most) && !isnan(most)) most = fabs((double)entries(&m)[i]);
    return most;
}

static double difference(mat3 a, mat3 b) {
    double most = 0;
    for (int i = 0; i < 9; i++) keep(&most, fabs((double)entries(&a)[i] - (double)entries(&b)[i]));
    return most;
}

static void put_lane(vreal *batch, int lane, const real *plain, size_t count) {
    for (size_t i = 0; i < count; i++) memcpy((char *)&batch[i] + (size_t)lane * sizeof(real), &plain[i], sizeof(real));
}

static void get_lane(const vreal *batch, int lane, real *plain, size_t count) {
    for (size_t i = 0; i < count; i++)
        memcpy(&plain[i], (const char *)&batch[i] + (size_t)lane * sizeof(real), sizeof(real));
}

/* The stretches, largest first, never negative; the sign is in *det. */
static void stretches_of(mat3 f, double s[3], double *det) {
    double a[9], v[9], w[3];
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) a[3 * r + c] = (double)entries(&f)[3 * c + r];
    *det = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
    gsl_matrix_view A = gsl_matrix_view_array(a, 3, 3), V = gsl_matrix_view_array(v, 3, 3);
    gsl_vector_view S = gsl_vector_view_array(s, 3), work = gsl_vector_view_array(w, 3);
    gsl_linalg_SV_decomp(&A.matrix, &V.matrix, &S.vector, &work.vector);
}

/* ---- Materials ----------------------------------------------------------------------------------------------------
 */

/* The parameters of all rules, by name. */
typedef struct flow_material {
    double E, nu;
    double yield_stress, yield_norm;
    double friction_angle, cohesion, volume_correction;
    double viscosity, power, dt;
    double alpha0, beta, xi, M, nacc_form;
    double compression, stretch;
    double state;
} flow_material;

static flow_rule rule_of(flow_kind kind, const flow_material *m) {
    double value[PBD_MOST_FLOW_VALUES] = {0};
    int n = 0;
    switch (kind) {
#define VALUE(role, name, ...) value[n++] = m->name;
#define FLOW(name, hardening, form) \
    case FLOW_##name:               \
        FLOW_PARAMETERS_##name(VALUE) break;
#include "methods/physics/matter/flow.def"
#undef FLOW
#undef VALUE
        case FLOW_KINDS:
            break;
    }
    return flow_rule_make((int)kind, m->E, m->nu, value);
}

/* ---- The textbook's measures ------------------------------------------------------------------------------------- */

typedef struct hencky {
    double e[3], trace, deviator; /* log s, its trace, the Frobenius norm of its deviator */
    double least, most, det;
} hencky;

static hencky hencky_of(mat3 f) {
    hencky out = {0};
    double s[3];
    stretches_of(f, s, &out.det);
    for (int k = 0; k < 3; k++) out.trace += out.e[k] = log(s[k]);
    for (int k = 0; k < 3; k++) out.deviator += pow(out.e[k] - out.trace / 3, 2);
    out.deviator = sqrt(out.deviator);
    out.least = s[2];
    out.most = s[0];
    return out;
}

static double mu_of(const flow_material *m) { return m->E / (2 * (1 + m->nu)); }
static double lambda_of(const flow_material *m) { return m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu)); }
static double bulk_of(const flow_material *m) { return lambda_of(m) + 2 * mu_of(m) / 3; }

/* psi of Hencky's law, Pa. */
UNUSED static double energy_of(const flow_material *m, mat3 f) {
    const hencky h = hencky_of(f);
    double squares = 0;
    for (int k = 0; k < 3; k++) squares += h.e[k] * h.e[k];
    return mu_of(m) * squares + lambda_of(m) / 2 * h.trace * h.trace;
}

/* The yield function of the Kirchhoff stress, in units of the shear modulus: <= 0 inside the yield surface. */
UNUSED static double von_mises_yield(const flow_material *m, mat3 f) {
    const double radius = m->yield_stress * (m->yield_norm ? 1 : sqrt(2.0 / 3));
    return 2 * hencky_of(f).deviator - radius / mu_of(m);
}

UNUSED static double drucker_prager_yield(const flow_material *m, mat3 f) {
    const hencky h = hencky_of(f);
    const double sine = sin(m->friction_angle * acos(-1) / 180), alpha = sqrt(2.0 / 3) * 2 * sine / (3 - sine);
    const double trace = (3 * lambda_of(m) + 2 * mu_of(m)) * (h.trace - 3 * m->cohesion);
    return fmax(2 * h.deviator + alpha * trace / mu_of(m), trace / mu_of(m));
}

/* The largest of the six Mohr-Coulomb functions of the stress, measured from the apex. */
UNUSED static double mohr_coulomb_yield(const flow_material *m, mat3 f) {
    const hencky h = hencky_of(f); /* e is in descending order */
    const double sine = sin(m->friction_angle * acos(-1) / 180), ratio = lambda_of(m) / mu_of(m);
    double t[3];
    for (int k = 0; k < 3; k++) t[k] = 2 * (h.e[k] - m->cohesion) + ratio * (h.trace - 3 * m->cohesion);
    return fmax((t[0] - t[2]) + (t[0] + t[2]) * sine, t[0]);
}

typedef struct clay {
    double p, q, p0; /* Wolper et al. 2019, in units of the bulk modulus */
    double yield;
} clay;

UNUSED static clay clay_of(const flow_material *m, mat3 f, double alpha) {
    double s[3], det, mean, J, squares = 0;
    clay out;
    stretches_of(f, s, &det);
    J = s[0] * s[1] * s[2];
    mean = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) / 3;
    for (int k = 0; k < 3; k++) squares += pow(mu_of(m) * pow(J, -2.0 / 3) * (s[k] * s[k] - mean), 2);
    out.p = -(J * J - 1) / 2;
    out.q = sqrt(1.5 * squares) / bulk_of(m);
    out.p0 = 1e-5 + sinh(m->xi * fmax(-alpha, 0));
    out.yield = (1 + 2 * m->beta) * out.q * out.q + m->M * m->M * (out.p + m->beta * out.p0) * (out.p - out.p0);
    return out;
}

/* ---- The rules as the papers write them, in f64 ------------------------------------------------------------------ */

/* Yue et al. 2015: sigma - trial + 2 mu dt ((sigma - radius)/viscosity)^(1/power) = 0, by bisection of sigma. */
static double book_overstress(const flow_material *m, double radius, double trial) {
    double low = 0, high = trial - radius;
    for (int n = 0; n < 2000 && low < high; n++) {
        const double x = n < 1000 ? (low + high) / 2 : sqrt(low * high); /* x may be tiny */
        if (!(x > low && x < high)) break;
        if (x + 2 * mu_of(m) * m->dt * pow(x / m->viscosity, 1 / m->power) > trial - radius)
            high = x;
        else
            low = x;
    }
    return low;
}

/* Wolper et al. 2019: the pressure that determines J_x, by the printed quadratic. */
static double book_pressure(const flow_material *m, double p, double q, double p0) {
    const double centre = p0 * (1 - m->beta) / 2, length = hypot(centre - p, q), M2 = m->M * m->M;
    const double dp = (centre - p) / length, dq = -q / length;
    if (p > p0) return p0;
    if (p < -m->beta * p0) return -m->beta * p0;
    const double C = M2 * (centre + m->beta * p0) * (centre - p0), B = M2 * dp * (2 * centre - p0 + m->beta * p0);
    const double A = M2 * dp * dp + (1 + 2 * m->beta) * dq * dq, root = sqrt(B * B - 4 * A * C);
    const double p1 = centre + (-B + root) / (2 * A) * dp, p2 = centre + (-B - root) / (2 * A) * dp;
    return (p - centre) * (p1 - centre) > 0 ? p1 : p2;
}

static double book_strength(const flow_material *m, double alpha) { return 1e-5 + sinh(m->xi * fmax(-alpha, 0)); }

static int book_outside(const flow_material *m, double p, double q, double p0) {
    return p > p0 || p < -m->beta * p0 || (1 + 2 * m->beta) * q * q + m->M * m->M * (p + m->beta * p0) * (p - p0) > 0;
}

static double book_change(const flow_material *m, double J, double p, double q, double alpha) {
    const double p0 = book_strength(m, alpha);
    if (!book_outside(m, p, q, p0)) return 0;
    return log(J) - log(fmax(1 - 2 * book_pressure(m, p, q, p0), 1e-8 * J * J)) / 2;
}

/* Solves alpha_new = alpha + change(alpha_new): brackets it from alpha in the direction of the first change, then
 * bisects. */
static double book_alpha(const flow_material *m, double J, double p, double q, double alpha) {
    const double first = book_change(m, J, p, q, alpha);
    double a = alpha, b = first < 0 ? alpha + first : fmax(0, alpha + book_change(m, J, p, q, 0));
    for (int n = 0; n < 200; n++) {
        const double x = (a + b) / 2, left = x - alpha - book_change(m, J, p, q, x);
        if ((first < 0) == (left > 0))
            a = x;
        else
            b = x;
    }
    return a;
}

/* d + t, with t by bisection so that the product of the three is 1. */
static void book_isochoric(const double d[3], double out[3]) {
    double low = -fmin(d[0], fmin(d[1], d[2])), high = 1 + 3 * fabs(d[0]) + 3 * fabs(d[1]) + 3 * fabs(d[2]);
    for (int n = 0; n < 200; n++) {
        const double t = (low + high) / 2;
        if ((t + d[0]) * (t + d[1]) * (t + d[2]) > 1)
            high = t;
        else
            low = t;
    }
    for (int k = 0; k < 3; k++) out[k] = low + d[k];
}

static double book_nacc(const flow_material *m, double s[3], double alpha) {
    const double J = s[0] * s[1] * s[2], p = (1 - J * J) / 2;
    double b[3], d[3], mean = 0, q = 0;
    for (int k = 0; k < 3; k++) mean += (b[k] = s[k] * s[k] * pow(J, -2.0 / 3)) / 3;
    for (int k = 0; k < 3; k++) q += pow(d[k] = b[k] - mean, 2);
    q = sqrt(1.5 * q) * mu_of(m) / bulk_of(m);
    if (!book_outside(m, p, q, book_strength(m, alpha))) return alpha;
    const double after = m->nacc_form ? alpha + book_change(m, J, p, q, alpha) : book_alpha(m, J, p, q, alpha);
    const double p0 = book_strength(m, m->nacc_form ? alpha : after);
    if (p > p0 || p < -m->beta * p0) {
        for (int k = 0; k < 3; k++) s[k] = pow(1 - 2 * (p > p0 ? p0 : -m->beta * p0), 1.0 / 6);
        return after;
    }
    const double wanted = m->M * sqrt((p + m->beta * p0) * (p0 - p) / (1 + 2 * m->beta));
    for (int k = 0; k < 3; k++) d[k] *= fmin(1, wanted / q);
    if (m->nacc_form)
        for (int k = 0; k < 3; k++) b[k] = d[k] + mean;
    else
        book_isochoric(d, b);
    for (int k = 0; k < 3; k++) s[k] = cbrt(J) * sqrt(b[k]);
    return after;
}

/* Solves a[n][n] x = b in place by elimination with pivoting; returns 0 if singular. */
static int book_solve(int n, double a[3][3], double b[3]) {
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int k = i + 1; k < n; k++)
            if (fabs(a[k][i]) > fabs(a[pivot][i])) pivot = k;
        if (fabs(a[pivot][i]) < 1e-10) return 0;
        for (int k = 0; k < n; k++) {
            const double swap = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = swap;
        }
        const double swap = b[i];
        b[i] = b[pivot];
        b[pivot] = swap;
        for (int row = 0; row < n; row++) {
            const double factor = row == i ? 0 : a[row][i] / a[i][i];
            for (int k = 0; k < n; k++) a[row][k] -= factor * a[i][k];
            b[row] -= factor * b[i];
        }
    }
    for (int i = 0; i < n; i++) b[i] /= a[i][i];
    return 1;
}

/* Associative flow: maps e in place to the nearest strain in the energy norm for which all six functions
 * (tau_i - tau_j) + (tau_i + tau_j) sin phi are <= 0. Tries every set of at most three of the six planes as the active
 * ones, and keeps the nearest result that satisfies all six with no negative multiplier. e holds strains minus
 * cohesion, in any order. Returns the number of planes that the result lies on; 0 if e was inside. */
static int book_pyramid(const flow_material *m, double e[3]) {
    const double sine = sin(m->friction_angle * acos(-1) / 180), ratio = lambda_of(m) / (2 * mu_of(m));
    double n[6][3] = {{0}}, d[6][3], size = fabs(e[0]) + fabs(e[1]) + fabs(e[2]), best = INFINITY, found[3];
    int planes = 0, on = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (i == j) continue;
            n[planes][i] = 1 + sine;
            n[planes][j] = -(1 - sine);
            for (int k = 0; k < 3; k++) d[planes][k] = n[planes][k] + ratio * 2 * sine;
            planes++;
        }
    for (int set = 0; set < 64; set++) {
        double a[3][3], x[3] = {0}, to[3] = {e[0], e[1], e[2]}, way[3], far = 0, sum = 0;
        int member[6], members = 0, fine = 1;
        for (int k = 0; k < 6; k++)
            if (set >> k & 1) member[members++] = k;
        if (members > 3) continue;
        for (int i = 0; i < members; i++) {
            for (int k = 0; k < 3; k++) x[i] += d[member[i]][k] * e[k];
            for (int j = 0; j < members; j++) {
                a[i][j] = 0;
                for (int k = 0; k < 3; k++) a[i][j] += n[member[i]][k] * d[member[j]][k];
            }
        }
        if (members && !book_solve(members, a, x)) continue;
        for (int i = 0; i < members; i++) {
            fine &= x[i] >= -1e-13 * size;
            for (int k = 0; k < 3; k++) to[k] -= x[i] * n[member[i]][k];
        }
        for (int p = 0; p < 6; p++) {
            double beyond = 0;
            for (int k = 0; k < 3; k++) beyond += d[p][k] * to[k];
            fine &= beyond <= 1e-13 * size * (1 + ratio);
        }
        for (int k = 0; k < 3; k++) sum += way[k] = e[k] - to[k];
        for (int k = 0; k < 3; k++) far += way[k] * (way[k] + ratio * sum);
        if (!fine || far >= best) continue;
        best = far;
        memcpy(found, to, sizeof found);
    }
    if (!(best < INFINITY)) fail_msg("no set of planes holds %g %g %g", e[0], e[1], e[2]);
    for (int p = 0; p < 6 && best > 0; p++) {
        double beyond = 0;
        for (int k = 0; k < 3; k++) beyond += d[p][k] * found[k];
        on += beyond >= -1e-9 * size;
    }
    memcpy(e, found, sizeof found);
    return on;
}

/* Maps s in place and returns the new state. */
UNUSED static double book_flow(flow_kind kind, const flow_material *m, double s[3], double state) {
    const double radius = m->yield_stress * (m->yield_norm ? 1 : sqrt(2.0 / 3)), stiff = 2 * mu_of(m);
    double e[3], d[3], trace = 0, norm = 0;
    if (kind == FLOW_nacc) return book_nacc(m, s, state);
    if (kind == FLOW_mohr_coulomb) {
        for (int k = 0; k < 3; k++) e[k] = log(s[k]) - m->cohesion;
        book_pyramid(m, e);
        for (int k = 0; k < 3; k++) s[k] = exp(e[k] + m->cohesion);
        return state;
    }
    if (kind == FLOW_snow) {
        for (int k = 0; k < 3; k++) {
            const double cut = fmin(fmax(s[k], 1 - m->compression), 1 + m->stretch);
            state *= s[k] / cut;
            s[k] = cut;
        }
        return state;
    }
    /* Tampubolon et al. 2017: the strain is corrected by v_c; with cohesion at most up to the volume at rest. */
    const double volume_now = log(s[0] * s[1] * s[2]);
    const double gain = kind == FLOW_drucker_prager && volume_now < 0 ? fmin(state, -volume_now) : 0;
    for (int k = 0; k < 3; k++) trace += e[k] = log(s[k]) - m->cohesion + gain / 3;
    for (int k = 0; k < 3; k++) norm += pow(d[k] = e[k] - trace / 3, 2);
    norm = sqrt(norm);
    if (kind == FLOW_drucker_prager) { /* Klar et al. 2016, Eq. 27 to 31, with Tampubolon's v_c */
        const double sine = sin(m->friction_angle * acos(-1) / 180), alpha = sqrt(2.0 / 3) * 2 * sine / (3 - sine);
        const double flow = norm + (3 * lambda_of(m) + stiff) / stiff * trace * alpha;
        for (int k = 0; k < 3; k++) {
            const double h = trace > 0 ? 0 : flow > 0 ? e[k] - flow * d[k] / norm : e[k];
            s[k] = exp(h + m->cohesion);
        }
        return state + volume_now - log(s[0] * s[1] * s[2]);
    }
    if (stiff * norm <= radius) return state;
    const double left = kind == FLOW_von_mises ? radius : radius + book_overstress(m, radius, stiff * norm);
    for (int k = 0; k < 3; k++) s[k] = exp(trace / 3 + left / stiff * d[k] / norm);
    return state;
}

/* ---- Materials and F --------------------------------------------------------------------------------------------- */

static const char *const kind_name[FLOW_KINDS] = {
#define FLOW(name, hardening, form) #name,
#include "methods/physics/matter/flow.def"
#undef FLOW
};

/* The demonstrations of yu2024 Table 2 and Figure 19: noodles, hourglass and dam breach, candy and snow ball, cloth. */
static flow_material material_of(flow_kind kind, int variant) {
    flow_material m = {.E = 2e4, .nu = 0.3, .power = 1, .M = 1};
    switch (kind) {
        case FLOW_drucker_prager:
            m.E = variant % 2 ? 400 : 3.537e5;
            m.nu = variant % 2 ? 0.4 : 0.3;
            m.friction_angle = variant % 2 ? 30 : 35;
            m.cohesion = variant % 2 ? 0.0007 : 0;
            break;
        case FLOW_mohr_coulomb:
            m.E = variant % 2 ? 400 : 3.537e5;
            m.nu = variant % 2 ? 0.4 : 0.3;
            m.friction_angle = variant == 2 ? 10 : variant % 2 ? 30 : 35;
            m.cohesion = variant % 2 ? 0.0007 : variant == 2 ? 0.01 : 0;
            break;
        case FLOW_nacc:
            m.nu = variant % 2 ? 0.3 : 0.35;
            m.beta = variant % 2 ? 0.05 : 0.5;
            m.xi = variant % 2 ? 30 : 1;
            m.M = variant % 2 ? 1.85 : 2.36;
            break;
        case FLOW_herschel_bulkley:
            m.E = 14754;
            m.nu = 0.475;
            m.yield_stress = 50;
            m.viscosity = 10;
            m.power = variant % 3 == 0 ? 1 : variant % 3 == 1 ? 0.3 : 3;
            m.dt = 5e-5;
            break;
        case FLOW_snow:
            m.compression = 0.025;
            m.stretch = 0.0075;
            m.xi = 10;
            break;
        case FLOW_von_mises:
        default:
            m.yield_stress = 76.9;
            m.yield_norm = variant % 2;
    }
    return m;
}

static double first_state(flow_kind kind, int variant) {
    if (kind == FLOW_nacc) return variant % 2 ? -0.005 : -0.02;
    return kind == FLOW_snow ? 1 : 0;
}

/* A random F of one of six kinds: tiny, small or large strains, volume alone, near the yield surface of the noodles. */
static mat3 random_f(uint64_t *seed, int sort) {
    static const double strain[6] = {1e-5, 0.01, 0.3, 2, 0.1, 0.004};
    double e[3];
    for (int k = 0; k < 3; k++) e[k] = strain[sort % 6] * noise(seed);
    if (sort % 6 == 4) e[1] = e[2] = e[0];
    matrix f =
        product(product(random_rotation(seed), diagonal(exp(e[0]), exp(e[1]), exp(e[2]))), random_rotation(seed));
    return to_mat3(f);
}

/* Degenerate F that no body should reach: zero, rank 1 and 2, reflections, huge and tiny ones. */
#define HOSTILES 14
static mat3 hostile_f(int which) {
    const double big = REAL_IS_FLOAT ? 1e30 : 1e60;
    const double s[HOSTILES][3] = {{0, 0, 0},         {1, 0, 0},         {1, 1, 0},          {1, 1, -1},
                                   {-1, -1, -1},      {0.5, 2, -0.1},    {big, big, big},    {big, 1, 1},
                                   {1e6, 1e-6, 1},    {1e3, 1e3, -1e3},  {1e-9, 1e-9, 1e-9}, {1 / big, 1 / big, 1},
                                   {-big, big, 1e-3}, {1e4, 1e-4, -1e-4}};
    uint64_t seed = (uint64_t)which + 77;
    matrix f = diagonal(s[which][0], s[which][1], s[which][2]);
    if (which % 2) f = product(product(random_rotation(&seed), f), random_rotation(&seed));
    return to_mat3(f);
}

UNUSED static mat3 any_f(uint64_t *seed, int n) { return n < HOSTILES ? hostile_f(n) : random_f(seed, n); }

#endif
