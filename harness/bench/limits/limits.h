/* The limits of this machine: how fast it moves bytes, multiplies and adds, and passes over neighbours. Rates of
 * methods are compared with these. Measured by `pbdbench env --measure`, kept in the store with the machine. */
#ifndef PBD_LIMITS_H
#define PBD_LIMITS_H

#include "harness/exec/arena.h"
#include "harness/store/store.h"

typedef struct pbd_limit {
    char name[24]; /* triad, copy, fma, gather, scatter, gather_scatter, gather_scatter_slices, launch, graph_launch */
    char backend[8];
    char precision[4];    /* of the numbers it worked on */
    int threads;          /* cpu: one or all cores; else 1 */
    char unit[16];        /* B/s, flop/s, neighbours/s; s for launch */
    double best, median;  /* over the samples; best is the limit */
    char measured_at[32]; /* UTC, ISO 8601 */
} pbd_limit;

typedef struct pbd_limits {
    pbd_arena owned;
    pbd_limit *item;
    size_t count;
} pbd_limits;

typedef void (*pbd_limits_observer)(void *context, const pbd_limit *measured);

/* Measures every limit of the cpu backend and, where there is a device, of cuda: 10 ms samples, about a second each.
 * Each goes to the store (unless that is NULL) and then to the observer (likewise). `quick` takes small sizes and few
 * samples: it tries the code, and its numbers are no limits. PBD_INTERRUPTED after Ctrl-C. */
pbd_status pbd_limits_measure(pbd_store *store, bool quick, pbd_limits_observer observer, void *context);

/* Measures the triad over arrays of `bytes` together, B/s: more than the bandwidth of memory where they stay in a
 * cache. Takes half a second; stores nothing. */
pbd_status pbd_limits_triad(size_t bytes, int threads, double *out);

/* The newest of each limit that the store has of the machine with this fingerprint; none is no error. The caller frees.
 */
pbd_status pbd_limits_load(pbd_store *store, const char *fingerprint, pbd_limits *out);
void pbd_limits_free(pbd_limits *limits); /* safe on zeroed limits */

/* NULL when it was not measured. `precision` NULL: any; `threads` counts on the cpu only. */
const pbd_limit *pbd_limits_find(const pbd_limits *limits, const char *name, const char *backend, const char *precision,
                                 int threads);
/* What bounds kernels on a backend: bytes a second from memory, operations a second of fused multiply-adds. */
const pbd_limit *pbd_limits_bandwidth(const pbd_limits *limits, const char *backend, int threads);
const pbd_limit *pbd_limits_flops(const pbd_limits *limits, const char *backend, const char *precision, int threads);
/* Both passes over neighbours in the faster of their forms, neighbour updates a second; 0 when not measured. */
double pbd_limits_passes(const pbd_limits *limits, const char *backend, const char *precision, int threads);

#endif
