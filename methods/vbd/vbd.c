/* vbd: vertex block descent (Chen et al. 2024). Each sweep moves every vertex, colour by colour, to the minimum of the
 * time step's objective with all other vertices held. README.md has the equations. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/matter/energy_material.h"
#include "methods/physics/parts/acceleration.h"
#include "methods/physics/parts/position_solver.h"
#include "methods/physics/parts/surface_load.h"
#include "methods/physics/space/colouring.h"
#include "methods/vbd/vbd_kernels.h"
#include "methods/vbd/vbd_mesh.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                                                  \
    CHOICE(order, "forward", (forward, reversed, symmetric, shuffled),                                                 \
           "of the colours in a sweep; symmetric: every second sweep reversed; shuffled: another order in each")       \
    CHOICE(lame, "matched", (matched, raw),                                                                            \
           "material=macklin_neo_hookean: its volume modulus is lambda + mu, so that E and nu are the material's; or " \
           "lambda, as papers write it")                                                                               \
    REAL(stiffness_damping, "s", "0", 0, 1e3, 0, "damping by this times the rate of the elastic force")                \
    CHOICE(                                                                                                            \
        damping_form, "element", (element, block),                                                                     \
        "stiffness_damping>0: of the elements, or of each vertex alone, as published, which also brakes rigid motion")
PBD_SETTINGS(vbd_settings, PARAMS)
static const pbd_param params[] = {PBD_ROWS(GUESS_PARAM) PBD_ROWS(PARAMS) PBD_ROWS(POSITION_PARAMS) PBD_ROWS(
    ACCELERATION_PARAMS) PBD_ROWS(CONTACT_PARAMS) PBD_ROWS(LAW_JOIN_PARAMS){0}};

typedef struct vbd {
    position_solver position; /* first: the nodes */
    vbd_settings set;
    guess_settings guess;
    acceleration faster;
    hyperelastic law;
    double lift; /* vbd_args.lift */
    size_t materials, places, slices, tet_rows, near_rows, tets, near, vertices, elements;
    bool quadratic; /* macklin_neo_hookean without a join */
    int colours;
    /* Host: of vbd_tables; the order of the stages in a sweep. */
    size_t stages, *stage_first, *stage_count, *turn;
    /* Device: arrays of vbd_mesh; minimum of the inertia term, velocities of the previous step, results by place. */
    uint32_t *own, *tet_count, *near_count, *tet_row, *near_row, *corner, *neighbour;
    real *spring, *stiffness, *lifts, *shape, *volume, *mu, *lambda;
    real *y, *before, *out;
    real *soft; /* vbd_args.soft */
} vbd;

static size_t arrays_of(const void *state, device_array *row) {
    const vbd *s = state;
    const size_t n = 4 * s->position.particles, tets = s->tet_rows * VBD_LANES, near = s->near_rows * VBD_LANES;
    const bool strained = !s->quadratic || s->faster.set.acceleration != acceleration_none, several = s->materials > 1;
    const device_array rows[] = {DEVICE_ARRAY(s->own, s->places),
                                 DEVICE_ARRAY(s->tet_count, s->places),
                                 DEVICE_ARRAY(s->near_count, s->places),
                                 DEVICE_ARRAY(s->tet_row, s->slices + 1),
                                 DEVICE_ARRAY(s->near_row, s->slices + 1),
                                 DEVICE_ARRAY(s->corner, 3 * tets),
                                 DEVICE_ARRAY(s->neighbour, s->quadratic ? near : 0),
                                 DEVICE_ARRAY(s->spring, s->quadratic ? near : 0),
                                 DEVICE_ARRAY(s->stiffness, s->quadratic ? tets : 0),
                                 DEVICE_ARRAY(s->lifts, s->quadratic && several ? tets : 0),
                                 DEVICE_ARRAY(s->shape, strained ? 9 * tets : 0),
                                 DEVICE_ARRAY(s->volume, strained ? tets : 0),
                                 DEVICE_ARRAY(s->mu, strained && several ? tets : 0),
                                 DEVICE_ARRAY(s->lambda, strained && several ? tets : 0),
                                 DEVICE_ARRAY(s->y, n),
                                 DEVICE_SAVED(s->before, n),
                                 DEVICE_ARRAY(s->out, 2 * s->places),
                                 DEVICE_ARRAY(s->soft, s->position.run.colliders.count > 0 ? n : 0)};
    const size_t count = DEVICE_ROWS(row, rows);
    return count + acceleration_arrays(&s->faster, row + count);
}

static void destroy(void *state) {
    vbd *s = state;
    if (!s) return;
    position_free(&s->position);
    free(s->stage_first);
    free(s->stage_count);
    free(s->turn);
    free(s);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static vbd_args args_of(const vbd *s) {
    const vbd_mesh mesh = {.own = s->own,
                           .tets = s->tet_count,
                           .near = s->near_count,
                           .tet_row = s->tet_row,
                           .near_row = s->near_row,
                           .corner = s->corner,
                           .neighbour = s->neighbour,
                           .spring = s->spring,
                           .stiffness = s->stiffness,
                           .lift = s->lifts,
                           .shape = s->shape,
                           .volume = s->volume,
                           .mu = s->mu,
                           .lambda = s->lambda,
                           .stride = s->tet_rows * VBD_LANES};
    return (vbd_args){.mesh = mesh,
                      .p = s->position.p,
                      .y = s->y,
                      .x = s->position.x,
                      .out = s->out,
                      .soft = s->soft,
                      .places = s->places,
                      .law = s->law,
                      .lift = (real)s->lift,
                      .damping = (real)(s->set.stiffness_damping / s->position.run.dt),
                      .block = s->set.damping_form == damping_form_block,
                      .slack = (real)(16 * REAL_EPSILON),
                      .extent = (real)s->position.extent};
}

/* The work of a launch over `vertices` vertices: their mean share of all tetrahedra, with a neighbour counted as half a
 * tetrahedron (vbd_move). */
static pbd_work work_of(const vbd *s, size_t vertices) {
    const size_t entries = s->tets + (s->quadratic ? s->near / 2 : 0);
    return (pbd_work){.items = vertices, .entries = (size_t)((double)entries * (double)vertices / (double)s->vertices)};
}

static pbd_status begin(void *state, stepper *run) {
    vbd *s = state;
    PBD_TRY(position_guess(&s->position, run, s->guess, s->before, s->y));
    return acceleration_begin(&s->faster, s->position.p, NULL);
}

/* Fisher-Yates shuffle, seeded with the number of the sweep, so that the order is the same in every run. */
static void shuffle(size_t *order, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t i = count; i-- > 1;) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const size_t other = (size_t)((seed >> 33) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* Resolves contact with colliders for a stage that has just moved. */
static pbd_status touch(const vbd *s, size_t first, size_t count) {
    const collider_poses *walls = &s->position.run.colliders;
    if (walls->count == 0) return pbd_ok();
    const vbd_touch_args args = {.own = s->own + first,
                                 .collider = walls->device,
                                 .colliders = (int)walls->count,
                                 .radius = s->position.contact.radius,
                                 .x = s->position.x,
                                 .soft = s->soft,
                                 .p = s->position.p};
    return PBD_PHASE(s->position.run.recorder, collider_poses_phase(walls, "contact"),
                     PBD_RUN(s->position.run.exec, vbd_touch, count, &args));
}

static pbd_status move_vertices(vbd *s, stepper *run) {
    vbd_args args = args_of(s);
    const bool back = s->set.order == order_reversed || (s->set.order == order_symmetric && run->done % 2 == 1);
    if (s->set.order == order_shuffled)
        shuffle(s->turn, s->stages, run->steps * UINT64_C(1000003) + (uint64_t)run->done);
    for (size_t k = 0; k < s->stages; k++) {
        const size_t stage = s->set.order == order_shuffled ? s->turn[k] : back ? s->stages - 1 - k : k;
        args.first = s->stage_first[stage];
        args.count = s->stage_count[stage];
        PBD_TRY(PBD_RUN(run->exec, vbd_move, args.count, work_of(s, args.count), &args));
        PBD_TRY(touch(s, args.first, args.count));
    }
    pbd_count(run->recorder, "vertex_solves", s->vertices);
    pbd_count(run->recorder, "element_evaluations", s->tets);
    return pbd_ok();
}

/* Sums `width` columns of results over all vertices, in f64. */
static pbd_status sum_results(const vbd *s, int width, double *out) {
    const size_t n = (size_t)width * s->places;
    pbd_arena a PBD_ARENA;
    real *host = pbd_new(&a, real, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->position.run.exec, host, s->out, n * sizeof *host));
    for (int k = 0; k < width; k++) {
        out[k] = 0;
        for (size_t c = 0; c < s->stages; c++)
            for (size_t i = 0; i < s->stage_count[c]; i++)
                out[k] += (double)host[(size_t)k * s->places + s->stage_first[c] + i];
    }
    return pbd_ok();
}

static pbd_status energy(void *state, double *out) {
    const vbd *s = state;
    vbd_args args = args_of(s);
    for (size_t k = 0; k < s->stages; k++) {
        args.first = s->stage_first[k];
        args.count = s->stage_count[k];
        PBD_TRY(PBD_RUN(s->position.run.exec, vbd_sum_energy, args.count, work_of(s, args.count), &args));
    }
    return sum_results(s, 1, out);
}

/* With symmetric sweeps, acceleration acts on pairs of sweeps. */
static pbd_status sweep(void *state, stepper *run) {
    vbd *s = state;
    PBD_TRY(move_vertices(s, run));
    if (s->set.order == order_symmetric && run->done % 2 == 0) return pbd_ok();
    return acceleration_sweep(&s->faster, s->position.p, energy, s);
}

static pbd_status residual(void *state, stepper *run, step_residual *out) {
    const vbd *s = state;
    vbd_args args = args_of(s);
    double sum[2];
    for (size_t k = 0; k < s->stages; k++) {
        args.first = s->stage_first[k];
        args.count = s->stage_count[k];
        PBD_TRY(PBD_RUN(run->exec, vbd_measure, args.count, work_of(s, args.count), &args));
    }
    PBD_TRY(sum_results(s, 2, sum));
    *out = (step_residual){sqrt(sum[0]), sqrt(sum[1])};
    return pbd_ok();
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Lame parameters of a material as the law expects them, Pa. With lame=raw mu is subtracted from lambda, so that the
 * law's lambda + mu is the material's lambda. */
static void moduli_of(const vbd *s, const pbd_material *m, double *mu, double *lambda) {
    *mu = m->E / (2 * (1 + m->nu));
    *lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
    if (s->law.law == LAW_macklin_neo_hookean && s->set.lame == lame_raw) *lambda -= *mu;
}

static pbd_status make_law(vbd *s, const pbd_scene *scene, pbd_join join, double threshold) {
    s->materials = scene->materials > 0 ? scene->materials : 1;
    int law = 0;
    for (size_t k = 0; k < s->materials; k++) {
        const pbd_material *m = &scene->material[k];
        int own;
        PBD_TRY(law_find(m->law, &own));
        if (k > 0 && own != law)
            return pbd_error(PBD_NOT_SUPPORTED, "vbd takes one law in a scene, not %s and %s", law_names[law],
                             law_names[own]);
        law = own;
        if (!(m->E > 0 && isfinite(m->E)))
            return pbd_error(PBD_NOT_SUPPORTED, "vbd needs elastic matter, but this scene has E=%g Pa", m->E);
        if (m->nu >= 0.5) return pbd_error(PBD_BAD_INPUT, "nu=%g must be below 0.5", m->nu);
        if (m->yield_strain > 0) return pbd_error(PBD_NOT_SUPPORTED, "vbd has no plastic flow: set yield_strain=0");
    }
    const pbd_material *m = scene->material;
    s->law = hyperelastic_make(law, join, m->E, m->nu, threshold > 0 ? threshold : hyperelastic_threshold(law, join));
    s->quadratic = law == LAW_macklin_neo_hookean && join == PBD_JOIN_NONE;
    double mu, lambda;
    moduli_of(s, m, &mu, &lambda);
    s->law.lambda = (real)lambda;
    s->lift = (lambda + 2 * mu) / 6;
    if (s->quadratic || s->set.stiffness_damping <= 0 || s->set.damping_form == damping_form_block) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED,
                     "damping_form=element is for material=macklin_neo_hookean with join=none: set damping_form=block");
}

/* Rows of some slices on their way to the device. */
typedef struct row_upload {
    pbd_exec *exec;
    vbd_rows_of_slices rows;
    double *computed; /* by tetrahedron */
    real *rounded;
} row_upload;

/* Uploads `count` reals to to[at ..]. NULL: the law does not need them. */
static pbd_status upload_reals(const row_upload *u, const double *from, size_t count, real *to, size_t at) {
    if (!to) return pbd_ok();
    for (size_t i = 0; i < count; i++) u->rounded[i] = (real)from[i];
    return pbd_upload(u->exec, to + at, u->rounded, count * sizeof *u->rounded);
}

/* Uploads the values that depend on the materials. */
static pbd_status upload_moduli(vbd *s, const row_upload *u, const pbd_scene *scene, size_t at) {
    real *const to[] = {s->stiffness, s->lifts, s->mu, s->lambda};
    for (int value = 0; value < 4; value++) {
        if (!to[value]) continue;
        for (size_t i = 0; i < u->rows.tets; i++) {
            const double size = u->rows.volume[i];
            double mu, lambda;
            moduli_of(s, &scene->material[u->rows.material[i]], &mu, &lambda);
            const double of[] = {size > 0 ? (lambda + mu) / (36 * size) : 0, (lambda + 2 * mu) / 6, mu, lambda};
            u->computed[i] = of[value];
        }
        PBD_TRY(upload_reals(u, u->computed, u->rows.tets, to[value], at));
    }
    return pbd_ok();
}

static pbd_status upload_slices(vbd *s, vbd_tables *t, const double *mu, size_t begin, size_t end, row_upload *u) {
    const size_t at = t->tet_row[begin] * VBD_LANES, near = t->near_row[begin] * VBD_LANES;
    const size_t stride = t->tet_rows * VBD_LANES;
    PBD_TRY(vbd_fill_rows(t, mu, begin, end, &u->rows));
    const size_t tets = u->rows.tets;
    for (size_t c = 0; c < 3; c++)
        PBD_TRY(pbd_upload(u->exec, s->corner + c * stride + at, u->rows.corner + c * tets, tets * sizeof *s->corner));
    if (s->spring) {
        PBD_TRY(pbd_upload(u->exec, s->neighbour + near, u->rows.neighbour, u->rows.near * sizeof *u->rows.neighbour));
        PBD_TRY(upload_reals(u, u->rows.spring, u->rows.near, s->spring, near));
    }
    for (size_t k = 0; k < 9 && s->shape; k++)
        PBD_TRY(upload_reals(u, u->rows.shape + k * tets, tets, s->shape, k * stride + at));
    PBD_TRY(upload_reals(u, u->rows.volume, tets, s->volume, at));
    return upload_moduli(s, u, t->scene, at);
}

/* End of the slices that are uploaded together from `begin` on. Few at a time stay in the cache, and the host never
 * holds all rows in f64, which are several times as large as those of the device. */
static size_t part_end(const vbd_tables *t, size_t begin) {
    enum { ROWS = 1024 };
    size_t end = begin + 1;
    while (end < t->slices && t->tet_row[end + 1] - t->tet_row[begin] <= ROWS) end++;
    return end;
}

static pbd_status upload_rows(vbd *s, vbd_tables *t, const double *mu) {
    pbd_arena a PBD_ARENA;
    size_t tets = 0, near = 0;
    for (size_t begin = 0, end; begin < t->slices; begin = end) {
        end = part_end(t, begin);
        if (t->tet_row[end] - t->tet_row[begin] > tets) tets = t->tet_row[end] - t->tet_row[begin];
        if (t->near_row[end] - t->near_row[begin] > near) near = t->near_row[end] - t->near_row[begin];
    }
    tets *= VBD_LANES, near *= VBD_LANES;
    row_upload u = {.exec = s->position.run.exec,
                    .computed = pbd_new(&a, double, tets),
                    .rounded = pbd_new(&a, real, tets > near ? tets : near)};
    u.rows = (vbd_rows_of_slices){.corner = pbd_new(&a, uint32_t, 3 * tets),
                                  .neighbour = s->spring ? pbd_new(&a, uint32_t, near) : NULL,
                                  .spring = s->spring ? pbd_new(&a, double, near) : NULL,
                                  .shape = s->shape ? pbd_new(&a, double, 9 * tets) : NULL,
                                  .volume = pbd_new(&a, double, tets),
                                  .material = pbd_new(&a, uint8_t, tets)};
    PBD_TRY(pbd_arena_check(&a));
    for (size_t begin = 0, end; begin < t->slices; begin = end) {
        end = part_end(t, begin);
        PBD_TRY(upload_slices(s, t, mu, begin, end, &u));
    }
    return pbd_ok();
}

static pbd_status upload_tables(vbd *s, vbd_tables *t) {
    pbd_exec *exec = s->position.run.exec;
    double mu[PBD_MOST_MATERIALS], lambda;
    for (size_t k = 0; k < s->materials; k++) moduli_of(s, &t->scene->material[k], &mu[k], &lambda);
    PBD_TRY(pbd_upload(exec, s->own, t->own, s->places * sizeof *t->own));
    PBD_TRY(pbd_upload(exec, s->tet_count, t->tet_count, s->places * sizeof *t->tet_count));
    PBD_TRY(pbd_upload(exec, s->near_count, t->near_count, s->places * sizeof *t->near_count));
    PBD_TRY(pbd_upload(exec, s->tet_row, t->tet_row, (s->slices + 1) * sizeof *t->tet_row));
    PBD_TRY(pbd_upload(exec, s->near_row, t->near_row, (s->slices + 1) * sizeof *t->near_row));
    return upload_rows(s, t, mu);
}

static pbd_status make_tables(vbd *s, const pbd_scene *scene, pbd_arena *a, vbd_tables *t) {
    const size_t n = scene->particles.count;
    const size_t slab = s->set.order == order_shuffled ? 0 : pbd_slab(s->position.run.exec, n, 4 * sizeof(real));
    PBD_TRY(vbd_tables_make(scene, VBD_LANES, slab, a, t));
    s->vertices = t->vertices, s->places = t->places, s->slices = t->slices, s->colours = t->colours;
    s->tet_rows = t->tet_rows, s->near_rows = t->near_rows, s->tets = t->tets, s->near = t->near;
    s->stages = t->stages;
    PBD_TRY_NEW(s->stage_first, s->stages);
    PBD_TRY_NEW(s->stage_count, s->stages);
    PBD_TRY_NEW(s->turn, s->stages);
    memcpy(s->stage_first, t->stage_first, s->stages * sizeof *s->stage_first);
    memcpy(s->stage_count, t->stage_count, s->stages * sizeof *s->stage_count);
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    static const step_part own = {.begin = begin, .iterate = sweep, .residual = residual, .arrays = arrays_of};
    vbd *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    *state = s;
    s->set = vbd_settings_read(values);
    s->guess = guess_settings_read(values);
    s->position = (position_solver){.name = "vbd", .set = position_settings_read(values), .guesses = true};
    s->elements = scene->tets.count;
    if (s->elements == 0) return pbd_error(PBD_BAD_INPUT, "the scene has no tetrahedra");
    const acceleration_settings faster = acceleration_settings_read(values);
    acceleration_create(&s->faster, faster, scene->particles.count, exec, recorder);
    PBD_TRY(make_law(s, scene, (pbd_join)pbd_choice(values, "join"), pbd_real(values, "threshold")));
    pbd_arena a PBD_ARENA;
    vbd_tables tables;
    pbd_scene loaded;
    PBD_TRY(surface_load_of_tets(scene, &a, &loaded));
    PBD_TRY(position_create(&s->position, &own, &loaded, NULL, NULL, contact_settings_read(values), exec, recorder));
    PBD_TRY(acceleration_check(faster, scene->colliders.count > 0 || s->position.contact.pairs));
    collider_sums_leave_out(&s->position.run.colliders);
    if (faster.acceleration != acceleration_none || s->set.order == order_shuffled) s->position.run.repeats = false;
    PBD_TRY(make_tables(s, scene, &a, &tables));
    PBD_TRY(position_allocate(&s->position));
    PBD_TRY(upload_tables(s, &tables));
    pbd_count(recorder, "particles", scene->particles.count);
    pbd_count(recorder, "elements", s->elements);
    pbd_count(recorder, "colours", (uint64_t)s->colours);
    return position_guess_start(&s->position, s->before);
}

const pbd_method PBD_NAME(vbd) = {
    .name = "vbd",
    .summary = "vertex block descent: Gauss-Seidel of 3x3 blocks on the implicit Euler step of tetrahedra",
    .source = "Chen et al. 2024 (doi 10.1145/3658179); laws as in methods/physics",
    .needs = PBD_NEEDS_TETS,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_MATERIALS |
             PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .destroy = destroy,
    .residual = "2-norm of dG/dx over free vertices, N: inertia and elastic forces that do not balance",
    .unconverged = "its published form does a fixed number of sweeps in each step",
    POSITION_SLOTS,
};
