/* Particles and their neighbours at rest as kernels see them, and F from them (shape_gradients.h).
 *
 * Particles are stored in slices of PARTICLE_SLICE: row r of a slice has the r-th neighbour of each, so that gradients
 * are contiguous vector loads on a CPU and coalesced on a GPU. Short lists are padded with the particle itself and b =
 * 0. */
#ifndef PBD_PARTICLE_VIEW_H
#define PBD_PARTICLE_VIEW_H

#include "harness/exec/batch.h"
#include "methods/physics/math/mat3.h"
#include "methods/physics/space/particle_slice.h"

/* Constraints from the first one of a slice on; rows of slices are counted from the start of the arrays. In arrays of
 * several reals per constraint, entry e is at [e * stride]. */
typedef struct particle_view {
    const uint32_t *slice;     /* first row of each slice; one more at the end */
    const uint32_t *neighbour; /* rows x PARTICLE_SLICE */
    const real *gradient;      /* rows x 3 x PARTICLE_SLICE: b_ij */
    const real *reverse;       /* Jacobi: the same for b_ji */
    const uint32_t *own;       /* particle of each constraint */
    const real *sum;           /* 3: B_i */
    const real *weight;        /* 6: K_i, xx yy zz xy yz zx; NULL where it is not used */
    const real *offset;        /* 9, row by row: D_i; NULL: zero */
    const real *volume;        /* m^3; 0: a slot without constraint, at the end of a colour */
    real *p;                   /* rows of 4 */
    real *impulse;             /* Jacobi: 3 rows of 4 by constraint, the columns of s P */
    size_t stride;
} particle_view;

PBD_FN int particle_is_there(const particle_view *v, size_t slot) { return v->volume[slot] > 0; }

PBD_FN vreal particle_entry(const particle_view *v, const real *array, int entry, size_t first, int count) {
    return batch_load(array + (size_t)entry * v->stride, first, count);
}

PBD_FN vvec3 particle_edge(const real *gradient, size_t row, size_t lane) {
    const real *at = gradient + row * 3 * PARTICLE_SLICE + lane;
    return vvec3_make(batch_load(at, 0, PBD_BATCH), batch_load(at, PARTICLE_SLICE, PBD_BATCH),
                      batch_load(at, 2 * PARTICLE_SLICE, PBD_BATCH));
}

/* Prefetch the neighbours of a later row, and `width` reals of each of them. In a large body a core would otherwise
 * wait for memory a third of the time. */
enum { PARTICLE_AHEAD = 24, SLOTS_AHEAD = 32 }; /* rows; constraints */
PBD_FN void particle_prefetch_neighbours(const particle_view *v, size_t row, size_t lane) {
    batch_prefetch(v->neighbour + (row + PARTICLE_AHEAD) * PARTICLE_SLICE + lane);
}
PBD_FN void particle_prefetch(const real *array, size_t width, size_t row, size_t lane) {
    for (size_t k = 0; k < width; k++)
        batch_prefetch(array + ((row + PARTICLE_AHEAD) * width + k) * PARTICLE_SLICE + lane);
}

/* Prefetches what later constraints have besides their rows. */
PBD_FN void particle_prefetch_slots(const particle_view *v, size_t first) {
    const size_t later = first + SLOTS_AHEAD;
    batch_prefetch(v->own + later);
    batch_prefetch(v->volume + later);
    for (size_t e = 0; e < 3; e++) batch_prefetch(v->sum + e * v->stride + later);
    for (size_t e = 0; v->weight && e < 6; e++) batch_prefetch(v->weight + e * v->stride + later);
}

/* F of `count` constraints, and the rows of their own particles. */
PBD_FN vmat3 particle_deformation_gradient(const particle_view *v, size_t first, int count, vreal own[4]) {
    const size_t slice = first / PARTICLE_SLICE, lane = first % PARTICLE_SLICE;
    const uint32_t end = v->slice[slice + 1];
    vmat3 f = vmat3_scale(vreal_set(0), vmat3_identity());
    particle_prefetch_slots(v, first);
    batch_load_rows(v->p, v->own + first, 1, count, own);
    for (size_t row = v->slice[slice]; row < end; row++) {
        vreal x[4];
        particle_prefetch_neighbours(v, row, lane);
        particle_prefetch(v->gradient, 3, row, lane);
        batch_load_rows(v->p, v->neighbour + row * PARTICLE_SLICE + lane, 1, count, x);
        const vvec3 d = vvec3_make(x[0] - own[0], x[1] - own[1], x[2] - own[2]);
        f = vmat3_add(f, vmat3_outer(d, particle_edge(v->gradient, row, lane)));
    }
    if (v->offset) {
        vreal o[9];
        for (int e = 0; e < 9; e++) o[e] = particle_entry(v, v->offset, e, first, count);
        f = vmat3_add(
            f, vmat3_make(vvec3_make(o[0], o[3], o[6]), vvec3_make(o[1], o[4], o[7]), vvec3_make(o[2], o[5], o[8])));
    }
    return f;
}

PBD_FN vvec3 particle_sum(const particle_view *v, size_t first, int count) {
    return vvec3_make(particle_entry(v, v->sum, 0, first, count), particle_entry(v, v->sum, 1, first, count),
                      particle_entry(v, v->sum, 2, first, count));
}

#endif
