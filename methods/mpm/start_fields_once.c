#include "methods/mpm/start_fields.h"

#include <math.h>
#include <stdlib.h>

#include "methods/physics/space/rest_neighbours.h"

#define REAL double
#include "methods/physics/math/svd3.h"

void start_fields_free(start_fields *f) {
    free(f->stretch);
    free(f->velocity);
    *f = (start_fields){0};
}

/* The inverse on what m spans, zero elsewhere. */
static mat3 pseudo_inverse(mat3 m) {
    const svd3 parts = mat3_svd(m);
    const double least = 1e-6 * parts.s.x;
    const vec3 s = vec3_make(parts.s.x > 0 ? 1 / parts.s.x : 0, parts.s.y > least ? 1 / parts.s.y : 0,
                             parts.s.z > least ? 1 / parts.s.z : 0);
    return mat3_transpose(svd3_with(parts, s));
}

static vec3 row_of(const double *rows, size_t i) { return vec3_make(rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]); }

/* The matrix that best takes differences of `from` to differences of `to` about particle i. */
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

static pbd_status fill(const pbd_scene *scene, const rest_neighbours *near, start_fields *out) {
    const size_t n = scene->particles.count;
    double *moved = calloc(3 * n + 1, sizeof *moved);
    if (scene->particles.start) out->stretch = malloc((9 * n + 1) * sizeof *out->stretch);
    if (scene->particles.velocities) out->velocity = malloc((9 * n + 1) * sizeof *out->velocity);
    const bool fine =
        moved && (!scene->particles.start || out->stretch) && (!scene->particles.velocities || out->velocity);
    for (size_t i = 0; i < 3 * n && fine && scene->particles.start; i++)
        moved[i] = scene->particles.start[i] - scene->particles.positions[i];
    for (size_t i = 0; i < n && fine; i++) {
        const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
        if (out->stretch)
            put(mat3_add(mat3_identity(), gradient_at(near, i, scene->particles.positions, moved)),
                out->stretch + 9 * i);
        if (out->velocity) put(gradient_at(near, i, start, scene->particles.velocities), out->velocity + 9 * i);
    }
    free(moved);
    return fine ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for the start of %zu particles", n);
}

pbd_status start_fields_make(const pbd_scene *scene, double radius, start_fields *out) {
    *out = (start_fields){0};
    if (!scene->particles.start && !scene->particles.velocities) return pbd_ok();
    rest_neighbours near = {0};
    pbd_status status =
        rest_neighbours_find(scene->particles.count, scene->particles.positions, scene->particles.body, radius, &near);
    if (status.code == PBD_OK) status = fill(scene, &near, out);
    rest_neighbours_free(&near);
    if (status.code != PBD_OK) start_fields_free(out);
    return status;
}
