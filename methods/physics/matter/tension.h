/* The largest principal Kirchhoff stress of Hencky's law, where it is a tension, over many deformation gradients:
 * tau = 2 mu h + lambda tr(h) with the logarithmic strain h. */
#ifndef PBD_TENSION_H
#define PBD_TENSION_H

#include "methods/physics/math/log.h"
#include "methods/physics/math/svd3.h"
#include "methods/physics/matter/log_strain.h"

/* Gradients that are summed up together; on a GPU each is an item of its own. */
enum { TENSION_SPAN = PBD_BATCH > 1 ? 256 : 1 };

typedef struct tension_of {
    const real *F;      /* the first number of the first gradient's row */
    size_t stride;      /* numbers from one row to the next */
    uint32_t column[9]; /* of F_11, F_12, ... in a row */
    real mu, lambda;    /* Pa */
} tension_of;

typedef struct tension_sum {
    real largest, total; /* Pa; what is not in tension, or not finite, counts as 0 */
} tension_sum;

/* F of `count` numbers, one per lane; the remaining lanes repeat the last one. */
PBD_FN vmat3 tension_load(const tension_of *t, const uint32_t *number, size_t count) {
    real lane[9][PBD_BATCH];
    vreal f[9];
    for (size_t l = 0; l < PBD_BATCH; l++) {
        const real *F = t->F + t->stride * number[l < count ? l : count - 1];
        for (size_t d = 0; d < 9; d++) lane[d][l] = F[t->column[d]];
    }
    for (size_t d = 0; d < 9; d++) f[d] = batch_load(lane[d], 0, PBD_BATCH);
    return vmat3_make(vvec3_make(f[0], f[3], f[6]), vvec3_make(f[1], f[4], f[7]), vvec3_make(f[2], f[5], f[8]));
}

/* Lanes in which all principal stresses are negative, beyond rounding: the leading minors of m = -tau/(2 mu) are
 * positive. In sand that is about four particles of five. Entries of E have errors of up to 3 eps, so those of m of 1.5
 * eps (1 + 3/2 lambda/mu), and the third minor of nine times that times the square of the largest. */
PBD_FN uint32_t tension_excluded(const tension_of *t, vmat3 f) {
    const vsym3 e = vmat3_left_strain(f), h = vlog_strain(e);
    const vsym3 m = vsym3_shift(vsym3_scale(vreal_set(-1), h), -t->lambda / (2 * t->mu) * vsym3_trace(h));
    const vreal margin = vreal_set((real)(64 * REAL_EPSILON) * (1 + real_abs(t->lambda) / t->mu));
    const vreal largest = vreal_max(m.xx, vreal_max(m.yy, m.zz));
    const vreal two = m.xx * m.yy - m.xy * m.xy;
    const vreal three = m.zz * two - m.yz * (m.xx * m.yz - m.xy * m.zx) - m.zx * (m.yy * m.zx - m.xy * m.yz);
    return batch_bits(vlog_strain_holds(f, e) & (m.xx > margin) & (two > margin * largest) &
                      (three > margin * largest * largest));
}

/* The largest principal stress of `count` gradients, into out. */
PBD_FN void tension_stress(const tension_of *t, const uint32_t *number, size_t count, real *out) {
    vmat3 f[PBD_SVD3_TOGETHER];
    vsvd3 parts[PBD_SVD3_TOGETHER];
    const int batches = count > PBD_BATCH ? PBD_SVD3_TOGETHER : 1;
    for (int k = 0; k < batches; k++) {
        const size_t first = (size_t)k * PBD_BATCH, left = count - first;
        f[k] = tension_load(t, number + first, left < PBD_BATCH ? left : PBD_BATCH);
    }
    vmat3_svds(f, batches, parts);
    for (int k = 0; k < batches; k++) {
        const vvec3 s = parts[k].s;
        const vreal log_x = vreal_log(s.x), trace = log_x + vreal_log(s.y) + vreal_log(vreal_abs(s.z));
        batch_store(out, (size_t)k * PBD_BATCH, PBD_BATCH, 2 * t->mu * log_x + t->lambda * trace);
    }
}

/* Of gradients [begin, end), TENSION_SPAN at most. Only those that may be in tension are decomposed. */
PBD_FN tension_sum tension_over(const tension_of *t, size_t begin, size_t end) {
    uint32_t all[PBD_BATCH], candidate[TENSION_SPAN];
    real stress[PBD_SVD3_TOGETHER * PBD_BATCH];
    tension_sum sum = {0, 0};
    size_t candidates = 0;
    for (size_t i = begin; i < end; i += PBD_BATCH) {
        const size_t count = end - i < PBD_BATCH ? end - i : PBD_BATCH;
        for (size_t l = 0; l < PBD_BATCH; l++) all[l] = (uint32_t)(i + l);
        const uint32_t excluded = tension_excluded(t, tension_load(t, all, count));
        for (size_t l = 0; l < count; l++) {
            if (!(excluded >> l & 1)) candidate[candidates++] = all[l];
        }
    }
    for (size_t k = 0, count; k < candidates; k += count) {
        count = candidates - k < PBD_SVD3_TOGETHER * PBD_BATCH ? candidates - k : PBD_SVD3_TOGETHER * PBD_BATCH;
        tension_stress(t, candidate + k, count, stress);
        for (size_t l = 0; l < count; l++) {
            if (!(stress[l] > 0) || stress[l] == (real)INFINITY) continue;
            sum.largest = real_max(sum.largest, stress[l]);
            sum.total += stress[l];
        }
    }
    return sum;
}

#endif
