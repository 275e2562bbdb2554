/* Loops that ask a machine how fast it is: memory, arithmetic, and the two neighbour passes that particle methods are
 * made of. They run on every backend, in both precisions, like the kernels of methods.
 *
 * The passes are shaped like those of yu2024: particles are rows of four reals with about 30 neighbours each; one pass
 * gathers a velocity gradient from the neighbours, the other scatters an impulse to them, cell by cell in eight
 * colours, so that no two tiles of a launch touch one particle. */
#ifndef PBD_LIMITS_KERNELS_H
#define PBD_LIMITS_KERNELS_H

#include "harness/exec/batch.h"
#include "harness/exec/kernel.h"
#include "harness/exec/tile.h"

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct stream_args {
    const real *b, *c;
    real *a;
    real s, none; /* none: 0 */
} stream_args;

PBD_ITEM(triad, stream_args, i, 3 * sizeof(real), 2) { a->a[i] = a->b[i] + a->s * a->c[i]; }

PBD_ITEM(copy, stream_args, i, 2 * sizeof(real), 0) { a->a[i] = a->b[i]; }

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

typedef struct fma_args {
    real x, y; /* x < 1: the chains stay near y / (1 - x) */
    real *out;
} fma_args;

enum { FMA_PER_ITEM = 3072 }; /* by every number of chains below */

/* Chains of dependent multiply-adds, enough to fill the pipelines, few enough to stay in registers: twelve hardware
 * vectors on a CPU. */
#if PBD_BATCH == 1
enum { FMA_CHAINS = 8 };
#elif defined(__AVX512F__)
enum { FMA_CHAINS = 12 * 64 / (PBD_BATCH * sizeof(real)) };
#else
enum { FMA_CHAINS = 12 * 32 / (PBD_BATCH * sizeof(real)) };
#endif

/* Inlined into the loop over items, gcc 12 keeps two chains of AVX2 on the stack: 40 Gflop/s instead of 95. */
PBD_FN_NOINLINE vreal fma_sum(vreal x, vreal y) {
    vreal chain[FMA_CHAINS], sum = vreal_set(0);
    __asm__ volatile(""); /* or the call is made once for all items, since its arguments do not change */
    for (int c = 0; c < FMA_CHAINS; c++) chain[c] = vreal_set((real)c / FMA_CHAINS);
    for (int k = 0; k < FMA_PER_ITEM / FMA_CHAINS; k++)
        for (int c = 0; c < FMA_CHAINS; c++) chain[c] = chain[c] * x + y;
    for (int c = 0; c < FMA_CHAINS; c++) sum = sum + chain[c];
    return sum;
}

PBD_BATCH_OF(fma_chains, fma_args, first, count, sizeof(real), 2.0 * FMA_PER_ITEM) {
    const vreal sum = fma_sum(vreal_set(a->x), vreal_set(a->y));
#if PBD_BATCH == 1
    (void)count;
    a->out[first] = sum;
#else
    for (int l = 0; l < count; l++) a->out[first + (size_t)l] = sum[l];
#endif
}

/* ---- Neighbour passes -------------------------------------------------------------------------------------------- */

enum {
    CLOUD_CELL = 64,       /* particles of a cell, one after another */
    CLOUD_NEIGHBOURS = 30, /* of a particle, about: for the declared bytes and operations */
    GATHER_FLOPS = 35,     /* of a neighbour: distance 8, kernel 6, difference 3, nine multiply-adds */
    SCATTER_FLOPS = 35     /* of a neighbour: distance 8, kernel 6, nine multiply-adds less three, two sums */
};

typedef struct cloud_args {
    const real *x;             /* particles, rows of 4 */
    real *v;                   /* velocities, rows of 4; w is 0 */
    const uint32_t *first;     /* particles + 1 offsets into `neighbour` */
    const uint32_t *neighbour; /* filled up to whole batches with the particle itself, which adds nothing */
    real *matrix;              /* by particle: three rows of 4; gathered gradients, or what is scattered */
    const uint32_t *cell;      /* scatter: this colour's cells */
    real inverse_square;       /* 1 / support^2 */
    real scale;                /* scatter: of the impulse; small, so that passes can be repeated for ever */
} cloud_args;

/* Sums over the lanes of three batches, and 0: a row. By halves, then a transpose: nine sums cost as much as three. */
PBD_FN void batch_sums(const vreal v[3], real out[4]) {
#if PBD_BATCH == 1
    for (int c = 0; c < 3; c++) out[c] = v[c];
    out[3] = 0;
#else
    typedef real row __attribute__((vector_size(4 * sizeof(real))));
    row part[PBD_BATCH / 4], sum[3];
    for (int c = 0; c < 3; c++) {
        __builtin_memcpy(part, &v[c], sizeof v[c]);
        sum[c] = part[0];
        for (int q = 1; q < PBD_BATCH / 4; q++) sum[c] += part[q];
    }
    const row nothing = {0};
    const row xy_low = __builtin_shufflevector(sum[0], sum[1], 0, 4, 1, 5);
    const row xy_high = __builtin_shufflevector(sum[0], sum[1], 2, 6, 3, 7);
    const row z_low = __builtin_shufflevector(sum[2], nothing, 0, 4, 1, 5);
    const row z_high = __builtin_shufflevector(sum[2], nothing, 2, 6, 3, 7);
    const row xy = xy_low + xy_high, z = z_low + z_high; /* x0 y0 x1 y1, z0 0 z1 0 */
    const row total = __builtin_shufflevector(xy, z, 0, 1, 4, 5) + __builtin_shufflevector(xy, z, 2, 3, 6, 7);
    __builtin_memcpy(out, &total, sizeof total);
#endif
}

/* What stands for the kernel's gradient at a neighbour: its distance vector, weighted by (1 - r^2 / support^2)^2. */
PBD_FN void neighbour_gradient(const real *xi, const vreal xj[4], real inverse_square, vreal g[3]) {
    for (int c = 0; c < 3; c++) g[c] = xj[c] - xi[c];
    vreal w = (real)1 - (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * inverse_square;
    w = w * w;
    for (int c = 0; c < 3; c++) g[c] = w * g[c];
}

/* matrix_i = sum over neighbours of g_ij (v_j - v_i)^T: row c is the derivative along c. */
PBD_TILE(gather, cloud_args, i, CLOUD_NEIGHBOURS *(8 * sizeof(real) + 4) + 20 * sizeof(real) + 8,
         CLOUD_NEIGHBOURS *GATHER_FLOPS) {
    const real *xi = a->x + 4 * i, *vi = a->v + 4 * i;
    const uint32_t end = a->first[i + 1];
    vreal sum[3][3];
    real row[12];
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) sum[c][d] = vreal_set(0);
    for (uint32_t k = a->first[i] + PBD_BATCH * (uint32_t)PBD_LANE; k < end; k += PBD_BATCH * PBD_LANES) {
        vreal x[4], v[4], g[3];
        batch_load_rows(a->x, a->neighbour + k, 1, PBD_BATCH, x);
        batch_load_rows(a->v, a->neighbour + k, 1, PBD_BATCH, v);
        neighbour_gradient(xi, x, a->inverse_square, g);
        for (int d = 0; d < 3; d++) v[d] = v[d] - vi[d];
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) sum[c][d] = sum[c][d] + g[c] * v[d];
    }
    for (int c = 0; c < 3; c++) batch_sums(sum[c], row + 4 * c);
    tile_sums(row, 12);
    if (PBD_LANE != 0) return;
    for (int c = 0; c < 12; c++) a->matrix[12 * i + (size_t)c] = row[c];
}

/* v_j += scale matrix_i^T g_ij for the neighbours of particle i, and the opposite for itself. */
PBD_FN void scatter_particle(const cloud_args *a, size_t i) {
    const uint32_t end = a->first[i + 1];
    real m[12], reaction[4];
    vreal sum[3];
    for (int d = 0; d < 3; d++) sum[d] = vreal_set(0);
    for (int c = 0; c < 12; c++) m[c] = a->scale * a->matrix[12 * i + (size_t)c];
    for (uint32_t k = a->first[i] + PBD_BATCH * (uint32_t)PBD_LANE; k < end; k += PBD_BATCH * PBD_LANES) {
        vreal x[4], v[4], g[3];
        if (PBD_BATCH == 1 && a->neighbour[k] == i) continue; /* lanes must not meet at the particle itself */
        batch_load_rows(a->x, a->neighbour + k, 1, PBD_BATCH, x);
        batch_load_rows(a->v, a->neighbour + k, 1, PBD_BATCH, v);
        neighbour_gradient(a->x + 4 * i, x, a->inverse_square, g);
        for (int d = 0; d < 3; d++) {
            const vreal impulse = g[0] * m[d] + g[1] * m[4 + d] + g[2] * m[8 + d];
            v[d] = v[d] + impulse;
            sum[d] = sum[d] + impulse;
        }
        batch_store_rows(a->v, a->neighbour + k, 1, PBD_BATCH, v);
    }
    batch_sums(sum, reaction);
    tile_sums(reaction, 3);
    if (PBD_LANE == 0)
        for (int d = 0; d < 3; d++) a->v[4 * i + (size_t)d] -= reaction[d];
}

/* The particles of a cell one after another: each sees what the ones before it did. */
PBD_TILE(scatter, cloud_args, i, CLOUD_CELL *(CLOUD_NEIGHBOURS *(12 * sizeof(real) + 4) + 24 * sizeof(real) + 8),
         (double)CLOUD_CELL *CLOUD_NEIGHBOURS *SCATTER_FLOPS) {
    const size_t begin = CLOUD_CELL * (size_t)a->cell[i];
    for (size_t p = begin; p < begin + CLOUD_CELL; p++) {
        scatter_particle(a, p);
        tile_barrier();
    }
}

#endif
