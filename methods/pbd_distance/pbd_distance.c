/* pbd_distance: hexahedra of eight particles held by distance and volume constraints (rodero2016).
 *
 * A step predicts positions under the load, projects them `iterations` times, and updates velocities from the
 * displacements. Rest is found by stepping until nothing moves (mode=dynamic, as the paper does), or from the linear
 * analysis of one step (mode=static, Eq. 6 with K_PBD of Eq. 9). Stiffnesses come from a fit to linear FEM, from the
 * paper's polynomials, or from the caller. Analysis and fit are always f64. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/pbd_distance/fit.h"
#include "methods/pbd_distance/pbd_distance.h"
#include "methods/pbd_distance/pbd_distance_kernels.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/space/colouring.h"

static const pbd_param params[] = {PBD_ROWS(PBD_DISTANCE_PARAMS){0}};

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Returns the first row of a kind in `impulse`. A distance takes one row, a volume eight. */
static size_t impulse_rows_before(const pbd_distance *s, int kind) {
    size_t rows = 0;
    for (int i = 0; i < kind; i++) rows += s->kind[i].count;
    return rows;
}

/* Returns the number of entries to gather: two particles gather the same impulse of a distance; each of the eight
 * particles of a cell gathers its own impulse of the volume. */
static size_t gathered(const pbd_distance *s) {
    return 2 * impulse_rows_before(s, HEX_VOLUME) + 8 * s->constraints.cells;
}

static size_t arrays_of(const pbd_distance *s, device_array *row) {
    const size_t n = s->particles, jacobi = s->set.solver == solver_jacobi;
    const device_array rows[] = {
        DEVICE_SAVED(s->x, 4 * n),
        DEVICE_SAVED(s->v, 4 * n),
        DEVICE_ARRAY(s->a, 4 * n),
        DEVICE_ARRAY(s->p, 4 * n),
        DEVICE_ARRAY(s->impulse, jacobi * 4 * (impulse_rows_before(s, HEX_VOLUME) + 8 * s->constraints.cells)),
        DEVICE_ARRAY(s->gather_first, jacobi * (n + 1)),
        DEVICE_ARRAY(s->gather_slot, jacobi * gathered(s)),
        DEVICE_ARRAY(s->held, s->held_count),
        DEVICE_ARRAY(s->held_rest, 4 * s->held_count),
        DEVICE_ARRAY(s->fastest, n / SPEED_BLOCK + 1)};
    size_t count = DEVICE_ROWS(row, rows);
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        const coloured *c = &s->kind[kind];
        const device_array own[] = {DEVICE_ARRAY(c->particle, (kind == HEX_VOLUME ? 8 : 2) * c->count),
                                    DEVICE_ARRAY(c->rest[0], c->count),
                                    DEVICE_ARRAY(c->rest[1], kind == HEX_VOLUME ? c->count : 0)};
        count += DEVICE_ROWS(row + count, own);
    }
    return count;
}

static void destroy(void *state) {
    pbd_distance *s = state;
    if (!s) return;
    device_array row[DEVICE_MOST_ARRAYS];
    pbd_repeat_free(s->exec, s->repeat);
    device_arrays_free(s->exec, row, arrays_of(s, row));
    for (int kind = 0; kind < HEX_KINDS; kind++) free(s->kind[kind].order);
    pbd_arena_free(&s->stages);
    hex_constraints_free(&s->constraints);
    free(s->rest);
    free(s->forces);
    free(s->masses);
    free(s->is_held);
    free(s->static_predicted);
    free(s->static_after);
    free(s);
}

static pbd_status order_kind(pbd_distance *s, size_t arity, const uint32_t *particle, coloured *c) {
    const size_t slab = pbd_slab(s->exec, s->particles, 4 * sizeof(real));
    size_t first[PBD_MOST_COLOURS + 1];
    int colours;
    PBD_TRY(pbd_colour(c->count, (int)arity, particle, s->particles, c->order, first, &colours));
    return pbd_cut_colours(c->count, (int)arity, NULL, particle, s->particles, slab, c->order, first, colours,
                           &s->stages, &c->first, &c->stages);
}

/* Uploads the constraints of one kind, sorted by stage. Jacobi needs no colours and keeps mesh order, in which
 * impulses are stored near the particles that gather them. */
static pbd_status upload_kind(pbd_distance *s, int kind) {
    const hex_constraints *h = &s->constraints;
    const bool volume = kind == HEX_VOLUME;
    const size_t arity = volume ? 8 : 2;
    const uint32_t *particle = volume ? h->cell : h->pair[kind];
    coloured *c = &s->kind[kind];
    pbd_arena a PBD_ARENA;
    uint32_t *sorted = pbd_new(&a, uint32_t, c->count * arity);
    real *rest = pbd_new(&a, real, c->count);
    PBD_TRY(pbd_arena_check(&a));
    c->order = malloc((c->count + 1) * sizeof *c->order);
    if (!c->order) return pbd_error(PBD_FAILED, "out of memory for %zu constraints", c->count);
    if (s->set.solver == solver_coloured_gs)
        PBD_TRY(order_kind(s, arity, particle, c));
    else
        for (size_t i = 0; i < c->count; i++) c->order[i] = (uint32_t)i;
    for (size_t i = 0; i < c->count; i++)
        memcpy(sorted + i * arity, particle + c->order[i] * arity, arity * sizeof *sorted);
    PBD_TRY(pbd_upload(s->exec, c->particle, sorted, c->count * arity * sizeof *sorted));
    for (int r = 0; r < (volume ? 2 : 1); r++) {
        const double *from = volume ? h->rest_volume[r] : h->rest[kind];
        for (size_t i = 0; i < c->count; i++) rest[i] = (real)from[c->order[i]];
        PBD_TRY(pbd_upload(s->exec, c->rest[r], rest, c->count * sizeof *rest));
    }
    return pbd_ok();
}

/* Uploads the list of impulses that each particle gathers (Jacobi). A counting sort makes the order of summation
 * deterministic. */
static pbd_status upload_gather(pbd_distance *s) {
    const size_t entries = gathered(s);
    if (entries >= UINT32_MAX / 2)
        return pbd_error(PBD_NOT_SUPPORTED, "solver=jacobi supports fewer than %u impulses, not %zu: use coloured_gs",
                         UINT32_MAX / 2, entries);
    pbd_arena memory PBD_ARENA;
    uint32_t *first = pbd_new(&memory, uint32_t, s->particles + 2), *slot = pbd_new(&memory, uint32_t, entries);
    PBD_TRY(pbd_arena_check(&memory));
    for (int pass = 0; pass < 2; pass++) { /* count, then place */
        for (int kind = 0; kind < HEX_KINDS; kind++) {
            int arity = kind == HEX_VOLUME ? 8 : 2;
            const uint32_t *particle = kind == HEX_VOLUME ? s->constraints.cell : s->constraints.pair[kind];
            size_t base = impulse_rows_before(s, kind);
            for (size_t i = 0; i < s->kind[kind].count; i++)
                for (int a = 0; a < arity; a++) {
                    uint32_t p = particle[s->kind[kind].order[i] * (size_t)arity + (size_t)a];
                    size_t row = arity == 2 ? base + i : base + 8 * i + (size_t)a;
                    if (pass == 0)
                        first[p + 2]++;
                    else
                        slot[first[p + 1]++] = (uint32_t)(row << 1 | (arity == 2 && a == 1));
                }
        }
        if (pass == 0)
            for (size_t p = 0; p < s->particles; p++) first[p + 2] += first[p + 1];
    }
    PBD_TRY(pbd_upload(s->exec, s->gather_first, first, (s->particles + 1) * sizeof *first));
    return pbd_upload(s->exec, s->gather_slot, slot, entries * sizeof *slot);
}

static pbd_status upload_particles(pbd_distance *s, const pbd_scene *scene) {
    const pbd_particles *of = &scene->particles;
    const size_t n = of->count, bytes = 4 * n * sizeof(real);
    pbd_arena memory PBD_ARENA;
    real *x = pbd_new(&memory, real, 4 * n), *v = pbd_new(&memory, real, 4 * n), *a = pbd_new(&memory, real, 4 * n);
    real *held = pbd_new(&memory, real, 4 * of->fixed);
    PBD_TRY(pbd_arena_check(&memory));
    for (size_t i = 0; i < n; i++) {
        const bool weightless = s->is_held[i] && scene->hints.fixing == PBD_FIXED_WEIGHT;
        for (size_t d = 0; d < 3; d++) {
            x[4 * i + d] = (real)of->positions[3 * i + d];
            if (s->is_held[i]) continue;
            if (of->velocities) v[4 * i + d] = (real)of->velocities[3 * i + d];
            a[4 * i + d] = (real)(s->forces[3 * i + d] / s->masses[i]);
        }
        x[4 * i + 3] = weightless ? 0 : (real)(1 / of->masses[i]);
    }
    for (size_t i = 0; i < 3 * of->fixed; i++)
        held[4 * (i / 3) + i % 3] = (real)of->positions[3 * of->fixed_particle[i / 3] + i % 3];
    PBD_TRY(pbd_upload(s->exec, s->x, x, bytes));
    PBD_TRY(pbd_upload(s->exec, s->p, x, bytes));
    PBD_TRY(pbd_upload(s->exec, s->v, v, bytes));
    PBD_TRY(pbd_upload(s->exec, s->a, a, bytes));
    PBD_TRY(pbd_upload(s->exec, s->held, of->fixed_particle, of->fixed * sizeof *of->fixed_particle));
    return pbd_upload(s->exec, s->held_rest, held, 4 * of->fixed * sizeof *held);
}

static pbd_status copy_scene(pbd_distance *s, const pbd_scene *scene) {
    size_t n = scene->particles.count;
    s->rest = malloc((3 * n + 1) * sizeof *s->rest);
    s->forces = malloc((3 * n + 1) * sizeof *s->forces);
    s->masses = malloc((n + 1) * sizeof *s->masses);
    s->is_held = calloc(n + 1, sizeof *s->is_held);
    if (!s->rest || !s->forces || !s->masses || !s->is_held)
        return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    memcpy(s->rest, scene->particles.positions, 3 * n * sizeof *s->rest);
    for (size_t i = 0; i < 3 * n; i++)
        s->forces[i] = scene->loads.forces[i] + scene->particles.masses[i / 3] * scene->loads.gravity[i % 3];
    memcpy(s->masses, scene->particles.masses, n * sizeof *s->masses);
    for (size_t i = 0; i < scene->particles.fixed; i++) s->is_held[scene->particles.fixed_particle[i]] = true;
    s->particles = n;
    s->held_count = scene->particles.fixed;
    s->fixing = scene->hints.fixing;
    s->extent = scene->extent;
    PBD_TRY(hex_constraints_create(scene, &s->constraints));
    for (int kind = 0; kind < HEX_KINDS; kind++)
        s->kind[kind].count = kind == HEX_VOLUME ? s->constraints.cells : s->constraints.count[kind];
    return pbd_ok();
}

/* ---- Stiffnesses ------------------------------------------------------------------------------------------------- */

static void record_fit(pbd_recorder *recorder, const double k[HEX_KINDS], double error, double dt,
                       const fit_matrices *m) {
    static const char *const names[HEX_KINDS] = {"k_edge", "k_face", "k_diagonal", "k_volume"};
    for (int kind = 0; kind < HEX_KINDS; kind++) pbd_metric(recorder, names[kind], "1", PBD_STATE, k[kind]);
    pbd_metric(recorder, "fit_error", "1", PBD_ERROR, error);
    pbd_metric(recorder, "dt", "s", PBD_STATE, dt);
    pbd_metric(recorder, "norm_K_fem", "N/m", PBD_STATE, m->norm_fem);
}

/* Chooses k, and dt by Eq. 10, from the first element (all elements of the cube cases are identical). */
static pbd_status choose_stiffness(pbd_distance *s, const pbd_scene *scene) {
    const pbd_distance_settings *set = &s->set;
    fit_problem problem = {.material = scene->material[0],
                           .mass = scene->particles.masses[scene->hexes.corner[0]],
                           .mass_norm = (fit_norm)set->mass_norm,
                           .split = (hex_split)set->face_split,
                           .volume = set->constraints == constraints_all,
                           .iterations = (int)(set->fit_iterations > 0 ? set->fit_iterations : set->iterations),
                           .fixing = scene->hints.fixing};
    for (int a = 0; a < 8; a++)
        memcpy(problem.corner[a], scene->particles.positions + 3 * scene->hexes.corner[a], sizeof problem.corner[a]);
    fit_matrices m PBD_CLEANUP(fit_release) = {0};
    fit_answer answer = {.k = {set->k_edge, set->k_face, set->k_diagonal, set->k_volume}};
    PBD_TRY(fit_prepare(&problem, &m));
    if (set->stiffness == stiffness_polynomial)
        fit_polynomials(scene->material->nu, answer.k);
    else if (set->stiffness == stiffness_fitted && set->fit == fit_bounded_lsq)
        PBD_TRY(fit_bounded_least_squares(&m, &answer));
    else if (set->stiffness == stiffness_fitted && set->fit == fit_nelder_mead)
        PBD_TRY(fit_by_nelder_mead(&m, set->fit_start, &answer));
    else if (set->stiffness == stiffness_fitted)
        PBD_TRY(fit_to_deformation_tests(&m, &answer));
    if (!problem.volume) answer.k[HEX_VOLUME] = 0;
    memcpy(s->k, answer.k, sizeof s->k);
    s->dt = (set->dt > 0 ? set->dt : m.dt) * set->dt_scale;
    record_fit(s->recorder, s->k, fit_error(&m, s->k), s->dt, &m);
    if (answer.evaluations) pbd_count(s->recorder, "fit_evaluations", (uint64_t)answer.evaluations);
    if (set->order_samples == 0) return pbd_ok();
    double difference = 0, spread = 0;
    PBD_TRY(fit_sample_orders(&m, s->k, (int)set->order_samples, (uint64_t)set->order_seed, &difference, &spread));
    pbd_metric(s->recorder, "gs_mean_difference", "1", PBD_STATE, difference);
    pbd_metric(s->recorder, "gs_order_spread", "1", PBD_STATE, spread);
    return pbd_ok();
}

/* ---- Projection -------------------------------------------------------------------------------------------------- */

/* Returns the number of constraints from `first` on if the particles do not fit into the cache, else 0. */
static size_t left_of(const pbd_distance *s, const coloured *c, size_t first) {
    enum { IN_CACHE = 8 << 20 }; /* bytes */
    return 4 * s->particles * sizeof(real) > IN_CACHE ? c->count - first : 0;
}

static pbd_status project_distances_of(pbd_distance *s, int kind, size_t first, size_t count) {
    const coloured *c = &s->kind[kind];
    distance_args args = {.pair = c->particle + 2 * first,
                          .rest = c->rest[0] + first,
                          .p = s->p,
                          .k = (real)s->k[kind],
                          .left = left_of(s, c, first)};
    if (s->set.solver == solver_coloured_gs) return PBD_RUN(s->exec, project_distances, count, &args);
    args.impulse = s->impulse + 4 * (impulse_rows_before(s, kind) + first);
    return PBD_RUN(s->exec, store_distance_impulses, count, &args);
}

static pbd_status project_volumes_of(pbd_distance *s, size_t first, size_t count) {
    const coloured *c = &s->kind[HEX_VOLUME];
    volume_args args = {.cell = c->particle + 8 * first,
                        .rest_a = c->rest[0] + first,
                        .rest_b = c->rest[1] + first,
                        .p = s->p,
                        .k = (real)s->k[HEX_VOLUME],
                        .split = s->set.face_split,
                        .left = left_of(s, c, first)};
    if (s->set.solver == solver_coloured_gs) return PBD_RUN(s->exec, project_volumes, count, &args);
    args.impulse = s->impulse + 4 * (impulse_rows_before(s, HEX_VOLUME) + 8 * first);
    return PBD_RUN(s->exec, store_volume_impulses, count, &args);
}

pbd_status pbd_distance_project(pbd_distance *s) {
    const bool jacobi = s->set.solver == solver_jacobi;
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        const coloured *c = &s->kind[kind];
        if (s->k[kind] == 0) continue; /* Jacobi: its impulses keep their initial 0 */
        /* Jacobi projections write to no particle, so one launch takes all constraints. */
        for (size_t stage = 0; stage < (jacobi ? 1 : c->stages); stage++) {
            const size_t first = jacobi ? 0 : c->first[stage], end = jacobi ? c->count : c->first[stage + 1];
            if (kind == HEX_VOLUME)
                PBD_TRY(project_volumes_of(s, first, end - first));
            else
                PBD_TRY(project_distances_of(s, kind, first, end - first));
        }
        if (s->k[kind] > 0) pbd_count(s->recorder, "constraint_solves", c->count);
    }
    if (jacobi) {
        gather_args gather = {s->gather_first, s->gather_slot, s->impulse, s->p};
        PBD_TRY(PBD_RUN(s->exec, gather_impulses, s->particles,
                        (pbd_work){.items = s->particles, .entries = gathered(s)}, &gather));
    }
    return pbd_ok();
}

static pbd_status project(pbd_distance *s) {
    const hold_args args = {s->held, s->held_rest, s->p};
    PBD_TRY(pbd_distance_project(s));
    return PBD_RUN(s->exec, hold, s->held_count, &args);
}

/* ---- The residual ------------------------------------------------------------------------------------------------ */

static double distance_violation(const pbd_distance *s, const double *p, int kind) {
    double squares = 0;
    for (size_t i = 0; i < s->constraints.count[kind]; i++) {
        const double *a = p + 3 * (size_t)s->constraints.pair[kind][2 * i];
        const double *b = p + 3 * (size_t)s->constraints.pair[kind][2 * i + 1];
        const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        const double c = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / s->constraints.rest[kind][i] - 1;
        squares += c * c;
    }
    return squares;
}

/* Returns the sum of squares of the relative changes of volume, with the mean of both splits as the volume. */
static double volume_violation(const pbd_distance *s, const double *p) {
    const hex_constraints *h = &s->constraints;
    double squares = 0, corner[8][3], unused[8][3];
    for (size_t e = 0; e < h->cells; e++) {
        for (int c = 0; c < 8; c++) memcpy(corner[c], p + 3 * (size_t)h->cell[8 * e + (size_t)c], sizeof corner[c]);
        const double six = hex_six_volumes(corner, HEX_SPLIT_A, unused) + hex_six_volumes(corner, HEX_SPLIT_B, unused);
        const double c = six / (h->rest_volume[0][e] + h->rest_volume[1][e]) - 1;
        squares += c * c;
    }
    return squares;
}

static pbd_status violation(const pbd_distance *s, double *out) {
    pbd_arena a PBD_ARENA;
    double *p = pbd_new(&a, double, 3 * s->particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(device_rows_read(s->exec, s->p, s->particles, 4, 3, NULL, NULL, p));
    *out = 0;
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        if (s->k[kind] == 0) continue;
        *out += kind == HEX_VOLUME ? volume_violation(s, p) : distance_violation(s, p, kind);
    }
    *out = sqrt(*out);
    return pbd_ok();
}

/* Measuring is not part of the method's work, so the exec's totals are restored. */
static pbd_status measure(const pbd_distance *s, double *out) {
    const pbd_exec_totals before = pbd_exec_read_totals(s->exec);
    const pbd_status status = PBD_PHASE(s->recorder, "residual", violation(s, out));
    pbd_exec_restore_totals(s->exec, &before);
    return status;
}

static double violation_rounding(const pbd_distance *s) {
    size_t count = 0;
    for (int kind = 0; kind < HEX_KINDS; kind++) count += s->k[kind] > 0 ? s->kind[kind].count : 0;
    return sqrt((double)count) * 4 * REAL_EPSILON * s->extent / s->constraints.rest[HEX_EDGE][0];
}

static void watch(void *state, pbd_residual *out) { ((pbd_distance *)state)->watched = out; }

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static pbd_status step(void *state, double dt) {
    pbd_distance *s = state;
    predict_args prediction = {.x = s->x, .v = s->v, .a = s->a, .p = s->p, .dt = (real)dt};
    PBD_TRY(pbd_repeat_begin(s->exec, &s->repeat));
    PBD_TRY(PBD_RUN(s->exec, predict, s->particles, &prediction));
    if (s->watched) PBD_TRY(measure(s, &s->watched->first));
    for (long i = 0; i < s->set.iterations; i++) PBD_TRY(project(s));
    if (s->watched) PBD_TRY(measure(s, &s->watched->last));
    if (s->watched) s->watched->rounding = violation_rounding(s);
    s->watched = NULL;
    double keep = 1 - s->set.damping * dt;
    advance_args motion = {s->p, s->x, s->v, (real)(1 / dt), (real)(keep > 0 ? keep : 0)};
    PBD_TRY(PBD_RUN(s->exec, advance, s->particles, &motion));
    PBD_TRY(pbd_repeat_end(s->exec));
    pbd_count(s->recorder, "steps", 1);
    return pbd_ok();
}

/* ---- Rest -------------------------------------------------------------------------------------------------------- */

/* Writes the largest speed, m/s; infinite if any is not finite. */
static pbd_status largest_speed(pbd_distance *s, double *out) {
    size_t blocks = (s->particles + SPEED_BLOCK - 1) / SPEED_BLOCK;
    speed_args args = {s->v, s->fastest, s->particles};
    PBD_TRY(PBD_RUN(s->exec, block_speed, blocks, &args));
    *out = 0;
    return device_blocks_take(s->exec, s->fastest, blocks, 1, 1, out);
}

/* Steps until the body is at rest. The threshold is relative to the body's size and the step, so that results do not
 * depend on units or stiffness. A threshold below a few units in the last place of a position in `real` is raised to
 * that, with a warning. */
static pbd_status settle(pbd_distance *s) {
    double threshold = s->set.velocity_threshold, resolved = 8 * REAL_EPSILON;
    if (threshold < resolved) {
        threshold = resolved;
        pbd_warning(s->recorder, "threshold_raised",
                    "velocity_threshold %g is below what this precision resolves; %.3g is used",
                    s->set.velocity_threshold, threshold);
    }
    threshold *= s->extent / s->dt; /* m/s from here on */
    long next_record = 1;
    bool slow = false; /* at the last sample */
    pbd_residual *const watched = s->watched;
    for (long done = 1; done <= s->set.max_steps; done++) {
        s->watched = slow || done % 64 == 0 ? watched : NULL; /* the last step always follows a slow one */
        if (pbd_stop_requested(s->recorder)) return pbd_error(PBD_INTERRUPTED, "stopped after %ld steps", done - 1);
        PBD_TRY(step(s, s->dt));
        if (done % 8 != 0 && !slow) continue;
        double speed = 0;
        PBD_TRY(largest_speed(s, &speed));
        if (done >= next_record) { /* samples become rarer, so that long runs stay small */
            double at = (double)done;
            pbd_series(s->recorder, "largest_speed", "step", "1", &at, 1, 1);
            pbd_series(s->recorder, "largest_speed", "value", "m/s", &speed, 1, 1);
            next_record = done + 8 + done / 20;
        }
        if (!(speed * s->dt < s->extent))
            return pbd_error(PBD_DIVERGED, "after %ld steps a particle moves %.3g m in one step, in a body of %g m",
                             done, speed * s->dt, s->extent);
        /* One slow step may be a turning point; two consecutive slow steps mean rest. */
        if (slow && speed < threshold) return pbd_ok();
        slow = speed < threshold;
    }
    return pbd_error(PBD_NOT_SETTLED, "still moving after max_steps=%ld steps", s->set.max_steps);
}

static pbd_status solve(void *state) {
    pbd_distance *s = state;
    const pbd_status status = s->set.mode == mode_static ? pbd_distance_solve_static(s) : settle(s);
    s->watched = NULL;
    return status;
}

/* ---- What is recorded at creation -------------------------------------------------------------------------------- */

/* A constraint can act if at least one of its particles can move. Those that cannot act lower applied_fraction. */
static void record_applied_fraction(pbd_distance *s) {
    size_t all = 0, applied = 0;
    for (int kind = 0; kind < HEX_KINDS; kind++) {
        if (s->k[kind] == 0) continue;
        size_t arity = kind == HEX_VOLUME ? 8 : 2;
        const uint32_t *particle = kind == HEX_VOLUME ? s->constraints.cell : s->constraints.pair[kind];
        for (size_t i = 0; i < s->kind[kind].count; i++) {
            bool moves = s->fixing == PBD_FIXED_RESET;
            for (size_t a = 0; a < arity; a++) moves = moves || !s->is_held[particle[arity * i + a]];
            applied += moves;
        }
        all += s->kind[kind].count;
    }
    pbd_count(s->recorder, "constraints_total", all);
    pbd_metric(s->recorder, "applied_fraction", "1", PBD_QUALITY, all ? (double)applied / (double)all : 0);
    pbd_count(s->recorder, "particles", s->particles);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    device_array row[DEVICE_MOST_ARRAYS];
    pbd_distance *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for pbd_distance");
    *s = (pbd_distance){.exec = exec, .recorder = recorder, .set = pbd_distance_settings_read(values)};
    PBD_TRY(copy_scene(s, scene));
    PBD_TRY(choose_stiffness(s, scene));
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    for (int kind = 0; kind < HEX_KINDS; kind++) PBD_TRY(upload_kind(s, kind));
    PBD_TRY(upload_particles(s, scene));
    if (s->set.solver == solver_jacobi) PBD_TRY(upload_gather(s));
    record_applied_fraction(s);
    if (s->set.spectrum == spectrum_yes) PBD_TRY(pbd_distance_record_spectrum(s));
    return s->set.jacobian == jacobian_yes ? pbd_distance_record_jacobian_error(s) : pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_rows(const pbd_distance *s, const real *device, double *out) {
    return device_rows_read(s->exec, device, s->particles, 4, 3, NULL, NULL, out);
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const pbd_distance *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES && field != PBD_PREDICTED)
        return pbd_error(PBD_NOT_SUPPORTED, "pbd_distance has positions and velocities only");
    if (s->static_after && field != PBD_VELOCITIES) {
        const double *u = field == PBD_POSITIONS ? s->static_after : s->static_predicted;
        for (size_t i = 0; i < 3 * s->particles; i++) out[i] = s->rest[i] + u[i];
        return pbd_ok();
    }
    if (field == PBD_POSITIONS) return read_rows(s, s->x, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->v, out);
    predict_args prediction = {
        .x = s->x, .v = s->v, .a = s->a, .p = s->p, .dt = (real)s->dt}; /* p is free between steps */
    PBD_TRY(PBD_RUN(s->exec, predict, s->particles, &prediction));
    return read_rows(s, s->p, out);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const pbd_distance *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    return device_arrays_save(s->exec, row, arrays_of(s, row), blob, bytes);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    pbd_distance *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    return device_arrays_load(s->exec, row, arrays_of(s, row), "pbd_distance", blob, bytes);
}

const pbd_method PBD_NAME(pbd_distance) = {
    .bytes = sizeof(pbd_method),
    .name = "pbd_distance",
    .summary = "hexahedra of distance and volume constraints, fitted to FEM",
    .source = "rodero2016 Eqs. 1, 7-12 (corrections R-2, R-3, R-7)",
    .needs = PBD_NEEDS_HEXES,
    .takes = PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
    .residual = "2-norm over all distances and volumes with a stiffness of their relative change since rest",
    .watch = watch,
    .unconverged = "rodero2016 projects once a step: the iterations are part of the fitted stiffness",
};
