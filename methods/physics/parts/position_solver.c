#include "methods/physics/parts/position_solver.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "methods/physics/parts/position_solver_kernels.h"

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static size_t own_arrays(const position_solver *s, device_array *row) {
    const size_t n = 4 * s->particles;
    const device_array rows[] = {DEVICE_SAVED(s->x, n), DEVICE_SAVED(s->v, n),
                                 DEVICE_ARRAY(s->a, n), DEVICE_ARRAY(s->p, n),
                                 HOST_SAVED(s->time),   DEVICE_ARRAY(s->later, s->forces_end > 0 ? n : 0)};
    return DEVICE_ROWS(row, rows);
}

static size_t method_arrays(const void *state, device_array *row) {
    const position_solver *s = state;
    return s->method.arrays ? s->method.arrays(state, row) : 0;
}

static size_t all_arrays(const void *state, device_array *row) {
    const size_t own = own_arrays(state, row);
    return own + method_arrays(state, row + own);
}

pbd_status position_allocate(void *state) {
    device_array row[DEVICE_MOST_ARRAYS];
    return device_arrays_allocate(((position_solver *)state)->exec, row, method_arrays(state, row));
}

void position_free(void *state) {
    position_solver *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    pbd_repeat_free(s->exec, s->repeat);
    s->repeat = NULL;
    device_arrays_free(s->exec, row, all_arrays(state, row));
    contact_free(&s->contact);
}

pbd_status position_save(const void *state, void *blob, size_t *bytes) {
    device_array row[DEVICE_MOST_ARRAYS];
    return device_arrays_save(((const position_solver *)state)->exec, row, all_arrays(state, row), blob, bytes);
}

pbd_status position_load(void *state, const void *blob, size_t bytes) {
    const position_solver *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    return device_arrays_load(s->exec, row, all_arrays(state, row), s->method.name, blob, bytes);
}

pbd_status position_read(const void *state, pbd_field field, double *out) {
    const position_solver *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "%s has positions and velocities only", s->method.name);
    return device_rows_read(s->exec, field == PBD_POSITIONS ? s->x : s->v, s->particles, 4, 3, NULL, s->number, out);
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

pbd_status position_create(position_solver *s, const pbd_scene *scene, const uint32_t *number, const double *inverse,
                           contact_settings touch) {
    const pbd_particles *of = &scene->particles;
    const size_t n = of->count, bytes = 4 * n * sizeof(real);
    const double *start = of->start ? of->start : of->positions, *force = scene->loads.forces;
    s->particles = n;
    s->number = number;
    s->forces_end = scene->loads.forces_end;
    device_array row[DEVICE_MOST_ARRAYS];
    PBD_TRY(device_arrays_allocate(s->exec, row, own_arrays(s, row)));
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
    PBD_TRY(pbd_upload(s->exec, s->x, x, bytes));
    PBD_TRY(pbd_upload(s->exec, s->p, x, bytes));
    PBD_TRY(pbd_upload(s->exec, s->v, v, bytes));
    PBD_TRY(pbd_upload(s->exec, s->a, forced, bytes));
    if (s->later) PBD_TRY(pbd_upload(s->exec, s->later, later, bytes));
    return contact_create(&s->contact, scene, number, s->exec, s->recorder, touch);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

pbd_status position_begin(position_solver *s, double dt) {
    /* Half a step of slack: sums of steps do not hit `forces_end` to the bit. */
    const bool ended = s->later && s->time > s->forces_end - 0.5 * dt;
    const predict_args args = {.x = s->x, .v = s->v, .a = ended ? s->later : s->a, .p = s->p, .dt = (real)dt};
    s->dt = dt;
    PBD_TRY(PBD_RUN(s->exec, predict, s->particles, &args));
    return contact_begin(&s->contact, s->p, s->time, dt);
}

pbd_status position_end(position_solver *s, double damping) {
    const advance_args args = {s->p, s->x, s->v, (real)(1 / s->dt), (real)exp(-damping * s->dt)};
    s->time += s->dt;
    PBD_TRY(contact_end(&s->contact, s->p));
    return PBD_RUN(s->exec, advance, s->particles, &args);
}

static pbd_status call(pbd_status (*part)(void *), void *state) { return part ? part(state) : pbd_ok(); }

static pbd_status substep(void *state, double dt) {
    position_solver *s = state;
    PBD_TRY(position_begin(s, dt));
    PBD_TRY(call(s->method.begin, state));
    for (long i = 0; i < s->set.iterations; i++) PBD_TRY(call(s->method.sweep, state));
    PBD_TRY(call(s->method.end, state));
    PBD_TRY(position_end(s, s->set.damping));
    return call(s->method.finish, state);
}

pbd_status position_step(void *state, double dt) {
    position_solver *s = state;
    PBD_TRY(pbd_repeat_begin(s->exec, &s->repeat));
    for (long i = 0; i < s->set.substeps; i++) PBD_TRY(substep(state, dt / (double)s->set.substeps));
    PBD_TRY(pbd_repeat_end(s->exec));
    PBD_TRY(contact_record(&s->contact));
    pbd_count(s->recorder, "steps", 1);
    const uint64_t n = ++s->steps;
    return n % 64 == 0 || (n < 64 && (n & (n - 1)) == 0) ? call(s->method.sample, state) : pbd_ok();
}
