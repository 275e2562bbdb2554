/* Position correction: separates near pairs (yu2024 Eq. 21), or limits density to its maximum at rest (Figure 15), or
 * shifts near pairs apart after the step. */
#include <math.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/phase.h"
#include "methods/xpbi/xpbi.h"
#include "methods/xpbi/xpbi_particle_kernels.h"
#include "methods/xpbi/xpbi_separation_kernels.h"

static pbd_status part_pairs(const xpbi *s, const stepper *run, real *v) {
    const double dt = run->dt, time = s->separation.correction_time;
    const xpbi_layout *l = &s->layout;
    xpbi_separate_args args = {.s = s->layout.slices,
                               .x = s->now.x,
                               .rest = s->rest,
                               .v = v,
                               .gap = (real)s->gap,
                               .share = (real)(time > dt ? dt / time : 1),
                               .dt = (real)dt};
    for (size_t i = 0; i < l->at.stages; i++) {
        args.stage = l->at.stage + i;
        PBD_TRY(s->rest ? PBD_RUN(run->exec, xpbi_separate_at_rest, l->launched[i], xpbi_near_work(l, i), &args)
                        : PBD_RUN(run->exec, xpbi_separate, l->launched[i], xpbi_near_work(l, i), &args));
    }
    return pbd_ok();
}

/* dt: the step of the impulses. */
static xpbi_limit_args thin_args(const xpbi *s, double dt) {
    return (xpbi_limit_args){.s = s->layout.slices,
                             .x = s->now.x,
                             .v = s->now.v,
                             .support = (real)(2 * s->radius),
                             .dt = (real)dt,
                             .per_impulse = (real)(1 / (s->unit * dt)),
                             .per_rest = (real)(1 / s->rest_density)};
}

static pbd_status keep_density(const xpbi *s, const stepper *run) {
    const xpbi_layout *l = &s->layout;
    xpbi_limit_args args = thin_args(s, run->dt);
    for (size_t i = 0; i < l->at.stages; i++) {
        args.stage = l->at.stage + i;
        PBD_TRY(PBD_RUN(run->exec, xpbi_limit_density, l->launched[i], xpbi_work(l, i), &args));
    }
    return pbd_ok();
}

static pbd_status iterate(void *self, stepper *run) {
    const xpbi *s = self;
    const int kind = s->separation.position_correction;
    if (kind == position_correction_shift) return pbd_ok();
    return PBD_PHASE(run->recorder, "position_correction",
                     kind == position_correction_density ? keep_density(s, run) : part_pairs(s, run, s->now.v));
}

/* Separates near pairs after the step, without changing velocities and F. */
static pbd_status shift(const xpbi *s, stepper *run) {
    const xpbi_copy_args copy = {s->now.v, s->spare};
    PBD_TRY(PBD_RUN(run->exec, xpbi_copy, s->particles, &copy));
    for (long k = 0; k < run->iterations; k++) PBD_TRY(part_pairs(s, run, s->spare));
    const collider_sums none = {0}; /* no impulses: velocities stay */
    return run->colliders.count > 0 ? xpbi_collide_rows(s, run, s->spare, none) : pbd_ok();
}

static pbd_status move(void *self, stepper *run) {
    const xpbi *s = self;
    if (s->separation.position_correction != position_correction_shift) return pbd_ok();
    return PBD_PHASE(run->recorder, "position_correction", shift(s, run));
}

/* The largest density at rest. */
pbd_status xpbi_find_rest_density(xpbi *s) {
    const size_t slots = xpbi_slots_of(s);
    pbd_arena a PBD_ARENA;
    real *density = pbd_new(&a, real, slots);
    PBD_TRY(pbd_arena_check(&a));
    s->rest_density = 1;
    PBD_TRY(xpbi_room(s->run.exec, slots, sizeof(real), &s->squares, &s->squares_room));
    xpbi_limit_args args = thin_args(s, 1);
    args.dt = 0;
    args.density = s->squares;
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_measure_density, slots, s->layout.all, &args));
    PBD_TRY(pbd_download(s->run.exec, density, s->squares, slots * sizeof *density));
    double most = 0;
    for (size_t i = 0; i < slots; i++) most = fmax(most, (double)density[i]);
    s->rest_density = most;
    return pbd_ok();
}

const step_part xpbi_separation_part = {.iterate = iterate, .move = move};
