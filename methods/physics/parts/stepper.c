#include "methods/physics/parts/stepper.h"

#include <assert.h>

#include "methods/physics/device/phase.h"

pbd_status stepper_create(stepper *s, const pbd_scene *scene, pbd_exec *exec, pbd_recorder *recorder) {
    *s = (stepper){.exec = exec, .recorder = recorder, .substeps = 1, .iterations = 1};
    PBD_TRY(collider_poses_create(&s->colliders, scene, exec, recorder));
    return collider_sums_room(&s->colliders, scene->particles.count);
}

void stepper_add(stepper *s, const step_part *part, void *self) {
    assert(s->parts < STEPPER_MOST_PARTS);
    s->of[s->parts].part = part;
    s->of[s->parts++].self = self;
}

void stepper_free(stepper *s) {
    for (size_t k = s->parts; k-- > 0;)
        if (s->of[k].part->free) s->of[k].part->free(s->of[k].self);
    if (s->exec) {
        pbd_repeat_free(s->exec, s->repeat);
        for (int k = 0; k < 2; k++) pbd_repeat_free(s->exec, s->sweeps[k]);
    }
    collider_poses_free(&s->colliders);
    *s = (stepper){0};
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

#define EACH(s, function)                   \
    for (size_t k = 0; k < (s)->parts; k++) \
        if ((s)->of[k].part->function) PBD_TRY((s)->of[k].part->function((s)->of[k].self, s))

pbd_status stepper_begin(stepper *s, double dt) {
    s->dt = dt;
    s->done = 0;
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    EACH(s, begin);
    return pbd_ok();
}

pbd_status stepper_iterate(stepper *s) {
    EACH(s, iterate);
    s->done++;
    return pbd_ok();
}

pbd_status stepper_end(stepper *s) {
    EACH(s, end);
    for (size_t k = s->parts; k-- > 0;)
        if (s->of[k].part->move) PBD_TRY(s->of[k].part->move(s->of[k].self, s));
    s->time += s->dt;
    return pbd_ok();
}

pbd_status stepper_record(stepper *s) {
    s->steps++;
    EACH(s, record);
    return pbd_ok();
}

/* ---- The residual ------------------------------------------------------------------------------------------------ */

void stepper_watch(stepper *s, pbd_residual *out) { s->watched = out; }

static pbd_status measure_part(stepper *s) {
    step_residual now;
    size_t k = 0;
    while (k < s->parts && !s->of[k].part->residual) k++;
    if (k == s->parts) return pbd_ok();
    PBD_TRY(s->of[k].part->residual(s->of[k].self, s, &now));
    const double first = s->done == 0 ? now.norm : s->watched->first;
    *s->watched = (pbd_residual){first, now.norm, now.rounding};
    return pbd_ok();
}

/* This work is not the method's, so the totals are restored. */
static pbd_status measure(stepper *s) {
    const pbd_exec_totals before = pbd_exec_read_totals(s->exec);
    const pbd_status status = PBD_PHASE(s->recorder, "residual", measure_part(s));
    pbd_exec_restore_totals(s->exec, &before);
    return status;
}

/* Reports iterates, only in the last substep of a step. */
static pbd_status report(stepper *s, bool last) {
    if (!last || !pbd_wants_iterates(s->recorder)) return pbd_ok();
    const pbd_exec_totals before = pbd_exec_read_totals(s->exec);
    EACH(s, report);
    pbd_exec_restore_totals(s->exec, &before);
    return pbd_ok();
}

static pbd_status sweep(stepper *s, bool last) {
    bool stop = false;
    if (s->watch) PBD_TRY(s->watch(s->watcher, s, &stop));
    while (s->done < s->iterations && !stop) {
        PBD_TRY(stepper_iterate(s));
        PBD_TRY(report(s, last));
        if (s->watch) PBD_TRY(s->watch(s->watcher, s, &stop));
    }
    return pbd_ok();
}

static pbd_status repeat_sweeps(stepper *s, bool last) {
    s->turn = !s->turn;
    PBD_TRY(pbd_repeat_begin(s->exec, &s->sweeps[s->turn]));
    PBD_TRY(sweep(s, last));
    return pbd_repeat_end(s->exec);
}

static pbd_status substep(stepper *s, double dt, bool last, bool measured) {
    PBD_TRY(stepper_begin(s, dt));
    PBD_TRY(report(s, last));
    if (measured) PBD_TRY(measure(s));
    PBD_TRY(s->repeats ? sweep(s, last) : repeat_sweeps(s, last));
    if (measured) PBD_TRY(measure(s));
    return stepper_end(s);
}

pbd_status stepper_step(stepper *s, double dt) {
    if (s->repeats) PBD_TRY(pbd_repeat_begin(s->exec, &s->repeat));
    for (long i = 0; i < s->substeps; i++) {
        const bool last = i + 1 == s->substeps;
        PBD_TRY(substep(s, dt / (double)s->substeps, last, s->watched && last));
    }
    s->watched = NULL;
    if (s->repeats) PBD_TRY(pbd_repeat_end(s->exec));
    pbd_count(s->recorder, "steps", 1);
    return stepper_record(s);
}

/* ---- Saving and loading ------------------------------------------------------------------------------------------ */

size_t stepper_arrays(const stepper *s, device_array *row) {
    const device_array own[] = {HOST_SAVED(s->time), HOST_SAVED(s->steps)};
    size_t count = DEVICE_ROWS(row, own);
    for (size_t k = s->parts; k-- > 0;) /* the arrays of the first part, the method's own, come last */
        if (s->of[k].part->arrays) count += s->of[k].part->arrays(s->of[k].self, row + count);
    assert(count <= DEVICE_MOST_ARRAYS);
    return count;
}

pbd_status stepper_save(const stepper *s, void *blob, size_t *bytes) {
    device_array row[DEVICE_MOST_ARRAYS];
    const size_t count = stepper_arrays(s, row);
    return device_arrays_save(s->exec, row, count, blob, bytes);
}

pbd_status stepper_load(stepper *s, const char *method, const void *blob, size_t bytes) {
    device_array row[DEVICE_MOST_ARRAYS];
    const size_t count = stepper_arrays(s, row);
    PBD_TRY(device_arrays_load(s->exec, row, count, method, blob, bytes));
    PBD_TRY(collider_sums_clear(&s->colliders));
    for (size_t k = 0; k < s->parts; k++)
        if (s->of[k].part->loaded) s->of[k].part->loaded(s->of[k].self);
    return pbd_ok();
}
