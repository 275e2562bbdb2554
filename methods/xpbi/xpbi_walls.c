/* Colliders: corrects velocities that lead into one within the step. Particles whose `clearance` shows that they cannot
 * reach any are skipped. */
#include "methods/physics/device/phase.h"
#include "methods/xpbi/xpbi.h"
#include "methods/xpbi/xpbi_particle_kernels.h"

static xpbi_collide_args args_of(const xpbi *s, const stepper *run, real *v, collider_sums sums) {
    return (xpbi_collide_args){.collider = run->colliders.device,
                               .colliders = (int)run->colliders.count,
                               .x = s->now.x,
                               .load = s->now.load,
                               .id = s->now.id,
                               .clearance = s->clearance,
                               .v = v,
                               .least = (real)(0.01 * s->radius),
                               .dt = (real)run->dt,
                               .inverse_dt = (real)(1 / run->dt),
                               .sums = sums};
}

static pbd_status begin(void *self, stepper *run) {
    const xpbi *s = self;
    const xpbi_collide_args args = args_of(s, run, s->now.v, (collider_sums){0});
    return PBD_PHASE(run->recorder, "colliders", PBD_RUN(run->exec, xpbi_find_clearance, s->particles, &args));
}

pbd_status xpbi_collide_rows(const xpbi *s, stepper *run, real *v, collider_sums sums) {
    const xpbi_collide_args args = args_of(s, run, v, sums);
    const pbd_work work = {.items = s->particles};
    return PBD_RUN(run->exec, xpbi_collide, s->particles, work, &args);
}

static pbd_status iterate(void *self, stepper *run) {
    const xpbi *s = self;
    return PBD_PHASE(run->recorder, collider_poses_phase(&run->colliders, "colliders"),
                     xpbi_collide_rows(s, run, s->now.v, collider_sums_of(&run->colliders)));
}

/* Smoothing may lead into colliders again. */
static pbd_status end(void *self, stepper *run) {
    const xpbi *s = self;
    return s->set.xsph > 0 || s->fluid.liquid > 0 ? iterate(self, run) : pbd_ok();
}

const step_part xpbi_walls_part = {.begin = begin, .iterate = iterate, .end = end};
