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

bool xpbi_has_springs(const xpbi *s) {
    return s->hourglass.hourglass_control > 0 && s->hourglass.hourglass_form == hourglass_form_springs;
}

pbd_status xpbi_make_springs(const xpbi *s, const stepper *run) {
    xpbi_rest_hourglass_args args = {.of = args_of(s, run), .x = s->now.x};
    if (!s->rest) return PBD_RUN(run->exec, xpbi_make_hourglass, xpbi_slots_of(s), s->layout.all, &args.of);
    PBD_TRY(PBD_RUN(run->exec, xpbi_make_hourglass, xpbi_slots_of(s), s->layout.all, &args.of));
    return PBD_RUN(run->exec, xpbi_pull_hourglass, xpbi_slots_of(s), s->layout.all, &args);
}

static pbd_status begin(void *self, stepper *run) {
    return PBD_PHASE(run->recorder, "hourglass", xpbi_make_springs(self, run));
}

static pbd_status sweep(const xpbi *s, const stepper *run) {
    const xpbi_layout *l = &s->layout;
    xpbi_hourglass_args args = args_of(s, run);
    for (size_t i = 0; i < l->at.stages; i++) {
        args.stage = l->at.stage + i;
        PBD_TRY(PBD_RUN(run->exec, xpbi_project_hourglass, l->launched[i], xpbi_work(l, i), &args));
    }
    return pbd_ok();
}

static pbd_status iterate(void *self, stepper *run) { return PBD_PHASE(run->recorder, "hourglass", sweep(self, run)); }

static pbd_status move(void *self, stepper *run) {
    const xpbi *s = self;
    const xpbi_hourglass_args args = args_of(s, run);
    if (s->rest) return pbd_ok(); /* begin computes deviations from positions */
    return PBD_PHASE(run->recorder, "hourglass",
                     PBD_RUN(run->exec, xpbi_update_hourglass, xpbi_slots_of(s), s->layout.all, &args));
}

/* The spare rows hold the energies. */
pbd_status xpbi_springs_energy(const xpbi *s, double *out) {
    const size_t blocks = xpbi_blocks_of(s->continuum);
    const xpbi_springs_args args = {.of = args_of(s, &s->run), .x = s->rest ? s->now.x : NULL, .energy = s->spare};
    const xpbi_sum_args sum = {s->spare, s->continuum, s->block};
    *out = 0;
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_measure_springs, xpbi_slots_of(s), s->layout.all, &args));
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_sum, blocks, &sum));
    return device_blocks_take(s->run.exec, s->block, blocks, 1, 0, out);
}

const step_part xpbi_hourglass_part = {.begin = begin, .iterate = iterate, .move = move};

/* ---- The penalty on velocities ----------------------------------------------------------------------------------- */

static xpbi_penalty_args penalty_of(const xpbi *s, const stepper *run) {
    return (xpbi_penalty_args){.s = s->layout.slices,
                               .p = s->now,
                               .gradient = s->gradient,
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
