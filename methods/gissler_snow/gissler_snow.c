/* gissler_snow: implicit compressible SPH for snow (Gissler et al. 2020): pressure by relaxed Jacobi, shear by a
 * preconditioned BiCGSTAB on velocities, flow at the end of a step. README.md has the equations and what is chosen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/gissler_snow/gissler_snow_step.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/matter/flow_material.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static const char *const solves[] = {"split", "together", NULL};
static const char *const preconditioners[] = {"jacobi", "masses", NULL};
static const char *const divergences[] = {"uncorrected", "corrected", NULL};
static const char *const volumes[] = {"summed", "tracked", NULL};
static const char *const kernel_names[] = {"cubic_spline", "wendland_c2", NULL};
static const sph_kernel kernels[] = {SPH_CUBIC_SPLINE, SPH_WENDLAND_C2};
static const char *const plasticities[] = {"semi_implicit", "none", NULL};

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "1e-4", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"solve", "", PBD_CHOICE, "split", 0, 0, 0, solves,
     "pressure first and then shear, as published, or both at once by Krylov's method"},
    {"iterations", "", PBD_INTEGER, "200", 1, 100000, 0, NULL, "largest number, of each of the two solvers and pass"},
    {"tolerance", "", PBD_REAL, "1e-4", 0, 1, PBD_OPEN_MAX, NULL, "residual of each solver over that before"},
    {"relaxation", "", PBD_REAL, "0.5", 0, 2, PBD_OPEN_MIN, NULL, "omega of the pressure's Jacobi"},
    {"preconditioner", "", PBD_CHOICE, "jacobi", 0, 0, 0, preconditioners,
     "of shear: inverse 3 x 3 blocks, or masses alone, which conserve momentum at any tolerance"},
    {"contact_passes", "", PBD_INTEGER, "4", 1, 100, 0, NULL,
     "largest number of solves in a step, until contacts do not change"},
    {"plasticity", "", PBD_CHOICE, "semi_implicit", 0, 0, 0, plasticities, "flow at the end of a step, or never"},
    {"divergence", "", PBD_CHOICE, "uncorrected", 0, 0, 0, divergences,
     "of velocity by plain kernels, as published, or by corrected ones as shear and rotation"},
    {"volume", "", PBD_CHOICE, "summed", 0, 0, 0, volumes,
     "of particles by the density that SPH sums, as published, or by the whole motion"},
    {"kernel", "", PBD_CHOICE, "cubic_spline", 0, 0, 0, kernel_names, "smoothing kernel"},
    {"radius", "", PBD_REAL, "1", 0.5, 10, PBD_OPEN_MIN, NULL, "r of the kernel, whose support is 2r, in spacings"},
    {"cutoff", "", PBD_REAL, "0.03", 0, 1, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL,
     "singular values of L^-1 below this times the largest count as 0"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},
    {0}};

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < scene->particles.count; i++)
        if (!(scene->particles.masses[i] > 0 && isfinite(scene->particles.masses[i])))
            return pbd_error(PBD_BAD_INPUT, "gissler_snow: particle %zu has the mass %g kg: must be above 0", i,
                             scene->particles.masses[i]);
    return pbd_ok();
}

static void read_values(gissler_snow *s, const pbd_scene *scene, const pbd_values *values) {
    const double E = scene->material->E, nu = scene->material->nu;
    s->mu = E / (2 * (1 + nu));
    s->lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    s->spacing = scene->particles.spacing;
    s->support = 2 * pbd_real(values, "radius") * scene->particles.spacing;
    s->cutoff = pbd_real(values, "cutoff");
    s->damping = pbd_real(values, "damping");
    s->relaxation = pbd_real(values, "relaxation");
    s->tolerance = pbd_real(values, "tolerance");
    s->iterations = pbd_integer(values, "iterations");
    s->passes = pbd_integer(values, "contact_passes");
    s->solve = pbd_choice(values, "solve");
    s->preconditioner = pbd_choice(values, "preconditioner");
    s->flows = scene->material->flow && pbd_choice(values, "plasticity") == 0;
    s->corrected = pbd_choice(values, "divergence") == 1;
    s->tracked = pbd_choice(values, "volume") == 1;
    s->kernel = kernels[pbd_choice(values, "kernel")];
    s->loaded = scene->loads.forces || scene->contact.radius;
    s->forces_end = scene->loads.forces ? scene->loads.forces_end : 0;
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
}

static pbd_status allocate(gissler_snow *s) {
    const size_t n = s->particles;
    const struct {
        real **to;
        size_t each;
    } part[] = {{&s->x, 4},          {&s->v, 4},       {&s->body, GISSLER_BODY},
                {&s->load, 4},       {&s->rest, 1},    {&s->volume, 1},
                {&s->correction, 9}, {&s->tensor, 9},  {&s->p, 1},
                {&s->diagonal, 1},   {&s->square, 2},  {&s->inverse, 6},
                {&s->star, 4},       {&s->pressed, 4}, {&s->w, 4},
                {&s->wish, 4},       {&s->target, 4},  {&s->bound, 4}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        PBD_TRY(pbd_alloc(s->exec, part[i].each * n * sizeof(real), (void **)part[i].to));
    for (size_t i = 0; i < KRYLOV_ROWS; i++) PBD_TRY(pbd_alloc(s->exec, 4 * n * sizeof(real), (void **)&s->row[i]));
    PBD_TRY(pbd_alloc(s->exec, n * sizeof(uint32_t), (void **)&s->note));
    PBD_TRY(pbd_alloc(s->exec, n * sizeof(uint32_t), (void **)&s->changed));
    return pbd_alloc(s->exec, GISSLER_WATCHED * gissler_snow_blocks(s) * sizeof(real), (void **)&s->block);
}

static double volume_of(const pbd_scene *scene, size_t i) {
    return scene->particles.volumes ? scene->particles.volumes[i]
           : scene->material->density > 0
               ? scene->particles.masses[i] / scene->material->density
               : scene->particles.spacing * scene->particles.spacing * scene->particles.spacing;
}

/* Of n particles: x, v, load (rows of four), body, rest, one after the other. */
static void fill_rows(const pbd_scene *scene, size_t n, real *rows) {
    real *x = rows, *v = x + 4 * n, *load = v + 4 * n, *body = load + 4 * n, *rest = body + GISSLER_BODY * n;
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < 3; d++) {
            x[4 * i + d] = (real)scene->particles.positions[3 * i + d];
            v[4 * i + d] = (real)(scene->particles.velocities ? scene->particles.velocities[3 * i + d] : 0);
            load[4 * i + d] =
                (real)(scene->loads.forces ? scene->loads.forces[3 * i + d] / scene->particles.masses[i] : 0);
            body[GISSLER_BODY * i + d] = 1;
        }
        x[4 * i + 3] = (real)scene->particles.masses[i];
        v[4 * i + 3] = 1;
        load[4 * i + 3] = (real)(scene->contact.radius ? scene->contact.radius[i] : 0);
        body[GISSLER_BODY * i + GISSLER_STATE] = (real)flow_first_state(scene->material);
        body[GISSLER_BODY * i + GISSLER_GROWTH] = 1;
        rest[i] = (real)volume_of(scene, i);
    }
    for (size_t k = 0; k < scene->particles.fixed; k++)
        for (size_t d = 0; d < 4; d++) v[4 * (size_t)scene->particles.fixed_particle[k] + d] = 0;
}

static pbd_status place_particles(gissler_snow *s, const pbd_scene *scene) {
    const size_t n = s->particles, all = 12 + GISSLER_BODY + 1;
    real *rows = calloc(all * n + 1, sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    fill_rows(scene, n, rows);
    const struct {
        real *to;
        size_t each;
    } part[] = {{s->x, 4}, {s->v, 4}, {s->load, 4}, {s->body, GISSLER_BODY}, {s->rest, 1}};
    pbd_status status = pbd_ok();
    const real *at = rows;
    for (size_t i = 0; i < sizeof part / sizeof *part && status.code == PBD_OK; at += part[i++].each * n)
        status = pbd_upload(s->exec, part[i].to, at, part[i].each * n * sizeof *rows);
    free(rows);
    return status;
}

static pbd_status build(gissler_snow *s, const pbd_scene *scene, const pbd_values *values) {
    read_values(s, scene, values);
    PBD_TRY(neighbours_create(&s->near, s->exec, s->particles, NULL, s->support, 0));
    PBD_TRY(allocate(s));
    PBD_TRY(collider_poses_create(&s->colliders, scene, s->exec, s->recorder));
    pbd_count(s->recorder, "particles", s->particles);
    return place_particles(s, scene);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    *state = NULL;
    PBD_TRY(check(scene));
    gissler_snow *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for gissler_snow");
    s->exec = exec;
    s->recorder = recorder;
    s->particles = scene->particles.count;
    s->material = scene->material[0];
    const pbd_status status = build(s, scene, values);
    if (status.code != PBD_OK)
        gissler_snow_destroy(s);
    else
        *state = s;
    return status;
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Entry e of a particle's field is at `entry[e]` of its `stride` numbers. */
static pbd_status read_rows(const gissler_snow *s, const real *device, size_t stride, const size_t *entry, size_t width,
                            double *out) {
    const size_t n = s->particles;
    real *rows = malloc((stride * n + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    const pbd_status status = pbd_download(s->exec, rows, device, stride * n * sizeof *rows);
    for (size_t k = 0; k < width * n && status.code == PBD_OK; k++)
        out[k] = (double)rows[stride * (k / width) + entry[k % width]];
    free(rows);
    return status;
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    static const size_t three[] = {0, 1, 2}, nine[] = {0, 3, 5, 3, 1, 4, 5, 4, 2};
    const gissler_snow *s = state;
    if (field == PBD_POSITIONS) return read_rows(s, s->x, 4, three, 3, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->v, 4, three, 3, out);
    if (field == PBD_DEFORMATION_GRADIENTS) return read_rows(s, s->body, GISSLER_BODY, nine, 9, out);
    return pbd_error(PBD_NOT_SUPPORTED, "gissler_snow has positions, velocities and elastic stretches only");
}

typedef struct saved_head {
    double time;
    uint64_t steps;
} saved_head;

enum { SAVED_PARTS = 3 };

static size_t saved_bytes(const gissler_snow *s, device_part out[SAVED_PARTS]) {
    const size_t n = s->particles * sizeof(real);
    out[0] = (device_part){s->x, 4 * n};
    out[1] = (device_part){s->v, 4 * n};
    out[2] = (device_part){s->body, GISSLER_BODY * n};
    return sizeof(saved_head) + device_parts_bytes(out, SAVED_PARTS);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const gissler_snow *s = state;
    device_part part[SAVED_PARTS];
    *bytes = saved_bytes(s, part);
    if (!blob) return pbd_ok();
    const saved_head head = {s->time, s->steps};
    memcpy(blob, &head, sizeof head);
    return device_parts_save(s->exec, part, SAVED_PARTS, (char *)blob + sizeof head);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    gissler_snow *s = state;
    device_part part[SAVED_PARTS];
    const size_t wanted = saved_bytes(s, part);
    if (bytes != wanted)
        return pbd_error(PBD_BAD_INPUT, "gissler_snow: the saved state has %zu bytes, not %zu", bytes, wanted);
    saved_head head;
    memcpy(&head, blob, sizeof head);
    s->time = head.time;
    s->steps = head.steps;
    return device_parts_load(s->exec, part, SAVED_PARTS, (const char *)blob + sizeof head);
}

const pbd_method PBD_NAME(gissler_snow) = {
    .bytes = sizeof(pbd_method),
    .name = "gissler_snow",
    .summary = "implicit compressible SPH for snow: pressure by Jacobi, shear by BiCGSTAB, flow after a step",
    .source = "Gissler et al. 2020, yu2024 Figure 19",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_FORCES_END | PBD_TAKES_COLLIDERS | PBD_TAKES_FLOW,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = gissler_snow_step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = gissler_snow_destroy,
};
