/* tlsph: explicit total-Lagrangian SPH of elastic bodies, with Ganzenmueller's hourglass control. README.md has the
 * equations. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/matter/energy_material.h"
#include "methods/physics/matter/wave.h"
#include "methods/physics/parts/position_solver.h"
#include "methods/physics/space/particle_layout.h"
#include "methods/physics/space/sph_kernel.h"
#include "methods/tlsph/tlsph_kernels.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                                                \
    REAL(hourglass, "", "0.5", 0, 1e4, 0, "coefficient of the forces that hold pairs to their separation by F")      \
    CHOICE(control, "energy", (energy, central),                                                                     \
           "hourglass>0: forces of an energy, or along the pair (Ganzenmueller), which have none")                   \
    CHOICE(kernel, "poly6", (poly6, cubic_spline, wendland_c2, spiky), "smoothing kernel")                           \
    REAL(radius, "", "1.8", 1, 10, PBD_OPEN_MIN, "support of the kernel, in spacings at rest")                       \
    INTEGER(substeps, "1", 1, 10000, "of a step")                                                                    \
    REAL(dt, "s", "auto", 0, 1e3, PBD_OPEN_MIN, "time step; auto: a part of what a wave takes to the next particle") \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")
PBD_SETTINGS(tlsph_settings, PARAMS)
_Static_assert((int)kernel_spiky == (int)SPH_SPIKY, "`kernel` names the kernels in the order of sph_kernel");
static const pbd_param params[] = {PBD_ROWS(PARAMS) PBD_ROWS(LAW_JOIN_PARAMS) PBD_ROWS(CONTACT_PARAMS){0}};

/* dt=auto without control, over h/c; and the increase of the squared highest frequency by a coefficient of 1, over its
 * value without control (README.md, "Time step"). */
static const double STEP_OF_CROSSING = 0.5, STIFFER[] = {[control_energy] = 0.7, [control_central] = 0.09};

static const double LONGEST_STEP = 1e-3; /* s, of dt=auto */

typedef struct tlsph {
    position_solver position; /* first member; rows by place of the layout */
    tlsph_settings set;
    particle_layout layout;   /* host, f64: places, neighbours, slices */
    energy_material material; /* of the first material; all have its law and unit */
    size_t materials;
    double crossing; /* s */
    /* Device: tlsph_args. */
    particle_view view;
    real *pair, *mu, *lambda, *state, *middle, *kick, *free;
} tlsph;

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static size_t arrays_of(const void *state, device_array *row) {
    const tlsph *s = state;
    const particle_view *v = &s->view;
    const size_t n = s->layout.slots, entries = s->layout.rows * PARTICLE_SLICE, several = s->materials > 1 ? n : 0;
    const device_array rows[] = {DEVICE_ARRAY(v->slice, n / PARTICLE_SLICE + 1),
                                 DEVICE_ARRAY(v->neighbour, entries),
                                 DEVICE_ARRAY(v->own, n),
                                 DEVICE_ARRAY(v->gradient, 3 * entries),
                                 DEVICE_ARRAY(v->reverse, 3 * entries),
                                 DEVICE_ARRAY(v->sum, 3 * n),
                                 DEVICE_ARRAY(v->offset, s->layout.offset ? 9 * n : 0),
                                 DEVICE_ARRAY(v->volume, n),
                                 DEVICE_ARRAY(s->pair, s->set.hourglass > 0 ? 4 * entries : 0),
                                 DEVICE_ARRAY(s->mu, several),
                                 DEVICE_ARRAY(s->lambda, several),
                                 DEVICE_ARRAY(s->state, 4 * TLSPH_ROWS * n),
                                 DEVICE_ARRAY(s->middle, 4 * n),
                                 DEVICE_ARRAY(s->kick, 4 * n),
                                 DEVICE_ARRAY(s->free, 4 * n)};
    return DEVICE_ROWS(row, rows);
}

static void destroy(void *state) {
    tlsph *s = state;
    if (!s) return;
    position_free(&s->position);
    particle_layout_free(&s->layout);
    free(s);
}

static pbd_status upload_reals(const tlsph *s, const double *host, size_t count, const real *device) {
    pbd_arena a PBD_ARENA;
    real *rounded = pbd_new(&a, real, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) rounded[i] = (real)host[i];
    return pbd_upload(s->position.run.exec, (void *)(uintptr_t)device, rounded, count * sizeof *rounded);
}

static pbd_status upload_numbers(const tlsph *s, const uint32_t *host, size_t count, const uint32_t *device) {
    return pbd_upload(s->position.run.exec, (void *)(uintptr_t)device, host, count * sizeof *host);
}

/* Replaces the weight of each pair by s_ij. */
static void make_springs(const tlsph *s, double *pair) {
    const particle_layout *l = &s->layout;
    const double coefficient = s->set.control == control_central ? 0.5 * s->set.hourglass : s->set.hourglass;
    for (size_t i = 0; i < l->slots; i++)
        for (size_t row = l->slice[i / PARTICLE_SLICE]; row < l->slice[i / PARTICLE_SLICE + 1]; row++)
            pair[(4 * row + 3) * PARTICLE_SLICE + i % PARTICLE_SLICE] *= coefficient * l->volume[l->own[i]];
}

static pbd_status upload_pairs(const tlsph *s, const shape_choice *shape) {
    const size_t count = 4 * s->layout.rows * PARTICLE_SLICE;
    pbd_arena a PBD_ARENA;
    double *pair = pbd_new(&a, double, count);
    PBD_TRY(pbd_arena_check(&a));
    particle_layout_pairs(&s->layout, shape,
                          s->set.control == control_central ? PARTICLE_PAIR_VALUE : PARTICLE_PAIR_SLOPE, pair);
    make_springs(s, pair);
    return upload_reals(s, pair, count, s->pair);
}

static pbd_status upload_moduli(const tlsph *s, const pbd_scene *scene) {
    const particle_layout *l = &s->layout;
    pbd_arena a PBD_ARENA;
    double *mu = pbd_new(&a, double, l->slots), *lambda = pbd_new(&a, double, l->slots);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < l->slots; i++) {
        const pbd_material *m = pbd_material_of(scene, l->particle[l->own[i]]);
        mu[i] = m->E / (2 * (1 + m->nu)) / s->material.unit;
        lambda[i] = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu)) / s->material.unit;
    }
    PBD_TRY(upload_reals(s, mu, l->slots, s->mu));
    return upload_reals(s, lambda, l->slots, s->lambda);
}

static pbd_status upload_layout(tlsph *s) {
    const particle_layout *l = &s->layout;
    const size_t n = l->slots, entries = l->rows * PARTICLE_SLICE;
    particle_view *v = &s->view;
    v->stride = n;
    v->p = s->middle;
    PBD_TRY(upload_numbers(s, l->slice, n / PARTICLE_SLICE + 1, v->slice));
    PBD_TRY(upload_numbers(s, l->neighbour, entries, v->neighbour));
    PBD_TRY(upload_numbers(s, l->own, n, v->own));
    PBD_TRY(upload_reals(s, l->gradient, 3 * entries, v->gradient));
    PBD_TRY(upload_reals(s, l->reverse, 3 * entries, v->reverse));
    PBD_TRY(upload_reals(s, l->sum, 3 * n, v->sum));
    PBD_TRY(upload_reals(s, l->slot_volume, n, v->volume));
    return l->offset ? upload_reals(s, l->offset, 9 * n, v->offset) : pbd_ok();
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static tlsph_args args_of(const tlsph *s, const stepper *run) {
    return (tlsph_args){.view = s->view,
                        .pair = s->pair,
                        .mu = s->mu,
                        .lambda = s->lambda,
                        .state = s->state,
                        .v = s->position.v,
                        .a = position_loads(&s->position, run),
                        .kick = s->kick,
                        .p = s->position.p,
                        .free = s->free,
                        .law = s->material.law,
                        .fibre = s->material.fibre,
                        .dt = (real)run->dt,
                        .scale = (real)s->material.unit,
                        .central = s->set.control == control_central};
}

/* Half a step with v, the forces there, and the other half with the new v. */
static pbd_status begin(void *state, stepper *run) {
    const tlsph *s = state;
    const size_t n = s->layout.particles;
    const tlsph_drift_args drift = {s->position.x, s->position.v, s->middle, (real)(0.5 * run->dt), 0};
    const tlsph_args args = args_of(s, run);
    const pbd_work work = particle_layout_work(&s->layout, 0);
    PBD_TRY(PBD_RUN(run->exec, tlsph_drift, n, &drift));
    PBD_TRY(PBD_PHASE(run->recorder, "stress", PBD_RUN(run->exec, tlsph_stress, n, work, &args)));
    pbd_count(run->recorder, "force_evaluations", n);
    return PBD_PHASE(run->recorder, "force", PBD_RUN(run->exec, tlsph_force, n, work, &args));
}

static pbd_status move(void *state, stepper *run) {
    const tlsph *s = state;
    const tlsph_finish_args args = {
        s->position.p, s->free, s->kick, s->position.v, (real)exp(-s->set.damping * run->dt), 0};
    return PBD_RUN(run->exec, tlsph_finish, s->layout.particles, &args);
}

static double stable_step(double crossing, double hourglass, int control) {
    return STEP_OF_CROSSING * crossing / sqrt(1 + STIFFER[control] * hourglass);
}

static pbd_status record(void *state, stepper *run) {
    const tlsph *s = state;
    const double most = stable_step(s->crossing, s->set.hourglass, s->set.control);
    if (run->dt > 2 * most)
        pbd_warning(run->recorder, "elastic_cfl",
                    "a step of %.3g s with hourglass=%g is unstable: dt=auto is %.3g s for each of the substeps",
                    run->dt, s->set.hourglass, round_step(most));
    return pbd_ok();
}

static double choose(const pbd_scene *scene, const pbd_values *values, const char *parameter) {
    (void)parameter; /* dt alone is `auto` */
    const double most = stable_step(wave_crossing(scene), pbd_real(values, "hourglass"), pbd_choice(values, "control"));
    return round_step(fmin(LONGEST_STEP, (double)pbd_integer(values, "substeps") * most));
}

/* ---- Creation and reading ---------------------------------------------------------------------------------------- */

static pbd_status make_material(tlsph *s, const pbd_scene *scene, const pbd_values *values) {
    const energy_settings set = {.join = pbd_choice(values, "join"), .threshold = pbd_real(values, "threshold")};
    s->materials = scene->materials > 0 ? scene->materials : 1;
    PBD_TRY(energy_material_make(scene->material, set, ENERGY_PBD, false, &s->material));
    for (size_t k = 1; k < s->materials; k++) {
        energy_material other;
        PBD_TRY(energy_material_make(&scene->material[k], set, ENERGY_PBD, false, &other));
        if (other.law.law != s->material.law.law)
            return pbd_error(PBD_NOT_SUPPORTED, "tlsph takes one law in a scene, not %s and %s",
                             law_names[s->material.law.law], law_names[other.law.law]);
        if (other.fibre.count > 0 || s->material.fibre.count > 0)
            return pbd_error(PBD_NOT_SUPPORTED, "tlsph takes fibres where a scene has one material, and this has %zu",
                             s->materials);
    }
    return pbd_ok();
}

static void report(const tlsph *s) {
    pbd_recorder *recorder = s->position.run.recorder;
    const particle_layout *l = &s->layout;
    pbd_count(recorder, "particles", l->particles);
    pbd_metric(recorder, "neighbours_per_particle", "1", PBD_STATE,
               (double)l->near.first[l->particles] / (double)l->particles);
    if (l->deficient > 0)
        pbd_warning(recorder, "singular_correction",
                    "%zu particles have neighbours in one plane, on one line or at one point: F is the identity along "
                    "the directions that they do not span",
                    l->deficient);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    static const step_part own = {.begin = begin, .move = move, .record = record, .arrays = arrays_of};
    const tlsph_settings set = tlsph_settings_read(values);
    const shape_choice shape = {
        .kernel = set.kernel, .radius = set.radius * scene->particles.spacing, .gradient_correction = true};
    tlsph *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    *state = s;
    s->set = set;
    s->crossing = wave_crossing(scene);
    s->position = (position_solver){.name = "tlsph", .set = {1, set.substeps, set.dt, set.damping}, .guesses = true};
    PBD_TRY(make_material(s, scene, values));
    PBD_TRY(particle_layout_make(scene, &shape, true, 0, NULL, &s->layout));
    PBD_TRY(position_create(&s->position, &own, scene, s->layout.particle, s->layout.inverse,
                            contact_settings_read(values), exec, recorder));
    PBD_TRY(position_allocate(&s->position));
    PBD_TRY(upload_layout(s));
    if (s->pair) PBD_TRY(upload_pairs(s, &shape));
    if (s->mu) PBD_TRY(upload_moduli(s, scene));
    report(s);
    return pbd_ok();
}

/* *out: energy of control, J. Call after tlsph_stress of the same positions. */
static pbd_status read_control(const tlsph *s, const tlsph_args *args, double *out) {
    const size_t n = s->layout.particles;
    pbd_exec *exec = s->position.run.exec;
    pbd_arena a PBD_ARENA;
    double *energy = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(PBD_RUN(exec, tlsph_control_energy, n, particle_layout_work(&s->layout, 0), args));
    PBD_TRY(device_rows_read(exec, s->kick, n, 4, 1, NULL, NULL, energy));
    *out = 0;
    for (size_t i = 0; i < n; i++) *out += s->material.unit * energy[i];
    return pbd_ok();
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    enum { F = 4 * TLSPH_STRETCH };
    static const size_t stretch[] = {F, F + 4, F + 8, F + 1, F + 5, F + 9, F + 2, F + 6, F + 10}; /* to row-major */
    const tlsph *s = state;
    const stepper *run = &s->position.run;
    const bool controlled = field == PBD_INTERNAL_ENERGY && s->pair && s->set.control == control_energy;
    if (field != PBD_DEFORMATION_GRADIENTS && !controlled) return position_read(state, field, out);
    tlsph_args args = args_of(s, run);
    args.view.p = s->position.x;
    PBD_TRY(PBD_RUN(run->exec, tlsph_stress, s->layout.particles, particle_layout_work(&s->layout, 0), &args));
    if (controlled) return read_control(s, &args, out);
    return device_rows_read(run->exec, s->state, s->layout.particles, 4 * TLSPH_ROWS, 9, stretch, s->layout.particle,
                            out);
}

const pbd_method PBD_NAME(tlsph) = {
    .bytes = sizeof(pbd_method),
    .name = "tlsph",
    .summary = "explicit total-Lagrangian SPH of elastic bodies, with hourglass control",
    .source = "Ganzenmueller 2015 (arXiv 1410.7221); energy form: README.md",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_FIBRES | PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT |
             PBD_TAKES_MATERIALS | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .destroy = destroy,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = position_step,
    .read = read_field,
    .save = position_save,
    .load = position_load,
    .choose = choose,
};
