#include "cases/scenes/kernel_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/math/svd3.h"
#include "methods/physics/space/sph_kernel.h"

static vec3 row_of(const double *x, size_t i) { return vec3_make(x[3 * i], x[3 * i + 1], x[3 * i + 2]); }

/* ---- Who writes to whom ------------------------------------------------------------------------------------------ */

enum { MOST_COLOURS = 27 };

typedef struct cell_at {
    long i[3];
    int colour;
} cell_at;

static cell_at cell_of(const double *x, double edge, int period) {
    cell_at out = {.colour = 0};
    for (int d = 2; d >= 0; d--) {
        out.i[d] = (long)floor(x[d] / edge);
        out.colour = out.colour * period + (int)(((out.i[d] % period) + period) % period);
    }
    return out;
}

/* cell, seen: by particle and colour, the first cell of the colour that writes to the particle. twice: particles to
 * which a second cell of the same colour writes. */
typedef struct writers {
    cell_at *cell;
    unsigned char *seen, *twice;
} writers;

static void write_to(writers *w, size_t particle, cell_at by) {
    const size_t at = MOST_COLOURS * particle + (size_t)by.colour;
    if (!w->seen[at]) {
        w->seen[at] = 1;
        w->cell[at] = by;
    } else if (memcmp(w->cell[at].i, by.i, sizeof by.i) != 0) {
        w->twice[particle] = 1;
    }
}

pbd_status kernel_conflicts(const pbd_scene *scene, double r, double cell, int period, double *share) {
    const size_t n = scene->particles.count;
    near_pairs near PBD_CLEANUP(near_pairs_free) = {0};
    pbd_arena arena PBD_ARENA;
    writers w = {pbd_new(&arena, __typeof__(*w.cell), MOST_COLOURS *n),
                 pbd_new(&arena, __typeof__(*w.seen), MOST_COLOURS *n), pbd_new(&arena, __typeof__(*w.twice), n)};
    size_t conflicts = 0;
    PBD_TRY(pbd_arena_check(&arena));
    PBD_TRY(near_pairs_find(scene->particles.positions, n, 2 * r, &near));
    for (size_t i = 0; i < n; i++) write_to(&w, i, cell_of(scene->particles.positions + 3 * i, cell * r, period));
    for (size_t k = 0; k < near.count; k++) {
        const size_t a = near.pair[2 * k], b = near.pair[2 * k + 1];
        write_to(&w, a, cell_of(scene->particles.positions + 3 * b, cell * r, period));
        write_to(&w, b, cell_of(scene->particles.positions + 3 * a, cell * r, period));
    }
    for (size_t i = 0; i < n; i++) conflicts += w.twice[i];
    *share = (double)conflicts / (double)n;
    return pbd_ok();
}

/* ---- Corrected gradients ----------------------------------------------------------------------------------------- */

/* The neighbours b of one particle, and a_b = V_b L grad W_b, with the correction L of the gradients. */
typedef struct around {
    size_t count;
    const uint32_t *neighbour;
    vec3 *a;
} around;

static double volume_of(const pbd_scene *scene, size_t i) {
    return scene->particles.volumes ? scene->particles.volumes[i] : pow(scene->particles.spacing, 3);
}

static void weigh(const pbd_scene *scene, double r, const double *x, size_t p, around *out) {
    const vec3 zero = vec3_make(0, 0, 0);
    mat3 moment = mat3_make(zero, zero, zero);
    for (size_t k = 0; k < out->count; k++) {
        const size_t b = out->neighbour[k];
        const vec3 d = vec3_sub(row_of(x, b), row_of(x, p));
        const double slope = sph_kernel_at(SPH_WENDLAND_C2, vec3_dot(d, d), 2 * r).slope;
        out->a[k] = vec3_scale(-slope * volume_of(scene, b), d);
        moment = mat3_add(moment, mat3_outer(out->a[k], d));
    }
    const mat3 inverse = mat3_scale(1 / mat3_det(moment), mat3_transpose(mat3_cofactor(moment)));
    for (size_t k = 0; k < out->count; k++) out->a[k] = mat3_apply(inverse, out->a[k]);
}

/* Sum of (u_b - u_p) a_b^T. */
static mat3 gradient_of(const around *n, const double *u, size_t p) {
    const vec3 zero = vec3_make(0, 0, 0);
    mat3 sum = mat3_make(zero, zero, zero);
    for (size_t k = 0; k < n->count; k++)
        sum = mat3_add(sum, mat3_outer(vec3_sub(row_of(u, n->neighbour[k]), row_of(u, p)), n->a[k]));
    return sum;
}

/* The neighbours of each particle within a search radius at the start, in one array. */
typedef struct neighbourhoods {
    size_t *first; /* particles + 1 */
    uint32_t *neighbour;
    vec3 *a; /* longest: scratch for one particle */
    size_t longest;
} neighbourhoods;

static void neighbourhoods_free(neighbourhoods *n) {
    free(n->first);
    free(n->neighbour);
    free(n->a);
    *n = (neighbourhoods){0};
}

static void fill_lists(const near_pairs *near, size_t n, size_t *at, neighbourhoods *out) {
    for (size_t k = 0; k < 2 * near->count; k++) out->first[near->pair[k] + 1]++;
    for (size_t i = 0; i < n; i++) {
        if (out->first[i + 1] > out->longest) out->longest = out->first[i + 1];
        at[i + 1] = out->first[i + 1] += out->first[i];
    }
    for (size_t k = 0; k < 2 * near->count; k++) out->neighbour[at[near->pair[k]]++] = near->pair[k ^ 1];
}

static pbd_status find_neighbourhoods(const pbd_scene *scene, double reach, neighbourhoods *out) {
    const size_t n = scene->particles.count;
    near_pairs near PBD_CLEANUP(near_pairs_free) = {0};
    pbd_arena a PBD_ARENA;
    size_t *at = pbd_new(&a, size_t, n + 2);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(near_pairs_find(scene->particles.positions, n, reach, &near));
    PBD_TRY_NEW(out->first, n + 1);
    PBD_TRY_NEW(out->neighbour, 2 * near.count);
    fill_lists(&near, n, at, out);
    PBD_TRY_NEW(out->a, out->longest);
    return pbd_ok();
}

static around around_of(const neighbourhoods *n, size_t p) {
    return (around){.count = n->first[p + 1] - n->first[p], .neighbour = n->neighbour + n->first[p], .a = n->a};
}

pbd_status kernel_gradients(const pbd_scene *scene, double r, const double *x, double *F) {
    neighbourhoods near PBD_CLEANUP(neighbourhoods_free) = {0};
    PBD_TRY(find_neighbourhoods(scene, 2 * r, &near));
    for (size_t p = 0; p < scene->particles.count; p++) {
        around n = around_of(&near, p);
        weigh(scene, r, scene->particles.positions, p, &n);
        const mat3 f = gradient_of(&n, x, p);
        const vec3 column[3] = {f.x, f.y, f.z};
        for (size_t c = 0; c < 3; c++) {
            F[9 * p + c] = column[c].x;
            F[9 * p + 3 + c] = column[c].y;
            F[9 * p + 6 + c] = column[c].z;
        }
    }
    return pbd_ok();
}

/* ---- Derivatives of C -------------------------------------------------------------------------------------------- */

typedef struct constraint_at {
    double c;
    mat3 t; /* dC/dF F^T B^-T */
} constraint_at;

static constraint_at evaluate(const pbd_material *m, mat3 b) {
    const double mu = m->E / (2 * (1 + m->nu)), lambda = 2 * mu * m->nu / (1 - 2 * m->nu);
    svd3 parts = mat3_svd(b);
    const vec3 e = vec3_make(log(parts.s.x), log(parts.s.y), log(parts.s.z));
    const double trace = e.x + e.y + e.z;
    constraint_at out;
    out.c = sqrt(2 * mu * vec3_dot(e, e) + lambda * trace * trace);
    const vec3 tau =
        vec3_make(2 * mu * e.x + lambda * trace, 2 * mu * e.y + lambda * trace, 2 * mu * e.z + lambda * trace);
    parts.v = parts.u;
    out.t = mat3_scale(1 / (out.c * mat3_det(b)), mat3_mul(svd3_with(parts, tau), mat3_cofactor(b)));
    return out;
}

/* Returns C of p after dt with velocities v. moving: with kernels at x + dt v instead of x. moved: scratch for all
 * positions. */
static double c_of(const pbd_scene *scene, double r, around *n, size_t p, const double *v, double dt, bool moving,
                   double *moved) {
    for (size_t k = 0; k <= n->count; k++) {
        const size_t i = k < n->count ? n->neighbour[k] : p;
        for (size_t d = 0; d < 3; d++)
            moved[3 * i + d] = scene->particles.positions[3 * i + d] + (moving ? dt : 0) * v[3 * i + d];
    }
    weigh(scene, r, moved, p, n);
    return evaluate(scene->material, mat3_add(mat3_identity(), mat3_scale(dt, gradient_of(n, v, p)))).c;
}

/* The central difference of C of p with respect to component d of the position of particle `of`: its velocity is
 * changed by h/dt. */
static double difference(const pbd_scene *scene, double r, around *n, size_t p, size_t of, size_t d, double *v,
                         double dt, bool moving, double *moved) {
    const double h = 1e-5 * scene->particles.spacing, was = v[3 * of + d];
    v[3 * of + d] = was + h / dt;
    const double above = c_of(scene, r, n, p, v, dt, moving, moved);
    v[3 * of + d] = was - h / dt;
    const double below = c_of(scene, r, n, p, v, dt, moving, moved);
    v[3 * of + d] = was;
    return (above - below) / (2 * h);
}

/* The largest error of the formula against central differences, over the neighbours of p and p itself, relative to the
 * largest derivative. */
static double worst_of(const pbd_scene *scene, double r, around *n, const vec3 *a, size_t p, mat3 t, double *v,
                       double dt, bool moving, double *moved) {
    double worst = 0, largest = 0;
    vec3 sum = vec3_make(0, 0, 0);
    for (size_t k = 0; k <= n->count; k++) {
        const vec3 by = k < n->count ? mat3_apply(t, a[k]) : vec3_scale(-1, sum);
        const double formula[3] = {by.x, by.y, by.z};
        sum = vec3_add(sum, by);
        for (size_t d = 0; d < 3; d++) {
            const size_t of = k < n->count ? n->neighbour[k] : p;
            worst = fmax(worst, fabs(difference(scene, r, n, p, of, d, v, dt, moving, moved) - formula[d]));
            largest = fmax(largest, fabs(formula[d]));
        }
    }
    return worst / largest;
}

static void check_one(const pbd_scene *scene, double r, around *n, size_t p, double *v, double dt, vec3 *a,
                      double *moved, kernel_derivatives *out) {
    const double still = c_of(scene, r, n, p, v, dt, false, moved);
    memcpy(a, n->a, n->count * sizeof *a);
    const mat3 t = evaluate(scene->material, mat3_add(mat3_identity(), mat3_scale(dt, gradient_of(n, v, p)))).t;
    const double moving = c_of(scene, r, n, p, v, dt, true, moved);
    out->change += fabs(moving / still - 1);
    out->fixed = fmax(out->fixed, worst_of(scene, r, n, a, p, t, v, dt, false, moved));
    out->moving = fmax(out->moving, worst_of(scene, r, n, a, p, t, v, dt, true, moved));
}

pbd_status kernel_differences(const pbd_scene *scene, double r, const double *v, double dt, size_t most,
                              kernel_derivatives *out) {
    const size_t n = scene->particles.count, every = n / (most > 0 ? most : 1) + 1;
    neighbourhoods near PBD_CLEANUP(neighbourhoods_free) = {0};
    pbd_arena arena PBD_ARENA;
    size_t checked = 0;
    *out = (kernel_derivatives){0};
    /* 3r: particles that come nearer than 2r only during dt count with moving kernels. */
    PBD_TRY(find_neighbourhoods(scene, 3 * r, &near));
    double *speed = pbd_new(&arena, double, 3 * n), *moved = pbd_new(&arena, double, 3 * n);
    vec3 *a = pbd_new(&arena, vec3, near.longest);
    PBD_TRY(pbd_arena_check(&arena));
    memcpy(speed, v, 3 * n * sizeof *speed);
    for (size_t p = every / 2; p < n; p += every) {
        around here = around_of(&near, p);
        if (here.count < 4) continue;
        check_one(scene, r, &here, p, speed, dt, a, moved, out);
        checked++;
    }
    if (checked > 0) out->change /= (double)checked;
    return pbd_ok();
}
