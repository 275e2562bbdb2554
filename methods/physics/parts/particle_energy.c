#include "methods/physics/parts/particle_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/parts/particle_cut.h"
#include "methods/physics/parts/particle_energy_kernels.h"
#include "methods/physics/space/colouring.h"
#include "methods/physics/space/particle_layout.h"
#include "methods/physics/space/shape_making.h"
#include "methods/physics/space/sph_kernel.h"

PBD_SETTINGS(particle_energy_settings, PARTICLE_ENERGY_PARAMS)
_Static_assert((int)kernel_spiky == (int)SPH_SPIKY, "`kernel` names the kernels in the order of sph_kernel");

typedef struct particle_energy {
    position_solver position; /* first; rows by place of the layout */
    particle_layout layout;   /* host, f64: places, neighbours, slices */
    shape_choice shape;
    energy_material material;
    energy_samples samples;
    particle_cuts cuts;
    uint32_t *full; /* places: neighbours at the start; NULL without blades */
    bool jacobi;
    double share;     /* Jacobi */
    double spacing;   /* m */
    double hourglass; /* kappa/E; 0: no hourglass control */
    acceleration faster;
    /* Device, by place: written by measure_particles. */
    real *gradient_at, *density_at, *idle_at;
    /* Device, by slot. */
    particle_view view;
    real *multiplier, *plastic;
    real *pair, *held; /* of particle_hourglass_args; multipliers of hourglass control */
} particle_energy;

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

/* Arrays by slot; first those of the layout, in the order of upload_slots. */
static size_t slot_arrays(const particle_energy *s, device_array *row) {
    const particle_view *v = &s->view;
    const size_t n = s->layout.slots, entries = 3 * s->layout.rows * PARTICLE_SLICE;
    const device_array rows[] = {DEVICE_ARRAY(v->slice, n / PARTICLE_SLICE + 1),
                                 DEVICE_ARRAY(v->neighbour, entries / 3),
                                 DEVICE_ARRAY(v->own, n),
                                 DEVICE_ARRAY(v->gradient, entries),
                                 DEVICE_ARRAY(v->reverse, s->layout.reverse ? entries : 0),
                                 DEVICE_ARRAY(v->sum, 3 * n),
                                 DEVICE_ARRAY(v->weight, 6 * n),
                                 DEVICE_ARRAY(v->offset, s->layout.offset ? 9 * n : 0),
                                 DEVICE_ARRAY(v->volume, n),
                                 DEVICE_ARRAY(v->impulse, s->jacobi ? 12 * n : 0),
                                 DEVICE_ARRAY(s->multiplier, s->material.form != ENERGY_PBD ? n : 0),
                                 DEVICE_ARRAY(s->pair, s->hourglass > 0 ? entries / 3 * 4 : 0),
                                 DEVICE_ARRAY(s->held, s->hourglass > 0 && s->material.form != ENERGY_PBD ? n : 0),
                                 DEVICE_SAVED(s->plastic, s->material.yield > 0 ? PLASTIC_ENTRIES * n : 0)};
    return DEVICE_ROWS(row, rows);
}

static size_t arrays_of(const void *state, device_array *row) {
    const particle_energy *s = state;
    const size_t n = s->layout.particles, slots = slot_arrays(s, row);
    const device_array rows[] = {DEVICE_ARRAY(s->gradient_at, 9 * n), DEVICE_ARRAY(s->density_at, n),
                                 DEVICE_ARRAY(s->idle_at, n), HOST_SAVED(s->cuts.cut), HOST_SAVED(s->cuts.added)};
    const size_t count = slots + DEVICE_ROWS(row + slots, rows);
    return count + acceleration_arrays(&s->faster, row + count);
}

void particle_energy_destroy(void *state) {
    particle_energy *s = state;
    if (!s) return;
    position_free(&s->position);
    particle_cuts_free(&s->cuts);
    free(s->full);
    particle_layout_free(&s->layout);
    free(s);
}

/* Converts and uploads, piece by piece; nothing if host is NULL. */
static pbd_status upload_reals(pbd_exec *exec, const double *host, size_t count, real *device) {
    enum { PIECE = 1 << 16 };
    if (!host) return pbd_ok();
    pbd_arena a PBD_ARENA;
    real *rounded = pbd_new(&a, real, PIECE);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t from = 0; from < count; from += PIECE) {
        const size_t these = count - from < PIECE ? count - from : PIECE;
        for (size_t i = 0; i < these; i++) rounded[i] = (real)host[from + i];
        PBD_TRY(pbd_upload(exec, device + from, rounded, these * sizeof *rounded));
    }
    return pbd_ok();
}

/* particle_rows: neighbours and gradients go to the device as they are made. */
static pbd_status open_rows(void *self, const particle_layout *l) {
    particle_energy *s = self;
    const size_t entries = PARTICLE_SLICE * l->rows;
    PBD_TRY(pbd_alloc(s->position.run.exec, entries * sizeof(uint32_t), (void **)(uintptr_t)&s->view.neighbour));
    return pbd_alloc(s->position.run.exec, 3 * entries * sizeof(real), (void **)(uintptr_t)&s->view.gradient);
}

static pbd_status take_rows(void *self, size_t first, size_t rows, const uint32_t *neighbour, const double *gradient) {
    const particle_energy *s = self;
    pbd_exec *exec = s->position.run.exec;
    const size_t from = PARTICLE_SLICE * first, entries = PARTICLE_SLICE * rows;
    PBD_TRY(pbd_upload(exec, (void *)(uintptr_t)(s->view.neighbour + from), neighbour, entries * sizeof *neighbour));
    return upload_reals(exec, gradient, 3 * entries, (real *)(uintptr_t)(s->view.gradient + 3 * from));
}

static pbd_status upload_pairs(const particle_energy *s) {
    const size_t count = 4 * s->layout.rows * PARTICLE_SLICE;
    pbd_arena a PBD_ARENA;
    double *pair = pbd_new(&a, double, count);
    PBD_TRY(pbd_arena_check(&a));
    particle_layout_pairs(&s->layout, &s->shape, PARTICLE_PAIR_SLOPE, pair);
    return upload_reals(s->position.run.exec, pair, count, s->pair);
}

static pbd_status make_layout(particle_energy *s, const pbd_scene *scene, pbd_exec *exec) {
    const particle_rows rows = {s, open_rows, take_rows};
    s->position.run.exec = exec;
    const size_t block = pbd_colour_block(exec, scene->particles.count);
    const pbd_status status = particle_layout_make(scene, &s->shape, s->jacobi, block, &rows, &s->layout);
    if (status.code == PBD_OK) return status;
    pbd_free(exec, (void *)(uintptr_t)s->view.neighbour); /* not part of the solver's arrays yet */
    pbd_free(exec, (void *)(uintptr_t)s->view.gradient);
    return status;
}

/* Uploads the layout's constraints. */
static pbd_status upload_slots(particle_energy *s) {
    const particle_layout *l = &s->layout;
    const uint32_t *number[] = {l->slice, l->neighbour, l->own};
    const double *value[] = {l->gradient, l->reverse, l->sum, l->weight, l->offset, l->slot_volume};
    device_array row[DEVICE_MOST_ARRAYS];
    slot_arrays(s, row);
    s->view.p = s->position.p;
    s->view.stride = l->slots;
    for (size_t k = 0; k < 3; k++)
        if (number[k]) PBD_TRY(pbd_upload(s->position.run.exec, *row[k].at, number[k], row[k].count * row[k].size));
    for (size_t k = 0; k < 6; k++)
        PBD_TRY(upload_reals(s->position.run.exec, value[k], row[3 + k].count, *row[3 + k].at));
    return s->pair ? upload_pairs(s) : pbd_ok();
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* The view of constraints from `slot` on, a multiple of PARTICLE_SLICE. */
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
                                  .compliance = energy_compliance(&s->material, s->position.run.dt),
                                  .share = (real)s->share,
                                  .form = s->material.form};
}

static particle_hourglass_args hourglass_args_from(const particle_energy *s, size_t slot) {
    particle_hourglass_args args = {.of = particle_args_from(s, slot),
                                    .pair = s->pair,
                                    .residual = s->idle_at,
                                    .stiffness = (real)(s->hourglass * s->material.E / s->material.unit)};
    args.of.multiplier = s->held ? s->held + slot : NULL;
    return args;
}

static pbd_status sweep_jacobi(particle_energy *s) {
    const particle_energy_args args = particle_args_from(s, 0);
    const stepper *run = &s->position.run;
    const size_t n = s->layout.particles;
    const pbd_work work = particle_layout_work(&s->layout, 0);
    PBD_TRY(PBD_PHASE(run->recorder, "constraints", PBD_RUN(run->exec, store_particle_impulses, n, work, &args)));
    return PBD_PHASE(run->recorder, "moves", PBD_RUN(run->exec, gather_particle_impulses, n, work, &args));
}

static pbd_status sweep_coloured(particle_energy *s) {
    const particle_layout *l = &s->layout;
    for (size_t k = 0; k < l->stages; k++) {
        const particle_energy_args args = particle_args_from(s, l->stage_slot[k]);
        PBD_TRY(PBD_RUN(s->position.run.exec, project_particles, l->stage_count[k], particle_layout_work(l, k), &args));
        if (!s->pair) continue;
        const particle_hourglass_args held = hourglass_args_from(s, l->stage_slot[k]);
        PBD_TRY(PBD_RUN(s->position.run.exec, project_hourglass, l->stage_count[k], particle_layout_work(l, k), &held));
    }
    return pbd_ok();
}

static pbd_status sweep(void *state, stepper *run) {
    particle_energy *s = state;
    pbd_count(run->recorder, "constraint_solves", s->layout.particles);
    pbd_count(run->recorder, "neighbour_updates", s->layout.pairs);
    if (run->done == 0) PBD_TRY(acceleration_begin(&s->faster, s->position.p, s->multiplier));
    PBD_TRY(s->jacobi ? sweep_jacobi(s) : PBD_PHASE(run->recorder, "projection", sweep_coloured(s)));
    return acceleration_sweep(&s->faster, s->position.p, NULL, NULL);
}

static pbd_status begin(void *state, stepper *run) {
    const particle_energy *s = state;
    const clear_args clear = {s->multiplier}, held = {s->held};
    if (s->multiplier) PBD_TRY(PBD_RUN(run->exec, clear_reals, s->layout.slots, &clear));
    return s->held ? PBD_RUN(run->exec, clear_reals, s->layout.slots, &held) : pbd_ok();
}

static pbd_status end(void *state, stepper *run) {
    const particle_energy *s = state;
    for (size_t k = 0; k < s->layout.stages && s->plastic; k++) {
        const size_t slot = s->layout.stage_slot[k];
        const particle_flow_args args = {.view = particle_view_from(s, slot),
                                         .plastic = s->plastic + slot,
                                         .yield = (real)s->material.yield,
                                         .creep = (real)(1 - exp(-s->material.creep * run->dt)),
                                         .deviatoric = s->material.deviatoric};
        PBD_TRY(
            PBD_RUN(run->exec, flow_particles, s->layout.stage_count[k], particle_layout_work(&s->layout, k), &args));
    }
    return pbd_ok();
}

/* Measures F, energy density and idle constraints at the positions `rows`. */
static pbd_status look(const particle_energy *s, real *rows) {
    const particle_layout *l = &s->layout;
    particle_measure_args args = {
        .energy = particle_args_from(s, 0), .gradient = s->gradient_at, .density = s->density_at, .idle = s->idle_at};
    args.energy.view.p = rows;
    return PBD_RUN(s->position.run.exec, measure_particles, l->slots, particle_layout_all_work(l), &args);
}

/* Adds the squares of idle_at to *sum. */
static pbd_status add_squares(const particle_energy *s, double *sum) {
    const size_t n = s->layout.particles;
    pbd_arena a PBD_ARENA;
    real *left = pbd_new(&a, real, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->position.run.exec, left, s->idle_at, n * sizeof *left));
    for (size_t i = 0; i < n; i++) *sum += (double)left[i] * (double)left[i];
    return pbd_ok();
}

static pbd_status residual(void *state, stepper *run, step_residual *out) {
    const particle_energy *s = state;
    const particle_layout *l = &s->layout;
    const pbd_work work = particle_layout_all_work(l);
    const double strain = position_strain_rounding(&s->position, s->spacing);
    const particle_measure_args args = {.energy = particle_args_from(s, 0), .idle = s->idle_at};
    const particle_hourglass_args held = hourglass_args_from(s, 0);
    *out = (step_residual){.rounding = sqrt((double)l->particles) * energy_rounding(&s->material, strain)};
    PBD_TRY(PBD_RUN(run->exec, measure_particle_residuals, l->slots, work, &args));
    PBD_TRY(add_squares(s, &out->norm));
    if (s->pair) PBD_TRY(PBD_RUN(run->exec, measure_hourglass, l->slots, work, &held));
    if (s->pair) PBD_TRY(add_squares(s, &out->norm));
    out->norm = sqrt(out->norm);
    return pbd_ok();
}

static pbd_status record(void *state, stepper *run) {
    particle_energy *s = state;
    const size_t n = s->layout.particles;
    double idled = 0, undefined = 0;
    if (!stepper_samples(run)) return pbd_ok();
    pbd_arena a PBD_ARENA;
    real *idle = pbd_new(&a, real, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(look(s, s->position.x));
    PBD_TRY(pbd_download(s->position.run.exec, idle, s->idle_at, n * sizeof *idle));
    for (size_t i = 0; i < n; i++) {
        idled += idle[i] > 0;
        undefined += idle[i] > 1;
    }
    energy_sample(&s->samples, &s->material, idled, undefined, n, run->steps, run->recorder);
    return pbd_ok();
}

/* ---- Cuts (Algorithm 1, line 17) --------------------------------------------------------------------------------- */

/* Plastic strain belongs to particles, but a cut changes their slots: it is read by place from the old layout and
 * written to the new one. */
static pbd_status read_plastic(const particle_energy *s, real *places) {
    const particle_layout *l = &s->layout;
    const size_t count = PLASTIC_ENTRIES * l->slots;
    pbd_arena a PBD_ARENA;
    real *slots = pbd_new(&a, real, count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->position.run.exec, slots, s->plastic, count * sizeof *slots));
    for (size_t k = 0; k < l->stages; k++)
        for (size_t i = l->stage_slot[k]; i < l->stage_slot[k] + l->stage_count[k]; i++)
            for (size_t e = 0; e < PLASTIC_ENTRIES; e++) places[e * l->particles + l->own[i]] = slots[e * l->slots + i];
    return pbd_ok();
}

static pbd_status write_plastic(particle_energy *s, const real *places) {
    const particle_layout *l = &s->layout;
    const size_t count = PLASTIC_ENTRIES * l->slots;
    pbd_arena a PBD_ARENA;
    real *slots = pbd_new(&a, real, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < l->slots; i++)
        for (size_t e = 0; e < PLASTIC_ENTRIES; e++) slots[e * l->slots + i] = places[e * l->particles + l->own[i]];
    return pbd_upload(s->position.run.exec, s->plastic, slots, count * sizeof *slots);
}

/* Recomputes everything that depends on neighbours from layout.near. */
static pbd_status remake(particle_energy *s) {
    particle_layout *l = &s->layout;
    const double relaxation = s->share * l->largest;
    device_array row[DEVICE_MOST_ARRAYS];
    pbd_arena a PBD_ARENA;
    real *places = pbd_new(&a, real, s->plastic ? PLASTIC_ENTRIES * l->particles : 0);
    PBD_TRY(pbd_arena_check(&a));
    if (s->plastic) PBD_TRY(read_plastic(s, places));
    PBD_TRY(pbd_exec_wait(s->position.run.exec));
    const bool plastic = s->plastic;
    device_arrays_free(s->position.run.exec, row, slot_arrays(s, row));
    PBD_TRY(particle_layout_remake(l, &s->shape));
    if (s->jacobi) s->share = relaxation / l->largest;
    PBD_TRY(device_arrays_allocate(s->position.run.exec, row, slot_arrays(s, row)));
    PBD_TRY(upload_slots(s));
    particle_layout_uploaded(l);
    return plastic ? write_plastic(s, places) : pbd_ok();
}

/* Makes the pieces after a cut separate bodies, between which contact acts. */
static pbd_status count_pieces(particle_energy *s) {
    pbd_recorder *recorder = s->position.run.recorder;
    size_t pieces = 0;
    pbd_arena a PBD_ARENA;
    uint32_t *number = pbd_new(&a, uint32_t, s->layout.particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(particle_pieces(&s->layout.near, number, &pieces));
    PBD_TRY(contact_set_bodies(&s->position.contact, number));
    pbd_metric(recorder, "pieces", "1", PBD_STATE, (double)pieces);
    pbd_metric(recorder, "pairs_cut", "1", PBD_STATE, (double)s->cuts.cut);
    pbd_metric(recorder, "pairs_added_by_cuts", "1", PBD_STATE, (double)s->cuts.added);
    return pbd_ok();
}

static pbd_status cut(particle_energy *s, double time) {
    bool changed = false;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 3 * s->layout.particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(device_rows_read(s->position.run.exec, s->position.x, s->layout.particles, 4, 3, NULL, NULL, x));
    PBD_TRY(particle_cut(&s->cuts, time, x, s->layout.rest, s->shape.radius, s->full, &s->layout.near, &changed));
    if (!changed) return pbd_ok();
    PBD_TRY(remake(s));
    return count_pieces(s);
}

static pbd_status move(void *state, stepper *run) {
    particle_energy *s = state;
    const double now = run->time + run->dt;
    return particle_cuts_active(&s->cuts, now) ? PBD_PHASE(run->recorder, "cut", cut(s, now)) : pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Writes the energy of hourglass control, J. */
static pbd_status read_control(const particle_energy *s, double *out) {
    const particle_layout *l = &s->layout;
    const size_t n = l->particles;
    pbd_exec *exec = s->position.run.exec;
    particle_hourglass_args args = hourglass_args_from(s, 0);
    pbd_arena a PBD_ARENA;
    real *energy = pbd_new(&a, real, n);
    PBD_TRY(pbd_arena_check(&a));
    args.of.view.p = s->position.x;
    PBD_TRY(PBD_RUN(exec, measure_hourglass_energy, l->slots, particle_layout_all_work(l), &args));
    PBD_TRY(pbd_download(exec, energy, s->idle_at, n * sizeof *energy));
    *out = 0;
    for (size_t i = 0; i < n; i++) *out += s->material.unit * (double)energy[i];
    return pbd_ok();
}

pbd_status particle_energy_read(const void *state, pbd_field field, double *out) {
    const particle_energy *s = state;
    const position_solver *position = &s->position;
    if (field == PBD_POSITIONS || field == PBD_VELOCITIES || field == PBD_COLLIDER_SUMS)
        return position_read(state, field, out);
    if (field == PBD_INTERNAL_ENERGY && s->pair) return read_control(s, out);
    if (field != PBD_DEFORMATION_GRADIENTS)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "%s has positions, velocities, deformation gradients and collider sums only", position->name);
    PBD_TRY(look(s, position->x));
    return device_rows_read(position->run.exec, s->gradient_at, s->layout.particles, 9, 9, NULL, s->layout.particle,
                            out);
}

/* With blades the neighbour lists come first, because the arrays by slot depend on them. */
pbd_status particle_energy_save(const void *state, void *blob, size_t *bytes) {
    const particle_energy *s = state;
    const rest_neighbours *near = &s->layout.near;
    const size_t n = s->layout.particles, first = s->full ? (n + 1) * sizeof *near->first : 0;
    const size_t lists = first + (s->full ? near->first[n] * sizeof *near->particle : 0);
    if (blob && s->full) {
        memcpy(blob, near->first, first);
        memcpy((char *)blob + first, near->particle, lists - first);
    }
    PBD_TRY(position_save(state, blob ? (char *)blob + lists : NULL, bytes));
    *bytes += lists;
    return pbd_ok();
}

/* Restores the neighbours of a saved state if cuts have changed them since. */
static pbd_status load_neighbours(particle_energy *s, const char *blob, size_t pairs) {
    rest_neighbours *near = &s->layout.near;
    const size_t n = s->layout.particles, first = (n + 1) * sizeof *near->first;
    if (memcmp(near->first, blob, first) == 0 &&
        memcmp(near->particle, blob + first, pairs * sizeof *near->particle) == 0)
        return pbd_ok();
    uint32_t *particle = malloc((pairs + 1) * sizeof *particle);
    if (!particle) return pbd_error(PBD_FAILED, "out of memory for %zu pairs of neighbours", pairs);
    memcpy(near->first, blob, first);
    memcpy(particle, blob + first, pairs * sizeof *particle);
    free(near->particle);
    near->particle = particle;
    free(s->layout.power); /* as at creation, so that the factor is bitwise the same */
    s->layout.power = NULL;
    PBD_TRY(remake(s));
    return count_pieces(s);
}

pbd_status particle_energy_load(void *state, const void *blob, size_t bytes) {
    particle_energy *s = state;
    const size_t n = s->layout.particles, first = (n + 1) * sizeof(size_t);
    size_t pairs = 0, lists = 0;
    if (s->full && bytes >= first) {
        memcpy(&pairs, (const char *)blob + n * sizeof pairs, sizeof pairs);
        lists = pairs > (bytes - first) / sizeof(uint32_t) ? bytes : first + pairs * sizeof(uint32_t);
        if (lists < bytes) PBD_TRY(load_neighbours(s, blob, pairs));
    }
    return position_load(state, (const char *)blob + lists, bytes - lists);
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void report(const particle_energy *s) {
    const particle_layout *l = &s->layout;
    pbd_count(s->position.run.recorder, "particles", l->particles);
    pbd_count(s->position.run.recorder, "constraints_total", l->particles);
    pbd_count(s->position.run.recorder, "colours", (uint64_t)l->colours);
    pbd_metric(s->position.run.recorder, "neighbours_per_particle", "1", PBD_STATE,
               (double)l->pairs / (double)l->particles);
    pbd_metric(s->position.run.recorder, "slice_filling", "1", PBD_QUALITY,
               l->rows ? (double)l->pairs / (double)(l->rows * PARTICLE_SLICE) : 1);
    if (s->jacobi) pbd_metric(s->position.run.recorder, "jacobi_largest_eigenvalue", "1", PBD_STATE, l->largest);
    if (l->few > 0)
        pbd_warning(s->position.run.recorder, "few_neighbours",
                    "%zu particles have fewer than four neighbours within %g m", l->few, s->shape.radius);
    if (l->deficient > 0)
        pbd_warning(s->position.run.recorder, "singular_correction",
                    "the neighbours of %zu particles do not span space: their corrections are pseudo-inverses",
                    l->deficient);
}

/* Stores the initial numbers of neighbours, which cuts restore. */
static pbd_status take_blades(particle_energy *s, const pbd_scene *scene) {
    const rest_neighbours *near = &s->layout.near;
    if (scene->blades.count == 0) return pbd_ok();
    PBD_TRY(particle_cuts_make(scene, &s->cuts));
    s->full = malloc((s->layout.particles + 1) * sizeof *s->full);
    if (!s->full) return pbd_error(PBD_FAILED, "out of memory for %zu particles", s->layout.particles);
    for (size_t i = 0; i < s->layout.particles; i++) s->full[i] = (uint32_t)(near->first[i + 1] - near->first[i]);
    return pbd_ok();
}

/* Multipliers of XPBD join the rows with scale 0: they get the same weights, which positions alone determine. With a
 * scale that gives multipliers and the moves caused by them equal norms, runs diverge. */
static pbd_status make_faster(particle_energy *s, const pbd_scene *scene, const pbd_values *values) {
    const acceleration_settings set = acceleration_settings_read(values);
    position_solver *of = &s->position;
    PBD_TRY(acceleration_check(set, scene->colliders.count > 0 || of->contact.pairs));
    if (set.acceleration != acceleration_none && (scene->blades.count > 0 || s->hourglass > 0))
        return pbd_error(PBD_NOT_SUPPORTED, "acceleration does not join %s: set acceleration=none",
                         s->hourglass > 0 ? "the multipliers of hourglass" : "constraints that a blade changes");
    acceleration_create(&s->faster, set, of->particles, of->run.exec, of->run.recorder);
    if (s->material.form != ENERGY_PBD) acceleration_join(&s->faster, s->layout.slots, 0);
    if (set.acceleration != acceleration_none) of->run.repeats = false;
    return pbd_ok();
}

pbd_status particle_energy_create(const char *method, shape_choice shape, const pbd_scene *scene,
                                  const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder, void **state) {
    static const step_part own = {.begin = begin,
                                  .iterate = sweep,
                                  .end = end,
                                  .move = move,
                                  .record = record,
                                  .residual = residual,
                                  .arrays = arrays_of};
    const particle_energy_settings set = particle_energy_settings_read(values);
    particle_energy *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for %s", method);
    *state = s;
    s->position = (position_solver){.name = method, .set = {set.iterations, set.substeps, set.dt, set.damping}};
    s->jacobi = set.solver == solver_jacobi;
    s->spacing = scene->particles.spacing;
    s->shape = shape;
    s->shape.kernel = set.kernel;
    s->shape.radius = set.radius * scene->particles.spacing;
    s->shape.displacement = set.form == form_displacement;
    s->hourglass = s->jacobi ? 0 : set.hourglass;
    if (s->hourglass > 0 && !shape.gradient_correction && !shape.linear)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "hourglass=%g needs an F that is exact for affine motions: set gradient_correction=on, or "
                         "basis=linear of mlsrk",
                         s->hourglass);
    PBD_TRY(energy_material_make(scene->material, energy_settings_read(values), set.constraint, false, &s->material));
    PBD_TRY(make_layout(s, scene, exec));
    s->share = s->jacobi ? set.relaxation / s->layout.largest : 1;
    PBD_TRY(position_create(&s->position, &own, scene, s->layout.particle, s->layout.inverse,
                            contact_settings_read(values), exec, recorder));
    PBD_TRY(make_faster(s, scene, values));
    PBD_TRY(position_allocate(&s->position));
    PBD_TRY(upload_slots(s));
    PBD_TRY(take_blades(s, scene));
    report(s);
    if (set.kernel_runs > 0) PBD_TRY(shape_time_making(exec, &s->layout, &s->shape, (size_t)set.kernel_runs, recorder));
    particle_layout_uploaded(&s->layout);
    return pbd_ok();
}
