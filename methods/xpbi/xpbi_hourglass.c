#include "methods/physics/device/phase.h"
#include "methods/xpbi/xpbi.h"
#include "methods/xpbi/xpbi_penalty_kernels.h"
#include "methods/xpbi/xpbi_rest_kernels.h"

static xpbi_hourglass_args args_of(const xpbi *s, const stepper *run) {
    return (xpbi_hourglass_args){
        .s = s->layout.slices,
        .p = s->now,
        .note = s->note,
        .v = s->now.v,
        .stiffness = (real)(s->hourglass.hourglass_control * s->material.E / (s->radius * s->radius)),
        .dt = (real)run->dt};
}

static pbd_status make(const xpbi *s, const stepper *run) {
    xpbi_rest_hourglass_args args = {.of = args_of(s, run), .x = s->now.x};
    if (!s->rest) return PBD_RUN(run->exec, xpbi_make_hourglass, xpbi_slots_of(s), s->layout.all, &args.of);
    args.of.p.x = s->rest;
    PBD_TRY(PBD_RUN(run->exec, xpbi_make_hourglass, xpbi_slots_of(s), s->layout.all, &args.of));
    return PBD_RUN(run->exec, xpbi_pull_hourglass, xpbi_slots_of(s), s->layout.all, &args);
}

static pbd_status begin(void *self, stepper *run) { return PBD_PHASE(run->recorder, "hourglass", make(self, run)); }

static pbd_status sweep(const xpbi *s, const stepper *run) {
    const uint32_t *lane = s->layout.colour_lane;
    xpbi_hourglass_args args = args_of(s, run);
    for (int c = 0; c < xpbi_colours(&s->layout); c++) {
        args.lane = lane[c];
        PBD_TRY(PBD_RUN(run->exec, xpbi_project_hourglass, lane[c + 1] - lane[c], s->layout.work[c], &args));
    }
    return pbd_ok();
}

static pbd_status iterate(void *self, stepper *run) { return PBD_PHASE(run->recorder, "hourglass", sweep(self, run)); }

static pbd_status move(void *self, stepper *run) {
    const xpbi *s = self;
    const xpbi_hourglass_args args = args_of(s, run);
    if (s->rest) return pbd_ok(); /* begin finds deviations by positions */
    return PBD_PHASE(run->recorder, "hourglass",
                     PBD_RUN(run->exec, xpbi_update_hourglass, xpbi_slots_of(s), s->layout.all, &args));
}

const step_part xpbi_hourglass_part = {.begin = begin, .iterate = iterate, .move = move};

/* ---- The penalty on velocities ------------------------------------------------------------------------------------
 */

/* other.body, the target of a sort, holds the gradients. */
static xpbi_penalty_args penalty_of(const xpbi *s, const stepper *run) {
    return (xpbi_penalty_args){.s = s->layout.slices,
                               .p = s->now,
                               .gradient = s->other.body,
                               .stiffness = (real)(s->hourglass.hourglass_control * s->mu * s->unit),
                               .support = (real)(2 * s->radius),
                               .dt = (real)run->dt};
}

static pbd_status begin_penalty(void *self, stepper *run) {
    const xpbi *s = self;
    const xpbi_penalty_args args = penalty_of(s, run);
    return PBD_PHASE(run->recorder, "hourglass", PBD_RUN(run->exec, xpbi_apply_penalty, s->continuum, &args));
}

static pbd_status add_penalty(const xpbi *s, const stepper *run) {
    const xpbi_penalty_args args = penalty_of(s, run);
    PBD_TRY(PBD_RUN(run->exec, xpbi_penalty_gradients, xpbi_slots_of(s), s->layout.all, &args));
    return PBD_RUN(run->exec, xpbi_add_penalty, xpbi_slots_of(s), s->layout.all, &args);
}

static pbd_status move_penalty(void *self, stepper *run) {
    return PBD_PHASE(run->recorder, "hourglass", add_penalty(self, run));
}

const step_part xpbi_penalty_part = {.begin = begin_penalty, .move = move_penalty};
