#include "cases/scenes/body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/matter/law_material.h"
/* after law_material.h */
#include "cases/scenes/larger.h"
#include "cases/scenes/tetrahedron.h"

const char *const body_modes[] = {"static", "dynamic", NULL};

void body_set_motion(const pbd_values *values, pbd_scene *scene) {
    scene->duration = pbd_choice(values, "mode") == 1 ? pbd_real(values, "duration") : 0;
}

/* ---- Tetrahedra -------------------------------------------------------------------------------------------------- */

body_strain body_strain_at(const pbd_scene *scene, const double *x) {
    const hyperelastic law = law_plain(scene->material);
    body_strain out = {.smallest_det_F = INFINITY};
    for (size_t e = 0; e < scene->tets.count; e++) {
        double six_volumes;
        const mat3 F = mat3_over(tet_edges(x, scene->tets.corner + 4 * e),
                                 tet_edges(scene->particles.positions, scene->tets.corner + 4 * e), &six_volumes);
        const double det = mat3_det(F);
        if (det < out.smallest_det_F || isnan(det)) out.smallest_det_F = det;
        if (!(det > 0)) out.inverted++;
        out.energy += six_volumes / 6 * stress(law, F).psi;
    }
    return out;
}

void body_record_strain(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    const body_strain strain = body_strain_at(scene, x);
    if (scene->tets.count == 0) return;
    pbd_metric(recorder, "smallest_det_F_of_tets", "1", PBD_QUALITY, strain.smallest_det_F);
    pbd_metric(recorder, "inverted_tets", "1", PBD_FLAW, (double)strain.inverted);
    if (isfinite(strain.energy)) pbd_metric(recorder, "strain_energy", "J", PBD_STATE, strain.energy);
}

enum { LARGEST_SHAPE = 2000 };

void body_record_shape(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    if (scene->particles.count > LARGEST_SHAPE) return;
    pbd_series(recorder, "position", "x", "m", x, scene->particles.count, 3);
    pbd_series(recorder, "position", "y", "m", x + 1, scene->particles.count, 3);
    pbd_series(recorder, "position", "z", "m", x + 2, scene->particles.count, 3);
}

/* ---- The best rigid fit ------------------------------------------------------------------------------------------ */

static vec3 centre(const pbd_scene *scene, const double *rows) {
    vec3 sum = vec3_make(0, 0, 0);
    double mass = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        sum = vec3_add(sum, vec3_scale(scene->particles.masses[i], row_at(rows, (uint32_t)i)));
        mass += scene->particles.masses[i];
    }
    return vec3_scale(1 / mass, sum);
}

/* The rotation R that makes sum m |x - R X|^2 smallest is the one nearest to sum m x X^T (Kabsch 1976). */
static mat3 best_rotation(const pbd_scene *scene, const double *x, vec3 x0, vec3 rest0) {
    mat3 sum = mat3_scale(0, mat3_identity());
    for (size_t i = 0; i < scene->particles.count; i++) {
        const vec3 now = vec3_sub(row_at(x, (uint32_t)i), x0);
        const vec3 rest = vec3_sub(row_at(scene->particles.positions, (uint32_t)i), rest0);
        sum = mat3_add(sum, mat3_scale(scene->particles.masses[i], mat3_outer(now, rest)));
    }
    return mat3_polar(sum).r;
}

double body_shape_error(const pbd_scene *scene, const double *x) {
    const vec3 x0 = centre(scene, x), rest0 = centre(scene, scene->particles.positions);
    const mat3 turn = best_rotation(scene, x, x0, rest0);
    double off = 0, size = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const vec3 rest = vec3_sub(row_at(scene->particles.positions, (uint32_t)i), rest0);
        const vec3 gap = vec3_sub(vec3_sub(row_at(x, (uint32_t)i), x0), mat3_apply(turn, rest));
        off += scene->particles.masses[i] * vec3_dot(gap, gap);
        size += scene->particles.masses[i] * vec3_dot(rest, rest);
    }
    return sqrt(off / size);
}

/* ---- Reading and making ------------------------------------------------------------------------------------------ */

static pbd_status read_rows(const pbd_scene *scene, const pbd_method *method, const void *state, pbd_field field,
                            double **out) {
    PBD_TRY_NEW(*out, 3 * scene->particles.count);
    const pbd_status status = method->read(state, field, *out);
    if (status.code == PBD_OK) return status;
    free(*out);
    *out = NULL;
    return status;
}

pbd_status body_positions(const pbd_scene *scene, const pbd_method *method, const void *state, double **out) {
    return read_rows(scene, method, state, PBD_POSITIONS, out);
}

pbd_status body_velocities(const pbd_scene *scene, const pbd_method *method, const void *state, double **out) {
    const pbd_status status = read_rows(scene, method, state, PBD_VELOCITIES, out);
    return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
}

pbd_status body_motion(const pbd_scene *scene, const pbd_method *method, const void *state, double **x, double **v) {
    PBD_TRY(read_rows(scene, method, state, PBD_POSITIONS, x));
    const pbd_status status = read_rows(scene, method, state, PBD_VELOCITIES, v);
    if (status.code == PBD_OK) return status;
    free(*x);
    *x = NULL;
    return status;
}

pbd_status body_largest_speed(const pbd_scene *scene, const pbd_method *method, const void *state, double *out) {
    double *v;
    *out = 0;
    PBD_TRY(read_rows(scene, method, state, PBD_VELOCITIES, &v));
    for (size_t i = 0; i < scene->particles.count; i++) {
        const vec3 one = row_at(v, (uint32_t)i);
        const double speed = sqrt(vec3_dot(one, one));
        *out = larger(speed, *out);
    }
    free(v);
    return pbd_ok();
}

double body_noise(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

pbd_status body_start_at_rest(pbd_scene *scene) {
    PBD_TRY_NEW(scene->particles.start, 3 * scene->particles.count);
    memcpy(scene->particles.start, scene->particles.positions,
           3 * scene->particles.count * sizeof *scene->particles.start);
    return pbd_ok();
}

pbd_status body_hold(pbd_scene *scene, const unsigned char *mark) {
    PBD_TRY_NEW(scene->particles.fixed_particle, scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++)
        if (mark[i]) scene->particles.fixed_particle[scene->particles.fixed++] = (uint32_t)i;
    return pbd_ok();
}
