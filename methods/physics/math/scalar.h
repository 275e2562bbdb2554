/* Scalar functions beyond + - * / and comparisons, for bodies that are compiled for reals and for batches (twice.h). */
#ifndef PBD_BODY
#ifndef PBD_SCALAR_H
#define PBD_SCALAR_H

#include "harness/exec/batch.h"
#if PBD_BATCH > 1 && defined(__AVX__)
#include <immintrin.h>
#endif

/* The bit pattern of a number. Unsigned, so that every shift is defined. */
typedef uint32_t pbd_bits_float;
typedef uint64_t pbd_bits_double;
typedef PBD_NAME(pbd_bits) real_bits;
typedef int mask; /* result of comparing reals; for batches: vmask */

#define REAL_IS_FLOAT (sizeof(real) == sizeof(float))
#define REAL_MANTISSA (REAL_IS_FLOAT ? 23 : 52)                      /* bits */
#define REAL_BIAS (REAL_IS_FLOAT ? 127 : 1023)                       /* exponent bias */
#define REAL_MIN ((real)(REAL_IS_FLOAT ? (double)FLT_MIN : DBL_MIN)) /* the smallest normal number */

PBD_FN real real_where(mask m, real a, real b) { return m ? a : b; }
PBD_FN real real_set(real x) { return x; }
PBD_FN real real_floor(real x) {
    return sizeof(real) == sizeof(float) ? (real)floorf((float)x) : (real)floor((double)x);
}
PBD_FN vreal vreal_floor(vreal x) {
#if PBD_BATCH == 1
    return real_floor(x);
#elif defined(__AVX512F__) /* as vreal_sqrt */
    return REAL_IS_FLOAT ? (vreal)_mm512_floor_ps((__m512)x) : (vreal)_mm512_floor_pd((__m512d)x);
#else
    for (int l = 0; l < PBD_BATCH; l++) x[l] = real_floor(x[l]);
    return x;
#endif
}

/* Returns b if either is NaN, like the instructions of x86-64, so that one instruction suffices instead of three
 * (test_batch). */
PBD_FN real real_max(real a, real b) { return a > b ? a : b; }
PBD_FN real real_min(real a, real b) { return a < b ? a : b; }
#if PBD_BATCH == 1
PBD_FN vreal vreal_max(vreal a, vreal b) { return real_max(a, b); }
PBD_FN vreal vreal_min(vreal a, vreal b) { return real_min(a, b); }
#else
#if defined(__AVX512F__)
#define PBD_EXTREME(OF) \
    (PBD_IS_FLOAT ? (vreal)_mm512_##OF##_ps((__m512)a, (__m512)b) : (vreal)_mm512_##OF##_pd((__m512d)a, (__m512d)b))
#elif defined(__AVX__)
#define PBD_EXTREME(OF) \
    (PBD_IS_FLOAT ? (vreal)_mm256_##OF##_ps((__m256)a, (__m256)b) : (vreal)_mm256_##OF##_pd((__m256d)a, (__m256d)b))
#else
#define PBD_EXTREME(OF) vreal_##OF##_plain(a, b)
#endif
PBD_FN vreal vreal_max_plain(vreal a, vreal b) { return vreal_where(a > b, a, b); }
PBD_FN vreal vreal_min_plain(vreal a, vreal b) { return vreal_where(a < b, a, b); }
PBD_FN vreal vreal_max(vreal a, vreal b) { return PBD_EXTREME(max); }
PBD_FN vreal vreal_min(vreal a, vreal b) { return PBD_EXTREME(min); }
#undef PBD_EXTREME
#endif

/* Whether the mask holds in any lane. A body may branch on this alone, to skip work that no lane needs. */
PBD_FN int mask_any(mask m) { return m != 0; }
PBD_FN int vmask_any(vmask m) { return batch_bits(m) != 0; }

PBD_FN real_bits real_to_bits(real x) {
    real_bits bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

PBD_FN real real_from_bits(real_bits bits) {
    real x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

#if PBD_BATCH == 1
typedef real_bits vreal_bits;
PBD_FN vreal_bits vreal_to_bits(vreal x) { return real_to_bits(x); }
PBD_FN vreal vreal_from_bits(vreal_bits bits) { return real_from_bits(bits); }
#else
typedef real_bits vreal_bits __attribute__((vector_size(PBD_BATCH * sizeof(real))));
PBD_FN vreal_bits vreal_to_bits(vreal x) { return (vreal_bits)x; }
PBD_FN vreal vreal_from_bits(vreal_bits bits) { return (vreal)bits; }
#endif

#define PBD_BODY "methods/physics/math/scalar.h"
#include "methods/physics/math/twice.h"
#endif
#else

#define SIGN ((real_bits)1 << (8 * sizeof(real) - 1))

PBD_FN V(real) V(real_abs)(V(real) x) { return V(real_from_bits)(V(real_to_bits)(x) & ~SIGN); }

/* a with the sign of b. */
PBD_FN V(real) V(real_copysign)(V(real) a, V(real) b) {
    return V(real_from_bits)((V(real_to_bits)(a) & ~SIGN) | (V(real_to_bits)(b) & SIGN));
}

/* real_sign(-0) is 1. */
PBD_FN V(real) V(real_sign)(V(real) x) { return V(real_where)(x < 0, V(real_set)(-1), V(real_set)(1)); }

/* The largest power of two <= x, for x >= 0, clamped so that it and its reciprocal *inverse are normal. For scaling
 * without rounding. */
PBD_FN V(real) V(real_power_of_two)(V(real) x, V(real) * inverse) {
    const real least = REAL_MIN, most = 1 / (4 * REAL_MIN);
    x = V(real_max)(V(real_min)(x, V(real_set)(most)), V(real_set)(least));
    V(real_bits) exponent = V(real_to_bits)(x) >> REAL_MANTISSA;
    *inverse = V(real_from_bits)((2 * REAL_BIAS - exponent) << REAL_MANTISSA);
    return V(real_from_bits)(exponent << REAL_MANTISSA);
}

#undef SIGN
#endif
