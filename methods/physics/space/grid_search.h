/* A sorted uniform grid as a kernel sees it: particles in the order of their cells, and loops over those near one.
 *
 * Cells are counted modulo a power of two along each axis, at least four, as on a torus: a table of a fixed size holds
 * bodies of any extent, and one that flies away never leaves it. Cells that fall together cost candidates, which the
 * distance then rejects, and never a neighbour: the 27 cells around a particle stay different, and a neighbour lies in
 * the one where it would lie without the modulo. So the order in which neighbours are met depends on positions alone,
 * not on the size of the table. Three cells that follow each other along x are one stretch of particles, but for where
 * they wrap.
 *
 * A cell is wider than the reach by 1/128, so that rounding loses no neighbour up to 130,000 cells from the origin in
 * f32. NaN and infinity go to cell 0 and have no neighbours. */
#ifndef PBD_GRID_SEARCH_H
#define PBD_GRID_SEARCH_H

#include "methods/physics/math/scalar.h"

typedef struct grid_view {
    /* By place in the order of cells; each with PBD_BATCH more that hold anything. */
    const real *x, *y, *z, *w;
    const uint32_t *slot;     /* which of those in the grid */
    const uint32_t *particle; /* which of all */
    const uint32_t *first;    /* by cell: place of its first; one more at the end */
    real inverse_cell;        /* 1/m */
    int bits[3];              /* 2^bits cells along each axis */
} grid_view;

/* floor(x/cell) modulo 2^bits: exact however large it is. */
PBD_FN uint32_t grid_coordinate(real x, real inverse_cell, int bits) {
    const real cells = (real)(1u << bits), at = real_floor(x * inverse_cell);
    const real within = at - cells * real_floor(at / cells);
    return within >= 0 && within < cells ? (uint32_t)within : 0; /* NaN: 0 */
}

typedef struct grid_cell {
    uint32_t at[3];
} grid_cell;

PBD_FN grid_cell grid_cell_of(const int bits[3], real inverse_cell, vec3 x) {
    grid_cell cell;
    cell.at[0] = grid_coordinate(x.x, inverse_cell, bits[0]);
    cell.at[1] = grid_coordinate(x.y, inverse_cell, bits[1]);
    cell.at[2] = grid_coordinate(x.z, inverse_cell, bits[2]);
    return cell;
}

PBD_FN uint32_t grid_key(const int bits[3], grid_cell cell) {
    return cell.at[0] | cell.at[1] << bits[0] | cell.at[2] << (bits[0] + bits[1]);
}

/* Places [begin, end). */
typedef struct grid_stretch {
    uint32_t begin, end;
} grid_stretch;

enum { GRID_STRETCHES = 18 };

/* Places looked at for each neighbour found, itself counted: 27 cells as wide as the reach hold 27 r^3 where a sphere
 * holds 4/3 pi r^3, at the same density. */
#define GRID_CANDIDATES 6.6

/* The s-th stretch of the cells around `cell`: nine rows of three cells, each in two parts of which the second is empty
 * but where the row wraps. Cells come in the order of their true places. */
PBD_FN grid_stretch grid_stretch_of(const grid_view *g, grid_cell cell, int s) {
    const int row = s / 2, second = s % 2;
    const uint32_t last_x = (1u << g->bits[0]) - 1, x = cell.at[0];
    const uint32_t y = (cell.at[1] + (uint32_t)(row % 3) - 1) & ((1u << g->bits[1]) - 1);
    const uint32_t z = (cell.at[2] + (uint32_t)(row / 3) - 1) & ((1u << g->bits[2]) - 1);
    const uint32_t key = y << g->bits[0] | z << (g->bits[0] + g->bits[1]);
    const int wraps = x == 0 || x == last_x;
    uint32_t from = x == 0 ? last_x : x - 1, cells = x == 0 ? 1 : x == last_x ? 2 : 3;
    if (second) {
        from = 0;
        cells = wraps ? 3 - cells : 0;
    }
    grid_stretch out;
    out.begin = g->first[key + from];
    out.end = g->first[key + from + cells];
    return out;
}

PBD_FN vec3 grid_position(const grid_view *g, uint32_t place) {
    return vec3_make(g->x[place], g->y[place], g->z[place]);
}

/* Stretches that hold nothing come last in each pair: only a row that wraps has the second. */
PBD_FN int grid_stretch_step(const grid_view *g, grid_cell cell) {
    return cell.at[0] == 0 || cell.at[0] == (1u << g->bits[0]) - 1 ? 1 : 2;
}

/* Squared distances of `x` from the PBD_BATCH places from `place` on. */
PBD_FN vreal grid_squares(const grid_view *g, vec3 x, uint32_t place) {
    const vreal dx = batch_load(g->x, place, PBD_BATCH) - x.x, dy = batch_load(g->y, place, PBD_BATCH) - x.y,
                dz = batch_load(g->z, place, PBD_BATCH) - x.z;
    return dx * dx + dy * dy + dz * dz;
}

/* The bits of lanes that stand for places below `end`, and not for `self`. */
PBD_FN uint32_t grid_lanes(uint32_t place, uint32_t end, uint32_t self) {
    const uint32_t left = end - place, own = self - place;
    uint32_t lanes = left < PBD_BATCH ? (1u << left) - 1 : (PBD_BATCH < 32 ? (1u << PBD_BATCH) - 1 : ~0u);
    if (own < PBD_BATCH) lanes &= ~(1u << own);
    return lanes;
}

PBD_FN int lowest_bit(uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __ffs((int)bits) - 1;
#else
    return __builtin_ctz(bits);
#endif
}

PBD_FN int count_bits(uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __popc(bits);
#else
    return __builtin_popcount(bits);
#endif
}

/* Writes from[l] for each bit l that is set, in ascending order; returns how many. */
PBD_FN int append_bits_plain(uint32_t *list, const uint32_t *from, uint32_t bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) list[count++] = from[lowest_bit(bits)];
    return count;
}

#if PBD_BATCH > 1 && defined(__AVX512VL__)
/* No branch on how many there are. `from` has PBD_BATCH numbers to read; no more is written than there is. */
PBD_FN int append_bits(uint32_t *list, const uint32_t *from, uint32_t bits) {
    const int count = __builtin_popcount(bits);
    const uint32_t written = (1u << count) - 1;
#if PBD_IS_FLOAT
    const __m512i all = _mm512_loadu_si512(from);
    _mm512_mask_storeu_epi32(list, (__mmask16)written, _mm512_maskz_compress_epi32((__mmask16)bits, all));
#else
    const __m256i all = _mm256_loadu_si256((const __m256i *)from);
    _mm256_mask_storeu_epi32(list, (__mmask8)written, _mm256_maskz_compress_epi32((__mmask8)bits, all));
#endif
    return count;
}
#else
#define append_bits append_bits_plain
#endif

#endif
