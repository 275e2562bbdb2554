/* solver=jacobi: sweeps of the constraints without colours (xpbi_jacobi_kernels.h). */
#include "methods/xpbi/xpbi_jacobi.h"

pbd_status xpbi_jacobi_sweep(const xpbi *s, const xpbi_solve_args *solve, bool averaged, bool keep) {
    const size_t slots = XPBI_LANES * s->layout.launched_slices, solves = s->form == XPBI_SHEAR ? 2 : 1;
    const xpbi_propose_args propose = {.of = *solve, .push = s->push};
    const xpbi_gather_args gather = {
        .s = s->layout.slices, .push = s->push, .v = s->now.v, .impulse = keep ? s->spare : NULL, .averaged = averaged};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_propose, slots,
                    (pbd_work){.items = solves * s->layout.all.items, .entries = solves * s->layout.all.entries},
                    &propose));
    return PBD_RUN(s->run.exec, xpbi_gather, slots, s->layout.all, &gather);
}

pbd_status xpbi_jacobi_momentum(const xpbi *s, double momentum[XPBI_MOMENTA]) {
    const size_t blocks = xpbi_blocks_of(s->continuum);
    const xpbi_momentum_args args = {s->spare, s->continuum, s->block};
    for (int d = 0; d < XPBI_MOMENTA; d++) momentum[d] = 0;
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_sum_momentum, blocks, &args));
    return device_blocks_take(s->run.exec, s->block, blocks, XPBI_MOMENTA, 0, momentum);
}
