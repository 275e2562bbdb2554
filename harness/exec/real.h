/* `real` and what changes between compilations of one body: precision (-DREAL=float|double) and the compiler. */
#ifndef PBD_REAL_H
#define PBD_REAL_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "methods/each.h"

#ifndef REAL
#error "compile with -DREAL=float or -DREAL=double"
#endif
typedef REAL real;

#define PBD_PASTE_(a, b) a##_##b
#define PBD_PASTE(a, b) PBD_PASTE_(a, b)
/* A name of this precision: PBD_NAME(x) is x_float or x_double. */
#define PBD_NAME(name) PBD_PASTE(name, REAL)

#if defined(__CUDACC__)
#define PBD_FN static __host__ __device__ __forceinline__
#else
#define PBD_FN static inline __attribute__((always_inline, unused))
#endif

#define REAL_EPSILON (sizeof(real) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON)

PBD_FN real real_sqrt(real x) { return sizeof(real) == sizeof(float) ? (real)sqrtf((float)x) : (real)sqrt((double)x); }

/* The functions that a header offers from a source compiled per precision: PBD_PRECISE(these, names), above their
 * prototypes, makes PBD_NAME of each its symbol, so that a caller gets those of its own `real`. */
#define PBD_PRECISE(...) PBD_EACH(PBD_PRECISE_ONE, __VA_ARGS__)
#define PBD_PRECISE_ONE(name) PBD_RENAME(name, PBD_NAME(name))
#define PBD_RENAME(from, to) PBD_PRAGMA(redefine_extname from to)
#define PBD_PRAGMA(text) _Pragma(#text)

#endif
