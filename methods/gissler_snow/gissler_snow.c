/* gissler_snow: implicit compressible SPH for snow (Gissler et al. 2020): pressure by relaxed Jacobi, shear by a
 * preconditioned BiCGSTAB on velocities, flow at the end of a step. README.md has the equations and choices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/gissler_snow/gissler_snow_step.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/device/scene_rows.h"
#include "methods/physics/matter/flow_material.h"
#include "methods/physics/parts/particle_survey.h"

static const pbd_param params[] = {PBD_ROWS(GISSLER_PARAMS){0}};

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static size_t arrays_of(const gissler_snow *s, device_array *row) {
    const size_t n = s->particles;
    const device_array rows[] = {DEVICE_SAVED(s->p.x, 4 * n),
                                 DEVICE_SAVED(s->p.v, 4 * n),
                                 DEVICE_SAVED(s->p.body, GISSLER_BODY * n),
                                 HOST_SAVED(s->time),
                                 HOST_SAVED(s->steps),
                                 DEVICE_ARRAY(s->p.load, 4 * n),
                                 DEVICE_ARRAY(s->p.rest, n),
                                 DEVICE_ARRAY(s->p.volume, n),
                                 DEVICE_ARRAY(s->p.correction, 9 * n),
                                 DEVICE_ARRAY(s->p.lists.pair, 3 * s->pair_capacity),
                                 DEVICE_ARRAY(s->p.tensor, 9 * n),
                                 DEVICE_ARRAY(s->p.pressure, n),
                                 DEVICE_ARRAY(s->p.diagonal, n),
                                 DEVICE_ARRAY(s->p.square, 2 * n),
                                 DEVICE_ARRAY(s->p.inverse, 6 * n),
                                 DEVICE_ARRAY(s->star, 4 * n),
                                 DEVICE_ARRAY(s->pressed, 4 * n),
                                 DEVICE_ARRAY(s->w, 4 * n),
                                 DEVICE_ARRAY(s->unconstrained, 4 * n),
                                 DEVICE_ARRAY(s->target, 4 * n),
                                 DEVICE_ARRAY(s->p.bound, 4 * n),
                                 DEVICE_ARRAY(s->p.note, n),
                                 DEVICE_ARRAY(s->p.changed, n),
                                 DEVICE_ARRAY(s->block, GISSLER_MEASURED * gissler_snow_blocks(s))};
    size_t count = DEVICE_ROWS(row, rows);
    for (size_t k = 0; k < KRYLOV_ROWS; k++) row[count++] = (device_array)DEVICE_ARRAY(s->row[k], 4 * n);
    return count;
}

static void destroy(void *state) {
    gissler_snow *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    if (!s) return;
    device_arrays_free(s->exec, row, arrays_of(s, row));
    neighbours_free(&s->near);
    collider_poses_free(&s->colliders);
    free(s);
}

static pbd_status check(const pbd_scene *scene) {
    if (scene->particles.count == 0) return pbd_error(PBD_BAD_INPUT, "gissler_snow: the scene has no particles");
    if (!(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "gissler_snow: the scene's particles have a spacing of %g m: must be above 0",
                         scene->particles.spacing);
    if (!(scene->material->nu >= 0 && scene->material->nu < 0.5))
        return pbd_error(PBD_BAD_INPUT, "gissler_snow needs 0 <= nu < 0.5, not %g: its pressure uses lambda",
                         scene->material->nu);
    if (scene->material->flow && !pbd_named(scene->material->flow, "snow"))
        return pbd_error(PBD_NOT_SUPPORTED, "gissler_snow supports flow=snow and flow=none only");
    return scene_check_particles(scene);
}

static pbd_status place_particles(gissler_snow *s, const pbd_scene *scene) {
    const size_t n = s->particles, row = 4 * n * sizeof(real);
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *v = pbd_new(&a, real, 4 * n), *load = pbd_new(&a, real, 4 * n),
         *body = pbd_new(&a, real, GISSLER_BODY * n), *rest = pbd_new(&a, real, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(scene_rows(scene, NULL, x, v, load));
    for (size_t i = 0; i < n; i++) {
        real *own = body + GISSLER_BODY * i;
        x[4 * i + 3] = (real)scene->particles.masses[i];
        load[4 * i + 3] = (real)(scene->contact.radius ? scene->contact.radius[i] : 0);
        own[0] = own[1] = own[2] = own[GISSLER_GROWTH] = 1;
        own[GISSLER_STATE] = (real)flow_first_state(scene->material);
        rest[i] = (real)scene_volume(scene, i);
    }
    PBD_TRY(pbd_upload(s->exec, s->p.x, x, row));
    PBD_TRY(pbd_upload(s->exec, s->p.v, v, row));
    PBD_TRY(pbd_upload(s->exec, s->p.load, load, row));
    PBD_TRY(pbd_upload(s->exec, s->p.body, body, GISSLER_BODY * n * sizeof *body));
    return pbd_upload(s->exec, s->p.rest, rest, n * sizeof *rest);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const double E = scene->material->E, nu = scene->material->nu;
    const gissler_settings set = gissler_settings_read(values);
    device_array row[DEVICE_MOST_ARRAYS];
    gissler_snow *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for gissler_snow");
    *s = (gissler_snow){.exec = exec,
                        .recorder = recorder,
                        .set = set,
                        .particles = scene->particles.count,
                        .material = scene->material[0],
                        .mu = E / (2 * (1 + nu)),
                        .lambda = E * nu / ((1 + nu) * (1 - 2 * nu)),
                        .support = 2 * set.radius * scene->particles.spacing,
                        .flows = scene->material->flow && set.plasticity == plasticity_semi_implicit,
                        .loaded = scene->loads.forces || scene->contact.radius,
                        .forces_end = scene->loads.forces ? scene->loads.forces_end : 0};
    s->p.kernel = set.kernel == kernel_cubic_spline ? SPH_CUBIC_SPLINE : SPH_WENDLAND_C2;
    s->p.support = (real)s->support;
    s->p.sigma = sph_kernel_factor(s->p.kernel, 3, s->p.support);
    s->p.cutoff = (real)set.cutoff;
    s->p.tracked = set.volume == volume_tracked;
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
    PBD_TRY(check(scene));
    PBD_TRY(neighbours_create(&s->near, exec, s->particles, NULL, s->support, 0));
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(collider_poses_create(&s->colliders, scene, exec, recorder));
    PBD_TRY(collider_sums_room(&s->colliders, s->particles));
    pbd_count(recorder, "particles", s->particles);
    return place_particles(s, scene);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static const size_t nine[] = {0, 3, 5, 3, 1, 4, 5, 4, 2}; /* F_11, F_12, ... in a row of `body` */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const gissler_snow *s = state;
    const size_t n = s->particles;
    if (field == PBD_COLLIDER_SUMS) return collider_sums_read(&s->colliders, out);
    if (field == PBD_POSITIONS) return device_rows_read(s->exec, s->p.x, n, 4, 3, NULL, NULL, out);
    if (field == PBD_VELOCITIES) return device_rows_read(s->exec, s->p.v, n, 4, 3, NULL, NULL, out);
    if (field == PBD_DEFORMATION_GRADIENTS)
        return device_rows_read(s->exec, s->p.body, n, GISSLER_BODY, 9, nine, NULL, out);
    return pbd_error(PBD_NOT_SUPPORTED, "gissler_snow has positions, velocities and elastic stretches only");
}

static pbd_status survey(const void *state, const pbd_survey *asked, pbd_surveyed *out) {
    const gissler_snow *s = state;
    return particle_survey(&(survey_source){.exec = s->exec,
                                            .particles = s->particles,
                                            .x = s->p.x,
                                            .v = s->p.v,
                                            .F = s->p.body,
                                            .x_stride = 4,
                                            .v_stride = 4,
                                            .F_stride = GISSLER_BODY,
                                            .F_column = nine},
                           asked, out);
}

DEVICE_SAVING(gissler_snow, s->exec, arrays_of, collider_sums_clear(&s->colliders))

static void watch(void *state, pbd_residual *out) { ((gissler_snow *)state)->left = out; }

const pbd_method PBD_NAME(gissler_snow) = {
    .bytes = sizeof(pbd_method),
    .name = "gissler_snow",
    .summary = "implicit compressible SPH for snow: pressure by Jacobi, shear by BiCGSTAB, flow after a step",
    .source = "Gissler et al. 2020, yu2024 Figure 19",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_FORCES_END | PBD_TAKES_COLLIDERS | PBD_TAKES_FLOW | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = gissler_snow_step,
    .read = read_field,
    .save = save,
    .load = load,
    .survey = survey,
    .destroy = destroy,
    .residual = "2-norm of the residual of each of the two solvers, the larger fraction",
    .watch = watch,
};
