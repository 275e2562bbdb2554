#include "methods/physics/parts/position_solver.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "methods/physics/matter/wave.h"
#include "methods/physics/parts/position_solver_kernels.h"

double position_choose_dt(const pbd_scene *scene, const pbd_values *values, const char *parameter) {
    (void)parameter;
    return round_step(fmin(0.005, (double)pbd_integer(values, "substeps") * wave_crossing(scene)));
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static size_t arrays_of(const void *self, device_array *row) {
    const position_solver *s = self;
    const size_t n = 4 * s->particles;
    const device_array rows[] = {DEVICE_SAVED(s->x, n),
                                 DEVICE_SAVED(s->v, n),
                                 DEVICE_ARRAY(s->a, n),
                                 DEVICE_ARRAY(s->p, n),
                                 DEVICE_ARRAY(s->later, s->forces_end > 0 ? n : 0),
                                 HOST_SAVED(s->contact.most_pairs)};
    return DEVICE_ROWS(row, rows);
}

pbd_status position_allocate(position_solver *s) {
    const step_part *own = s->run.of[0].part;
    device_array row[DEVICE_MOST_ARRAYS];
    return own->arrays ? device_arrays_allocate(s->run.exec, row, own->arrays(s, row)) : pbd_ok();
}

void position_free(position_solver *s) {
    device_array row[DEVICE_MOST_ARRAYS];
    device_arrays_free(s->run.exec, row, stepper_arrays(&s->run, row));
    contact_free(&s->contact);
    stepper_free(&s->run);
}

pbd_status position_save(const void *state, void *blob, size_t *bytes) {
    return stepper_save(&((const position_solver *)state)->run, blob, bytes);
}

pbd_status position_load(void *state, const void *blob, size_t bytes) {
    position_solver *s = state;
    return stepper_load(&s->run, s->name, blob, bytes);
}

pbd_status position_read(const void *state, pbd_field field, double *out) {
    const position_solver *s = state;
    if (field == PBD_COLLIDER_SUMS) return collider_sums_read(&s->run.colliders, out);
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "%s has positions, velocities and collider sums only", s->name);
    return device_rows_read(s->run.exec, field == PBD_POSITIONS ? s->x : s->v, s->particles, 4, 3, NULL, s->number,
                            out);
}

const real *position_loads(const position_solver *s, const stepper *run) {
    return s->later && !stepper_loaded(run, s->forces_end) ? s->later : s->a;
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

static pbd_status begin(void *self, stepper *run) {
    const position_solver *s = self;
    if (s->guesses) return pbd_ok();
    const predict_args args = {.x = s->x, .v = s->v, .a = position_loads(s, run), .p = s->p, .dt = (real)run->dt};
    return PBD_RUN(run->exec, predict, s->particles, &args);
}

pbd_status position_guess(const position_solver *s, const stepper *run, guess_settings set, real *before, real *y) {
    const guess_args args = {.x = s->x,
                             .v = s->v,
                             .a = position_loads(s, run),
                             .before = before,
                             .y = y,
                             .p = s->p,
                             .dt = (real)run->dt,
                             .inverse_square = (real)(1 / (run->dt * run->dt)),
                             .guess = (real_bits)set.guess};
    return PBD_RUN(run->exec, guess_step, s->particles, &args);
}

pbd_status position_guess_start(const position_solver *s, real *before) {
    const size_t bytes = 4 * s->particles * sizeof(real);
    pbd_arena a PBD_ARENA;
    real *v = pbd_new(&a, real, 4 * s->particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->run.exec, v, s->v, bytes));
    return pbd_upload(s->run.exec, before, v, bytes);
}

static pbd_status move(void *self, stepper *run) {
    const position_solver *s = self;
    const advance_args args = {s->p, s->x, s->v, (real)(1 / run->dt), (real)exp(-s->set.damping * run->dt)};
    return PBD_RUN(run->exec, advance, s->particles, &args);
}

static pbd_status report(void *self, stepper *run) {
    const position_solver *s = self;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 3 * s->particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(device_rows_read(run->exec, s->p, s->particles, 4, 3, NULL, s->number, x));
    pbd_iterate(run->recorder, run->done, x);
    return pbd_ok();
}

static const step_part rows_part = {.begin = begin, .move = move, .report = report, .arrays = arrays_of};

static pbd_status touch_begin(void *self, stepper *run) {
    position_solver *s = self;
    (void)run;
    return contact_begin(&s->contact, s->p);
}

static pbd_status touch_iterate(void *self, stepper *run) {
    position_solver *s = self;
    (void)run;
    return s->touches ? pbd_ok() : contact_iterate(&s->contact, s->x, s->p);
}

static pbd_status touch_end(void *self, stepper *run) {
    position_solver *s = self;
    (void)run;
    return contact_end(&s->contact, s->p);
}

static pbd_status touch_record(void *self, stepper *run) {
    (void)run;
    return contact_record(&((position_solver *)self)->contact);
}

static const step_part contact_part = {
    .begin = touch_begin, .iterate = touch_iterate, .end = touch_end, .record = touch_record};

pbd_status position_step(void *state, double dt) { return stepper_step(&((position_solver *)state)->run, dt); }

void position_watch(void *state, pbd_residual *out) { stepper_watch(&((position_solver *)state)->run, out); }

/* The rounding error of a few operations on positions of the scene's size. */
double position_strain_rounding(const position_solver *s, double size) { return 4 * REAL_EPSILON * s->extent / size; }

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Uploads the scene's particles, by row. */
static pbd_status fill_rows(position_solver *s, const pbd_scene *scene, const uint32_t *number, const double *inverse) {
    const pbd_particles *of = &scene->particles;
    const size_t n = of->count, bytes = 4 * n * sizeof(real);
    const double *start = of->start ? of->start : of->positions, *force = scene->loads.forces;
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *v = pbd_new(&a, real, 4 * n);
    real *forced = pbd_new(&a, real, 4 * n), *later = pbd_new(&a, real, 4 * n);
    bool *held = pbd_new(&a, bool, n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < of->fixed; i++) held[of->fixed_particle[i]] = true;
    for (size_t i = 0; i < n; i++) {
        const size_t k = number ? number[i] : i;
        const double w = inverse ? inverse[i] : held[k] ? 0 : 1 / of->masses[k];
        x[4 * i + 3] = (real)w;
        for (size_t d = 0; d < 3; d++) {
            const double gravity = scene->loads.gravity[d], f = force ? force[3 * k + d] : 0;
            x[4 * i + d] = (real)start[3 * k + d];
            if (!(w > 0)) continue;
            if (of->velocities) v[4 * i + d] = (real)of->velocities[3 * k + d];
            forced[4 * i + d] = (real)(gravity + (inverse ? f * w : f / of->masses[k]));
            later[4 * i + d] = (real)gravity;
        }
    }
    PBD_TRY(pbd_upload(s->run.exec, s->x, x, bytes));
    PBD_TRY(pbd_upload(s->run.exec, s->p, x, bytes));
    PBD_TRY(pbd_upload(s->run.exec, s->v, v, bytes));
    PBD_TRY(pbd_upload(s->run.exec, s->a, forced, bytes));
    return s->later ? pbd_upload(s->run.exec, s->later, later, bytes) : pbd_ok();
}

pbd_status position_create(position_solver *s, const step_part *own, const pbd_scene *scene, const uint32_t *number,
                           const double *inverse, contact_settings touch, pbd_exec *exec, pbd_recorder *recorder) {
    device_array row[DEVICE_MOST_ARRAYS];
    PBD_TRY(stepper_create(&s->run, scene, exec, recorder));
    s->run.substeps = s->set.substeps;
    s->run.iterations = s->set.iterations;
    stepper_add(&s->run, own, s);
    stepper_add(&s->run, &rows_part, s);
    stepper_add(&s->run, &contact_part, s);
    s->particles = scene->particles.count;
    s->number = number;
    s->extent = scene->extent;
    s->forces_end = scene->loads.forces_end;
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(fill_rows(s, scene, number, inverse));
    PBD_TRY(contact_create(&s->contact, scene, &s->run.colliders, number, exec, recorder, touch));
    /* Otherwise poses are uploaded, and a search waits, in the middle of a step. */
    s->run.repeats = !s->run.colliders.moves && !s->contact.pairs;
    return pbd_ok();
}
