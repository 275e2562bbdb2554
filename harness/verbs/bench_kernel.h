/* `bench --kernel`: a kernel checked and timed alone, or the list of those that a step launches. */
#ifndef PBD_BENCH_KERNEL_H
#define PBD_BENCH_KERNEL_H

#include <stdio.h>

#include "harness/bench/kernel_trial.h"
#include "harness/store/store.h"

typedef struct pbd_kernel_request {
    const char *kernel; /* a name, or "list" */
    long warmup, repetitions;
    double bound; /* 0: kernel_trial.h's */
    bool json;
} pbd_kernel_request;

/* `name`: of the cell, as bench spells it. `store` NULL: a trial is not stored; a list never is. */
pbd_status pbd_bench_kernel(const pbd_kernel_request *request, const pbd_plan_item *item, const char *name,
                            const pbd_limits *limits, pbd_store *store, FILE *out);

#endif
