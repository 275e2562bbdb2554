/* Searching a sorted uniform grid in a kernel: particles in the order of their cells, and loops over those near a
 * position.
 *
 * Cell coordinates are taken modulo a power of two, at least four, along each axis: a table of fixed size serves bodies
 * of any extent. Cells that share a table entry only add candidates, which the distance test rejects; the 27 cells
 * around a particle remain distinct. The order in which neighbours are found therefore depends on positions only, not
 * on the size of the table. Three consecutive cells along x are one contiguous range of particles, unless they wrap
 * around.
 *
 * Cells are wider than the search radius by 1/128, so that rounding loses no neighbour up to 130,000 cells from the
 * origin in f32. Non-finite positions are in cell 0 and have no neighbours. */
#ifndef PBD_GRID_SEARCH_H
#define PBD_GRID_SEARCH_H

#include "methods/physics/math/scalar.h"

typedef struct grid_view {
    /* By place, the index in the order of cells. Each array is padded by PBD_BATCH undefined elements. */
    const real *x, *y, *z, *w;
    const uint32_t *slot;     /* index in the grid */
    const uint32_t *particle; /* index in the scene's rows */
    const uint32_t *first;    /* by cell: its first place; one more at the end */
    real inverse_cell;        /* 1/m */
    int bits[3];              /* 2^bits cells along each axis */
} grid_view;

/* floor(x/cell) modulo 2^bits, exact for any x. */
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

/* Expected candidates per neighbour found, where the particle itself counts as one: the volume of 27 cells, 27 r^3,
 * over that of the sphere, 4/3 pi r^3. */
#define GRID_CANDIDATES 6.6

/* The s-th range of the cells around `cell`: nine rows of three cells, each in two parts; the second is empty unless
 * the row wraps around. Cells come in the order of their unwrapped positions. */
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

/* Increment of s: 2 skips the empty second parts where no row wraps around. */
PBD_FN int grid_stretch_step(const grid_view *g, grid_cell cell) {
    return cell.at[0] == 0 || cell.at[0] == (1u << g->bits[0]) - 1 ? 1 : 2;
}

/* Squared distances from `x` to the PBD_BATCH places starting at `place`. */
PBD_FN vreal grid_squares(const grid_view *g, vec3 x, uint32_t place) {
    const vreal dx = batch_load(g->x, place, PBD_BATCH) - x.x, dy = batch_load(g->y, place, PBD_BATCH) - x.y,
                dz = batch_load(g->z, place, PBD_BATCH) - x.z;
    return dx * dx + dy * dy + dz * dz;
}

/* Mask of the lanes with places below `end`, except `self`. */
PBD_FN uint32_t grid_lanes(uint32_t place, uint32_t end, uint32_t self) {
    const uint32_t left = end - place, own = self - place;
    uint32_t lanes = left < PBD_BATCH ? (1u << left) - 1 : (PBD_BATCH < 32 ? (1u << PBD_BATCH) - 1 : ~0u);
    if (own < PBD_BATCH) lanes &= ~(1u << own);
    return lanes;
}

/* The first place of each cell, from the sorted keys. */
typedef struct grid_cells_args {
    const uint32_t *key; /* by place, sorted */
    uint32_t *first;     /* by cell; one more at the end */
    size_t count;        /* places */
} grid_cells_args;

/* Finds the first places of cells [first, first + count): a binary search, then a linear walk. Every batch of cells
 * searches for itself, so that no single thread has to fill a long run of empty cells. */
PBD_FN void grid_find_firsts(const grid_cells_args *a, size_t first, int count) {
    size_t at = 0;
    for (size_t left = a->count; left > 0;) {
        const size_t half = left / 2;
        const int below = a->key[at + half] < first;
        at = below ? at + half + 1 : at;
        left = below ? left - half - 1 : half;
    }
    for (size_t cell = first; cell < first + (size_t)count; cell++) {
        while (at < a->count && a->key[at] < cell) at++;
        a->first[cell] = (uint32_t)at;
    }
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

/* Writes from[l] for each set bit l, ascending; returns their number. */
PBD_FN int append_bits_plain(uint32_t *list, const uint32_t *from, uint32_t bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) list[count++] = from[lowest_bit(bits)];
    return count;
}

/* The same of first + l. */
PBD_FN int append_places_plain(uint32_t *list, uint32_t first, uint32_t bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) list[count++] = first + (uint32_t)lowest_bit(bits);
    return count;
}

/* The same of the lanes of x. */
PBD_FN int append_lanes_plain(real *list, vreal x, uint32_t bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) list[count++] = batch_lane(x, lowest_bit(bits));
    return count;
}

/* The same, without branches where vectors have it; reads PBD_BATCH numbers of `from`. room: numbers that fit into the
 * list, at least as many as bits are set; those beyond the result may be overwritten. */
#if PBD_BATCH > 1 && defined(__AVX512VL__)
PBD_FN int append_bits(uint32_t *list, uint32_t room, const uint32_t *from, uint32_t bits) {
    (void)room;
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

/* The next two write PBD_BATCH numbers, those beyond the result undefined. */
PBD_FN int append_places(uint32_t *list, uint32_t first, uint32_t bits) {
#if PBD_IS_FLOAT
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i place = _mm512_add_epi32(lane, _mm512_set1_epi32((int)first));
    _mm512_storeu_si512(list, _mm512_maskz_compress_epi32((__mmask16)bits, place));
#else
    const __m256i place = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int)first));
    _mm256_storeu_si256((__m256i *)list, _mm256_maskz_compress_epi32((__mmask8)bits, place));
#endif
    return __builtin_popcount(bits);
}

PBD_FN int append_lanes(real *list, vreal x, uint32_t bits) {
#if PBD_IS_FLOAT
    _mm512_storeu_ps(list, _mm512_maskz_compress_ps((__mmask16)bits, (__m512)x));
#else
    _mm512_storeu_pd(list, _mm512_maskz_compress_pd((__mmask8)bits, (__m512d)x));
#endif
    return __builtin_popcount(bits);
}
#elif PBD_BATCH > 1 && defined(__AVX2__)
/* Positions of the set bits of a number below 16, ascending, a byte each. */
static const uint32_t grid_set_bits[16] = {0,    0x00,   0x01,   0x0100,   0x02,   0x0200,   0x0201,   0x020100,
                                           0x03, 0x0300, 0x0301, 0x030100, 0x0302, 0x030200, 0x030201, 0x03020100};

/* The same of all lanes, those beyond the set bits undefined. */
#if PBD_IS_FLOAT
PBD_FN __m256i grid_order(uint32_t bits) {
    const uint32_t low = grid_set_bits[bits & 15];
    const uint64_t high = (uint64_t)grid_set_bits[bits >> 4] + 0x04040404u;
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)(low | high << 8 * __builtin_popcount(bits & 15))));
}
#else
PBD_FN __m128i grid_order(uint32_t bits) { return _mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)grid_set_bits[bits & 15])); }
#endif

PBD_FN int append_bits(uint32_t *list, uint32_t room, const uint32_t *from, uint32_t bits) {
    if (room < PBD_BATCH) return append_bits_plain(list, from, bits);
#if PBD_IS_FLOAT
    const __m256i numbers = _mm256_loadu_si256((const __m256i *)from);
    _mm256_storeu_si256((__m256i *)list, _mm256_permutevar8x32_epi32(numbers, grid_order(bits)));
#else
    const __m128 numbers = _mm_loadu_ps((const float *)(const void *)from);
    _mm_storeu_ps((float *)(void *)list, _mm_permutevar_ps(numbers, grid_order(bits)));
#endif
    return __builtin_popcount(bits);
}

PBD_FN int append_places(uint32_t *list, uint32_t first, uint32_t bits) {
#if PBD_IS_FLOAT
    _mm256_storeu_si256((__m256i *)list, _mm256_add_epi32(grid_order(bits), _mm256_set1_epi32((int)first)));
#else
    _mm_storeu_si128((__m128i *)list, _mm_add_epi32(grid_order(bits), _mm_set1_epi32((int)first)));
#endif
    return __builtin_popcount(bits);
}

PBD_FN int append_lanes(real *list, vreal x, uint32_t bits) {
#if PBD_IS_FLOAT
    _mm256_storeu_ps(list, _mm256_permutevar8x32_ps((__m256)x, grid_order(bits)));
#else
    /* Lane l of 64 bits is the pair 2 l, 2 l + 1 of 32. */
    const __m256i even = _mm256_slli_epi64(_mm256_cvtepu32_epi64(grid_order(bits)), 1);
    const __m256i odd = _mm256_slli_epi64(_mm256_add_epi64(even, _mm256_set1_epi64x(1)), 32);
    const __m256 halves = _mm256_castpd_ps((__m256d)x);
    _mm256_storeu_pd(list, _mm256_castps_pd(_mm256_permutevar8x32_ps(halves, _mm256_or_si256(even, odd))));
#endif
    return __builtin_popcount(bits);
}
#else
PBD_FN int append_bits(uint32_t *list, uint32_t room, const uint32_t *from, uint32_t bits) {
    (void)room;
    return append_bits_plain(list, from, bits);
}

/* Without a loop for one lane: on a GPU an array with an index that is not known is in memory. */
PBD_FN int append_places(uint32_t *list, uint32_t first, uint32_t bits) {
    if (PBD_BATCH > 1) return append_places_plain(list, first, bits);
    if (bits) list[0] = first;
    return bits != 0;
}

PBD_FN int append_lanes(real *list, vreal x, uint32_t bits) {
    if (PBD_BATCH > 1) return append_lanes_plain(list, x, bits);
    if (bits) list[0] = batch_lane(x, 0);
    return bits != 0;
}
#endif

#endif
