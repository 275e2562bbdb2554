#include "methods/physics/parts/particle_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/parts/particle_cut.h"
#include "methods/physics/parts/particle_energy_kernels.h"
#include "methods/physics/space/colouring.h"
#include "methods/physics/space/particle_layout.h"
#include "methods/physics/space/shape_making.h"

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

typedef struct particle_energy {
    pbd_exec *exec;
    pbd_recorder *recorder;
    const char *method;
    particle_layout layout; /* host, f64: places, neighbours, slices */
    shape_choice shape;
    energy_material material;
    contact contact;
    particle_cuts cuts;
    uint32_t *full; /* places: neighbours at the start; NULL without blades */
    bool jacobi;
    double share; /* Jacobi */
    long iterations, substeps;
    double damping, dt, time, forces_end; /* s */
    uint64_t steps;
    double looked, idled; /* constraints */
    /* Device, by place of particle. */
    real *x, *v, *a, *p, *later;              /* rows of 4; later: accelerations once forces have ended, or NULL */
    real *gradient_at, *density_at, *idle_at; /* of look_at_particles */
    /* Device, by slot of constraint; counted from slot 0. */
    particle_view view;
    real *multiplier, *plastic;
    pbd_repeat *repeat; /* the launches of a step */
} particle_energy;

static void particle_energy_free_slots(particle_energy *s) {
    const particle_view *v = &s->view;
    const void *device[] = {v->slice,  v->neighbour, v->gradient, v->reverse,    v->own,     v->sum,
                            v->weight, v->offset,    v->volume,   s->multiplier, s->plastic, v->impulse};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, (void *)(uintptr_t)device[i]);
    s->view = (particle_view){0};
    s->multiplier = s->plastic = NULL;
}

void particle_energy_destroy(void *state) {
    particle_energy *s = state;
    if (!s) return;
    pbd_repeat_free(s->exec, s->repeat);
    real *device[] = {s->x, s->v, s->a, s->p, s->later, s->gradient_at, s->density_at, s->idle_at};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    particle_energy_free_slots(s);
    contact_free(&s->contact);
    particle_cuts_free(&s->cuts);
    free(s->full);
    particle_layout_free(&s->layout);
    free(s);
}

/* A copy on the device. */
static pbd_status particle_upload(pbd_exec *exec, const void *host, size_t bytes, void *device) {
    void **out = device;
    PBD_TRY(pbd_alloc(exec, bytes, out));
    return pbd_upload(exec, *out, host, bytes);
}

static pbd_status particle_alloc(pbd_exec *exec, size_t count, real **out) {
    void *memory = NULL;
    const pbd_status status = pbd_alloc(exec, count * sizeof(real), &memory);
    *out = memory;
    return status;
}

/* A copy on the device, in this precision. NULL stays NULL. */
static pbd_status particle_upload_reals(pbd_exec *exec, const double *host, size_t count, void *device) {
    if (!host) return pbd_ok();
    real *rounded = malloc((count + 1) * sizeof *rounded);
    if (!rounded) return pbd_error(PBD_FAILED, "out of memory for %zu numbers", count);
    for (size_t i = 0; i < count; i++) rounded[i] = (real)host[i];
    const pbd_status status = particle_upload(exec, rounded, count * sizeof *rounded, device);
    free(rounded);
    return status;
}

/* Accelerations of gravity, and of forces if asked for, by place. */
static void particle_accelerations(const pbd_scene *scene, const particle_layout *l, bool forces, double *out) {
    for (size_t i = 0; i < 4 * l->particles; i++) {
        const size_t place = i / 4, d = i % 4, particle = l->particle[place];
        double a = d < 3 && l->inverse[place] > 0 ? scene->loads.gravity[d] : 0;
        if (d < 3 && forces && scene->loads.forces) a += scene->loads.forces[3 * particle + d] * l->inverse[place];
        out[i] = a;
    }
}

static void particle_rows(const pbd_scene *scene, const particle_layout *l, double *x, double *v) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    for (size_t place = 0; place < l->particles; place++) {
        const size_t particle = l->particle[place];
        for (size_t d = 0; d < 3; d++) {
            x[4 * place + d] = start[3 * particle + d];
            if (l->inverse[place] > 0 && scene->particles.velocities)
                v[4 * place + d] = scene->particles.velocities[3 * particle + d];
        }
        x[4 * place + 3] = l->inverse[place];
    }
}

static pbd_status particle_energy_particles(particle_energy *s, const pbd_scene *scene) {
    const size_t n = s->layout.particles;
    double *rows = calloc(12 * n + 1, sizeof *rows), *x = rows, *v = rows + 4 * n, *a = rows + 8 * n;
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    particle_rows(scene, &s->layout, x, v);
    particle_accelerations(scene, &s->layout, true, a);
    pbd_status status = particle_upload_reals(s->exec, x, 4 * n, &s->x);
    if (status.code == PBD_OK) status = particle_upload_reals(s->exec, v, 4 * n, &s->v);
    if (status.code == PBD_OK) status = particle_upload_reals(s->exec, a, 4 * n, &s->a);
    if (status.code == PBD_OK) status = particle_upload_reals(s->exec, x, 4 * n, &s->p);
    if (status.code == PBD_OK && scene->loads.forces_end > 0) {
        particle_accelerations(scene, &s->layout, false, a);
        status = particle_upload_reals(s->exec, a, 4 * n, &s->later);
    }
    free(rows);
    if (status.code == PBD_OK) status = particle_alloc(s->exec, 9 * n, &s->gradient_at);
    if (status.code == PBD_OK) status = particle_alloc(s->exec, n, &s->density_at);
    if (status.code == PBD_OK) status = particle_alloc(s->exec, n, &s->idle_at);
    return status;
}

/* The layout's constraints onto the device. */
static pbd_status particle_energy_slots(particle_energy *s) {
    const particle_layout *l = &s->layout;
    const size_t slots = l->slots, entries = l->rows * PARTICLE_SLICE;
    particle_view *v = &s->view;
    v->p = s->p;
    v->stride = slots;
    PBD_TRY(particle_upload(s->exec, l->slice, (slots / PARTICLE_SLICE + 1) * sizeof *l->slice, &v->slice));
    PBD_TRY(particle_upload(s->exec, l->neighbour, entries * sizeof *l->neighbour, &v->neighbour));
    PBD_TRY(particle_upload(s->exec, l->own, slots * sizeof *l->own, &v->own));
    PBD_TRY(particle_upload_reals(s->exec, l->gradient, 3 * entries, &v->gradient));
    PBD_TRY(particle_upload_reals(s->exec, l->reverse, 3 * entries, &v->reverse));
    PBD_TRY(particle_upload_reals(s->exec, l->sum, 3 * slots, &v->sum));
    PBD_TRY(particle_upload_reals(s->exec, l->weight, 6 * slots, &v->weight));
    PBD_TRY(particle_upload_reals(s->exec, l->offset, l->offset ? 9 * slots : 0, &v->offset));
    PBD_TRY(particle_upload_reals(s->exec, l->slot_volume, slots, &v->volume));
    if (s->jacobi) PBD_TRY(particle_alloc(s->exec, 12 * slots, &v->impulse));
    if (s->material.form != ENERGY_PBD) PBD_TRY(particle_alloc(s->exec, slots, &s->multiplier));
    if (s->material.yield > 0) PBD_TRY(particle_alloc(s->exec, PLASTIC_ENTRIES * slots, &s->plastic));
    return pbd_ok();
}

static void particle_energy_report(const particle_energy *s) {
    const particle_layout *l = &s->layout;
    const size_t pairs = l->near.first[l->particles];
    pbd_count(s->recorder, "particles", l->particles);
    pbd_count(s->recorder, "constraints_total", l->particles);
    pbd_count(s->recorder, "colours", (uint64_t)l->colours);
    pbd_metric(s->recorder, "neighbours_per_particle", "1", PBD_STATE, (double)pairs / (double)l->particles);
    pbd_metric(s->recorder, "slice_filling", "1", PBD_QUALITY,
               l->rows ? (double)pairs / (double)(l->rows * PARTICLE_SLICE) : 1);
    if (s->jacobi) pbd_metric(s->recorder, "jacobi_largest_eigenvalue", "1", PBD_STATE, l->largest);
    if (l->few > 0)
        pbd_warning(s->recorder, "few_neighbours", "%zu particles have fewer than four neighbours within %g m", l->few,
                    s->shape.radius);
    if (l->deficient > 0)
        pbd_warning(s->recorder, "singular_correction",
                    "the neighbours of %zu particles do not span space: their corrections are pseudo-inverses",
                    l->deficient);
}

static pbd_status particle_energy_sharpen(particle_energy *s, const pbd_scene *scene) {
    const size_t n = s->layout.particles;
    PBD_TRY(particle_cuts_make(scene, &s->cuts));
    s->full = malloc((n + 1) * sizeof *s->full);
    if (!s->full) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    for (size_t i = 0; i < n; i++) s->full[i] = (uint32_t)(s->layout.near.first[i + 1] - s->layout.near.first[i]);
    return pbd_ok();
}

/* `shape`: its kernel, radius and form are taken from the values. */
static pbd_status particle_energy_fill(particle_energy *s, const char *method, shape_choice shape,
                                       const pbd_scene *scene, const pbd_values *values, pbd_exec *exec,
                                       pbd_recorder *recorder) {
    *s = (particle_energy){.exec = exec, .recorder = recorder, .method = method, .forces_end = scene->loads.forces_end};
    s->jacobi = pbd_choice(values, "solver") == 0;
    s->iterations = pbd_integer(values, "iterations");
    s->substeps = pbd_integer(values, "substeps");
    s->damping = pbd_real(values, "damping");
    s->shape = shape;
    s->shape.kernel = pbd_choice(values, "kernel");
    s->shape.radius = pbd_real(values, "radius") * scene->particles.spacing;
    s->shape.displacement = pbd_choice(values, "form") == 1;
    PBD_TRY(energy_material_make(scene->material, values, pbd_choice(values, "constraint"), false, &s->material));
    PBD_TRY(particle_layout_make(scene, &s->shape, s->jacobi, &s->layout));
    s->share = s->jacobi ? pbd_real(values, "relaxation") / s->layout.largest : 1;
    PBD_TRY(particle_energy_particles(s, scene));
    PBD_TRY(particle_energy_slots(s));
    PBD_TRY(contact_create(&s->contact, scene, s->layout.particle, exec, recorder, contact_settings_read(values)));
    if (scene->blades.count > 0) PBD_TRY(particle_energy_sharpen(s, scene));
    particle_energy_report(s);
    const size_t runs = (size_t)pbd_integer(values, "kernel_runs");
    return runs > 0 ? shape_time_making(exec, &s->layout, &s->shape, runs, recorder) : pbd_ok();
}

pbd_status particle_energy_create(const char *method, shape_choice shape, const pbd_scene *scene,
                                  const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder, void **state) {
    particle_energy *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for %s", method);
    const pbd_status status = particle_energy_fill(s, method, shape, scene, values, exec, recorder);
    if (status.code != PBD_OK)
        particle_energy_destroy(s);
    else
        *state = s;
    return status;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Constraints from `slot`, a multiple of PARTICLE_SLICE, on. */
static particle_view particle_view_from(const particle_energy *s, size_t slot) {
    particle_view v = s->view;
    v.slice += slot / PARTICLE_SLICE;
    v.own += slot;
    v.sum += slot;
    v.weight += slot;
    if (v.offset) v.offset += slot;
    v.volume += slot;
    if (v.impulse) v.impulse += 12 * slot;
    return v;
}

static particle_energy_args particle_args_from(const particle_energy *s, size_t slot) {
    return (particle_energy_args){.view = particle_view_from(s, slot),
                                  .law = s->material.law,
                                  .fibre = s->material.fibre,
                                  .plastic = s->plastic ? s->plastic + slot : NULL,
                                  .multiplier = s->multiplier ? s->multiplier + slot : NULL,
                                  .compliance = energy_compliance(&s->material, s->dt),
                                  .share = (real)s->share,
                                  .form = s->material.form};
}

static pbd_status particle_energy_jacobi(particle_energy *s) {
    const particle_energy_args args = particle_args_from(s, 0);
    pbd_phase_begin(s->recorder, "constraints");
    pbd_status status =
        PBD_RUN(s->exec, store_particle_impulses, s->layout.particles, particle_layout_work(&s->layout, 0), &args);
    pbd_phase_end(s->recorder);
    if (status.code != PBD_OK) return status;
    pbd_phase_begin(s->recorder, "moves");
    status =
        PBD_RUN(s->exec, gather_particle_impulses, s->layout.particles, particle_layout_work(&s->layout, 0), &args);
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status particle_energy_gauss_seidel(particle_energy *s) {
    const particle_layout *l = &s->layout;
    pbd_status status = pbd_ok();
    pbd_phase_begin(s->recorder, "projection");
    for (int c = 0; c < l->colours && status.code == PBD_OK; c++) {
        const particle_energy_args args = particle_args_from(s, l->colour_slot[c]);
        status = PBD_RUN(s->exec, project_particles, l->colour_count[c], particle_layout_work(l, c), &args);
    }
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status particle_energy_sweep(particle_energy *s) {
    pbd_count(s->recorder, "constraint_solves", s->layout.particles);
    pbd_count(s->recorder, "neighbour_updates", s->layout.near.first[s->layout.particles]);
    return s->jacobi ? particle_energy_jacobi(s) : particle_energy_gauss_seidel(s);
}

static pbd_status particle_energy_flow(particle_energy *s) {
    for (int c = 0; c < s->layout.colours && s->plastic; c++) {
        const size_t slot = s->layout.colour_slot[c];
        const particle_flow_args args = {.view = particle_view_from(s, slot),
                                         .plastic = s->plastic + slot,
                                         .yield = (real)s->material.yield,
                                         .creep = (real)(1 - exp(-s->material.creep * s->dt)),
                                         .deviatoric = s->material.deviatoric};
        PBD_TRY(
            PBD_RUN(s->exec, flow_particles, s->layout.colour_count[c], particle_layout_work(&s->layout, c), &args));
    }
    return pbd_ok();
}

/* ---- Cuts (Algorithm 1, line 17) ---- */

/* Plastic strain keeps to its particle while slots change: out of one layout by place, into the next. */
static void particle_plastic_by_place(const particle_layout *l, const real *slots, real *places) {
    for (int c = 0; c < l->colours; c++)
        for (size_t s = l->colour_slot[c]; s < l->colour_slot[c] + l->colour_count[c]; s++)
            for (size_t e = 0; e < PLASTIC_ENTRIES; e++) places[e * l->particles + l->own[s]] = slots[e * l->slots + s];
}

static void particle_plastic_by_slot(const particle_layout *l, const real *places, real *slots) {
    for (size_t s = 0; s < l->slots; s++)
        for (size_t e = 0; e < PLASTIC_ENTRIES; e++) slots[e * l->slots + s] = places[e * l->particles + l->own[s]];
}

/* Everything that hangs on neighbours, made again from layout.near. */
static pbd_status particle_energy_remake(particle_energy *s) {
    particle_layout *l = &s->layout;
    real *places = NULL, *slots = NULL;
    pbd_status status = pbd_ok();
    if (s->plastic) {
        places = calloc(PLASTIC_ENTRIES * l->particles + 1, sizeof *places);
        slots = malloc(PLASTIC_ENTRIES * l->slots * sizeof *slots);
        status = places && slots ? pbd_download(s->exec, slots, s->plastic, PLASTIC_ENTRIES * l->slots * sizeof *slots)
                                 : pbd_error(PBD_FAILED, "out of memory for the plastic strain of a cut body");
        if (status.code == PBD_OK) particle_plastic_by_place(l, slots, places);
    }
    const double relaxation = s->share * l->largest;
    if (status.code == PBD_OK) status = pbd_exec_wait(s->exec);
    particle_energy_free_slots(s);
    if (status.code == PBD_OK) status = particle_layout_remake(l, &s->shape);
    if (status.code == PBD_OK && s->jacobi) s->share = relaxation / l->largest;
    if (status.code == PBD_OK) status = particle_energy_slots(s);
    if (status.code == PBD_OK && places) {
        free(slots);
        slots = malloc((PLASTIC_ENTRIES * l->slots + 1) * sizeof *slots);
        if (!slots) status = pbd_error(PBD_FAILED, "out of memory for the plastic strain of a cut body");
        if (status.code == PBD_OK) particle_plastic_by_slot(l, places, slots);
        if (status.code == PBD_OK)
            status = pbd_upload(s->exec, s->plastic, slots, PLASTIC_ENTRIES * l->slots * sizeof *slots);
    }
    free(places);
    free(slots);
    return status;
}

/* Pieces are bodies of their own from now on: they may touch. */
static pbd_status particle_energy_count_pieces(particle_energy *s) {
    uint32_t *number = malloc((s->layout.particles + 1) * sizeof *number);
    size_t pieces = 0;
    if (!number) return pbd_error(PBD_FAILED, "out of memory for %zu particles", s->layout.particles);
    pbd_status status = particle_pieces(&s->layout.near, number, &pieces);
    if (status.code == PBD_OK) status = contact_set_bodies(&s->contact, number);
    free(number);
    pbd_metric(s->recorder, "pieces", "1", PBD_STATE, (double)pieces);
    pbd_metric(s->recorder, "pairs_cut", "1", PBD_STATE, (double)s->cuts.cut);
    pbd_metric(s->recorder, "pairs_added_by_cuts", "1", PBD_STATE, (double)s->cuts.added);
    return status;
}

static pbd_status particle_energy_cut(particle_energy *s) {
    const size_t n = s->layout.particles;
    bool changed = false;
    if (!particle_cuts_active(&s->cuts, s->time)) return pbd_ok();
    pbd_phase_begin(s->recorder, "cut");
    real *rows = malloc((4 * n + 1) * sizeof *rows);
    double *x = malloc((3 * n + 1) * sizeof *x);
    pbd_status status = rows && x ? pbd_download(s->exec, rows, s->x, 4 * n * sizeof *rows)
                                  : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    for (size_t i = 0; i < 3 * n && status.code == PBD_OK; i++) x[i] = (double)rows[4 * (i / 3) + i % 3];
    if (status.code == PBD_OK)
        status =
            particle_cut(&s->cuts, s->time, x, s->layout.rest, s->shape.radius, s->full, &s->layout.near, &changed);
    free(rows);
    free(x);
    if (status.code == PBD_OK && changed) status = particle_energy_remake(s);
    if (status.code == PBD_OK && changed) status = particle_energy_count_pieces(s);
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status particle_energy_substep(particle_energy *s) {
    const size_t n = s->layout.particles;
    /* Half a step of slack: sums of steps do not hit `forces_end` to the bit. */
    const bool ended = s->later && s->time > s->forces_end - 0.5 * s->dt;
    const predict_args predict = {.x = s->x, .v = s->v, .a = ended ? s->later : s->a, .p = s->p, .dt = (real)s->dt};
    PBD_TRY(PBD_RUN(s->exec, predict, n, &predict));
    if (s->multiplier) {
        const clear_args clear = {s->multiplier};
        PBD_TRY(PBD_RUN(s->exec, clear_reals, s->layout.slots, &clear));
    }
    PBD_TRY(contact_begin(&s->contact, s->p, s->time, s->dt));
    for (long i = 0; i < s->iterations; i++) {
        PBD_TRY(particle_energy_sweep(s));
        PBD_TRY(contact_iterate(&s->contact, s->x, s->p));
    }
    PBD_TRY(contact_end(&s->contact, s->p));
    PBD_TRY(particle_energy_flow(s));
    const advance_args advance = {s->p, s->x, s->v, (real)(1 / s->dt), (real)exp(-s->damping * s->dt)};
    s->time += s->dt;
    PBD_TRY(PBD_RUN(s->exec, advance, n, &advance));
    return particle_energy_cut(s);
}

/* F, energy density and idle constraints at the positions `rows`. */
static pbd_status particle_energy_look(const particle_energy *s, real *rows) {
    for (int c = 0; c < s->layout.colours; c++) {
        particle_look_args args = {.energy = particle_args_from(s, s->layout.colour_slot[c]),
                                   .gradient = s->gradient_at,
                                   .density = s->density_at,
                                   .idle = s->idle_at};
        args.energy.view.p = rows;
        PBD_TRY(
            PBD_RUN(s->exec, look_at_particles, s->layout.colour_count[c], particle_layout_work(&s->layout, c), &args));
    }
    return pbd_ok();
}

/* Which share of the constraints could act: nothing is cut off, but a state may have energy and no gradient. Looked at
 * in steps 1, 2, 4, ... and then every 64th. */
static pbd_status particle_energy_count_idle(particle_energy *s) {
    const size_t n = s->layout.particles;
    real *idle = malloc((n + 1) * sizeof *idle);
    if (!idle) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    pbd_status status = particle_energy_look(s, s->x);
    if (status.code == PBD_OK) status = pbd_download(s->exec, idle, s->idle_at, n * sizeof *idle);
    double undefined = 0;
    for (size_t i = 0; i < n && status.code == PBD_OK; i++) {
        s->idled += idle[i] > 0;
        undefined += idle[i] > 1;
    }
    s->looked += (double)n;
    energy_warn_of_undefined(s->recorder, &s->material, undefined, n, s->steps);
    free(idle);
    pbd_metric(s->recorder, "applied_fraction", "1", PBD_QUALITY, 1 - s->idled / s->looked);
    return status;
}

pbd_status particle_energy_step(void *state, double dt) {
    particle_energy *s = state;
    s->dt = dt / (double)s->substeps;
    PBD_TRY(pbd_repeat_begin(s->exec, &s->repeat));
    for (long i = 0; i < s->substeps; i++) PBD_TRY(particle_energy_substep(s));
    PBD_TRY(pbd_repeat_end(s->exec));
    PBD_TRY(contact_record(&s->contact));
    pbd_count(s->recorder, "steps", 1);
    s->steps++;
    const bool power_of_two = (s->steps & (s->steps - 1)) == 0;
    return (power_of_two && s->steps < 64) || s->steps % 64 == 0 ? particle_energy_count_idle(s) : pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* `width` numbers of each particle, `stride` apart, from places to particles. */
static pbd_status particle_read_rows(const particle_energy *s, const real *device, size_t stride, size_t width,
                                     double *out) {
    const size_t n = s->layout.particles;
    real *rows = malloc((stride * n + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    const pbd_status status = pbd_download(s->exec, rows, device, stride * n * sizeof *rows);
    for (size_t i = 0; i < width * n && status.code == PBD_OK; i++)
        out[width * s->layout.particle[i / width] + i % width] = (double)rows[stride * (i / width) + i % width];
    free(rows);
    return status;
}

pbd_status particle_energy_read(const void *state, pbd_field field, double *out) {
    const particle_energy *s = state;
    if (field == PBD_POSITIONS) return particle_read_rows(s, s->x, 4, 3, out);
    if (field == PBD_VELOCITIES) return particle_read_rows(s, s->v, 4, 3, out);
    if (field == PBD_DEFORMATION_GRADIENTS) {
        PBD_TRY(particle_energy_look(s, s->x));
        return particle_read_rows(s, s->gradient_at, 9, 9, out);
    }
    return pbd_error(PBD_NOT_SUPPORTED, "%s has positions, velocities and deformation gradients only", s->method);
}

/* x, v, the time and plastic strain; where there are blades also who is whose neighbour: all that a step starts from.
 */
static size_t particle_plastic_bytes(const particle_energy *s) {
    return s->plastic ? PLASTIC_ENTRIES * s->layout.particles * sizeof(real) : 0;
}

static pbd_status particle_save_plastic(const particle_energy *s, void *places) {
    const size_t bytes = PLASTIC_ENTRIES * s->layout.slots * sizeof(real);
    real *slots = malloc(bytes + 1);
    if (!slots) return pbd_error(PBD_FAILED, "out of memory for the plastic strain");
    const pbd_status status = pbd_download(s->exec, slots, s->plastic, bytes);
    if (status.code == PBD_OK) particle_plastic_by_place(&s->layout, slots, places);
    free(slots);
    return status;
}

static pbd_status particle_load_plastic(particle_energy *s, const void *places) {
    const size_t bytes = PLASTIC_ENTRIES * s->layout.slots * sizeof(real);
    real *slots = malloc(bytes + 1);
    if (!slots) return pbd_error(PBD_FAILED, "out of memory for the plastic strain");
    particle_plastic_by_slot(&s->layout, places, slots);
    const pbd_status status = pbd_upload(s->exec, s->plastic, slots, bytes);
    free(slots);
    return status;
}

pbd_status particle_energy_save(const void *state, void *blob, size_t *bytes) {
    const particle_energy *s = state;
    const rest_neighbours *near = &s->layout.near;
    const size_t n = s->layout.particles, rows = 4 * n * sizeof(real), plastic = particle_plastic_bytes(s);
    const size_t first = (n + 1) * sizeof *near->first, pairs = near->first[n] * sizeof *near->particle;
    *bytes = 2 * rows + sizeof s->time + plastic + (s->full ? first + pairs : 0);
    if (!blob) return pbd_ok();
    char *at = blob;
    PBD_TRY(pbd_download(s->exec, at, s->x, rows));
    PBD_TRY(pbd_download(s->exec, at + rows, s->v, rows));
    memcpy(at + 2 * rows, &s->time, sizeof s->time);
    at += 2 * rows + sizeof s->time;
    if (s->plastic) PBD_TRY(particle_save_plastic(s, at));
    if (!s->full) return pbd_ok();
    memcpy(at + plastic, near->first, first);
    memcpy(at + plastic + first, near->particle, pairs);
    return pbd_ok();
}

/* Puts back the neighbours of a saved state, where cuts have changed them since. */
static pbd_status particle_load_neighbours(particle_energy *s, const char *blob) {
    rest_neighbours *near = &s->layout.near;
    const size_t n = s->layout.particles, first = (n + 1) * sizeof *near->first;
    size_t pairs;
    memcpy(&pairs, blob + n * sizeof pairs, sizeof pairs);
    if (memcmp(near->first, blob, first) == 0 &&
        memcmp(near->particle, blob + first, pairs * sizeof *near->particle) == 0)
        return pbd_ok();
    uint32_t *particle = malloc((pairs + 1) * sizeof *particle);
    if (!particle) return pbd_error(PBD_FAILED, "out of memory for %zu pairs of neighbours", pairs);
    memcpy(near->first, blob, first);
    memcpy(particle, blob + first, pairs * sizeof *particle);
    free(near->particle);
    near->particle = particle;
    free(s->layout.power); /* as if nothing had been cut: the same share, to the bit */
    s->layout.power = NULL;
    PBD_TRY(particle_energy_remake(s));
    return particle_energy_count_pieces(s);
}

pbd_status particle_energy_load(void *state, const void *blob, size_t bytes) {
    particle_energy *s = state;
    const size_t n = s->layout.particles, rows = 4 * n * sizeof(real), plastic = particle_plastic_bytes(s);
    const size_t head = 2 * rows + sizeof s->time, lists = head + plastic, first = (n + 1) * sizeof(size_t);
    const char *at = blob;
    size_t pairs = 0;
    if (s->full && bytes >= lists + first) memcpy(&pairs, at + lists + n * sizeof pairs, sizeof pairs);
    const size_t wanted = lists + (s->full ? first + pairs * sizeof(uint32_t) : 0);
    if (bytes != wanted)
        return pbd_error(PBD_BAD_INPUT, "%s: the saved state has %zu bytes, not %zu", s->method, bytes, wanted);
    PBD_TRY(pbd_upload(s->exec, s->x, at, rows));
    PBD_TRY(pbd_upload(s->exec, s->v, at + rows, rows));
    memcpy(&s->time, at + 2 * rows, sizeof s->time);
    if (s->full) PBD_TRY(particle_load_neighbours(s, at + lists));
    return s->plastic ? particle_load_plastic(s, at + head) : pbd_ok();
}

/* ---- A method of this kind --------------------------------------------------------------------------------------- */
