#include "methods/physics/parts/step_function.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/space/element_shape.h"

#define REAL double
#include "methods/physics/matter/law_material.h"
#include "methods/physics/matter/tangent.h"

void step_function_free(step_function *s) {
    void *owned[] = {s->corner, s->place, s->material, s->shape,    s->rows,   s->volume,
                     s->mass,   s->held,  s->y,        s->gradient, s->packed, s->trial};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
    pbd_sparse_free(&s->matrix);
    pbd_factors_free(s->factors);
    *s = (step_function){0};
}

pbd_status step_function_create(const pbd_scene *scene, step_function *out) {
    const size_t n = scene->particles.count;
    *out = (step_function){.particles = n,
                           .tets = scene->tets.count,
                           .materials = scene->materials > 0 ? scene->materials : 1,
                           .extent = scene->extent};
    PBD_TRY_NEW(out->corner, 4 * out->tets);
    PBD_TRY_NEW(out->shape, 12 * out->tets);
    PBD_TRY_NEW(out->rows, 9 * out->tets);
    PBD_TRY_NEW(out->volume, out->tets);
    PBD_TRY_NEW(out->mass, n);
    PBD_TRY_NEW(out->held, 3 * n);
    PBD_TRY_NEW(out->y, 3 * n);
    PBD_TRY_NEW(out->gradient, 3 * n);
    PBD_TRY_NEW(out->packed, 3 * n);
    PBD_TRY_NEW(out->trial, 3 * n);
    if (scene->tets.material) PBD_TRY_NEW(out->material, out->tets);
    if (scene->tets.material) memcpy(out->material, scene->tets.material, out->tets);
    memcpy(out->corner, scene->tets.corner, 4 * out->tets * sizeof *out->corner);
    memcpy(out->mass, scene->particles.masses, n * sizeof *out->mass);
    memcpy(out->of, scene->material, out->materials * sizeof *out->of);
    for (size_t k = 0; k < scene->particles.fixed; k++)
        for (size_t d = 0; d < 3; d++) out->held[3 * scene->particles.fixed_particle[k] + d] = true;
    for (size_t e = 0; e < out->tets; e++) {
        element_shape shape;
        double *g = out->shape + 12 * e;
        PBD_TRY(element_shape_of(scene, 4, e, &shape));
        out->volume[e] = shape.size;
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 3; c++) {
                g[3 * c + d] = shape.inverse[3 * d + c];
                g[9 + d] -= g[3 * c + d];
                out->rows[(size_t)(3 * c + d) * out->tets + e] = g[3 * c + d];
            }
    }
    PBD_TRY(pbd_sparse_create(n, out->corner, out->tets, 4, out->held, &out->matrix));
    return pbd_sparse_find_places(&out->matrix, out->corner, out->tets, 4, &out->place);
}

void step_function_begin(step_function *s, double dt, const double *x, const double *v, const double gravity[3],
                         const double *forces) {
    s->dt = dt;
    for (size_t i = 0; i < 3 * s->particles; i++) {
        const double a = gravity[i % 3] + (forces ? forces[i] / s->mass[i / 3] : 0);
        s->y[i] = s->held[i] ? x[i] : x[i] + dt * (v[i] + dt * a);
    }
}

/* ---- Value and derivatives --------------------------------------------------------------------------------------- */

static hyperelastic law_of(const step_function *s, size_t e) {
    return law_plain(&s->of[s->material ? s->material[e] : 0]);
}

static mat3 gradient_at(const step_function *s, size_t e, const double *x) {
    const uint32_t *corner = s->corner + 4 * e;
    mat3 f = mat3_diagonal(vec3_make(0, 0, 0));
    for (int c = 0; c < 4; c++) {
        const double *at = x + 3 * corner[c], *g = s->shape + 12 * e + 3 * c;
        f = mat3_add(f, mat3_outer(vec3_make(at[0], at[1], at[2]), vec3_make(g[0], g[1], g[2])));
    }
    return f;
}

/* A batch of tetrahedra: gradients of the shape functions of the first three corners, and F. */
typedef struct tet_batch {
    size_t first;
    int count;
    vvec3 g[3];
    vmat3 f;
} tet_batch;

static inline vvec3 corners_at(const step_function *s, const tet_batch *t, int c, const double *x) {
    double lane[3][PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++) {
        const size_t e = t->first + (size_t)(l < t->count ? l : t->count - 1);
        const double *at = x + 3 * (size_t)s->corner[4 * e + (size_t)c];
        for (int d = 0; d < 3; d++) lane[d][l] = at[d];
    }
    return vvec3_make(batch_load(lane[0], 0, PBD_BATCH), batch_load(lane[1], 0, PBD_BATCH),
                      batch_load(lane[2], 0, PBD_BATCH));
}

/* F = sum of (x_c - x_4) g_c^T over the first three corners. */
static inline tet_batch batch_at(const step_function *s, size_t first, int count, const double *x) {
    tet_batch t = {.first = first, .count = count};
    const vvec3 last = corners_at(s, &t, 3, x);
    for (int c = 0; c < 3; c++) {
        vreal g[3];
        for (int d = 0; d < 3; d++) g[d] = batch_load(s->rows + (size_t)(3 * c + d) * s->tets, first, count);
        t.g[c] = vvec3_make(g[0], g[1], g[2]);
        const vmat3 part = vmat3_outer(vvec3_sub(corners_at(s, &t, c, x), last), t.g[c]);
        t.f = c == 0 ? part : vmat3_add(t.f, part);
    }
    return t;
}

/* Adds V P g_c to the rows of the corners. */
static inline void add_forces(const step_function *s, const tet_batch *t, vmat3 stress_volume, double *out) {
    vvec3 last = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    for (int c = 0; c < 4; c++) {
        const vvec3 force = c < 3 ? vmat3_apply(stress_volume, t->g[c]) : vvec3_scale(vreal_set(-1), last);
        last = vvec3_add(last, force);
        double lane[3][PBD_BATCH];
        batch_store(lane[0], 0, PBD_BATCH, force.x);
        batch_store(lane[1], 0, PBD_BATCH, force.y);
        batch_store(lane[2], 0, PBD_BATCH, force.z);
        for (int l = 0; l < t->count; l++) {
            double *at = out + 3 * (size_t)s->corner[4 * (t->first + (size_t)l) + (size_t)c];
            for (int d = 0; d < 3; d++) at[d] += lane[d][l];
        }
    }
}

/* The first tetrahedron after e with another material, or the number of tetrahedra. */
static size_t end_of_material(const step_function *s, size_t e) {
    size_t end = s->material ? e + 1 : s->tets;
    while (end < s->tets && s->material[end] == s->material[e]) end++;
    return end;
}

/* Returns the elastic energy; adds its gradient to `out` (NULL: not wanted), also in rows of held particles. */
static double elasticity(const step_function *s, const double *x, double *out) {
    double sum = 0;
    for (size_t e = 0, end; e < s->tets; e = end) {
        const vhyperelastic law = vhyperelastic_of(law_of(s, e));
        end = end_of_material(s, e);
        for (size_t first = e; first < end; first += PBD_BATCH) {
            const int count = end - first < PBD_BATCH ? (int)(end - first) : PBD_BATCH;
            const tet_batch t = batch_at(s, first, count, x);
            const vstressed at = vstress(law, t.f);
            const vreal size = batch_load(s->volume, first, count);
            double energy[PBD_BATCH];
            batch_store(energy, 0, PBD_BATCH, size * at.psi);
            for (int l = 0; l < count; l++) sum += energy[l];
            if (out) add_forces(s, &t, vmat3_scale(size, at.p), out);
        }
    }
    return sum;
}

static double inertia(const step_function *s, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < s->particles; i++) {
        double square = 0;
        for (size_t d = 3 * i; d < 3 * i + 3; d++) square += (x[d] - s->y[d]) * (x[d] - s->y[d]);
        sum += s->mass[i] * square;
    }
    return sum / (2 * s->dt * s->dt);
}

double step_function_value(const step_function *s, const double *x) { return elasticity(s, x, NULL) + inertia(s, x); }

double step_function_gradient(const step_function *s, const double *x, double *out) {
    for (size_t i = 0; i < s->particles; i++)
        for (size_t d = 3 * i; d < 3 * i + 3; d++) out[d] = s->mass[i] * (x[d] - s->y[d]) / (s->dt * s->dt);
    const double energy = elasticity(s, x, out);
    for (size_t i = 0; i < 3 * s->particles; i++)
        if (s->held[i]) out[i] = 0;
    return energy + inertia(s, x);
}

double step_function_distance(const step_function *s, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < 3 * s->particles; i++) sum += s->mass[i / 3] * (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* d2G/dx dx; with `definite` each tetrahedron's part is replaced by the nearest positive semidefinite matrix. */
static void fill_matrix(step_function *s, const double *x, bool definite) {
    pbd_sparse_clear(&s->matrix);
    for (size_t i = 0; i < 3 * s->particles; i++) {
        const int at = s->matrix.unknown[i];
        if (at >= 0) *pbd_sparse_at(&s->matrix, at, at) += s->mass[i / 3] / (s->dt * s->dt);
    }
    for (size_t e = 0; e < s->tets; e++) {
        const tangent t = tangent_make(law_of(s, e), gradient_at(s, e, x), definite);
        const uint32_t *corner = s->corner + 4 * e;
        double K[12][12];
        for (int c = 0; c < 4; c++)
            for (int d = 0; d < 3; d++) { /* a unit displacement of corner c along d */
                const double *g = s->shape + 12 * e + 3 * c;
                const mat3 df = mat3_outer(vec3_make(d == 0, d == 1, d == 2), vec3_make(g[0], g[1], g[2]));
                const mat3 dp = tangent_apply(&t, df);
                for (int b = 0; b < 4; b++) {
                    const double *h = s->shape + 12 * e + 3 * b;
                    const vec3 force = vec3_scale(s->volume[e], mat3_apply(dp, vec3_make(h[0], h[1], h[2])));
                    K[3 * b][3 * c + d] = force.x, K[3 * b + 1][3 * c + d] = force.y, K[3 * b + 2][3 * c + d] = force.z;
                }
            }
        pbd_sparse_add(&s->matrix, corner, s->place + 16 * e, 4, K[0]);
    }
}

/* ---- The minimiser ----------------------------------------------------------------------------------------------- */

/* s->packed becomes Newton's step; *slope the derivative of G along it. */
static pbd_status find_step(step_function *s, const double *x, double *slope) {
    for (int definite = 0; definite < 2; definite++) {
        fill_matrix(s, x, definite);
        for (size_t i = 0; i < 3 * s->particles; i++)
            if (s->matrix.unknown[i] >= 0) s->packed[s->matrix.unknown[i]] = -s->gradient[i];
        PBD_TRY(pbd_factors_update(&s->factors, &s->matrix));
        PBD_TRY(pbd_factors_solve(s->factors, s->packed, 1));
        *slope = 0;
        for (size_t i = 0; i < 3 * s->particles; i++)
            if (s->matrix.unknown[i] >= 0) *slope += s->gradient[i] * s->packed[s->matrix.unknown[i]];
        if (*slope < 0) break;
    }
    return pbd_ok();
}

static void move(const step_function *s, const double *x, double fraction, double *out) {
    for (size_t i = 0; i < 3 * s->particles; i++)
        out[i] = x[i] + (s->matrix.unknown[i] < 0 ? 0 : fraction * s->packed[s->matrix.unknown[i]]);
}

/* Moves x by the largest fraction 1, 1/2, 1/4 ... of the step that lowers G sufficiently (Armijo); false: none does. */
static bool search(step_function *s, double *x, double slope) {
    const double before = step_function_value(s, x);
    for (double fraction = 1; fraction > 1e-12; fraction *= 0.5) {
        move(s, x, fraction, s->trial);
        if (!(step_function_value(s, s->trial) <= before + 1e-4 * fraction * slope)) continue;
        memcpy(x, s->trial, 3 * s->particles * sizeof *x);
        return true;
    }
    return false;
}

pbd_status step_function_minimise(step_function *s, double *x, long *iterations) {
    enum { MOST = 200 };
    const size_t bytes = 3 * s->particles * sizeof *x;
    double before = INFINITY; /* largest entry of the last step, if that was taken without a line search */
    for (long k = 0; k < MOST; k++) {
        double slope = 0, longest = 0;
        step_function_gradient(s, x, s->gradient);
        PBD_TRY(find_step(s, x, &slope));
        for (int i = 0; i < s->matrix.n; i++) longest = fmax(longest, fabs(s->packed[i]));
        if (iterations) *iterations = k + 1;
        /* Where the decrease of G is lost in rounding, the full Newton step is taken: it converges quadratically, and
         * iterations end when rounding keeps steps from getting shorter. */
        const bool small = -slope <= 1e3 * DBL_EPSILON * fabs(step_function_value(s, x));
        if (small || longest <= 1e-8 * s->extent) {
            move(s, x, 1, s->trial);
            memcpy(x, s->trial, bytes);
            if (longest <= 1e-15 * s->extent || longest > 0.25 * before) return pbd_ok();
            before = longest;
            continue;
        }
        before = INFINITY;
        if (!search(s, x, slope))
            return pbd_error(PBD_NO_EQUILIBRIUM, "the reference's line search finds no lower energy");
    }
    return pbd_error(PBD_NO_EQUILIBRIUM, "the reference's Newton method did not converge in %d iterations", MOST);
}
