/* Batches: one variable of several independent constraints in one SIMD vector.
 *
 * `vreal` is a vector of PBD_BATCH reals with + - * / and comparisons (a GNU vector on the CPU, one real on a GPU). A
 * body written with it has no branches and compiles unchanged for both. Rows of four reals (particles) are loaded and
 * stored with 128-bit moves and transposed in registers: on an AVX-512 core this is twice as fast as gathers. */
#ifndef PBD_BATCH_H
#define PBD_BATCH_H

#include "harness/exec/lanes.h"
#include "harness/exec/vec.h"

#if PBD_BATCH == 1

typedef real vreal;
typedef int vmask;

PBD_FN vreal vreal_where(vmask m, vreal a, vreal b) { return m ? a : b; }
PBD_FN vreal vreal_sqrt(vreal x) { return real_sqrt(x); }
PBD_FN vreal vreal_set(real x) { return x; }
PBD_FN vreal batch_load(const real *values, size_t first, int count) {
    (void)count;
    return values[first];
}

/* Bit l is set where the mask holds in lane l. */
PBD_FN uint32_t batch_bits(vmask m) { return m ? 1u : 0u; }
/* Bit l is set where a < b in lane l. */
PBD_FN uint32_t batch_less(vreal a, vreal b) { return a < b ? 1u : 0u; }

/* Prefetch the rows of `count` indices, the first for writing, which takes their lines from other cores' caches. No
 * effect on a GPU. */
PBD_FN void batch_prefetch_rows(const real *rows, const uint32_t *index, int count) {
    (void)rows;
    (void)index;
    (void)count;
}
PBD_FN void batch_prefetch_rows_read(const real *rows, const uint32_t *index, int count) {
    batch_prefetch_rows(rows, index, count);
}

PBD_FN void batch_prefetch(const void *address) { (void)address; }

/* Four reals of row index[0]: x, y, z, w. */
PBD_FN void batch_load_rows(const real *rows, const uint32_t *index, int stride, int count, vreal out[4]) {
    (void)stride;
    (void)count;
    row_load(rows + 4 * (size_t)index[0], out);
}

PBD_FN void batch_store_rows(real *rows, const uint32_t *index, int stride, int count, const vreal in[4]) {
    (void)stride;
    (void)count;
    row_store(rows + 4 * (size_t)index[0], in);
}

#else

typedef real vreal __attribute__((vector_size(PBD_BATCH * sizeof(real))));
typedef __typeof__((vreal){0} < (vreal){0}) vmask;

PBD_FN vreal vreal_where(vmask m, vreal a, vreal b) { return (vreal)((m & (vmask)a) | (~m & (vmask)b)); }
PBD_FN vreal vreal_set(real x) { return (vreal){0} + x; }

/* With AVX-512 by its instruction: tuned for Intel's processors, gcc takes the roots of both halves in a loop over
 * lanes and joins them through memory, where the load waits for both stores. */
#if defined(__AVX512F__)
#include <immintrin.h>
PBD_FN vreal vreal_sqrt(vreal x) {
    return sizeof(real) == sizeof(float) ? (vreal)_mm512_sqrt_ps((__m512)x) : (vreal)_mm512_sqrt_pd((__m512d)x);
}
#else
PBD_FN vreal vreal_sqrt(vreal x) {
    for (int l = 0; l < PBD_BATCH; l++) x[l] = real_sqrt(x[l]);
    return x;
}
#endif

/* values[first .. first + count); lanes beyond count repeat the last value, which keeps their results finite. */
PBD_FN vreal batch_load(const real *values, size_t first, int count) {
    vreal out = vreal_set(0);
    if (count == PBD_BATCH)
        __builtin_memcpy(&out, values + first, sizeof out);
    else
        for (int l = 0; l < PBD_BATCH; l++) out[l] = values[first + (size_t)(l < count ? l : count - 1)];
    return out;
}

PBD_FN uint32_t batch_bits_plain(vmask m) {
    uint32_t bits = 0;
    for (int l = 0; l < PBD_BATCH; l++) bits |= (uint32_t)(m[l] & 1) << l;
    return bits;
}

PBD_FN void batch_prefetch_rows(const real *rows, const uint32_t *index, int count) {
    for (int k = 0; k < count; k++) __builtin_prefetch(rows + 4 * (size_t)index[k], 1);
}

PBD_FN void batch_prefetch_rows_read(const real *rows, const uint32_t *index, int count) {
    for (int k = 0; k < count; k++) __builtin_prefetch(rows + 4 * (size_t)index[k], 0);
}

/* Prefetches the line of an address into the second-level cache, for arrays that are read from beginning to end. The
 * hardware prefetcher stops at page boundaries. The address may lie outside the array. No effect on a GPU. */
PBD_FN void batch_prefetch(const void *address) { __builtin_prefetch(address, 0, 2); }

/* The portable form, for any processor and precision; also the reference for testing the AVX form. */
PBD_FN void batch_load_rows_plain(const real *rows, const uint32_t *index, int stride, int count, vreal out[4]) {
    real lane[4][PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++) {
        const real *row = rows + 4 * (size_t)index[(l < count ? l : count - 1) * stride];
        for (int c = 0; c < 4; c++) lane[c][l] = row[c];
    }
    for (int c = 0; c < 4; c++) __builtin_memcpy(&out[c], lane[c], sizeof out[c]);
}

PBD_FN void batch_store_rows_plain(real *rows, const uint32_t *index, int stride, int count, const vreal in[4]) {
    for (int l = 0; l < count; l++) {
        real *row = rows + 4 * (size_t)index[l * stride];
        for (int c = 0; c < 4; c++) row[c] = in[c][l];
    }
}

#if PBD_BATCH_TRANSPOSED

#include <immintrin.h>

/* Vectors of PBD_BATCH floats have PBD_BATCH/4 lanes of 128 bits. Lane q of vector k loads row 4q + k; a 4 x 4
 * transpose within each lane then gives the rows in order. */
#if PBD_BATCH == 16
typedef __m512 pbd_vector;
#define PBD_UNPACK_LOW _mm512_unpacklo_ps
#define PBD_UNPACK_HIGH _mm512_unpackhi_ps
#define PBD_SHUFFLE _mm512_shuffle_ps
#define PBD_LANE_OF(v, q) _mm512_extractf32x4_ps(v, q)
PBD_FN pbd_vector load_lanes(const float *rows, const uint32_t *index, int stride) {
#define PBD_ROW(q) _mm_load_ps(rows + 4 * (size_t)index[4 * (q)*stride])
    pbd_vector v = _mm512_castps128_ps512(PBD_ROW(0));
    v = _mm512_insertf32x4(v, PBD_ROW(1), 1);
    v = _mm512_insertf32x4(v, PBD_ROW(2), 2);
    return _mm512_insertf32x4(v, PBD_ROW(3), 3);
}
PBD_FN void store_lanes(float *rows, const uint32_t *index, int stride, pbd_vector v) {
#define PBD_PUT(q) _mm_store_ps(rows + 4 * (size_t)index[4 * (q)*stride], PBD_LANE_OF(v, q))
    PBD_PUT(0);
    PBD_PUT(1);
    PBD_PUT(2);
    PBD_PUT(3);
}
#else
typedef __m256 pbd_vector;
#define PBD_UNPACK_LOW _mm256_unpacklo_ps
#define PBD_UNPACK_HIGH _mm256_unpackhi_ps
#define PBD_SHUFFLE _mm256_shuffle_ps
PBD_FN pbd_vector load_lanes(const float *rows, const uint32_t *index, int stride) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows + 4 * (size_t)index[0])),
                                _mm_load_ps(rows + 4 * (size_t)index[4 * stride]), 1);
}
PBD_FN void store_lanes(float *rows, const uint32_t *index, int stride, pbd_vector v) {
    _mm_store_ps(rows + 4 * (size_t)index[0], _mm256_castps256_ps128(v));
    _mm_store_ps(rows + 4 * (size_t)index[4 * stride], _mm256_extractf128_ps(v, 1));
}
#endif

PBD_FN void batch_load_rows(const float *rows, const uint32_t *index, int stride, int count, vreal out[4]) {
    if (count < PBD_BATCH) {
        batch_load_rows_plain(rows, index, stride, count, out);
        return;
    }
    pbd_vector r0 = load_lanes(rows, index, stride), r1 = load_lanes(rows, index + stride, stride);
    pbd_vector r2 = load_lanes(rows, index + 2 * stride, stride), r3 = load_lanes(rows, index + 3 * stride, stride);
    pbd_vector xy01 = PBD_UNPACK_LOW(r0, r1), zw01 = PBD_UNPACK_HIGH(r0, r1);
    pbd_vector xy23 = PBD_UNPACK_LOW(r2, r3), zw23 = PBD_UNPACK_HIGH(r2, r3);
    out[0] = (vreal)PBD_SHUFFLE(xy01, xy23, 0x44);
    out[1] = (vreal)PBD_SHUFFLE(xy01, xy23, 0xee);
    out[2] = (vreal)PBD_SHUFFLE(zw01, zw23, 0x44);
    out[3] = (vreal)PBD_SHUFFLE(zw01, zw23, 0xee);
}

PBD_FN void batch_store_rows(float *rows, const uint32_t *index, int stride, int count, const vreal in[4]) {
    if (count < PBD_BATCH) {
        batch_store_rows_plain(rows, index, stride, count, in);
        return;
    }
    pbd_vector x = (pbd_vector)in[0], y = (pbd_vector)in[1], z = (pbd_vector)in[2], w = (pbd_vector)in[3];
    pbd_vector xy_low = PBD_UNPACK_LOW(x, y), xy_high = PBD_UNPACK_HIGH(x, y);
    pbd_vector zw_low = PBD_UNPACK_LOW(z, w), zw_high = PBD_UNPACK_HIGH(z, w);
    store_lanes(rows, index, stride, PBD_SHUFFLE(xy_low, zw_low, 0x44));
    store_lanes(rows, index + stride, stride, PBD_SHUFFLE(xy_low, zw_low, 0xee));
    store_lanes(rows, index + 2 * stride, stride, PBD_SHUFFLE(xy_high, zw_high, 0x44));
    store_lanes(rows, index + 3 * stride, stride, PBD_SHUFFLE(xy_high, zw_high, 0xee));
}

#elif !PBD_IS_FLOAT && defined(__AVX512F__)

#include <immintrin.h>

/* Vector k holds rows k and k + 4; pairs of components are then put together, and pairs of pairs. */
PBD_FN __m512d load_two_rows(const double *rows, const uint32_t *index, int stride) {
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(rows + 4 * (size_t)index[0])),
                              _mm256_loadu_pd(rows + 4 * (size_t)index[4 * stride]), 1);
}

PBD_FN void store_two_rows(double *rows, const uint32_t *index, int stride, __m512d v) {
    _mm256_storeu_pd(rows + 4 * (size_t)index[0], _mm512_castpd512_pd256(v));
    _mm256_storeu_pd(rows + 4 * (size_t)index[4 * stride], _mm512_extractf64x4_pd(v, 1));
}

#define PBD_LOW _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13)
#define PBD_HIGH _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15)

PBD_FN void batch_load_rows(const double *rows, const uint32_t *index, int stride, int count, vreal out[4]) {
    if (count < PBD_BATCH) {
        batch_load_rows_plain(rows, index, stride, count, out);
        return;
    }
    const __m512d r0 = load_two_rows(rows, index, stride), r1 = load_two_rows(rows, index + stride, stride);
    const __m512d r2 = load_two_rows(rows, index + 2 * stride, stride),
                  r3 = load_two_rows(rows, index + 3 * stride, stride);
    const __m512d xz01 = _mm512_unpacklo_pd(r0, r1), yw01 = _mm512_unpackhi_pd(r0, r1);
    const __m512d xz23 = _mm512_unpacklo_pd(r2, r3), yw23 = _mm512_unpackhi_pd(r2, r3);
    out[0] = (vreal)_mm512_permutex2var_pd(xz01, PBD_LOW, xz23);
    out[1] = (vreal)_mm512_permutex2var_pd(yw01, PBD_LOW, yw23);
    out[2] = (vreal)_mm512_permutex2var_pd(xz01, PBD_HIGH, xz23);
    out[3] = (vreal)_mm512_permutex2var_pd(yw01, PBD_HIGH, yw23);
}

PBD_FN void batch_store_rows(double *rows, const uint32_t *index, int stride, int count, const vreal in[4]) {
    if (count < PBD_BATCH) {
        batch_store_rows_plain(rows, index, stride, count, in);
        return;
    }
    const __m512d x = (__m512d)in[0], y = (__m512d)in[1], z = (__m512d)in[2], w = (__m512d)in[3];
    const __m512d xz01 = _mm512_permutex2var_pd(x, PBD_LOW, z), xz23 = _mm512_permutex2var_pd(x, PBD_HIGH, z);
    const __m512d yw01 = _mm512_permutex2var_pd(y, PBD_LOW, w), yw23 = _mm512_permutex2var_pd(y, PBD_HIGH, w);
    store_two_rows(rows, index, stride, _mm512_unpacklo_pd(xz01, yw01));
    store_two_rows(rows, index + stride, stride, _mm512_unpackhi_pd(xz01, yw01));
    store_two_rows(rows, index + 2 * stride, stride, _mm512_unpacklo_pd(xz23, yw23));
    store_two_rows(rows, index + 3 * stride, stride, _mm512_unpackhi_pd(xz23, yw23));
}

#undef PBD_LOW
#undef PBD_HIGH

#elif !PBD_IS_FLOAT && defined(__AVX2__)

#include <immintrin.h>

/* Pairs of rows give x and z of two lanes, and y and w; halves of two pairs are then put together. */
PBD_FN void batch_load_rows(const double *rows, const uint32_t *index, int stride, int count, vreal out[4]) {
    if (count < PBD_BATCH) {
        batch_load_rows_plain(rows, index, stride, count, out);
        return;
    }
    __m256d r[4];
    for (int l = 0; l < 4; l++) r[l] = _mm256_loadu_pd(rows + 4 * (size_t)index[l * stride]);
    const __m256d xz01 = _mm256_unpacklo_pd(r[0], r[1]), yw01 = _mm256_unpackhi_pd(r[0], r[1]);
    const __m256d xz23 = _mm256_unpacklo_pd(r[2], r[3]), yw23 = _mm256_unpackhi_pd(r[2], r[3]);
    out[0] = (vreal)_mm256_permute2f128_pd(xz01, xz23, 0x20);
    out[1] = (vreal)_mm256_permute2f128_pd(yw01, yw23, 0x20);
    out[2] = (vreal)_mm256_permute2f128_pd(xz01, xz23, 0x31);
    out[3] = (vreal)_mm256_permute2f128_pd(yw01, yw23, 0x31);
}

PBD_FN void batch_store_rows(double *rows, const uint32_t *index, int stride, int count, const vreal in[4]) {
    if (count < PBD_BATCH) {
        batch_store_rows_plain(rows, index, stride, count, in);
        return;
    }
    const __m256d x = (__m256d)in[0], y = (__m256d)in[1], z = (__m256d)in[2], w = (__m256d)in[3];
    const __m256d xy02 = _mm256_unpacklo_pd(x, y), xy13 = _mm256_unpackhi_pd(x, y);
    const __m256d zw02 = _mm256_unpacklo_pd(z, w), zw13 = _mm256_unpackhi_pd(z, w);
    _mm256_storeu_pd(rows + 4 * (size_t)index[0], _mm256_permute2f128_pd(xy02, zw02, 0x20));
    _mm256_storeu_pd(rows + 4 * (size_t)index[stride], _mm256_permute2f128_pd(xy13, zw13, 0x20));
    _mm256_storeu_pd(rows + 4 * (size_t)index[2 * stride], _mm256_permute2f128_pd(xy02, zw02, 0x31));
    _mm256_storeu_pd(rows + 4 * (size_t)index[3 * stride], _mm256_permute2f128_pd(xy13, zw13, 0x31));
}

#else
#define batch_load_rows batch_load_rows_plain
#define batch_store_rows batch_store_rows_plain
#endif

/* Bit l of batch_bits is set where the mask holds in lane l; of batch_less, where a < b. */
#if defined(__AVX512F__)
#include <immintrin.h>
PBD_FN uint32_t batch_bits(vmask m) {
    const __m512i v = (__m512i)m;
    return sizeof(real) == sizeof(float) ? _mm512_test_epi32_mask(v, v) : _mm512_test_epi64_mask(v, v);
}
/* One instruction: gcc compiles batch_bits(a < b) to a comparison, a vector of its results, and a test of that. */
PBD_FN uint32_t batch_less(vreal a, vreal b) {
    return sizeof(real) == sizeof(float) ? _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ)
                                         : _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
}
#else
#if defined(__AVX2__)
#include <immintrin.h>
PBD_FN uint32_t batch_bits(vmask m) {
    return (uint32_t)(sizeof(real) == sizeof(float) ? _mm256_movemask_ps((__m256)m) : _mm256_movemask_pd((__m256d)m));
}
#else
#define batch_bits batch_bits_plain
#endif
PBD_FN uint32_t batch_less(vreal a, vreal b) { return batch_bits(a < b); }
#endif
#endif

PBD_FN void batch_store(real *values, size_t first, int count, vreal x) {
#if PBD_BATCH == 1
    (void)count;
    values[first] = x;
#else
    if (count == PBD_BATCH)
        __builtin_memcpy(values + first, &x, sizeof x);
    else
        for (int l = 0; l < count; l++) values[first + (size_t)l] = x[l];
#endif
}

/* values[index[l]] in lane l; lanes beyond count repeat the last. */
PBD_FN vreal batch_gather(const real *values, const uint32_t *index, int count) {
#if PBD_BATCH == 1
    (void)count;
    return values[index[0]];
#else
    vreal out;
    if (count == PBD_BATCH)
        for (int l = 0; l < PBD_BATCH; l++) out[l] = values[index[l]];
    else
        for (int l = 0; l < PBD_BATCH; l++) out[l] = values[index[l < count ? l : count - 1]];
    return out;
#endif
}

PBD_FN real batch_lane(vreal x, int l) {
#if PBD_BATCH == 1
    (void)l;
    return x;
#else
    return x[l];
#endif
}

/* The sum of all lanes, by halves. */
PBD_FN real batch_total(vreal x) {
#if PBD_BATCH == 1
    return x;
#elif defined(__AVX512F__)
    return (real)(sizeof(real) == sizeof(float) ? _mm512_reduce_add_ps((__m512)x) : _mm512_reduce_add_pd((__m512d)x));
#else
    real lane[PBD_BATCH];
    __builtin_memcpy(lane, &x, sizeof lane);
    for (int step = PBD_BATCH / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++) lane[l] += lane[l + step];
    return lane[0];
#endif
}

/* The smallest lane; no lane is NaN. */
PBD_FN real batch_least(vreal x) {
#if PBD_BATCH == 1
    return x;
#elif defined(__AVX512F__)
    return (real)(sizeof(real) == sizeof(float) ? _mm512_reduce_min_ps((__m512)x) : _mm512_reduce_min_pd((__m512d)x));
#else
    real least = x[0];
    for (int l = 1; l < PBD_BATCH; l++) least = x[l] < least ? x[l] : least;
    return least;
#endif
}

/* Stores to rows at, at + stride, ..., without an index array. */
PBD_FN void batch_store_strided(real *rows, size_t at, size_t stride, int count, const vreal in[4]) {
#if PBD_BATCH == 1
    (void)stride;
    (void)count;
    row_store(rows + 4 * at, in);
#else
    for (int l = 0; l < count; l++)
        for (int c = 0; c < 4; c++) rows[4 * (at + (size_t)l * stride) + (size_t)c] = in[c][l];
#endif
}

/* Three components of a row, as a vector of batches. */
PBD_DEFINE_VEC3(vvec3, vreal)

#endif
