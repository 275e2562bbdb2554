/* mpm: explicit MLS-MPM (Hu et al. 2018) with APIC and quadratic B-splines, the Hencky law and the flow rules; yu2024
 * compares XPBI with it. README.md has the equations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/mpm/mpm_kernels.h"
#include "methods/mpm/start_fields.h"
#include "methods/params.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/device/scene_rows.h"
#include "methods/physics/matter/flow_material.h"
#include "methods/physics/matter/wave.h"
#include "methods/physics/parts/particle_survey.h"
#include "methods/physics/space/rest_neighbours.h"
#include "methods/physics/surface/colliders.h"

/* Limits of the grid's cells: a grid much larger than its matter indicates divergence. */
enum { FREE_CELLS = 1 << 22, CELLS_OF_A_PARTICLE = 64, MOST_CELLS = 1 << 28 };

#define PARAMS(REAL, INTEGER, CHOICE)                                                         \
    REAL(cell, "", "2", 0.5, 16, 0, "width of a cell of the background grid, in spacings")    \
    INTEGER(substeps, "1", 1, 100000, "of a step")                                            \
    REAL(dt, "s", "auto", 0, 1e3, PBD_OPEN_MIN,                                               \
         "time step; auto: 1e-4 s, or half of what a wave takes through a cell in a substep") \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")         \
    CHOICE(walls, "coulomb", (coulomb, sticky, slip),                                         \
           "nodes on a collider: its friction, no motion along it, or no friction")
PBD_SETTINGS(mpm_settings, PARAMS)

static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct mpm {
    pbd_exec *exec;
    pbd_recorder *recorder;
    mpm_settings set;
    size_t particles;
    uint32_t *particle; /* host, by place: index in the scene */
    pbd_material material;
    double mu, lambda, sound; /* Pa, m/s */
    double size, align[3];    /* m: cell size; position of a plane of nodes */
    double time, forces_end;
    double stressed; /* s: the time step of the stress in the affine momenta */
    double gravity[3];
    bool holds, forced;
    bool gathers; /* nodes gather from particles, as a GPU needs it; else particles are added to nodes */
    /* After the last substep. */
    double low[3], high[3], fastest;
    mpm_box box;
    collider_poses colliders;
    /* Device. */
    real *rows, *load, *column, *seen;
    real *plastic; /* by particle, J: dissipated by the flow rule; NULL: elastic */
    uint32_t *key, *slot;
    size_t stride;
    /* Device, with room for `cells`. */
    size_t cells;
    uint32_t *first;
    real *node, *held;
    int *active;
    pbd_repeat *repeat; /* a substep after its sort */
} mpm;

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static size_t arrays_of(const mpm *s, device_array *row) {
    const size_t n = s->particles;
    const device_array rows[] = {DEVICE_SAVED(s->rows, 4 * MPM_ROWS * n),
                                 DEVICE_SAVED(s->plastic, s->material.flow ? n : 0),
                                 HOST_SAVED(s->time),
                                 HOST_SAVED(s->stressed),
                                 DEVICE_ARRAY(s->load, s->forced ? 4 * n : 0),
                                 DEVICE_ARRAY(s->column, s->gathers ? MPM_COLUMNS * s->stride : 0),
                                 DEVICE_ARRAY(s->seen, MPM_MEASURED * (n / MPM_MEASURE_BLOCK + 1)),
                                 DEVICE_ARRAY(s->key, n),
                                 DEVICE_ARRAY(s->slot, n)};
    return DEVICE_ROWS(row, rows);
}

static size_t cell_arrays_of(const mpm *s, device_array *row) {
    const device_array rows[] = {DEVICE_ARRAY(s->first, s->cells + 1), DEVICE_ARRAY(s->node, 4 * s->cells),
                                 DEVICE_ARRAY(s->held, s->holds ? s->cells : 0),
                                 DEVICE_ARRAY(s->active, s->cells / MPM_SEGMENT + 1)};
    return DEVICE_ROWS(row, rows);
}

static void destroy(void *state) {
    mpm *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    if (!s) return;
    device_arrays_free(s->exec, row, arrays_of(s, row));
    device_arrays_free(s->exec, row, cell_arrays_of(s, row));
    pbd_repeat_free(s->exec, s->repeat);
    collider_poses_free(&s->colliders);
    free(s->particle);
    free(s);
}

static pbd_status check(const pbd_scene *scene) {
    const pbd_material *m = scene->material;
    if (scene->particles.count == 0 || !(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "the scene's particles do not sample a body: no spacing is given");
    if (!pbd_named(m->law, "hencky"))
        return pbd_error(PBD_NOT_SUPPORTED, "mpm supports the law of Hencky strain only: set material=hencky");
    if (!(m->E > 0 && isfinite(m->E))) return pbd_error(PBD_BAD_INPUT, "E=%g Pa must be above 0", m->E);
    if (!(m->nu > -1 && m->nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must be above -1 and below 0.5", m->nu);
    PBD_TRY(scene_check_particles(scene));
    for (size_t i = 0; i < scene->particles.count; i++)
        if (!(scene_volume(scene, i) > 0 && isfinite(scene_volume(scene, i))))
            return pbd_error(PBD_BAD_INPUT, "particle %zu stands for a volume of %g m^3: it must be above 0", i,
                             scene_volume(scene, i));
    return pbd_ok();
}

/* Aligns the nodes along each axis with the first flat face of a collider, so that this wall is at its exact position
 * instead of within a cell of it. */
static void align_with(const pbd_collider *c, double align[3], bool known[3]) {
    if ((c->shape != PBD_PLANE && c->shape != PBD_BOX) || c->spin[0] != 0 || c->spin[1] != 0 || c->spin[2] != 0) return;
    for (int k = c->shape == PBD_PLANE ? 2 : 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            if (known[d] || fabs(c->axis[k][d]) < 1 - 1e-9) continue;
            const double out = c->container ? -1 : 1; /* upper face of a box, floor of a container */
            align[d] = c->centre[d] + (c->shape == PBD_BOX ? out * c->half[k] : 0);
            known[d] = true;
        }
}

static void choose_material(mpm *s, const pbd_scene *scene) {
    const pbd_material *m = scene->material;
    double lightest = INFINITY; /* kg/m^3 */
    s->material = *m;
    s->mu = m->E / (2 * (1 + m->nu));
    s->lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
    for (size_t i = 0; i < scene->particles.count; i++)
        lightest = fmin(lightest, scene->particles.masses[i] / scene_volume(scene, i));
    s->sound = sqrt((s->lambda + 2 * s->mu) / lightest);
}

/* x, v: rows of scene_rows. */
static void fill_row(const pbd_scene *scene, const start_fields *fields, size_t p, double size, const real *x,
                     const real *v, real *row) {
    const double mass = scene->particles.masses[p];
    const bool held = !(v[3] > 0);
    memcpy(row + 4 * MPM_PLACE, x, 3 * sizeof *x);
    memcpy(row + 4 * MPM_MOTION, v, 3 * sizeof *v);
    row[4 * MPM_PLACE + 3] = (real)mass;
    row[4 * MPM_MOTION + 3] = (real)flow_first_state(scene->material);
    row[4 * MPM_AFFINE + MPM_VOLUME] = (real)scene_volume(scene, p);
    row[4 * MPM_AFFINE + MPM_INVERSE] = (real)(held ? 0 : 1 / mass);
    for (size_t e = 0; e < 9; e++) {
        row[4 * MPM_STRETCH + e] = (real)(fields->stretch ? fields->stretch[9 * p + e] : e % 4 == 0);
        if (fields->velocity && !held) row[4 * MPM_AFFINE + e] = (real)(mass * size * fields->velocity[9 * p + e]);
    }
}

static pbd_status fill_particles(mpm *s, const pbd_scene *scene) {
    const size_t n = s->particles;
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *v = pbd_new(&a, real, 4 * n), *load = pbd_new(&a, real, 4 * n),
         *rows = pbd_new(&a, real, 4 * MPM_ROWS * n);
    start_fields fields;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(start_fields_make(scene, 2.1 * scene->particles.spacing, &a, &fields));
    PBD_TRY(scene_rows(scene, s->particle, x, v, load));
    for (size_t i = 0; i < n; i++)
        fill_row(scene, &fields, s->particle[i], s->size, x + 4 * i, v + 4 * i, rows + 4 * MPM_ROWS * i);
    PBD_TRY(pbd_upload(s->exec, s->rows, rows, 4 * MPM_ROWS * n * sizeof *rows));
    return s->load ? pbd_upload(s->exec, s->load, load, 4 * n * sizeof *load) : pbd_ok();
}

static pbd_status measure(mpm *s);

/* Thickness of a wall, m; infinite unless it is a box or plate. */
static double thickness_of(const pbd_collider *c) {
    if (c->container) return INFINITY;
    if (c->shape == PBD_PERFORATED_PLATE) return 2 * c->half[2];
    return c->shape == PBD_BOX ? 2 * fmin(c->half[0], fmin(c->half[1], c->half[2])) : INFINITY;
}

static void warn_of_walls(const mpm *s, const pbd_scene *scene, pbd_recorder *recorder) {
    for (size_t c = 0; c < scene->colliders.count; c++) {
        const double thickness = thickness_of(&scene->colliders.item[c]);
        if (thickness < s->size)
            pbd_warning(recorder, "thin_wall",
                        "collider %zu is %.3g m thick, less than a cell of %.3g m: the grid may not see it, and matter "
                        "sinks where it lies on it: smaller particles or a smaller cell",
                        c, thickness, s->size);
    }
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const size_t n = scene->particles.count;
    device_array row[DEVICE_MOST_ARRAYS];
    mpm *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for mpm");
    *s = (mpm){.exec = exec,
               .recorder = recorder,
               .set = mpm_settings_read(values),
               .particles = n,
               .stride = n + PBD_BATCH,
               .gathers = pbd_exec_is_gpu(exec),
               .forces_end = scene->loads.forces_end,
               .forced = scene_has_forces(scene),
               .holds = scene->particles.fixed > 0};
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
    PBD_TRY(check(scene));
    choose_material(s, scene);
    s->size = s->set.cell * scene->particles.spacing;
    PBD_TRY(collider_poses_create(&s->colliders, scene, exec, recorder));
    if (s->colliders.sheets)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "mpm's grid moves both sides of a sheet together: only closed meshes are supported");
    bool known[3] = {false, false, false};
    warn_of_walls(s, scene, recorder);
    for (size_t c = 0; c < scene->colliders.count; c++) align_with(&scene->colliders.item[c], s->align, known);
    s->particle = malloc((n + 1) * sizeof *s->particle);
    if (!s->particle) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    PBD_TRY(rest_space_order(n, scene_start(scene), s->size, s->particle));
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(fill_particles(s, scene));
    pbd_count(recorder, "particles", n);
    pbd_metric(recorder, "cell_width", "m", PBD_STATE, s->size);
    if (scene->contact.radius && (scene->contact.between_bodies || scene->contact.self_distance > 0))
        pbd_warning(recorder, "contact_through_grid",
                    "bodies interact through the grid of mpm: they stick to each other within a cell, for any friction "
                    "between particles");
    pbd_status status = measure(s);
    if (status.code == PBD_DIVERGED) status.code = PBD_BAD_INPUT; /* at the start the input is wrong */
    return status;
}

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

static pbd_status read_seen(mpm *s, double *not_finite) {
    size_t blocks = (s->particles + MPM_MEASURE_BLOCK - 1) / MPM_MEASURE_BLOCK;
    pbd_arena a PBD_ARENA;
    PBD_TRY(device_blocks_fold(s->exec, s->seen, &blocks, MPM_MEASURED, 3, 1));
    real *seen = pbd_new(&a, real, MPM_MEASURED * blocks);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->exec, seen, s->seen, MPM_MEASURED * blocks * sizeof *seen));
    double square = 0;
    *not_finite = 0;
    for (int d = 0; d < 3; d++) s->low[d] = INFINITY, s->high[d] = -INFINITY;
    for (const real *b = seen; b < seen + MPM_MEASURED * blocks; b += MPM_MEASURED) {
        for (size_t d = 0; d < 3; d++) {
            s->low[d] = fmin(s->low[d], (double)b[d]);
            s->high[d] = fmax(s->high[d], (double)b[3 + d]);
        }
        square = fmax(square, (double)b[6]);
        *not_finite += (double)b[7];
    }
    s->fastest = sqrt(square);
    return pbd_ok();
}

/* A box of cells around all particles, with one additional cell below for rounding; nodes extend two cells farther. */
static pbd_status choose_box(mpm *s) {
    const double most = fmin(FREE_CELLS + (double)CELLS_OF_A_PARTICLE * (double)s->particles, MOST_CELLS);
    double cells = 1;
    int nodes[3];
    for (int d = 0; d < 3; d++) {
        const double first = floor((s->low[d] - s->align[d]) / s->size - 0.5) - 1;
        const double last = floor((s->high[d] - s->align[d]) / s->size - 0.5) + 1;
        const double count = last - first + 3, whole = d == 0 ? MPM_SEGMENT * ceil(count / MPM_SEGMENT) : count;
        s->box.origin[d] = (real)(s->align[d] + (first + 0.5) * s->size);
        cells *= whole;
        nodes[d] = whole < most ? (int)whole : 1;
    }
    if (!(cells <= most))
        return pbd_error(PBD_DIVERGED,
                         "particles are spread over %.3g by %.3g by %.3g m, %.3g cells of %g m, where %.3g are "
                         "allowed: use a smaller dt if they fly apart, or a larger cell",
                         s->high[0] - s->low[0], s->high[1] - s->low[1], s->high[2] - s->low[2], cells, s->size, most);
    memcpy(s->box.nodes, nodes, sizeof nodes);
    s->box.inverse = (real)(1 / s->size);
    return pbd_ok();
}

static size_t cells_of(const mpm *s) {
    return (size_t)s->box.nodes[0] * (size_t)s->box.nodes[1] * (size_t)s->box.nodes[2];
}

static pbd_status make_room(mpm *s) {
    const size_t wanted = cells_of(s);
    device_array row[DEVICE_MOST_ARRAYS];
    if (wanted <= s->cells) return pbd_ok();
    PBD_TRY(pbd_exec_wait(s->exec));
    device_arrays_free(s->exec, row, cell_arrays_of(s, row));
    s->cells = wanted + wanted / 4;
    const pbd_status status = device_arrays_allocate(s->exec, row, cell_arrays_of(s, row));
    if (status.code != PBD_OK) s->cells = 0;
    PBD_TRY(status);
    return collider_sums_room(&s->colliders, s->cells > s->particles ? s->cells : s->particles);
}

/* Computes the bounding box of all particles and the largest speed, and chooses the grid for it. Ends the repeat of a
 * substep. */
static pbd_status measure(mpm *s) {
    const mpm_measure_args args = {s->rows, s->particles, s->seen};
    double not_finite = 0;
    PBD_TRY(PBD_RUN(s->exec, mpm_measure, (s->particles + MPM_MEASURE_BLOCK - 1) / MPM_MEASURE_BLOCK, &args));
    PBD_TRY(pbd_repeat_end(s->exec));
    PBD_TRY(read_seen(s, &not_finite));
    if (not_finite > 0)
        return pbd_error(PBD_DIVERGED, "%.0f of %zu particles have non-finite positions or velocities at %g s",
                         not_finite, s->particles, s->time);
    PBD_TRY(choose_box(s));
    return make_room(s);
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

static int bits_of(size_t cells) {
    int bits = 1;
    while ((size_t)1 << bits < cells) bits++;
    return bits;
}

/* Accelerations by loads while these act, else NULL. Half a step covers rounding of the sum of dt. */
static const real *load_of(const mpm *s, double dt) {
    return s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt ? NULL : s->load;
}

/* Begins the repeat of a substep: its launches are those of the last one while the grid is the same. */
static pbd_status sort(mpm *s, double dt) {
    const size_t cells = cells_of(s);
    const mpm_keys_args keys = {s->rows, s->key, s->slot, s->box};
    PBD_TRY(PBD_RUN(s->exec, mpm_keys, s->particles, &keys));
    PBD_TRY(pbd_sort_pairs(s->exec, s->key, s->slot, s->particles, bits_of(cells)));
    PBD_TRY(pbd_repeat_begin(s->exec, &s->repeat));
    const grid_cells_args begin = {s->key, s->first, s->particles};
    PBD_TRY(PBD_RUN(s->exec, mpm_cells, cells + 1, &begin));
    if (!s->gathers) return pbd_ok();
    const mpm_spread_args spread = {.rows = s->rows,
                                    .load = load_of(s, dt),
                                    .slot = s->slot,
                                    .column = s->column,
                                    .stride = s->stride,
                                    .box = s->box,
                                    .dt = (real)dt,
                                    .holds = s->holds};
    return PBD_RUN(s->exec, mpm_spread, s->particles, &spread);
}

static mpm_grid_args grid_args(const mpm *s, double dt) {
    return (mpm_grid_args){.column = s->column,
                           .stride = s->stride,
                           .first = s->first,
                           .node = s->node,
                           .held = s->held,
                           .active = s->active,
                           .box = s->box,
                           .collider = s->colliders.device,
                           .colliders = (int)s->colliders.count,
                           .walls = s->set.walls,
                           .sums = collider_sums_of(&s->colliders),
                           .dt = (real)dt,
                           .keep = (real)exp(-s->set.damping * dt),
                           .gravity = {(real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]}};
}

static pbd_status gather(mpm *s, double dt) {
    const mpm_g2p_args args = {.key = s->key,
                               .slot = s->slot,
                               .node = s->node,
                               .rows = s->rows,
                               .count = s->particles,
                               .box = s->box,
                               .dt = (real)dt,
                               .rate = (real)(4 * dt / s->size)};
    return PBD_RUN(s->exec, grid_to_particles, s->particles, &args);
}

static pbd_status leave_walls(mpm *s, double dt) {
    const mpm_walls_args out = {.rows = s->rows,
                                .collider = s->colliders.device,
                                .colliders = (int)s->colliders.count,
                                .walls = s->set.walls,
                                .sums = collider_sums_of(&s->colliders),
                                .dt = (real)dt};
    return PBD_RUN(s->exec, push_from_walls, s->particles, &out);
}

/* Adds the stress over a time dt, s. flow: applies the flow rule first; only directly after the update of F. */
static pbd_status flow_by(mpm *s, double dt, bool flow) {
    mpm_stress_args args = {
        .rows = s->rows, .mu = (real)s->mu, .lambda = (real)s->lambda, .scale = (real)(-4 * dt / s->size)};
    args.flows = s->material.flow != NULL;
    args.hardens = flow_hardens(&s->material);
    args.rule = flow_rule_of(&s->material, dt);
    args.flows = flow && args.flows;
    args.by_strain = !args.flows || flow_is_radial(&args.rule);
    args.plastic = args.flows && pbd_records(s->recorder) ? s->plastic : NULL;
    return PBD_RUN(s->exec, flow_and_stress, s->particles, &args);
}

static pbd_status add_lines(mpm *s, double dt, const mpm_grid_args *grid) {
    for (size_t colour = 0; colour < MPM_COLOURS; colour++) {
        const size_t y = colour % MPM_LINE_STEP, z = colour / MPM_LINE_STEP;
        const size_t across = ((size_t)s->box.nodes[1] + MPM_LINE_STEP - 1 - y) / MPM_LINE_STEP,
                     deep = ((size_t)s->box.nodes[2] + MPM_LINE_STEP - 1 - z) / MPM_LINE_STEP;
        const mpm_add_args args = {.grid = *grid,
                                   .rows = s->rows,
                                   .load = load_of(s, dt),
                                   .slot = s->slot,
                                   .y = (int)y,
                                   .z = (int)z,
                                   .across = (int)across};
        /* Which particles a colour has is not known here: a ninth each. */
        const pbd_work work = {
            .items = across * deep,
            .entries = s->particles * (colour + 1) / MPM_COLOURS - s->particles * colour / MPM_COLOURS};
        PBD_TRY(PBD_RUN(s->exec, mpm_add_lines, across * deep, work, &args));
    }
    return pbd_ok();
}

static pbd_status to_grid(mpm *s, double dt, const mpm_grid_args *grid, size_t segments) {
    const pbd_work work = {.items = segments, .entries = s->particles};
    if (s->gathers) return PBD_RUN(s->exec, particles_to_grid, segments, work, grid);
    PBD_TRY(PBD_RUN(s->exec, mpm_clear, segments, grid));
    return add_lines(s, dt, grid);
}

static pbd_status substep(mpm *s, double dt) {
    if (s->stressed != dt) { /* the first step, or dt has changed */
        PBD_TRY(flow_by(s, dt - s->stressed, false));
        s->stressed = dt;
    }
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    PBD_TRY(PBD_PHASE(s->recorder, "sort", sort(s, dt)));
    const mpm_grid_args grid = grid_args(s, dt);
    const size_t segments = cells_of(s) / MPM_SEGMENT;
    PBD_TRY(PBD_PHASE(s->recorder, "p2g", to_grid(s, dt, &grid, segments)));
    PBD_TRY(PBD_PHASE(s->recorder, "grid", PBD_RUN(s->exec, move_grid, segments, &grid)));
    PBD_TRY(PBD_PHASE(s->recorder, "g2p", gather(s, dt)));
    if (s->colliders.count > 0)
        PBD_TRY(PBD_PHASE(s->recorder, collider_poses_phase(&s->colliders, "g2p"), leave_walls(s, dt)));
    PBD_TRY(PBD_PHASE(s->recorder, "plasticity", flow_by(s, dt, true)));
    s->time += dt;
    pbd_count(s->recorder, "particle_updates", s->particles);
    return PBD_PHASE(s->recorder, "sort", measure(s));
}

static void warn_of_step(mpm *s, double dt) {
    const double elastic = dt * s->sound / s->size, motion = dt * s->fastest / s->size;
    if (elastic > 1)
        pbd_warning(s->recorder, "elastic_cfl",
                    "sound, %.3g m/s, goes %.3g cells of %.3g m in a step of %.3g s: above 1 it is unstable", s->sound,
                    elastic, s->size, dt);
    if (motion > 1)
        pbd_warning(s->recorder, "motion_cfl", "a particle at %.3g m/s goes %.3g cells of %.3g m in a step of %.3g s",
                    s->fastest, motion, s->size, dt);
}

static pbd_status step(void *state, double dt) {
    mpm *s = state;
    const double part = dt / (double)s->set.substeps;
    for (long i = 0; i < s->set.substeps; i++) {
        warn_of_step(s, part);
        PBD_TRY(substep(s, part));
    }
    pbd_count(s->recorder, "steps", 1);
    pbd_metric(s->recorder, "grid_cells", "1", PBD_STATE, (double)cells_of(s));
    return pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Angular momentum of the affine velocities, whose second moment along each axis is a quarter of the squared cell
 * width. The stress in the affine momenta is symmetric and drops out. */
static pbd_status read_spin(const mpm *s, double out[3]) {
    enum { A = 4 * MPM_AFFINE };
    static const size_t turning[] = {A + 5, A + 7, A + 6, A + 2, A + 1, A + 3}; /* C_zy, C_yz, C_xz, C_zx, C_yx, C_xy */
    pbd_arena a PBD_ARENA;
    double *c = pbd_new(&a, double, 6 * s->particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(device_rows_read(s->exec, s->rows, s->particles, 4 * MPM_ROWS, 6, turning, s->particle, c));
    out[0] = out[1] = out[2] = 0;
    for (size_t k = 0; k < 6 * s->particles; k++) out[k % 6 / 2] += s->size / 4 * (k % 2 == 0 ? c[k] : -c[k]);
    return pbd_ok();
}

enum { F = 4 * MPM_STRETCH };
static const size_t stretch[] = {F, F + 3, F + 6, F + 1, F + 4, F + 7, F + 2, F + 5, F + 8}; /* F_11, F_12, ... */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    static const size_t place[] = {4 * MPM_PLACE, 4 * MPM_PLACE + 1, 4 * MPM_PLACE + 2};
    static const size_t motion[] = {4 * MPM_MOTION, 4 * MPM_MOTION + 1, 4 * MPM_MOTION + 2};
    const mpm *s = state;
    if (field == PBD_COLLIDER_SUMS) return collider_sums_read(&s->colliders, out);
    if (field == PBD_SPIN) return read_spin(s, out);
    if (field == PBD_PLASTIC_DISSIPATION && s->plastic) {
        *out = 0;
        return device_rows_total(s->exec, s->plastic, s->particles, 1, 0, out);
    }
    const size_t *column = field == PBD_POSITIONS               ? place
                           : field == PBD_VELOCITIES            ? motion
                           : field == PBD_DEFORMATION_GRADIENTS ? stretch
                                                                : NULL;
    if (!column) return pbd_error(PBD_NOT_SUPPORTED, "mpm has positions, velocities and deformation gradients only");
    return device_rows_read(s->exec, s->rows, s->particles, 4 * MPM_ROWS, column == stretch ? 9 : 3, column,
                            s->particle, out);
}

static pbd_status survey(const void *state, const pbd_survey *asked, pbd_surveyed *out) {
    const mpm *s = state;
    return particle_survey(&(survey_source){.exec = s->exec,
                                            .particles = s->particles,
                                            .x = s->rows + 4 * MPM_PLACE,
                                            .v = s->rows + 4 * MPM_MOTION,
                                            .F = s->rows,
                                            .x_stride = 4 * MPM_ROWS,
                                            .v_stride = 4 * MPM_ROWS,
                                            .F_stride = 4 * MPM_ROWS,
                                            .F_column = stretch,
                                            .number = s->particle,
                                            .number_on_host = true},
                           asked, out);
}

static pbd_status loaded(mpm *s) {
    PBD_TRY(collider_sums_clear(&s->colliders));
    return measure(s);
}
DEVICE_SAVING(mpm, s->exec, arrays_of, loaded(s))

/* The method is explicit and, at rest, unstable if sound crosses more than a cell in a substep (warn_of_step). The
 * default is half of that, because compression raises the speed. */
static double choose(const pbd_scene *scene, const pbd_values *values, const char *parameter) {
    (void)parameter; /* dt alone is `auto` */
    const mpm_settings set = mpm_settings_read(values);
    return round_step(fmin(1e-4, 0.5 * (double)set.substeps * set.cell * wave_crossing(scene)));
}

const pbd_method PBD_NAME(mpm) = {
    .bytes = sizeof(pbd_method),
    .name = "mpm",
    .summary = "explicit material points on a grid: MLS-MPM with APIC, Hencky strain and flow rules",
    .source = "Hu et al. 2018; Jiang et al. 2015; Klar et al. 2016: compared in yu2024 Fig. 13",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_FORCES_END | PBD_TAKES_FLOW |
             PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
    .law = "hencky",
    .choose = choose,
    .survey = survey,
};
