/* mpm: explicit material points with moving least squares (Hu et al. 2018), APIC and quadratic B-splines, in the Hencky
 * law with the flow rules: the rival that yu2024 compares XPBI with. README.md has the equations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/mpm/mpm_kernels.h"
#include "methods/mpm/start_fields.h"
#include "methods/physics/matter/flow_material.h"
#include "methods/physics/space/rest_neighbours.h"
#include "methods/physics/surface/colliders.h"

/* Cells that a box may have: a grid much larger than its matter is a run that flies apart. */
enum { FREE_CELLS = 1 << 22, CELLS_OF_A_PARTICLE = 64, MOST_CELLS = 1 << 28 };

static const char *const walls[] = {"coulomb", "sticky", "slip", NULL};

static const pbd_param params[] = {
    {"cell", "", PBD_REAL, "2", 0.5, 16, 0, NULL, "width of a cell of the background grid, in spacings"},
    {"substeps", "", PBD_INTEGER, "1", 1, 100000, 0, NULL, "of a step"},
    {"dt", "s", PBD_REAL, "0.0001", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},
    {"walls", "", PBD_CHOICE, "coulomb", 0, 0, 0, walls,
     "nodes on a collider: its friction, no motion along it, or no friction"},
    {0}};

typedef struct mpm {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles;
    uint32_t *particle; /* host, by place: index in the scene */
    pbd_material material;
    double mu, lambda, sound; /* Pa, m/s */
    double size, align[3];    /* m: of a cell; where a plane of nodes lies */
    double damping, time, forces_end;
    double stressed; /* s: the step for which the affine momenta hold their stress */
    double gravity[3];
    long substeps;
    int walls;
    bool holds;
    /* As of the last look. */
    double low[3], high[3], fastest;
    mpm_box box;
    collider_poses colliders;
    /* Device. */
    real *rows, *load, *column, *seen;
    uint32_t *key, *slot;
    size_t stride;
    /* Device, of `cells` that fit now. */
    size_t cells;
    uint32_t *first;
    real *node, *held;
    int *active;
} mpm;

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static void free_cells(mpm *s) {
    void *device[] = {s->first, s->node, s->held, s->active};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    s->first = NULL;
    s->node = s->held = NULL;
    s->active = NULL;
    s->cells = 0;
}

static void destroy(void *state) {
    mpm *s = state;
    if (!s) return;
    void *device[] = {s->rows, s->load, s->column, s->seen, s->key, s->slot};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    free_cells(s);
    collider_poses_free(&s->colliders);
    free(s->particle);
    free(s);
}

static double volume_of(const pbd_scene *scene, size_t i) {
    if (scene->particles.volumes) return scene->particles.volumes[i];
    const double density = scene->material->density;
    return density > 0 ? scene->particles.masses[i] / density
                       : scene->particles.spacing * scene->particles.spacing * scene->particles.spacing;
}

static pbd_status check(const pbd_scene *scene) {
    const pbd_material *m = scene->material;
    if (scene->particles.count == 0 || !(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "the scene's particles do not sample a body: no spacing is given");
    if (!pbd_named(m->law, "hencky"))
        return pbd_error(PBD_NOT_SUPPORTED, "mpm supports the law of Hencky strain only: set material=hencky");
    if (!(m->E > 0 && isfinite(m->E))) return pbd_error(PBD_BAD_INPUT, "E=%g Pa must be above 0", m->E);
    if (!(m->nu > -1 && m->nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must be above -1 and below 0.5", m->nu);
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *x = (scene->particles.start ? scene->particles.start : scene->particles.positions) + 3 * i;
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return pbd_error(PBD_BAD_INPUT, "particle %zu is at %g %g %g m: must be finite", i, x[0], x[1], x[2]);
        if (!(scene->particles.masses[i] > 0 && isfinite(scene->particles.masses[i])))
            return pbd_error(PBD_BAD_INPUT, "particle %zu weighs %g kg: it must be above 0", i,
                             scene->particles.masses[i]);
        if (!(volume_of(scene, i) > 0 && isfinite(volume_of(scene, i))))
            return pbd_error(PBD_BAD_INPUT, "particle %zu stands for a volume of %g m^3: it must be above 0", i,
                             volume_of(scene, i));
    }
    return pbd_ok();
}

/* Nodes are laid so that some are on the first flat face, along each axis, of what the scene holds: there the wall is
 * then where it should be, not up to a cell farther. */
static void align_with(const pbd_collider *c, double align[3], bool known[3]) {
    if ((c->shape != PBD_PLANE && c->shape != PBD_BOX) || c->spin[0] != 0 || c->spin[1] != 0 || c->spin[2] != 0) return;
    for (int k = c->shape == PBD_PLANE ? 2 : 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            if (known[d] || fabs(c->axis[k][d]) < 1 - 1e-9) continue;
            const double out = c->container ? -1 : 1; /* a box: its upper face, a container's floor */
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
        lightest = fmin(lightest, scene->particles.masses[i] / volume_of(scene, i));
    s->sound = sqrt((s->lambda + 2 * s->mu) / lightest);
}

static pbd_status take(pbd_exec *exec, size_t count, size_t bytes, void *out) {
    return pbd_alloc(exec, count * bytes, (void **)out);
}

static void fill_row(const pbd_scene *scene, const start_fields *fields, size_t p, bool held, double size, real *row) {
    const double *start = (scene->particles.start ? scene->particles.start : scene->particles.positions) + 3 * p,
                 mass = scene->particles.masses[p];
    for (size_t d = 0; d < 3; d++) {
        row[4 * MPM_PLACE + d] = (real)start[d];
        row[4 * MPM_MOTION + d] =
            (real)(held || !scene->particles.velocities ? 0 : scene->particles.velocities[3 * p + d]);
    }
    row[4 * MPM_PLACE + 3] = (real)mass;
    row[4 * MPM_MOTION + 3] = (real)flow_first_state(scene->material);
    row[4 * MPM_AFFINE + MPM_VOLUME] = (real)volume_of(scene, p);
    row[4 * MPM_AFFINE + MPM_INVERSE] = (real)(held ? 0 : 1 / mass);
    for (size_t e = 0; e < 9; e++) {
        row[4 * MPM_STRETCH + e] = (real)(fields->stretch ? fields->stretch[9 * p + e] : e % 4 == 0);
        if (fields->velocity && !held) row[4 * MPM_AFFINE + e] = (real)(mass * size * fields->velocity[9 * p + e]);
    }
}

static pbd_status fill_particles(mpm *s, const pbd_scene *scene, const start_fields *fields) {
    const size_t n = s->particles;
    real *rows = calloc(4 * MPM_ROWS * n + 1, sizeof *rows), *load = calloc(4 * n + 1, sizeof *load);
    unsigned char *held = calloc(n + 1, 1);
    pbd_status status = rows && load && held ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    bool loaded = false;
    for (size_t i = 0; i < scene->particles.fixed && status.code == PBD_OK; i++)
        held[scene->particles.fixed_particle[i]] = 1;
    for (size_t i = 0; i < n && status.code == PBD_OK; i++) {
        const size_t p = s->particle[i];
        fill_row(scene, fields, p, held[p], s->size, rows + 4 * MPM_ROWS * i);
        for (size_t d = 0; d < 3 && scene->loads.forces; d++) {
            load[4 * i + d] = (real)(scene->loads.forces[3 * p + d] / scene->particles.masses[p]);
            loaded = loaded || scene->loads.forces[3 * p + d] != 0;
        }
    }
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->rows, rows, 4 * MPM_ROWS * n * sizeof *rows);
    if (status.code == PBD_OK && loaded) status = take(s->exec, 4 * n, sizeof(real), &s->load);
    if (status.code == PBD_OK && loaded) status = pbd_upload(s->exec, s->load, load, 4 * n * sizeof *load);
    free(rows);
    free(load);
    free(held);
    return status;
}

static pbd_status look(mpm *s);

static pbd_status fill(mpm *s, const pbd_scene *scene, const pbd_values *values) {
    const size_t n = s->particles;
    PBD_TRY(check(scene));
    choose_material(s, scene);
    s->size = pbd_real(values, "cell") * scene->particles.spacing;
    s->substeps = pbd_integer(values, "substeps");
    s->damping = pbd_real(values, "damping");
    s->walls = pbd_choice(values, "walls");
    s->forces_end = scene->loads.forces_end;
    s->holds = scene->particles.fixed > 0;
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
    PBD_TRY(collider_poses_create(&s->colliders, scene, s->exec, s->recorder));
    if (s->colliders.sheets)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "mpm's grid moves both sides of a sheet together: only closed meshes are supported");
    bool known[3] = {false, false, false};
    for (size_t c = 0; c < scene->colliders.count; c++) align_with(&scene->colliders.item[c], s->align, known);
    s->particle = malloc((n + 1) * sizeof *s->particle);
    if (!s->particle) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    PBD_TRY(rest_space_order(n, scene->particles.start ? scene->particles.start : scene->particles.positions, s->size,
                             s->particle));
    s->stride = n + PBD_BATCH;
    PBD_TRY(take(s->exec, 4 * MPM_ROWS * n, sizeof(real), &s->rows));
    PBD_TRY(take(s->exec, MPM_COLUMNS * s->stride, sizeof(real), &s->column));
    PBD_TRY(take(s->exec, MPM_SEEN * (n / MPM_LOOK + 1), sizeof(real), &s->seen));
    PBD_TRY(take(s->exec, n, sizeof *s->key, &s->key));
    PBD_TRY(take(s->exec, n, sizeof *s->slot, &s->slot));
    start_fields fields;
    PBD_TRY(start_fields_make(scene, 2.1 * scene->particles.spacing, &fields));
    const pbd_status status = fill_particles(s, scene, &fields);
    start_fields_free(&fields);
    PBD_TRY(status);
    pbd_count(s->recorder, "particles", n);
    pbd_metric(s->recorder, "cell_width", "m", PBD_STATE, s->size);
    if (scene->contact.radius && (scene->contact.between_bodies || scene->contact.self_distance > 0))
        pbd_warning(s->recorder, "contact_through_grid",
                    "bodies interact through the grid of mpm: they stick to each other within a cell, for any friction "
                    "between particles");
    pbd_status seen = look(s);
    if (seen.code == PBD_DIVERGED) seen.code = PBD_BAD_INPUT; /* nothing has moved yet */
    return seen;
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    mpm *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for mpm");
    s->exec = exec;
    s->recorder = recorder;
    s->particles = scene->particles.count;
    const pbd_status status = fill(s, scene, values);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

static pbd_status read_seen(mpm *s, double *nowhere) {
    const size_t blocks = (s->particles + MPM_LOOK - 1) / MPM_LOOK;
    real *seen = malloc((MPM_SEEN * blocks + 1) * sizeof *seen);
    if (!seen) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", blocks);
    const pbd_status status = pbd_download(s->exec, seen, s->seen, MPM_SEEN * blocks * sizeof *seen);
    double square = 0;
    *nowhere = 0;
    for (int d = 0; d < 3; d++) s->low[d] = INFINITY, s->high[d] = -INFINITY;
    for (size_t b = 0; b < blocks && status.code == PBD_OK; b++) {
        for (size_t d = 0; d < 3; d++) {
            s->low[d] = fmin(s->low[d], (double)seen[MPM_SEEN * b + d]);
            s->high[d] = fmax(s->high[d], (double)seen[MPM_SEEN * b + 3 + d]);
        }
        square = fmax(square, (double)seen[MPM_SEEN * b + 6]);
        *nowhere += (double)seen[MPM_SEEN * b + 7];
    }
    s->fastest = sqrt(square);
    free(seen);
    return status;
}

/* A box of cells around all particles, with one to spare below for rounding; nodes reach two cells farther. */
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
    if (wanted <= s->cells) return pbd_ok();
    const size_t more = wanted + wanted / 4;
    PBD_TRY(pbd_exec_wait(s->exec));
    free_cells(s);
    PBD_TRY(take(s->exec, more + 1, sizeof *s->first, &s->first));
    PBD_TRY(take(s->exec, 4 * more, sizeof *s->node, &s->node));
    if (s->holds) PBD_TRY(take(s->exec, more, sizeof *s->held, &s->held));
    PBD_TRY(take(s->exec, more / MPM_SEGMENT + 1, sizeof *s->active, &s->active));
    s->cells = more;
    return pbd_ok();
}

/* Where particles are and how fast, and the grid that holds them. */
static pbd_status look(mpm *s) {
    const mpm_look_args args = {s->rows, s->particles, s->seen};
    double nowhere = 0;
    PBD_TRY(PBD_RUN(s->exec, mpm_look, (s->particles + MPM_LOOK - 1) / MPM_LOOK, &args));
    PBD_TRY(read_seen(s, &nowhere));
    if (nowhere > 0)
        return pbd_error(PBD_DIVERGED, "%.0f of %zu particles have non-finite positions or velocities at %g s", nowhere,
                         s->particles, s->time);
    PBD_TRY(choose_box(s));
    return make_room(s);
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

static int bits_of(size_t cells) {
    int bits = 1;
    while ((size_t)1 << bits < cells) bits++;
    return bits;
}

static pbd_status sort(mpm *s, double dt) {
    const size_t cells = cells_of(s);
    const mpm_keys_args keys = {s->rows, s->key, s->slot, s->box};
    PBD_TRY(PBD_RUN(s->exec, mpm_keys, s->particles, &keys));
    PBD_TRY(pbd_sort_pairs(s->exec, s->key, s->slot, s->particles, bits_of(cells)));
    const mpm_cells_args begin = {s->key, s->first, s->particles, (uint32_t)cells};
    PBD_TRY(PBD_RUN(s->exec, mpm_cells, s->particles, &begin));
    /* Half a step of slack: sums of steps do not hit `forces_end` to the bit. */
    const bool acts = !(s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt);
    const mpm_spread_args spread = {.rows = s->rows,
                                    .load = acts ? s->load : NULL,
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
                           .walls = s->walls,
                           .dt = (real)dt,
                           .keep = (real)exp(-s->damping * dt),
                           .gravity = {(real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]}};
}

static pbd_status gather(mpm *s, double dt) {
    const mpm_g2p_args args = {.column = s->column,
                               .stride = s->stride,
                               .key = s->key,
                               .slot = s->slot,
                               .node = s->node,
                               .rows = s->rows,
                               .nx = s->box.nodes[0],
                               .nxy = s->box.nodes[0] * s->box.nodes[1],
                               .dt = (real)dt,
                               .rate = (real)(4 * dt / s->size)};
    return PBD_RUN(s->exec, grid_to_particles, s->particles, &args);
}

static pbd_status leave_walls(mpm *s) {
    const mpm_walls_args out = {s->rows, s->colliders.device, (int)s->colliders.count};
    return PBD_RUN(s->exec, push_from_walls, s->particles, &out);
}

/* The stress of dt more, s; with flow only right after F has moved. */
static pbd_status flow_by(mpm *s, double dt, bool flow) {
    mpm_stress_args args = {
        .rows = s->rows, .mu = (real)s->mu, .lambda = (real)s->lambda, .scale = (real)(-4 * dt / s->size)};
    args.flows = s->material.flow != NULL;
    args.hardens = flow_hardens(&s->material);
    args.rule = flow_rule_of(&s->material, dt);
    args.flows = flow && args.flows;
    return PBD_RUN(s->exec, flow_and_stress, s->particles, &args);
}

static pbd_status timed(mpm *s, pbd_status status) {
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status substep(mpm *s, double dt) {
    if (s->stressed != dt) { /* the first step, or another one than the last */
        PBD_TRY(flow_by(s, dt - s->stressed, false));
        s->stressed = dt;
    }
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    pbd_phase_begin(s->recorder, "sort");
    PBD_TRY(timed(s, sort(s, dt)));
    const mpm_grid_args grid = grid_args(s, dt);
    const size_t segments = cells_of(s) / MPM_SEGMENT;
    pbd_phase_begin(s->recorder, "p2g");
    PBD_TRY(timed(s, PBD_RUN(s->exec, particles_to_grid, segments, (pbd_work){segments, s->particles}, &grid)));
    pbd_phase_begin(s->recorder, "grid");
    PBD_TRY(timed(s, PBD_RUN(s->exec, move_grid, segments, &grid)));
    pbd_phase_begin(s->recorder, "g2p");
    PBD_TRY(timed(s, gather(s, dt)));
    if (s->colliders.count > 0) {
        pbd_phase_begin(s->recorder, collider_poses_phase(&s->colliders, "g2p"));
        PBD_TRY(timed(s, leave_walls(s)));
    }
    pbd_phase_begin(s->recorder, "plasticity");
    PBD_TRY(timed(s, flow_by(s, dt, true)));
    s->time += dt;
    pbd_count(s->recorder, "particle_updates", s->particles);
    pbd_phase_begin(s->recorder, "sort");
    return timed(s, look(s));
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
    const double part = dt / (double)s->substeps;
    for (long i = 0; i < s->substeps; i++) {
        warn_of_step(s, part);
        PBD_TRY(substep(s, part));
    }
    pbd_count(s->recorder, "steps", 1);
    pbd_metric(s->recorder, "grid_cells", "1", PBD_STATE, (double)cells_of(s));
    return pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_rows(const mpm *s, int row, size_t width, double *out) {
    const size_t n = s->particles;
    real *rows = malloc((4 * MPM_ROWS * n + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    const pbd_status status = pbd_download(s->exec, rows, s->rows, 4 * MPM_ROWS * n * sizeof *rows);
    for (size_t i = 0; i < width * n && status.code == PBD_OK; i++) {
        const size_t e = i % width, entry = width == 9 ? e % 3 * 3 + e / 3 : e; /* matrices: to row by row */
        out[width * s->particle[i / width] + e] = (double)rows[4 * (MPM_ROWS * (i / width) + (size_t)row) + entry];
    }
    free(rows);
    return status;
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const mpm *s = state;
    if (field == PBD_POSITIONS) return read_rows(s, MPM_PLACE, 3, out);
    if (field == PBD_VELOCITIES) return read_rows(s, MPM_MOTION, 3, out);
    if (field == PBD_DEFORMATION_GRADIENTS) return read_rows(s, MPM_STRETCH, 9, out);
    return pbd_error(PBD_NOT_SUPPORTED, "mpm has positions, velocities and deformation gradients only");
}

/* All rows, the time, and the step that the affine momenta are for. */
static size_t rows_bytes(const mpm *s) { return 4 * MPM_ROWS * s->particles * sizeof(real); }

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const mpm *s = state;
    const double clock[2] = {s->time, s->stressed};
    *bytes = rows_bytes(s) + sizeof clock;
    if (!blob) return pbd_ok();
    memcpy((char *)blob + rows_bytes(s), clock, sizeof clock);
    return pbd_download(s->exec, blob, s->rows, rows_bytes(s));
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    mpm *s = state;
    double clock[2];
    if (bytes != rows_bytes(s) + sizeof clock)
        return pbd_error(PBD_BAD_INPUT, "mpm: the saved state has %zu bytes, not %zu", bytes,
                         rows_bytes(s) + sizeof clock);
    memcpy(clock, (const char *)blob + rows_bytes(s), sizeof clock);
    s->time = clock[0];
    s->stressed = clock[1];
    PBD_TRY(pbd_upload(s->exec, s->rows, blob, rows_bytes(s)));
    return look(s);
}

const pbd_method PBD_NAME(mpm) = {
    .bytes = sizeof(pbd_method),
    .name = "mpm",
    .summary = "explicit material points on a grid: MLS-MPM with APIC, Hencky strain and flow rules",
    .source = "Hu et al. 2018; Jiang et al. 2015; Klar et al. 2016: compared in yu2024 Fig. 13",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_FORCES_END | PBD_TAKES_FLOW,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
