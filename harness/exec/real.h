/* `real` (-DREAL=float|double) and the macros that depend on precision and compiler. */
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
/* PBD_NAME(x) is x_float or x_double. */
#define PBD_NAME(name) PBD_PASTE(name, REAL)

#if defined(__CUDACC__)
#define PBD_FN static __host__ __device__ __forceinline__
#elif defined(PBD_SMALL_CODE) /* to compile in a tenth of the time: sanitized builds, emu, mutants */
#define PBD_FN static inline __attribute__((unused))
#else
#define PBD_FN static inline __attribute__((always_inline, unused))
#endif

/* For functions that are not inlined into every kernel, since they are large. On a GPU they are: a call would need a
 * stack. */
#if defined(__CUDACC__)
#define PBD_FN_NOINLINE PBD_FN
#else
#define PBD_FN_NOINLINE static __attribute__((noinline, unused))
#endif

#define REAL_EPSILON (sizeof(real) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON)

PBD_FN real real_sqrt(real x) { return sizeof(real) == sizeof(float) ? (real)sqrtf((float)x) : (real)sqrt((double)x); }

/* For functions of a source that is compiled per precision: PBD_PRECISE(names), above their prototypes, gives each the
 * symbol PBD_NAME(name), so that a caller links to those of its own `real`. */
#define PBD_PRECISE(...) PBD_EACH(PBD_PRECISE_ONE, __VA_ARGS__)
#define PBD_PRECISE_ONE(name) PBD_RENAME(name, PBD_NAME(name))
#define PBD_RENAME(from, to) PBD_PRAGMA(redefine_extname from to)
#define PBD_PRAGMA(text) _Pragma(#text)

#endif
