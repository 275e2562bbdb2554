/* xpbi: continua whose deformation is updated from the velocity gradient, each particle an XPBD constraint on the
 * velocities of its neighbours, flow rules inside the iterations (yu2024, Algorithm 1). README.md has the equations.
 *
 * This file has the parameters, creation, reading and saving; xpbi_step.c has the step. In a step particles are sorted
 * by cells (xpbi_layout.c); gradients and matrices of the constraints are computed once; each iteration solves the
 * constraints colour by colour, then position correction, colliders, liquid and cloth; at the end velocities are
 * smoothed (XSPH) and F, the rule's state and positions are updated. Kernels: xpbi_*_kernels.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/device/device_state.h"
#include "methods/physics/matter/flow_material.h"
#include "methods/xpbi/xpbi_step.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static const char *const plasticities[] = {"implicit", "semi_implicit", "none", NULL};
static const char *const solvers[] = {"coloured_gs", "jacobi", NULL};
static const char *const colours[] = {"27", "8", NULL};
static const char *const averagings[] = {"relaxation", "per_particle", NULL};
static const char *const constraints[] = {"energy", "pair", "stress", NULL};
static const char *const starts[] = {"zero", "stress", NULL};
static const char *const gradients[] = {"elastic", "printed", NULL};
static const char *const smoothings[] = {"symmetric", "printed", NULL};
static const char *const corrections[] = {"distance", "density", "off", "shift", NULL};
static const char *const on_off[] = {"on", "off", NULL};
static const char *const carriers[] = {"same", "before_xsph", NULL};
static const char *const volumes[] = {"tracked", "elastic", NULL};
static const char *const residuals[] = {"off", "first", "last", "every", NULL};

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "1e-4", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"iterations", "", PBD_INTEGER, "10", 1, 100000, 0, NULL, "of a step; with a tolerance: the largest number"},
    {"tolerance", "", PBD_REAL, "0", 0, 1, PBD_OPEN_MAX, NULL,
     "iterate until |C + alpha~ lambda| is below this times that before the first; 0: all iterations"},
    {"solver", "", PBD_CHOICE, "coloured_gs", 0, 0, 0, solvers, "order of the constraints"},
    {"colours", "", PBD_CHOICE, "27", 0, 0, 0, colours, "27: of cells of 2r, 8: of cells of 4r (Y-3)"},
    {"averaging", "", PBD_CHOICE, "relaxation", 0, 0, 0, averagings,
     "solver=jacobi: one factor for all, or the mean of a particle's moves, which loses momentum"},
    {"relaxation", "", PBD_REAL, "0.2", 0, 2, PBD_OPEN_MIN, NULL, "solver=jacobi, averaging=relaxation: that factor"},
    {"plasticity", "", PBD_CHOICE, "implicit", 0, 0, 0, plasticities,
     "flow within the iterations, at the end of a step only, or never"},
    {"constraint", "", PBD_CHOICE, "energy", 0, 0, 0, constraints,
     "C = sqrt(2 psi) (Eq. 6); one for shear and one for volume (Eq. 4, 5); or all of the stress at once"},
    {"multipliers", "", PBD_CHOICE, "zero", 0, 0, 0, starts,
     "at the start of a step: 0 (Algorithm 1), or those of the stress at its start"},
    {"gradient", "", PBD_CHOICE, "elastic", 0, 0, 0, gradients, "of C under flow: tau B^-T/C, or Eq. 12 (Y-4)"},
    {"gradient_correction", "", PBD_CHOICE, "on", 0, 0, 0, on_off, "L_p of Eq. 10, or off: 1 in its place"},
    {"radius", "", PBD_REAL, "1", 0.5, 10, PBD_OPEN_MIN, NULL, "r of the kernel, whose support is 2r, in spacings"},
    {"cutoff", "", PBD_REAL, "0.03", 0, 1, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL,
     "singular values of L^-1 below this times the largest count as 0"},
    {"volume", "", PBD_CHOICE, "tracked", 0, 0, 0, volumes, "V^n by the whole motion, or V^0 det F as printed"},
    {"xsph", "", PBD_REAL, "0.01", 0, 1, 0, NULL, "c of Eq. 20: how much velocities are smoothed each step"},
    {"xsph_form", "", PBD_CHOICE, "symmetric", 0, 0, 0, smoothings, "keeps momentum, or as printed (Y-5)"},
    {"position_correction", "", PBD_CHOICE, "distance", 0, 0, 0, corrections,
     "pairs are kept apart (Eq. 21), or density below its largest at the start (Figure 15), or pairs by shifts after"
     " each step that F knows nothing of"},
    {"correction_gap", "", PBD_REAL, "0.25", 0, 1, PBD_OPEN_MAX, NULL, "epsilon: pairs nearer than r (1 - gap) part"},
    {"correction_time", "s", PBD_REAL, "0.01", 0, 1e6, 0, NULL,
     "pairs that are nearer when a step begins gain dt over this of what they lack; 0: all at once, as printed"},
    {"deformation", "", PBD_CHOICE, "same", 0, 0, 0, carriers,
     "F goes by the velocities that x goes by (Eq. 22), or by those before XSPH"},
    {"hourglass_control", "", PBD_REAL, "0", 0, 100, 0, NULL,
     "elastic matter: springs against motions that gradients do not see, in units of E; not the paper's"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},
    {"fluid_passes", "", PBD_INTEGER, "1", 1, 1000, 0, NULL, "of the liquid's constraints in an iteration"},
    {"fluid_support", "", PBD_REAL, "2.2", 1.1, 6, 0, NULL, "where the liquid's kernel ends, in its spacings"},
    {"fluid_settling", "s", PBD_REAL, "0.02", 0, 1e6, 0, NULL,
     "time in which the excess density at the start falls to 1/e; 0: at once"},
    {"fluid_keep", "", PBD_REAL, "1", 0, 1, 0, NULL, "of the liquid's multipliers, a step begins with"},
    {"residual", "", PBD_CHOICE, "off", 0, 0, 0, residuals, "steps of which residuals are recorded"},
    {0}};

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static bool is_continuum(const pbd_scene *scene, size_t i) { return pbd_matter_of(scene, i) == PBD_CONTINUUM; }

static size_t continuum_of(const pbd_scene *scene) {
    size_t count = 0;
    for (size_t i = 0; i < scene->particles.count; i++) count += is_continuum(scene, i);
    return count;
}

static pbd_status check(const pbd_scene *scene, const pbd_values *values) {
    if (scene->particles.count == 0) return pbd_error(PBD_BAD_INPUT, "xpbi: the scene has no particles");
    if (!(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "xpbi: the scene's particles have a spacing of %g m: must be above 0",
                         scene->particles.spacing);
    if (!pbd_named(scene->material->law, "hencky"))
        return pbd_error(PBD_NOT_SUPPORTED,
                         "xpbi is for material=hencky alone (yu2024 Eq. 3): its flow rules map Hencky strains");
    if (continuum_of(scene) == 0)
        return pbd_error(PBD_NOT_SUPPORTED, "xpbi: the scene holds no continuum: pbf is for liquid alone");
    if (!(scene->material->nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must be below 0.5", scene->material->nu);
    if (pbd_real(values, "hourglass_control") > 0 && scene->material->flow)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "hourglass_control=%g is for elastic matter alone: its springs would hold what flows",
                         pbd_real(values, "hourglass_control"));
    if (pbd_choice(values, "constraint") == 1 && scene->material->nu < 0)
        return pbd_error(PBD_BAD_INPUT, "constraint=pair needs nu >= 0, not %g: its second energy would be negative",
                         scene->material->nu);
    if (pbd_choice(values, "position_correction") == CORRECTION_SHIFT && pbd_choice(values, "deformation") == 1)
        return pbd_error(PBD_BAD_INPUT, "position_correction=shift moves x differently already: use deformation=same");
    return pbd_ok();
}

static void read_values(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    const double E = scene->material->E, nu = scene->material->nu;
    s->unit = ldexp(1, ilogb(E));
    s->mu = E / (2 * (1 + nu)) / s->unit;
    s->lambda = E * nu / ((1 + nu) * (1 - 2 * nu)) / s->unit;
    s->spacing = scene->particles.spacing;
    s->radius = pbd_real(values, "radius") * scene->particles.spacing;
    s->gap = (1 - pbd_real(values, "correction_gap")) * s->radius;
    s->cutoff = pbd_real(values, "cutoff");
    s->xsph = pbd_real(values, "xsph");
    s->damping = pbd_real(values, "damping");
    s->hourglass = pbd_real(values, "hourglass_control");
    s->relaxation = pbd_real(values, "relaxation");
    s->tolerance = pbd_real(values, "tolerance");
    s->iterations = pbd_integer(values, "iterations");
    s->plasticity = pbd_choice(values, "plasticity");
    s->residual = pbd_choice(values, "residual");
    s->free = scene->particles.fixed == 0;
    s->jacobi = pbd_choice(values, "solver") == 1;
    s->averaged = s->jacobi && pbd_choice(values, "averaging") == 1;
    if (s->averaged) s->relaxation = 1;
    static const int forms[] = {XPBI_ENERGY, XPBI_SHEAR, XPBI_STRESS};
    s->form = forms[pbd_choice(values, "constraint")];
    s->warm = pbd_choice(values, "multipliers") == 1;
    s->printed_gradient = pbd_choice(values, "gradient") == 1;
    s->printed_xsph = pbd_choice(values, "xsph_form") == 1;
    s->elastic_volume = pbd_choice(values, "volume") == 1;
    s->plain_gradients = pbd_choice(values, "gradient_correction") == 1;
    s->apart = pbd_choice(values, "deformation") == 1;
    s->correction = pbd_choice(values, "position_correction");
    s->correction_time = pbd_real(values, "correction_time");
    s->duration = scene->duration;
    s->forces_end = scene->loads.forces ? scene->loads.forces_end : 0;
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
}

static pbd_status allocate_particles(xpbi *s, bool load, xpbi_particles *p) {
    const size_t rows = s->particles + XPBI_LANES;
    PBD_TRY(xpbi_allocate(s->exec, 4 * rows, sizeof(real), &p->x));
    PBD_TRY(xpbi_allocate(s->exec, 4 * rows, sizeof(real), &p->v));
    PBD_TRY(xpbi_allocate(s->exec, 12 * rows, sizeof(real), &p->body));
    if (load) PBD_TRY(xpbi_allocate(s->exec, 4 * rows, sizeof(real), &p->load));
    if (s->hourglass > 0) PBD_TRY(xpbi_allocate(s->exec, 4 * rows, sizeof(real), &p->stray));
    return xpbi_allocate(s->exec, rows, sizeof(uint32_t), &p->id);
}

static double volume_of(const pbd_scene *scene, size_t i) {
    const double density = pbd_material_of(scene, i)->density;
    return scene->particles.volumes ? scene->particles.volumes[i]
           : density > 0            ? scene->particles.masses[i] / density
                                    : scene->particles.spacing * scene->particles.spacing * scene->particles.spacing;
}

/* Which of the scene each row is: the continuum first, each kind in the scene's order. */
static void order_rows(const xpbi *s, const pbd_scene *scene, uint32_t *id) {
    size_t row[2] = {0, s->continuum};
    for (size_t i = 0; i < s->particles; i++) id[row[!is_continuum(scene, i)]++] = (uint32_t)i;
    for (size_t i = 0; i < XPBI_LANES; i++) id[s->particles + i] = (uint32_t)(s->particles + i);
}

/* Rows of x, v, body, load on the host. v: by how much each is displaced at the start. */
static void fill_rows(const xpbi *s, const pbd_scene *scene, const uint32_t *id, const bool *held, real *x, real *v,
                      real *body, real *load) {
    for (size_t k = 0; k < s->particles + XPBI_LANES; k++) {
        const size_t i = id[k];
        const bool real_one = k < s->particles;
        for (size_t d = 0; d < 3; d++) {
            x[4 * k + d] = (real)(real_one ? scene->particles.positions[3 * i + d] : 0);
            v[4 * k + d] = (real)(real_one && scene->particles.start
                                      ? scene->particles.start[3 * i + d] - scene->particles.positions[3 * i + d]
                                      : 0);
            body[12 * k + 5 * d] = 1;
            if (load && real_one && scene->loads.forces)
                load[4 * k + d] = (real)(scene->loads.forces[3 * i + d] / scene->particles.masses[i]);
        }
        x[4 * k + 3] = body[12 * k + 3] = (real)(real_one ? volume_of(scene, i) : 0);
        v[4 * k + 3] = (real)(real_one && !held[i] ? 1 / scene->particles.masses[i] : 0);
        body[12 * k + 7] = 1;
        body[12 * k + 11] = (real)flow_first_state(scene->material);
        if (load && real_one && scene->contact.radius) load[4 * k + 3] = (real)scene->contact.radius[i];
    }
}

static pbd_status upload_particles(xpbi *s, const real *rows, const uint32_t *id, xpbi_particles *p) {
    const size_t n = s->particles + XPBI_LANES, row = 4 * n * sizeof(real);
    PBD_TRY(pbd_upload(s->exec, p->x, rows, row));
    PBD_TRY(pbd_upload(s->exec, p->v, rows + 4 * n, row));
    PBD_TRY(pbd_upload(s->exec, p->body, rows + 8 * n, 3 * row));
    if (p->load) PBD_TRY(pbd_upload(s->exec, p->load, rows + 20 * n, row));
    return pbd_upload(s->exec, p->id, id, n * sizeof *id);
}

static pbd_status place_particles(xpbi *s, const pbd_scene *scene) {
    const size_t n = s->particles + XPBI_LANES;
    const bool load = scene->loads.forces || scene->contact.radius;
    PBD_TRY(allocate_particles(s, load, &s->now));
    PBD_TRY(allocate_particles(s, load, &s->other));
    real *rows = calloc(24 * n, sizeof *rows);
    uint32_t *id = malloc(n * sizeof *id);
    bool *held = calloc(n, sizeof *held);
    pbd_status status = rows && id && held ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    for (size_t k = 0; k < scene->particles.fixed && status.code == PBD_OK; k++)
        held[scene->particles.fixed_particle[k]] = true;
    if (status.code == PBD_OK) order_rows(s, scene, id);
    if (status.code == PBD_OK)
        fill_rows(s, scene, id, held, rows, rows + 4 * n, rows + 8 * n, load ? rows + 20 * n : NULL);
    if (status.code == PBD_OK) status = upload_particles(s, rows, id, &s->now);
    if (status.code == PBD_OK) status = upload_particles(s, rows, id, &s->other);
    free(rows);
    free(id);
    free(held);
    return status;
}

static pbd_status create_fluid(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    const pbd_material *liquid = pbd_first_material(scene, PBD_FLUID);
    const fluid_settings settings = {.kernel = 0,
                                     .support = pbd_real(values, "fluid_support"),
                                     .softening = 0.01,
                                     .keep = pbd_real(values, "fluid_keep"),
                                     .crowding_at = 0.2,
                                     .crowding_power = 4,
                                     .xsph = liquid ? liquid->viscosity : 0,
                                     .settling = pbd_real(values, "fluid_settling"),
                                     .walls = true};
    s->fluid_passes = pbd_integer(values, "fluid_passes");
    return fluid_create(&s->fluid, scene, &settings, s->exec, s->recorder);
}

static pbd_status build(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    const size_t blocks = xpbi_blocks_of(s->particles);
    read_values(s, scene, values);
    PBD_TRY(xpbi_layout_create(&s->layout, s->exec, s->continuum, 2 * s->radius,
                               pbd_choice(values, "colours") == 0 ? 3 : 2));
    xpbi_slices *slices = &s->layout.slices;
    slices->entries = s->form == XPBI_STRESS ? XPBI_STRESS_ENTRIES : XPBI_ENTRIES;
    if (s->hourglass > 0) slices->hourglass = slices->entries;
    if (s->hourglass > 0) slices->entries += HOURGLASS_ENTRIES;
    s->layout.nobody = s->particles;
    PBD_TRY(xpbi_allocate(s->exec, XPBI_WATCHED * blocks, sizeof(real), &s->block));
    PBD_TRY(xpbi_allocate(s->exec, s->particles + XPBI_LANES, sizeof(uint32_t), &s->note));
    PBD_TRY(collider_poses_create(&s->colliders, scene, s->exec, s->recorder));
    if (s->colliders.count > 0) PBD_TRY(xpbi_allocate(s->exec, s->particles, sizeof(real), &s->clearance));
    PBD_TRY(place_particles(s, scene));
    PBD_TRY(create_fluid(s, scene, values));
    pbd_count(s->recorder, "particles", s->particles);
    pbd_count(s->recorder, "constraints_total", s->continuum * (s->form == XPBI_SHEAR ? 2 : 1));
    return xpbi_begin(s, scene);
}

/* Of particles, of all a scene holds but cloth. */
static pbd_status create_particles(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    PBD_TRY(check(scene, values));
    s->fastest = INFINITY;
    s->particles = scene->particles.count;
    s->continuum = continuum_of(scene);
    s->material = scene->material[0];
    return build(s, scene, values);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    *state = NULL;
    xpbi *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for xpbi");
    s->exec = exec;
    s->recorder = recorder;
    const bool mixed = pbd_holds(scene, PBD_CLOTH);
    pbd_status status = pbd_ok();
    if (mixed)
        status = xpbi_cloth_create(&s->cloth, scene, pbd_real(values, "damping"), pbd_real(values, "correction_time"),
                                   exec, recorder);
    if (status.code == PBD_OK) status = create_particles(s, mixed ? &s->cloth.rest.scene : scene, values);
    if (status.code != PBD_OK)
        xpbi_destroy(s);
    else
        *state = s;
    return status;
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Entry e of a particle in the field's order is at `entry[e]` of its row of `stride`. */
static pbd_status read_rows(const xpbi *s, const real *device, size_t stride, const size_t *entry, size_t width,
                            double *out) {
    const size_t n = s->particles;
    real *rows = malloc((stride * n + 1) * sizeof *rows);
    uint32_t *id = malloc((n + 1) * sizeof *id);
    pbd_status status = rows && id ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    if (status.code == PBD_OK) status = pbd_download(s->exec, rows, device, stride * n * sizeof *rows);
    if (status.code == PBD_OK) status = pbd_download(s->exec, id, s->now.id, n * sizeof *id);
    for (size_t k = 0; k < width * n && status.code == PBD_OK; k++)
        out[width * id[k / width] + k % width] = (double)rows[stride * (k / width) + entry[k % width]];
    free(rows);
    free(id);
    return status;
}

static pbd_status read_particles(const xpbi *s, pbd_field field, double *out) {
    static const size_t three[] = {0, 1, 2}, nine[] = {0, 4, 8, 1, 5, 9, 2, 6, 10};
    if (field == PBD_POSITIONS) return read_rows(s, s->now.x, 4, three, 3, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->now.v, 4, three, 3, out);
    if (field == PBD_DEFORMATION_GRADIENTS) return read_rows(s, s->now.body, 12, nine, 9, out);
    if (field == PBD_PRESSURES && s->fluid.liquid > 0) return fluid_read_pressures(&s->fluid, s->now.x, s->now.id, out);
    if (field == PBD_EXCHANGE && s->fluid.liquid > 0) return fluid_read_exchange(&s->fluid, out);
    return pbd_error(
        PBD_NOT_SUPPORTED,
        "xpbi has positions, velocities, elastic deformation gradients and, of liquid, pressures and exchange");
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const xpbi *s = state;
    if (!s->cloth.cloth) return read_particles(s, field, out);
    double *rest = malloc((9 * s->particles + 1) * sizeof *rest);
    if (!rest) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", s->particles);
    pbd_status status = read_particles(s, field, rest);
    if (status.code == PBD_OK) status = xpbi_cloth_read(&s->cloth, field, rest, out);
    free(rest);
    return status;
}

/* All that a step starts from: particles in their order, the time, and what decides that order from now on. */
typedef struct saved_head {
    double time;
    double fastest;
    uint64_t steps, builds[2];
    int bits[2][3];
} saved_head;

static size_t saved_parts(const xpbi *s, device_part out[6]) {
    const size_t n = s->particles, row = 4 * n * sizeof(real);
    size_t count = 0;
    out[count++] = (device_part){s->now.x, row};
    out[count++] = (device_part){s->now.v, row};
    out[count++] = (device_part){s->now.body, 3 * row};
    if (s->now.load) out[count++] = (device_part){s->now.load, row};
    if (s->now.stray) out[count++] = (device_part){s->now.stray, row};
    out[count++] = (device_part){s->now.id, n * sizeof *s->now.id};
    return count;
}

static size_t saved_bytes(const xpbi *s) {
    device_part part[6];
    return sizeof(saved_head) + device_parts_bytes(part, saved_parts(s, part)) + fluid_saved_bytes(&s->fluid) +
           xpbi_cloth_bytes(&s->cloth);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const xpbi *s = state;
    *bytes = saved_bytes(s);
    if (!blob) return pbd_ok();
    saved_head head = {.time = s->time, .fastest = s->fastest, .steps = s->steps};
    const grid *g[2] = {&s->layout.search, &s->layout.colouring};
    for (int k = 0; k < 2; k++) {
        head.builds[k] = g[k]->builds;
        memcpy(head.bits[k], g[k]->bits, sizeof g[k]->bits);
    }
    memcpy(blob, &head, sizeof head);
    device_part part[6];
    const size_t count = saved_parts(s, part);
    char *at = (char *)blob + sizeof head;
    PBD_TRY(device_parts_save(s->exec, part, count, at));
    at += device_parts_bytes(part, count);
    PBD_TRY(fluid_save(&s->fluid, at));
    return xpbi_cloth_save(&s->cloth, at + fluid_saved_bytes(&s->fluid));
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    xpbi *s = state;
    if (bytes != saved_bytes(s))
        return pbd_error(PBD_BAD_INPUT, "xpbi: the saved state has %zu bytes, not %zu", bytes, saved_bytes(s));
    saved_head head;
    memcpy(&head, blob, sizeof head);
    s->time = head.time;
    s->steps = head.steps;
    s->fastest = head.fastest;
    grid *g[2] = {&s->layout.search, &s->layout.colouring};
    for (int k = 0; k < 2; k++) {
        g[k]->builds = head.builds[k];
        memcpy(g[k]->bits, head.bits[k], sizeof g[k]->bits);
    }
    device_part part[6];
    const size_t count = saved_parts(s, part);
    const char *at = (const char *)blob + sizeof head;
    PBD_TRY(device_parts_load(s->exec, part, count, at));
    at += device_parts_bytes(part, count);
    PBD_TRY(fluid_load(&s->fluid, at));
    return xpbi_cloth_load(&s->cloth, at + fluid_saved_bytes(&s->fluid));
}

const pbd_method PBD_NAME(xpbi) = {
    .bytes = sizeof(pbd_method),
    .name = "xpbi",
    .summary = "continua with flow rules: XPBD on velocities, deformation by their gradients",
    .source = "yu2024 Algorithm 1, Eqs. 6, 9 to 22 (corrections Y-1 to Y-5)",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_COLLIDERS | PBD_TAKES_FLOW | PBD_TAKES_FLUID |
             PBD_TAKES_CLOTH,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = xpbi_step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = xpbi_destroy,
};
