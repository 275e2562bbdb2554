/* Acceleration of whole iterations, for elastic matter with kernel=rest: velocities and multipliers get the same
 * weights (parts/acceleration.h). It is the last part, so that it acts on complete iterations. */
#include "methods/xpbi/xpbi.h"
#include "methods/xpbi/xpbi_acceleration_kernels.h"

pbd_status xpbi_acceleration_check(const xpbi *s, const pbd_scene *scene) {
    const char *what = s->set.kernel != kernel_rest                                   ? "kernel=current"
                       : s->separation.position_correction != position_correction_off ? "position_correction"
                       : scene->colliders.count > 0                                   ? "colliders"
                       : pbd_holds(scene, PBD_FLUID) || pbd_holds(scene, PBD_CLOTH)   ? "liquid or cloth"
                                                                                      : NULL;
    if (s->faster.set.acceleration == acceleration_none || !what) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED,
                     "acceleration joins velocities and multipliers of elastic matter at rest alone, not %s: set "
                     "kernel=rest and position_correction=off, or acceleration=none",
                     what);
}

static size_t own_of(const xpbi *s) { return s->form == XPBI_STRESS ? 9 : 2; }

static xpbi_gather_multiplier_args args_of(const xpbi *s) {
    const xpbi_slices *of = &s->layout.slices;
    const size_t springs = of->hourglass > 0 ? 3 : 0;
    return (xpbi_gather_multiplier_args){.entry = of->entry,
                                         .packed = s->packed,
                                         .entries = of->entries,
                                         .hourglass = of->hourglass,
                                         .first = s->form == XPBI_STRESS ? XPBI_TENSOR : XPBI_MULTIPLIER,
                                         .own = own_of(s),
                                         .each = own_of(s) + springs};
}

static size_t arrays_of(const void *self, device_array *row) {
    const xpbi *s = self;
    const device_array packed[] = {DEVICE_ARRAY(s->packed, s->faster.count - s->faster.rows)};
    const size_t count = DEVICE_ROWS(row, packed);
    return count + acceleration_arrays(&s->faster, row + count);
}

/* With kernel=rest the lists are built once, before this call, so the number of multipliers is known. */
pbd_status xpbi_acceleration_allocate(xpbi *s) {
    device_array row[DEVICE_MOST_ARRAYS];
    const acceleration_settings set = s->faster.set;
    if (set.acceleration == acceleration_none) return pbd_ok();
    acceleration_create(&s->faster, set, s->particles, s->run.exec, s->run.recorder);
    acceleration_join(&s->faster, xpbi_slots_of(s) * args_of(s).each, 0);
    return device_arrays_allocate(s->run.exec, row, arrays_of(s, row));
}

static void free_arrays(void *self) {
    xpbi *s = self;
    device_array row[DEVICE_MOST_ARRAYS];
    device_arrays_free(s->run.exec, row, arrays_of(s, row));
}

static pbd_status begin(void *self, stepper *run) {
    xpbi *s = self;
    const xpbi_gather_multiplier_args args = args_of(s);
    PBD_TRY(PBD_RUN(run->exec, xpbi_pack_multipliers, s->faster.count - s->faster.rows, &args));
    return acceleration_begin(&s->faster, s->now.v, s->packed);
}

static pbd_status iterate(void *self, stepper *run) {
    xpbi *s = self;
    const xpbi_gather_multiplier_args args = args_of(s);
    const size_t count = s->faster.count - s->faster.rows;
    PBD_TRY(PBD_RUN(run->exec, xpbi_pack_multipliers, count, &args));
    PBD_TRY(acceleration_sweep(&s->faster, s->now.v, NULL, NULL));
    return PBD_RUN(run->exec, xpbi_unpack_multipliers, count, &args);
}

const step_part xpbi_acceleration_part = {.begin = begin, .iterate = iterate, .free = free_arrays};
