/* `real` and what changes between compilations of one body: precision (-DREAL=float|double) and the compiler. */
#ifndef PBD_REAL_H
#define PBD_REAL_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

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
#define PBD_PRECISE(...) PBD_RESCAN(PBD_RENAME_ALL(__VA_ARGS__))
#define PBD_RENAME_ALL(name, ...) PBD_RENAME(name, PBD_NAME(name)) __VA_OPT__(PBD_RENAME_REST PBD_LATER(__VA_ARGS__))
#define PBD_RENAME_REST() PBD_RENAME_ALL
#define PBD_LATER () /* stops the expansion until the next scan: each scan renames one more, 64 suffice */
#define PBD_RENAME(from, to) PBD_PRAGMA(redefine_extname from to)
#define PBD_PRAGMA(text) _Pragma(#text)
#define PBD_RESCAN(...) PBD_RESCAN_4(PBD_RESCAN_4(PBD_RESCAN_4(PBD_RESCAN_4(__VA_ARGS__))))
#define PBD_RESCAN_4(...) PBD_RESCAN_16(PBD_RESCAN_16(PBD_RESCAN_16(PBD_RESCAN_16(__VA_ARGS__))))
#define PBD_RESCAN_16(...) PBD_RESCAN_64(PBD_RESCAN_64(PBD_RESCAN_64(PBD_RESCAN_64(__VA_ARGS__))))
#define PBD_RESCAN_64(...) __VA_ARGS__

#endif
