/* A cell that is stepped repeatedly from one state, for its speed: what `bench` gives to Google Benchmark. */
#ifndef PBD_BENCH_CELL_H
#define PBD_BENCH_CELL_H

#include "harness/bench/bench.h"
#include "harness/bench/limits/limits.h"
#include "harness/run/run.h"

typedef struct pbd_bench_cell pbd_bench_cell;

/* What all cells of one process share. */
typedef struct pbd_bench_shared {
    pbd_store *store;         /* store of repetitions; NULL: none */
    const pbd_limits *limits; /* of this machine; empty: no fractions */
    pbd_bench_cell *open;     /* the one that is set up: one at a time, to save memory and caches */
    pbd_status trouble;       /* the first failure to store */
    size_t failed;            /* repetitions that failed */
} pbd_bench_shared;

/* A cell under Google Benchmark's name for it. Item, name and `shared` are not owned and outlive the cell. */
pbd_status pbd_bench_cell_create(const pbd_plan_item *item, const char *name, pbd_bench_shared *shared,
                                 pbd_bench_cell **out);
void pbd_bench_cell_destroy(pbd_bench_cell *cell); /* NULL-safe */
/* The entry that runs it; points into the cell. */
pbd_bench_entry pbd_bench_cell_entry(pbd_bench_cell *cell, int64_t iterations);

#endif
