/* The flow rule and the stress of mpm's particles. */
#ifndef PBD_MPM_STRESS_KERNELS_H
#define PBD_MPM_STRESS_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/mpm/mpm_rows.h"
#include "methods/physics/matter/log_strain.h"

typedef struct mpm_stress_args {
    real *rows;
    real mu, lambda; /* Pa */
    real scale;      /* -4 dt/dx, s/m */
    real *plastic;   /* by particle, J: sum of plastic dissipation; NULL: not summed */
    int flows, hardens;
    int by_strain; /* no rule, or a radial one */
    flow_rule rule;
} mpm_stress_args;

/* The rows of a batch of particles. */
typedef struct mpm_strained {
    uint32_t index[PBD_BATCH];
    int count; /* 0: the second of two batches is not there, repeats the last particle and is not stored */
    vmat3 f;
    vreal state;
} mpm_strained;

/* Of the k-th batch of `count` particles from i on. */
PBD_FN void mpm_take(const mpm_stress_args *a, size_t i, int count, int k, mpm_strained *to) {
    const int left = count - k * PBD_BATCH;
    vreal motion[4], stretch[12];
    to->count = left < 0 ? 0 : left < PBD_BATCH ? left : PBD_BATCH;
    for (int l = 0; l < PBD_BATCH; l++) {
        const int at = k * PBD_BATCH + l < count ? k * PBD_BATCH + l : count - 1;
        to->index[l] = MPM_ROWS * (uint32_t)(i + (size_t)at);
    }
    mpm_load(a->rows, MPM_STRETCH, 3, to->index, PBD_BATCH, stretch);
    to->f = mpm_matrix(stretch);
    to->state = vreal_set(0);
    if (!a->flows) return;
    mpm_load(a->rows, MPM_MOTION, 1, to->index, PBD_BATCH, motion);
    to->state = motion[3];
}

/* After the return mapping: F, state, Kirchhoff stress without hardening, and dissipation in units of the moduli. */
typedef struct mpm_stressed {
    vmat3 f, tau;
    vreal state, lost;
} mpm_stressed;

PBD_FN mpm_stressed mpm_unstressed(const mpm_strained *p) {
    const mpm_stressed out = {p->f, vmat3_scale(vreal_set(0), vmat3_identity()), p->state, vreal_set(0)};
    return out;
}

/* By the strain, where log_strain_holds; e: E of F. */
PBD_FN mpm_stressed mpm_stress_of_strain(const mpm_stress_args *a, const mpm_strained *p, vsym3 e) {
    mpm_stressed out = mpm_unstressed(p);
    vsym3 h;
    if (a->flows) {
        const vflowed_strain to = vflow_strain(&a->rule, p->f, e, p->state);
        out.f = to.f;
        out.state = to.state;
        out.lost = vflow_strain_dissipated(a->mu, a->lambda, to.from, to.to);
        h = to.to;
    } else {
        h = vlog_strain(e);
    }
    out.tau = vsym3_matrix(vsym3_shift(vsym3_scale(vreal_set(2 * a->mu), h), a->lambda * vsym3_trace(h)));
    return out;
}

PBD_FN mpm_stressed mpm_stress_of_stretches(const mpm_stress_args *a, const mpm_strained *p, vsvd3 parts) {
    mpm_stressed out = mpm_unstressed(p);
    vvec3 s = parts.s;
    if (a->flows) {
        const vflowed to = vflow_stretches(&a->rule, s, p->state);
        const vmat3 moved = vsvd3_with(parts, to.s);
        out.f = vmat3_where(to.moved, moved, p->f);
        out.lost = vflow_dissipated(a->mu, a->lambda, s, to.s);
        out.state = to.state;
        s = to.s;
    }
    const vvec3 e = vvec3_log(vvec3_at_least(s, vreal_set((real)FLOW_LEAST_STRETCH)));
    const vvec3 tau = vvec3_shift(vvec3_scale(vreal_set(2 * a->mu), e), a->lambda * vvec3_sum(e));
    parts.v = parts.u;
    out.tau = vsvd3_with(parts, tau);
    return out;
}

PBD_FN mpm_stressed mpm_choose(vmask m, mpm_stressed p, mpm_stressed q) {
    p.f = vmat3_where(m, p.f, q.f);
    p.tau = vmat3_where(m, p.tau, q.tau);
    p.state = vreal_where(m, p.state, q.state);
    p.lost = vreal_where(m, p.lost, q.lost);
    return p;
}

/* Stores F and state, and adds the stress to the affine momentum. */
PBD_FN void mpm_put(const mpm_stress_args *a, size_t i, const mpm_strained *p, const mpm_stressed *to) {
    vreal affine[12], add[9], harder = vreal_set(1);
    mpm_load(a->rows, MPM_AFFINE, 3, p->index, PBD_BATCH, affine);
    if (a->flows) {
        if (a->hardens) harder = vflow_hardening(&a->rule, to->state);
        vreal motion[4], stretch[12];
        mpm_load(a->rows, MPM_MOTION, 1, p->index, PBD_BATCH, motion);
        mpm_load(a->rows, MPM_STRETCH, 3, p->index, PBD_BATCH, stretch);
        motion[3] = to->state;
        mpm_entries(to->f, stretch);
        mpm_store(a->rows, MPM_MOTION, 1, p->index, p->count, motion);
        mpm_store(a->rows, MPM_STRETCH, 3, p->index, p->count, stretch);
    }
    if (a->plastic && p->count > 0) {
        const vreal size = affine[MPM_VOLUME] * vflow_hardening(&a->rule, to->state);
        batch_store(a->plastic, i, p->count, batch_load(a->plastic, i, p->count) + size * to->lost);
    }
    mpm_entries(to->tau, add);
    const vreal size = a->scale * harder * affine[MPM_VOLUME];
    for (int n = 0; n < 9; n++) affine[n] += size * add[n];
    mpm_store(a->rows, MPM_AFFINE, 3, p->index, p->count, affine);
}

/* Return mapping of F, and the Kirchhoff stress of the Hencky law added to the affine momentum: by the strain where
 * that holds, by an SVD elsewhere. A particle's result does not depend on which way the others need. Operations as
 * counted in machine code, with the flow rule of snow. */
PBD_BATCHES_OF(flow_and_stress, mpm_stress_args, i, count, (28 + 28) * sizeof(real), 1280) {
    mpm_strained p[PBD_SVD3_TOGETHER];
    mpm_stressed by[PBD_SVD3_TOGETHER];
    vmat3 f[PBD_SVD3_TOGETHER];
    vmask near[PBD_SVD3_TOGETHER], far = vreal_set(0) > 0;
    vsvd3 parts[PBD_SVD3_TOGETHER];
    for (int k = 0; k < PBD_SVD3_TOGETHER; k++) {
        mpm_take(a, i, count, k, &p[k]);
        const vsym3 e = vmat3_left_strain(p[k].f);
        f[k] = p[k].f;
        near[k] = vlog_strain_holds(p[k].f, e);
        if (!a->by_strain) near[k] = vreal_set(0) > 0;
        far |= near[k] == 0;
        by[k] = mpm_unstressed(&p[k]);
        if (vmask_any(near[k])) by[k] = mpm_stress_of_strain(a, &p[k], e);
    }
    if (vmask_any(far)) {
        vmat3_svds(f, PBD_SVD3_TOGETHER, parts);
        for (int k = 0; k < PBD_SVD3_TOGETHER; k++) {
            const mpm_stressed other = mpm_stress_of_stretches(a, &p[k], parts[k]);
            by[k] = vmask_any(near[k]) ? mpm_choose(near[k], by[k], other) : other;
        }
    }
    for (int k = 0; k < PBD_SVD3_TOGETHER; k++) mpm_put(a, i + (size_t)k * PBD_BATCH, &p[k], &by[k]);
}

#endif
