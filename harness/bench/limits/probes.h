/* The loops of limits_kernels.h with the memory they work on, ready to be run again and again. In both precisions:
 * probes.c is compiled twice, and the table of each is all that the rest sees. */
#ifndef PBD_PROBES_H
#define PBD_PROBES_H

#include "harness/bench/limits/cloud.h"
#include "harness/exec/exec.h"

typedef enum pbd_probe_kind {
    PBD_PROBE_TRIAD,          /* a = b + s c; bytes, 3 reals an element */
    PBD_PROBE_COPY,           /* a = b; bytes, 2 reals an element */
    PBD_PROBE_FMA,            /* chains of multiply-adds; operations, 2 each */
    PBD_PROBE_GATHER,         /* neighbour updates: one for each neighbour of each particle */
    PBD_PROBE_SCATTER,        /* likewise */
    PBD_PROBE_GATHER_SCATTER, /* both passes; one update for each neighbour, gathered from and scattered to */
    PBD_PROBE_GATHER_SLICES,  /* the same three over slices of particles */
    PBD_PROBE_SCATTER_SLICES,
    PBD_PROBE_SLICES,
    PBD_PROBE_LAUNCH,      /* launches of a kernel that does next to nothing */
    PBD_PROBE_GRAPH_LAUNCH /* the same as one repeat: on a GPU a graph */
} pbd_probe_kind;

/* Arrays of a probe, as tests write and read them; numbers in rows of 4 where particles have them. */
typedef enum pbd_probe_array {
    PBD_ARRAY_A,      /* triad, copy: the result; fma: one sum for each item */
    PBD_ARRAY_B,      /* triad, copy */
    PBD_ARRAY_C,      /* triad */
    PBD_ARRAY_X,      /* cloud: positions */
    PBD_ARRAY_V,      /* cloud: velocities */
    PBD_ARRAY_MATRIX, /* cloud: three rows of 4 each */
    PBD_ARRAYS
} pbd_probe_array;

/* What impulses of the scatter pass are multiplied by: gathered and scattered again and again, motion fades slowly. */
#define PBD_PROBE_SCALE (-0x1p-20)

typedef struct pbd_probe pbd_probe;

typedef struct pbd_probe_ops {
    size_t real_bytes;
    int chains; /* of PBD_PROBE_FMA on the cpu; 8 elsewhere */
    int lanes;  /* numbers of a SIMD batch on the cpu */
    /* `count`: elements of each array, or items of fma; `cloud` is for the neighbour passes and may be NULL else. The
     * exec must outlive the probe. */
    pbd_status (*open)(pbd_exec *exec, pbd_probe_kind kind, size_t count, const pbd_cloud *cloud, pbd_probe **out);
    pbd_status (*pass)(pbd_probe *probe);   /* launches all of it once; does not wait */
    double (*work)(const pbd_probe *probe); /* of one pass, in the unit said above */
    /* `count` numbers from an array's beginning. */
    pbd_status (*write)(pbd_probe *probe, pbd_probe_array array, const double *values, size_t count);
    pbd_status (*read)(pbd_probe *probe, pbd_probe_array array, double *values, size_t count);
    void (*close)(pbd_probe *probe); /* NULL-safe */
} pbd_probe_ops;

extern const pbd_probe_ops pbd_probes_float, pbd_probes_double;

#endif
