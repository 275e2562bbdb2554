/* `bench --kernel`: checks and times one kernel alone, or lists the kernels that a step launches. */
#ifndef PBD_BENCH_KERNEL_H
#define PBD_BENCH_KERNEL_H

#include <stdio.h>

#include "harness/bench/kernel_trial.h"
#include "harness/store/store.h"

typedef struct pbd_kernel_request {
    const char *kernel; /* a name, or "list" */
    long warmup, repetitions;
    double bound; /* 0: the default in kernel_trial.h */
    bool json;
} pbd_kernel_request;

/* `name`: the benchmark's name of the cell. If `store` is NULL, a trial is not stored; a list never is. */
pbd_status pbd_bench_kernel(const pbd_kernel_request *request, const pbd_plan_item *item, const char *name,
                            const pbd_limits *limits, pbd_store *store, FILE *out);

#endif
