#include "methods/mpm/start_fields.h"

#include "methods/physics/space/rest_neighbours.h"

#define REAL double
#include "methods/physics/math/svd3.h"

/* The Moore-Penrose inverse of m. */
static mat3 pseudo_inverse(mat3 m) {
    const svd3 parts = mat3_svd(m);
    const double least = 1e-6 * parts.s.x;
    const vec3 s = vec3_make(parts.s.x > 0 ? 1 / parts.s.x : 0, parts.s.y > least ? 1 / parts.s.y : 0,
                             parts.s.z > least ? 1 / parts.s.z : 0);
    return mat3_transpose(svd3_with(parts, s));
}

static vec3 row_of(const double *rows, size_t i) { return vec3_make(rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]); }

/* The least-squares matrix from differences of `from` to differences of `to` around particle i. */
static mat3 gradient_at(const rest_neighbours *near, size_t i, const double *from, const double *to) {
    const vec3 none = vec3_make(0, 0, 0);
    mat3 moment = {none, none, none}, across = moment;
    for (size_t k = near->first[i]; k < near->first[i + 1]; k++) {
        const vec3 d = vec3_sub(row_of(from, near->particle[k]), row_of(from, i));
        moment = mat3_add(moment, mat3_outer(d, d));
        across = mat3_add(across, mat3_outer(vec3_sub(row_of(to, near->particle[k]), row_of(to, i)), d));
    }
    return mat3_mul(across, pseudo_inverse(moment));
}

static void put(mat3 m, double *out) {
    const vec3 column[3] = {m.x, m.y, m.z};
    for (int c = 0; c < 3; c++) {
        out[3 * c] = column[c].x;
        out[3 * c + 1] = column[c].y;
        out[3 * c + 2] = column[c].z;
    }
}

pbd_status start_fields_make(const pbd_scene *scene, double radius, pbd_arena *arena, start_fields *out) {
    const pbd_particles *p = &scene->particles;
    rest_neighbours near PBD_CLEANUP(rest_neighbours_free) = {0};
    *out = (start_fields){0};
    if (!p->start && !p->velocities) return pbd_ok();
    double *moved = pbd_new(arena, double, 3 * p->count);
    if (p->start) out->stretch = pbd_new(arena, double, 9 * p->count);
    if (p->velocities) out->velocity = pbd_new(arena, double, 9 * p->count);
    PBD_TRY(pbd_arena_check(arena));
    PBD_TRY(rest_neighbours_find(p->count, p->positions, p->body, radius, &near));
    for (size_t i = 0; i < 3 * p->count && p->start; i++) moved[i] = p->start[i] - p->positions[i];
    for (size_t i = 0; i < p->count; i++) {
        const double *start = p->start ? p->start : p->positions;
        if (p->start) put(mat3_add(mat3_identity(), gradient_at(&near, i, p->positions, moved)), out->stretch + 9 * i);
        if (p->velocities) put(gradient_at(&near, i, start, p->velocities), out->velocity + 9 * i);
    }
    return pbd_ok();
}
