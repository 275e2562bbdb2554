/* Loops that ask a machine how fast it is: memory, arithmetic, and the two neighbour passes that particle methods are
 * made of. They run on every backend, in both precisions, like the kernels of methods.
 *
 * The passes are shaped like those of yu2024: particles are rows of four reals with about 30 neighbours each; one pass
 * gathers a velocity gradient from the neighbours, the other scatters an impulse to them, cell by cell in eight
 * colours, so that no two tiles of a launch touch one particle. There are two forms: the lanes of a tile share the
 * neighbours of one particle, or each lane has a particle of its own (slices: cloud.h). On a processor which of the two
 * is faster depends on the number of lanes and on the precision; on a GPU slices have too few lanes to be tried. */
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
    CLOUD_LANES = 16,      /* particles of a slice */
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
    const uint32_t *own;       /* slices: cloud.h */
    const uint32_t *slice;
    const uint32_t *row;
    size_t lane;         /* scatter_slices: first lane of this colour's bundles */
    real inverse_square; /* 1 / support^2 */
    real scale;          /* scatter: of the impulse; small, so that passes can be repeated for ever */
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

/* What stands for the kernel's gradient at a neighbour: its distance vector g, weighted by (1 - r^2 / support^2)^2. */
PBD_FN void weigh_distance(vreal g[3], real inverse_square) {
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
        for (int c = 0; c < 3; c++) g[c] = x[c] - xi[c];
        weigh_distance(g, a->inverse_square);
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
        for (int c = 0; c < 3; c++) g[c] = x[c] - a->x[4 * i + (size_t)c];
        weigh_distance(g, a->inverse_square);
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

/* ---- The same over slices: a lane is a particle, each of another cell -------------------------------------------- */

/* The rows of the own particles' matrices: row c is at [3 own + c]. */
PBD_FN void matrix_rows(const uint32_t *own, uint32_t out[PBD_BATCH]) {
    for (int l = 0; l < PBD_BATCH; l++) out[l] = 3 * own[l];
}

/* Of a row of neighbours: velocities and weighted distance vectors from the own particles. */
PBD_FN void load_neighbours(const cloud_args *a, const uint32_t *at, const vreal xi[4], vreal v[4], vreal g[3]) {
    vreal x[4];
    batch_load_rows(a->x, at, 1, PBD_BATCH, x);
    batch_load_rows(a->v, at, 1, PBD_BATCH, v);
    for (int c = 0; c < 3; c++) g[c] = x[c] - xi[c];
    weigh_distance(g, a->inverse_square);
}

/* An item is a particle of a slice. */
PBD_BATCH_OF(gather_slices, cloud_args, first, count, CLOUD_NEIGHBOURS *(8 * sizeof(real) + 4) + 20 * sizeof(real) + 8,
             CLOUD_NEIGHBOURS *GATHER_FLOPS) {
    const size_t slice = first / CLOUD_LANES, lane = first % CLOUD_LANES;
    const uint32_t *own = a->own + first;
    uint32_t rows[PBD_BATCH];
    vreal xi[4], vi[4], sum[3][4];
    (void)count;
    batch_load_rows(a->x, own, 1, PBD_BATCH, xi);
    batch_load_rows(a->v, own, 1, PBD_BATCH, vi);
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 4; d++) sum[c][d] = vreal_set(0);
    for (size_t r = a->slice[slice]; r < a->slice[slice + 1]; r++) {
        const uint32_t *at = a->row + r * CLOUD_LANES + lane;
        vreal v[4], g[3];
        load_neighbours(a, at, xi, v, g);
        for (int d = 0; d < 3; d++) v[d] = v[d] - vi[d];
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) sum[c][d] = sum[c][d] + g[c] * v[d];
    }
    matrix_rows(own, rows);
    for (int c = 0; c < 3; c++) batch_store_rows(a->matrix + 4 * c, rows, 1, PBD_BATCH, sum[c]);
}

PBD_FN void scatter_slice(const cloud_args *a, size_t slice, size_t lane) {
    const uint32_t *own = a->own + slice * CLOUD_LANES + lane;
    uint32_t rows[PBD_BATCH];
    vreal m[3][4], xi[4], vi[4], sum[3];
    matrix_rows(own, rows);
    for (int c = 0; c < 3; c++) batch_load_rows(a->matrix + 4 * c, rows, 1, PBD_BATCH, m[c]);
    batch_load_rows(a->x, own, 1, PBD_BATCH, xi);
    for (int d = 0; d < 3; d++) {
        sum[d] = vreal_set(0);
        for (int c = 0; c < 3; c++) m[c][d] = a->scale * m[c][d];
    }
    for (size_t r = a->slice[slice]; r < a->slice[slice + 1]; r++) {
        const uint32_t *at = a->row + r * CLOUD_LANES + lane;
        vreal v[4], g[3];
        load_neighbours(a, at, xi, v, g);
        for (int d = 0; d < 3; d++) {
            const vreal impulse = g[0] * m[0][d] + g[1] * m[1][d] + g[2] * m[2][d];
            v[d] = v[d] + impulse;
            sum[d] = sum[d] + impulse;
        }
        batch_store_rows(a->v, at, 1, PBD_BATCH, v);
    }
    batch_load_rows(a->v, own, 1, PBD_BATCH, vi); /* last: what fills up lists writes the own row too */
    for (int d = 0; d < 3; d++) vi[d] = vi[d] - sum[d];
    batch_store_rows(a->v, own, 1, PBD_BATCH, vi);
}

/* An item is a cell, whose particles come one after another. Bundles are whole, so no batch is partial. */
PBD_BATCH_OF(scatter_slices, cloud_args, first, count,
             CLOUD_CELL *(CLOUD_NEIGHBOURS *(12 * sizeof(real) + 4) + 24 * sizeof(real) + 8),
             (double)CLOUD_CELL *CLOUD_NEIGHBOURS *SCATTER_FLOPS) {
    const size_t at = a->lane + first, slice = CLOUD_CELL * (at / CLOUD_LANES);
    (void)count;
    for (size_t p = 0; p < CLOUD_CELL; p++) scatter_slice(a, slice + p, at % CLOUD_LANES);
}

#endif
